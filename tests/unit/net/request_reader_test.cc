#include "net/request_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace tidegate::net {
namespace {

using State = RequestReader::State;

Limits small_limits() {
  Limits limits;
  limits.target_bytes = 64;
  limits.header_bytes = 512;
  limits.body_bytes = 100;
  return limits;
}

// Feeds all of it at once and returns the bytes that were left.
std::string_view feed_all(RequestReader& reader, std::string_view bytes) {
  return bytes.substr(reader.feed(bytes));
}

// Feeds one byte more at a time, as a slow network would deliver them.
void feed_slowly(RequestReader& reader, std::string_view bytes) {
  std::string unread;
  for (const char byte : bytes) {
    unread.push_back(byte);
    unread.erase(0, reader.feed(unread));
  }
}

int refused_status(std::string_view bytes, const Limits& limits = small_limits()) {
  RequestReader reader(limits);
  feed_all(reader, bytes);
  return reader.state() == State::kRefused ? reader.refused_status() : 0;
}

// A request is read the same whatever pieces its bytes come in.
TEST(RequestReader, PiecesDoNotMatter) {
  const std::string bytes =
      "POST /v1?a=b HTTP/1.1\r\nHost: x\r\nX-Mixed-Case:  spaced  \r\n"
      "Transfer-Encoding: chunked\r\n\r\n3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: no\r\n\r\n";
  for (const bool slowly : {false, true}) {
    RequestReader reader(small_limits());
    if (slowly)
      feed_slowly(reader, bytes);
    else
      EXPECT_EQ(feed_all(reader, bytes), "");
    ASSERT_EQ(reader.state(), State::kComplete);
    const Request request = reader.take();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.target, "/v1?a=b");
    EXPECT_EQ(request.body, "abcde");
    const Headers expected = {
        {"host", "x"}, {"x-mixed-case", "spaced"}, {"transfer-encoding", "chunked"}};
    EXPECT_EQ(request.headers, expected);
    EXPECT_TRUE(reader.keep_alive());
  }
}

// What follows a complete request is left for the next one.
TEST(RequestReader, LeavesPipelinedBytes) {
  RequestReader reader(small_limits());
  const std::string_view left = feed_all(
      reader, "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nhiGET / HTTP/1.1\r\n");
  EXPECT_EQ(reader.state(), State::kComplete);
  EXPECT_EQ(left, "GET / HTTP/1.1\r\n");
  EXPECT_EQ(reader.take().body, "hi");
}

// An empty line before the request line is skipped (RFC 9112, 2.2).
TEST(RequestReader, SkipsOneEmptyLine) {
  RequestReader reader(small_limits());
  feed_slowly(reader, "\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n");
  EXPECT_EQ(reader.state(), State::kComplete);
}

// Persistence follows the version and the connection header (RFC 9112, 9.3).
TEST(RequestReader, KeepAliveFollowsVersionAndHeader) {
  const std::vector<std::pair<std::string, bool>> cases = {
      {"GET / HTTP/1.1\r\nhost: x\r\n\r\n", true},
      {"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", false},
      {"GET / HTTP/1.0\r\n\r\n", false},
      {"GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n", true},
  };
  for (const auto& [bytes, keeps] : cases) {
    RequestReader reader(small_limits());
    feed_all(reader, bytes);
    ASSERT_EQ(reader.state(), State::kComplete) << bytes;
    EXPECT_EQ(reader.keep_alive(), keeps) << bytes;
  }
}

// "100 Continue" is wanted exactly between the head and the first byte of the body.
TEST(RequestReader, WantsContinueBeforeTheBody) {
  RequestReader reader(small_limits());
  feed_all(reader,
           "POST / HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
  EXPECT_TRUE(reader.wants_continue());
  feed_all(reader, "h");
  EXPECT_FALSE(reader.wants_continue());
}

// Whatever two parsers could take for two different requests is refused with 400.
TEST(RequestReader, RefusesWhatCanBeReadTwoWays) {
  const std::string start = "POST / HTTP/1.1\r\nhost: x\r\n";
  const std::vector<std::string> smuggled = {
      start + "content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      start + "transfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n0\r\n\r\n",
      start + "content-length: 3\r\ncontent-length: 4\r\n\r\nabcd",
      start + "content-length: 3\r\ncontent-length: 3\r\n\r\nabc",
      start + "content-length: 3, 3\r\n\r\nabc",
      start + "content-length: +3\r\n\r\nabc",
      start + "content-length: -1\r\n\r\n",
      start + "content-length: 0x3\r\n\r\nabc",
      start + "content-length: 99999999999999999999999\r\n\r\n",
      start + "content-length:\r\n\r\n",
      start + "transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      start + "transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
      start + "transfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
      start + "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      start + "transfer-encoding:\x0b" + "chunked\r\n\r\n0\r\n\r\n",
      start + "transfer-encoding : chunked\r\n\r\n0\r\n\r\n",
      start + "x: a\r\n folded\r\n\r\n",
      start + "x: a\r\n\tfolded\r\n\r\n",
      start + " leading: space\r\n\r\n",
      start + "no colon\r\n\r\n",
      start + ": no name\r\n\r\n",
      start + "b@d: name\r\n\r\n",
      start + "x: bare\rreturn\r\n\r\n",
      start + "x: bare\nfeed\r\n\r\n",
      start + std::string("x: n\0l\r\n\r\n", 10),
      start + "host: y\r\n\r\n",
      "GET / HTTP/1.1\r\nx: no host\r\n\r\n",
      "GET / HTTP/1.1\nhost: x\n\n",
      "GET / HTTP/2.0\r\nhost: x\r\n\r\n",
      "GET / HTTP/1.9\r\nhost: x\r\n\r\n",
      "GET /\r\n\r\n",
      "GET  / HTTP/1.1\r\nhost: x\r\n\r\n",
      "G@T / HTTP/1.1\r\nhost: x\r\n\r\n",
      "POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      "\x16\x03\x01\x02\x01\x01\r\n\r\n",
  };
  for (const std::string& bytes : smuggled) EXPECT_EQ(refused_status(bytes), 400) << bytes;
}

// A chunked body whose framing is wrong is refused with 400, whatever is wrong with it.
TEST(RequestReader, RefusesBadChunks) {
  const std::string start = "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
  const std::vector<std::string> bodies = {
      "-2\r\nab\r\n0\r\n\r\n",
      "0x2\r\nab\r\n0\r\n\r\n",
      "zz\r\nab",
      "\r\nab\r\n0\r\n\r\n",
      "2\r\nabc\r\n0\r\n\r\n",
      "2\nab\r\n0\r\n\r\n",
      " 2\r\nab\r\n0\r\n\r\n",
      "2\r\nabXX0\r\n\r\n",
      "+2\r\nab\r\n0\r\n\r\n",
      "1" + std::string(40, '0') + "\r\n",
      "2;" + std::string(5000, 'e'),
  };
  for (const std::string& body : bodies) EXPECT_EQ(refused_status(start + body), 400) << body;
}

// A last chunk that drips in byte by byte is a whole body: Beast 1.81 by itself stops the process.
TEST(RequestReader, TakesADrippedLastChunk) {
  RequestReader reader(small_limits());
  feed_slowly(reader, "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n");
  ASSERT_EQ(reader.state(), State::kComplete);
  EXPECT_EQ(reader.take().body, "");
}

// Each bound has its status, and is enforced before the bytes beyond it are kept.
TEST(RequestReader, EnforcesBounds) {
  const std::string start = "POST / HTTP/1.1\r\nhost: x\r\n";
  EXPECT_EQ(refused_status(start + "content-length: 100\r\n\r\n"), 0);
  EXPECT_EQ(refused_status(start + "content-length: 101\r\n\r\n"), 413);
  EXPECT_EQ(refused_status(start + "transfer-encoding: chunked\r\n\r\n65\r\nx"), 413);
  const std::string chunk = "32\r\n" + std::string(50, 'x') + "\r\n";
  EXPECT_EQ(
      refused_status(start + "transfer-encoding: chunked\r\n\r\n" + chunk + chunk + "0\r\n\r\n"),
      0);
  EXPECT_EQ(
      refused_status(start + "transfer-encoding: chunked\r\n\r\n" + chunk + chunk + "1\r\nx\r\n"),
      413);
  EXPECT_EQ(refused_status(start + "x: " + std::string(600, 'x')), 431);
  EXPECT_EQ(refused_status("GET /" + std::string(64, 'x') + " HTTP/1.1\r\nhost: x\r\n\r\n"), 414);
  EXPECT_EQ(refused_status("GET /" + std::string(600, 'x')), 414);
  EXPECT_EQ(refused_status(start + "content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc"), 415);
  EXPECT_EQ(refused_status(start + "expect: 200-maybe\r\ncontent-length: 3\r\n\r\nabc"), 417);
}

}  // namespace
}  // namespace tidegate::net
