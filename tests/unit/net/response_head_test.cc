#include "net/response_head.h"

#include <gtest/gtest.h>

namespace tidegate::net {
namespace {

// The framing headers are ours alone, and a value cannot smuggle in another header or body.
TEST(ResponseHead, HeadersCannotBreakOut) {
  ResponseHead head;
  head.status = 200;
  head.content_length = 5;
  const std::string bytes = response_head(
      head, {{"x-a", "1\r\nset-cookie: evil"}, {"content-length", "9"}, {"bad name", "x"}});
  EXPECT_EQ(bytes, "HTTP/1.1 200 OK\r\nx-a: 1  set-cookie: evil\r\ncontent-length: 5\r\n\r\n");
}

// Without a length the answer is chunked to 1.1 callers and ended by closing to 1.0 callers.
TEST(ResponseHead, FramingFollowsVersion) {
  ResponseHead head;
  EXPECT_EQ(response_head(head, {}), "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
  head.version = 10;
  EXPECT_EQ(response_head(head, {}), "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
  head.content_length = 0;
  EXPECT_EQ(response_head(head, {}),
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive\r\n\r\n");
}

}  // namespace
}  // namespace tidegate::net
