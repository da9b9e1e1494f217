// Byte pair encoding learned from a small corpus: the most frequent neighbours become one token,
// again and again (Gage, 1994; Sennrich et al., 2016). Words keep their leading space and are not
// joined with each other. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mkmodel/gguf_file.h"

namespace tidegate::mkmodel {

// The lines of a text, each as tokens, and the vocabulary they are written in.
struct EncodedCorpus {
  Vocabulary vocabulary;
  std::vector<std::vector<std::size_t>> lines;
};

// Learns a vocabulary of at most `limit` tokens: end of text, printable ASCII, then merges while a
// pair occurs twice. Characters outside printable ASCII are left out. Equal pairs: the one that
// sorts first. O(merges * text).
EncodedCorpus learn_byte_pairs(std::string_view text, std::size_t limit);

}  // namespace tidegate::mkmodel
