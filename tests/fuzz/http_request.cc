// Whatever the bytes and whatever pieces they come in, the reader ends with the same request or
// with none, consumes no more than it was given, and keeps to its limits.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/request_reader.h"
#include "units/check.h"

using namespace tidegate;
using State = net::RequestReader::State;

namespace {

// Longer lines may be refused earlier when they come in pieces.
constexpr std::size_t kComparedBytes = 4096;

net::Limits limits() {
  net::Limits made;
  made.target_bytes = 100;
  made.header_bytes = 1000;
  made.body_bytes = 200;
  return made;
}

struct Read {
  State state = State::kHead;
  std::size_t consumed = 0;
  net::Request request;
};

Read read(std::string_view bytes, std::size_t piece_bytes) {
  net::RequestReader reader(limits());
  Read result;
  std::size_t known = 0;
  while (known < bytes.size() && reader.state() < State::kComplete) {
    known = std::min(bytes.size(), known + piece_bytes);
    const std::string_view unread = bytes.substr(result.consumed, known - result.consumed);
    const std::size_t used = reader.feed(unread);
    TIDEGATE_CHECK(used <= unread.size());
    result.consumed += used;
  }
  result.state = reader.state();
  if (result.state == State::kRefused) {
    TIDEGATE_CHECK(reader.refused_status() >= 400 && !reader.keep_alive());
  }
  if (result.state == State::kComplete) result.request = reader.take();
  return result;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer gives the name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Read whole = read(bytes, bytes.size());
  TIDEGATE_CHECK(whole.request.body.size() <= limits().body_bytes);
  TIDEGATE_CHECK(whole.request.target.size() <= limits().target_bytes);
  if (size > kComparedBytes) return 0;
  for (const std::size_t piece_bytes : {1U, 7U}) {
    const Read pieces = read(bytes, piece_bytes);
    // A fault may show a few bytes later in pieces, but never as a complete request.
    TIDEGATE_CHECK((pieces.state == State::kComplete) == (whole.state == State::kComplete));
    if (whole.state != State::kComplete) continue;
    TIDEGATE_CHECK(pieces.consumed == whole.consumed);
    TIDEGATE_CHECK(pieces.request.method == whole.request.method);
    TIDEGATE_CHECK(pieces.request.target == whole.request.target);
    TIDEGATE_CHECK(pieces.request.headers == whole.request.headers);
    TIDEGATE_CHECK(pieces.request.body == whole.request.body);
  }
  return 0;
}
