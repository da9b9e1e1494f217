#include "mkmodel/byte_pairs.h"

#include <map>
#include <utility>

namespace tidegate::mkmodel {
namespace {

using Word = std::vector<std::size_t>;
using Line = std::vector<Word>;
using Pair = std::pair<std::size_t, std::size_t>;

constexpr std::size_t kNewline = 1;
constexpr std::size_t kFirstPrintable = 2;

bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool digit(char c) {
  return c >= '0' && c <= '9';
}
bool printable(char c) {
  return c >= ' ' && c <= '~';
}

// GPT-2's pre-tokenizer on plain sentences: a word or number with the space before it, or a sign.
bool starts_word(char before, char c) {
  if (before == ' ') return c == ' ';
  return !(letter(before) && letter(c)) && !(digit(before) && digit(c));
}

std::vector<Line> read_lines(std::string_view text) {
  std::vector<Line> lines(1);
  char before = '\n';
  for (const char c : text) {
    if (c == '\n') {
      if (!lines.back().empty()) lines.emplace_back();
    } else if (printable(c)) {
      Line& line = lines.back();
      if (line.empty() || starts_word(before, c)) line.emplace_back();
      line.back().push_back(kFirstPrintable + static_cast<std::size_t>(c - ' '));
    }
    before = c;
  }
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

std::map<Pair, std::size_t> count_pairs(const std::vector<Line>& lines) {
  std::map<Pair, std::size_t> counts;
  for (const Line& line : lines) {
    for (const Word& word : line) {
      for (std::size_t i = 0; i + 1 < word.size(); ++i) ++counts[{word[i], word[i + 1]}];
    }
  }
  return counts;
}

void merge_in(Word& word, const Pair& pair, std::size_t merged) {
  Word result;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool here = i + 1 < word.size() && word[i] == pair.first && word[i + 1] == pair.second;
    result.push_back(here ? merged : word[i]);
    if (here) ++i;
  }
  word = std::move(result);
}

// The most frequent pair; its count is 0 when there is none.
std::pair<Pair, std::size_t> most_frequent(const std::map<Pair, std::size_t>& counts) {
  std::pair<Pair, std::size_t> best{{}, 0};
  for (const auto& [pair, count] : counts) {
    if (count > best.second) best = {pair, count};
  }
  return best;
}

Vocabulary single_characters() {
  Vocabulary vocabulary;
  vocabulary.tokens = {"<|endoftext|>", byte_text('\n')};
  for (char c = ' '; c <= '~'; ++c) vocabulary.tokens.push_back(byte_text(c));
  return vocabulary;
}

std::vector<std::size_t> flat(const Line& line) {
  std::vector<std::size_t> tokens = {kNewline};
  for (const Word& word : line) tokens.insert(tokens.end(), word.begin(), word.end());
  tokens.push_back(0);
  return tokens;
}

}  // namespace

EncodedCorpus learn_byte_pairs(std::string_view text, std::size_t limit) {
  std::vector<Line> lines = read_lines(text);
  EncodedCorpus corpus{single_characters(), {}};
  Vocabulary& vocabulary = corpus.vocabulary;
  while (vocabulary.tokens.size() < limit) {
    const auto [pair, count] = most_frequent(count_pairs(lines));
    if (count < 2) break;
    const std::string& left = vocabulary.tokens[pair.first];
    const std::string& right = vocabulary.tokens[pair.second];
    vocabulary.merges.push_back(left + " " + right);
    const std::string joined = left + right;
    vocabulary.tokens.push_back(joined);
    for (Line& line : lines) {
      for (Word& word : line) merge_in(word, pair, vocabulary.tokens.size() - 1);
    }
  }
  for (const Line& line : lines) corpus.lines.push_back(flat(line));
  return corpus;
}

}  // namespace tidegate::mkmodel
