#include "engines/text_stream.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace tidegate::engines {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Lead {
  std::size_t length = 0;    // of the whole character; 0: no character starts with this byte
  unsigned char low = 0x80;  // bounds of the second byte (Unicode, table 3-7)
  unsigned char high = 0xBF;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {};
}

struct Scan {
  std::size_t length = 0;  // bytes that belong together
  bool valid = false;
  bool complete = true;
};

// The first character of `bytes`, or the longest start of one (Unicode's "maximal subpart").
Scan scan(std::string_view bytes) {
  const Lead lead = lead_of(static_cast<unsigned char>(bytes[0]));
  if (lead.length == 0) return {1, false, true};
  std::size_t n = 1;
  while (n < lead.length && n < bytes.size()) {
    const auto byte = static_cast<unsigned char>(bytes[n]);
    const bool fits = n == 1 ? byte >= lead.low && byte <= lead.high : (byte & 0xC0U) == 0x80U;
    if (!fits) return {n, false, true};
    ++n;
  }
  return {n, n == lead.length, n == lead.length};
}

struct Match {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The stop string that ends first in `text`; among those ending there, the longest.
std::optional<Match> first_stop(std::string_view text, const std::vector<std::string>& stops) {
  std::optional<Match> best;
  for (const std::string& stop : stops) {
    const std::size_t at = text.find(stop);
    if (at == std::string_view::npos) continue;
    const Match found{at, at + stop.size()};
    if (!best || found.end < best->end || (found.end == best->end && at < best->begin)) {
      best = found;
    }
  }
  return best;
}

// Length of the longest end of `text` that is a proper start of a stop string.
std::size_t undecided(std::string_view text, const std::vector<std::string>& stops) {
  std::size_t longest = 0;
  for (const std::string& stop : stops) {
    const std::size_t limit = std::min(text.size(), stop.size() - 1);
    for (std::size_t n = limit; n > longest; --n) {
      if (text.substr(text.size() - n) == std::string_view(stop).substr(0, n)) longest = n;
    }
  }
  return longest;
}

}  // namespace

TextStream::TextStream(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase_if(stops_, [](const std::string& stop) { return stop.empty(); });
}

void TextStream::take_characters() {
  std::size_t at = 0;
  while (at < raw_.size()) {
    const Scan next = scan(std::string_view(raw_).substr(at));
    if (!next.complete) break;
    held_ += next.valid ? std::string_view(raw_).substr(at, next.length) : kReplacement;
    at += next.length;
  }
  raw_.erase(0, at);
}

std::string TextStream::release() {
  if (const auto match = first_stop(held_, stops_)) {
    stopped_ = true;
    raw_.clear();
    std::string shown = held_.substr(0, match->begin);
    held_.clear();
    return shown;
  }
  const std::size_t keep = undecided(held_, stops_);
  std::string shown = held_.substr(0, held_.size() - keep);
  held_.erase(0, shown.size());
  return shown;
}

std::string TextStream::push(std::string_view bytes) {
  if (stopped_) return {};
  raw_ += bytes;
  take_characters();
  return release();
}

std::string TextStream::finish() {
  if (stopped_) return {};
  if (!raw_.empty()) held_ += kReplacement;
  raw_.clear();
  return std::exchange(held_, {});
}

}  // namespace tidegate::engines
