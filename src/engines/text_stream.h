// Turns the bytes of tokens into text that may be shown: whole UTF-8 characters, and nothing that
// might still turn out to be the start of a stop string. A pure value with one owner; no threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engines {

class TextStream {
 public:
  // Empty stop strings are ignored.
  explicit TextStream(std::vector<std::string> stops = {});

  // Adds the bytes of one token and returns the text that became certain. Once a stop string is
  // complete (the one that ends first; among those the longest), stopped() holds, the text before
  // it is returned, and later bytes are ignored. Linear in the bytes held back times the stops.
  std::string push(std::string_view bytes);
  // The rest, when nothing more will come: what was held back for a stop string, and U+FFFD for a
  // broken character. Empty after a stop.
  std::string finish();
  bool stopped() const { return stopped_; }

 private:
  void take_characters();
  std::string release();

  std::vector<std::string> stops_;
  std::string raw_;   // bytes that are not a whole character yet
  std::string held_;  // characters that may begin a stop string
  bool stopped_ = false;
};

}  // namespace tidegate::engines
