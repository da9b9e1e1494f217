// A small demo model compiled from bigram statistics: each token is drawn by what followed the
// token before it in a corpus. It is a real llama-architecture network whose weights say just that:
// token i is embedded as the unit vector i, the one block adds nothing to it, and row j of the
// output matrix holds the log probabilities of token j. It stands in where no trained model is at
// hand.
#pragma once

#include <string>
#include <string_view>

#include "units/result.h"

namespace tidegate::mkmodel {

// A few lines about Tidegate itself.
std::string_view builtin_corpus();

// Learns from `corpus`, one utterance a line, and writes the model. Equal corpora give equal bytes.
// Error: a corpus without a line of printable ASCII, or a file that cannot be written.
units::Result<void> write_ngram_model(std::string_view corpus, const std::string& out);

}  // namespace tidegate::mkmodel
