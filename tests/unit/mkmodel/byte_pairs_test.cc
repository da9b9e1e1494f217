#include "mkmodel/byte_pairs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidegate::mkmodel {
namespace {

constexpr std::size_t kSingle = 97;  // end of text, line end, 95 printable characters

std::string text_of(const EncodedCorpus& corpus, std::size_t line) {
  std::string text;
  for (const std::size_t token : corpus.lines[line]) text += corpus.vocabulary.tokens[token];
  return text;
}

// With no room for merges every character is its own token, between line end and end of text.
TEST(BytePairs, WithoutMergesIsCharacters) {
  const EncodedCorpus corpus = learn_byte_pairs("ab\n\ncd e\n", kSingle);
  ASSERT_EQ(corpus.lines.size(), 2U);
  EXPECT_EQ(corpus.vocabulary.tokens.size(), kSingle);
  EXPECT_EQ(corpus.lines[0].size(), 4U);
  EXPECT_EQ(text_of(corpus, 1),
            "\xC4\x8A"
            "cd\xC4\xA0"
            "e<|endoftext|>");
}

// The most frequent pair is merged first: "ab" occurs three times, "bc" and " a" twice.
TEST(BytePairs, MergesTheMostFrequentPairFirst) {
  const EncodedCorpus corpus = learn_byte_pairs("abc abd abc", kSingle + 1);
  ASSERT_EQ(corpus.vocabulary.merges.size(), 1U);
  EXPECT_EQ(corpus.vocabulary.merges[0], "a b");
}

// Merging changes how a line is cut, never what it says.
TEST(BytePairs, KeepsTheText) {
  const std::string text = "the gate lets the boats in, and the boats wait\nthe gate waits";
  const EncodedCorpus plain = learn_byte_pairs(text, kSingle);
  const EncodedCorpus merged = learn_byte_pairs(text, 200);
  EXPECT_GT(merged.vocabulary.merges.size(), 5U);
  for (std::size_t line = 0; line < 2; ++line) {
    EXPECT_EQ(text_of(merged, line), text_of(plain, line));
    EXPECT_LT(merged.lines[line].size(), plain.lines[line].size());
  }
}

// A pair that occurs once is not worth a token.
TEST(BytePairs, StopsWhenNothingRepeats) {
  EXPECT_TRUE(learn_byte_pairs("abcdefg", 500).vocabulary.merges.empty());
}

// Characters that have no token are left out, and a text of nothing else has no lines.
TEST(BytePairs, LeavesOutWhatIsNotAscii) {
  EXPECT_EQ(text_of(learn_byte_pairs("a\xC3\xA4"
                                     "b",
                                     kSingle),
                    0),
            "\xC4\x8A"
            "ab<|endoftext|>");
  EXPECT_TRUE(learn_byte_pairs("\xC3\xA4\n", kSingle).lines.empty());
}

}  // namespace
}  // namespace tidegate::mkmodel
