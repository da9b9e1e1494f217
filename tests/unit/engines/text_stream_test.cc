#include "engines/text_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "units/prng.h"

namespace tidegate::engines {
namespace {

std::string all_at_once(const std::string& bytes, const std::vector<std::string>& stops = {}) {
  TextStream stream(stops);
  std::string text = stream.push(bytes);
  return text + stream.finish();
}

// Cuts `bytes` at random places and feeds the parts.
std::string in_parts(const std::string& bytes, const std::vector<std::string>& stops,
                     units::Prng& prng) {
  TextStream stream(stops);
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto size = static_cast<std::size_t>(prng.between(1, 4));
    text += stream.push(bytes.substr(at, size));
    at += size;
  }
  return text + stream.finish();
}

// A character that is spread over several tokens is shown once, whole, with its last byte.
TEST(TextStream, HoldsBackAnUnfinishedCharacter) {
  TextStream stream;
  EXPECT_EQ(stream.push("a\xE2"), "a");
  EXPECT_EQ(stream.push("\x82"), "");
  EXPECT_EQ(stream.push("\xAC"), "\xE2\x82\xAC");
  EXPECT_EQ(stream.finish(), "");
}

// Bytes that can never become a character arrive as one U+FFFD per maximal subpart (Unicode 15,
// section 3.9), whatever stands around them.
TEST(TextStream, ReplacesBrokenBytes) {
  EXPECT_EQ(all_at_once("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(all_at_once("\xF0\x9F\x92z"), "\xEF\xBF\xBDz");
  EXPECT_EQ(all_at_once("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(all_at_once("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(all_at_once("end\xE2\x82"), "end\xEF\xBF\xBD");
}

// Text that may be the start of a stop string waits until it is decided.
TEST(TextStream, HoldsBackTheStartOfAStop) {
  TextStream stream({"STOP"});
  EXPECT_EQ(stream.push("go ST"), "go ");
  EXPECT_EQ(stream.push("ART S"), "START ");
  EXPECT_EQ(stream.push("TO"), "");
  EXPECT_EQ(stream.finish(), "STO");
  EXPECT_FALSE(stream.stopped());
}

// A stop string spread over tokens ends the text before its first character; nothing follows.
TEST(TextStream, StopsAcrossTokens) {
  TextStream stream({"\n\n", "END"});
  EXPECT_EQ(stream.push("line\n"), "line");
  EXPECT_EQ(stream.push("\nmore"), "");
  EXPECT_TRUE(stream.stopped());
  EXPECT_EQ(stream.push("more"), "");
  EXPECT_EQ(stream.finish(), "");
}

// Of two stop strings the one that is complete first wins, also inside one token.
TEST(TextStream, TheFirstCompleteStopWins) {
  EXPECT_EQ(all_at_once("abcdef", {"cdef", "de"}), "abc");
  EXPECT_EQ(all_at_once("abcdef", {"ef", "cdef"}), "ab");
}

// Where tokens begin and end changes nothing: any cutting gives the text of the whole, and the text
// of the whole is what stands before the first occurrence of the stop.
TEST(TextStream, CuttingDoesNotMatter) {
  units::Prng prng(7);
  const std::vector<std::string> alphabet = {"a", "b", "ab", "\xC3\xA4", "\xF0\x9F\x98\x80"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 20; ++i) text += alphabet[prng.below(alphabet.size())];
    const std::vector<std::string> stops = {"aab\xC3\xA4"};
    const std::string expected = text.substr(0, text.find(stops[0]));
    EXPECT_EQ(all_at_once(text, stops), expected);
    EXPECT_EQ(in_parts(text, stops, prng), expected);
  }
}

}  // namespace
}  // namespace tidegate::engines
