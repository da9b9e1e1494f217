#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "net/server.h"
#include "socket_client.h"

namespace tidegate::net {
namespace {

using testing::get;
using testing::post;
using testing::ServerUnderTest;
using testing::SocketClient;
using testing::watch;

Handler hello() {
  return [](const std::shared_ptr<Exchange>& exchange) { exchange->respond(200, {}, "hello"); };
}

// A refused request is answered with its status and the connection closes, nothing else is read.
TEST(ServerLimits, RefusesAndCloses) {
  Limits limits;
  limits.body_bytes = 1000;
  ServerUnderTest under_test(limits, hello());
  const std::vector<std::pair<std::string, std::string>> cases = {
      {post(std::string(1001, 'x')), "413"},
      {"GET /" + std::string(9000, 'x') + " HTTP/1.1\r\n", "414"},
      {"GET / HTTP/1.1\r\nhost: x\r\nx: " + std::string(40'000, 'x') + "\r\n\r\n", "431"},
      {"GET / HTTP/1.1\nhost: x\n\n" + get("/smuggled"), "400"},
      {"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n"
       "0\r\n\r\n" +
           get("/smuggled"),
       "400"},
  };
  for (const auto& [bytes, status] : cases) {
    SocketClient client = under_test.connect();
    client.send(bytes);
    const auto answer = client.read_all();
    ASSERT_TRUE(answer.has_value()) << status;
    EXPECT_EQ(answer->substr(0, 12), "HTTP/1.1 " + status);
    EXPECT_NE(answer->find("connection: close\r\n"), std::string::npos);
    EXPECT_EQ(answer->find("HTTP/1.1", 1), std::string::npos) << "a second answer";
  }
  EXPECT_EQ(under_test.server().stats().refused, cases.size());
}

// Refusals by the server look as the embedder wants them to.
TEST(ServerLimits, RefusalBodyIsTheEmbedders) {
  ServerOptions options;
  options.refusal_body = [](int status, std::string_view) {
    return std::pair(Headers{{"content-type", "application/json"}},
                     "{\"status\":" + std::to_string(status) + "}");
  };
  auto server = Server::listen(std::move(options), hello());
  ASSERT_TRUE(server.has_value());
  (*server)->start();
  SocketClient client((*server)->port());
  client.send("nonsense\r\n\r\n");
  const auto [head, body] = client.read_answer();
  EXPECT_NE(head.find("content-type: application/json"), std::string::npos);
  EXPECT_EQ(body, "{\"status\":400}");
}

// A head or a body that drips in is cut off, also when each byte is in time; nothing is answered.
TEST(ServerLimits, SlowlorisIsCutOff) {
  Limits limits;
  limits.header_timeout = std::chrono::milliseconds(50);
  limits.body_grace = std::chrono::milliseconds(50);
  limits.body_bytes_per_s = 1'000'000'000;
  limits.target_bytes = limits.header_bytes = 64 * kKiB * kKiB;
  ServerUnderTest under_test(limits, hello());
  const std::string head = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n";
  for (const std::string& start : {std::string("GET / HT"), std::string(), head}) {
    SocketClient silent = under_test.connect();
    silent.send(start);
    EXPECT_EQ(silent.read_all(), "");
    SocketClient dripping = under_test.connect();
    dripping.send(start);
    while (dripping.send("a")) {
    }
  }
  EXPECT_GE(under_test.server().stats().timed_out, 3U);
}

// A connection that waits between requests is closed after the idle time.
TEST(ServerLimits, IdleConnectionsAreClosed) {
  Limits limits;
  limits.idle_timeout = std::chrono::milliseconds(20);
  ServerUnderTest under_test(limits, hello());
  SocketClient client = under_test.connect();
  client.send(get());
  EXPECT_EQ(client.read_answer().second, "hello");
  EXPECT_EQ(client.read_all(), "");
}

// Writes fill the stream's buffer and are then refused: what a caller does not read is bounded.
// A caller that reads nothing at all ends as stalled.
TEST(ServerLimits, SlowReaderIsBoundedAndThenStalled) {
  Limits limits;
  limits.stream_buffer_bytes = 64 * kKiB;
  limits.write_stall_timeout = std::chrono::milliseconds(100);
  ServerUnderTest under_test(limits);
  SocketClient client = under_test.connect(4096);
  client.send(get());
  const auto exchange = under_test.next();
  ASSERT_NE(exchange, nullptr);
  const auto ends = watch(*exchange);
  exchange->begin_stream(200, {});
  const std::string piece(16 * kKiB, 'x');
  std::size_t taken = 0;
  std::optional<CloseReason> end;
  while (!end) {
    if (exchange->write(piece)) taken += piece.size();
    end = ends->poll();
  }
  EXPECT_EQ(end, CloseReason::kStalled);
  // The kernel's buffers on both sides hold some megabytes at most.
  EXPECT_LT(taken, 64 * kKiB * kKiB);
}

// A caller that does not read delays nobody else, not even on the same thread.
TEST(ServerLimits, SlowReaderDoesNotDelayOthers) {
  Limits limits;
  limits.stream_buffer_bytes = 64 * kKiB;
  ServerUnderTest under_test(limits);
  SocketClient slow = under_test.connect(4096);
  slow.send(get("/slow"));
  const auto stuck = under_test.next();
  ASSERT_NE(stuck, nullptr);
  stuck->begin_stream(200, {});
  for (int i = 0; i < 20; ++i) {
    while (stuck->write(std::string(16 * kKiB, 'x'))) {
    }
    SocketClient quick = under_test.connect();
    quick.send(get("/quick"));
    under_test.next()->respond(200, {}, "here");
    EXPECT_EQ(quick.read_answer().second, "here");
  }
}

// At the cap a further connection is told 503 and closed; when one leaves there is room again.
TEST(ServerLimits, ConnectionCapAnswers503) {
  Limits limits;
  limits.connections = 2;
  ServerUnderTest under_test(limits, hello());
  std::vector<SocketClient> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(under_test.connect());
    clients.back().send(get());
    EXPECT_EQ(clients.back().read_answer().second, "hello");
  }
  SocketClient third = under_test.connect();
  const auto answer = third.read_all();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->substr(0, 12), "HTTP/1.1 503");
  EXPECT_EQ(under_test.server().stats().over_capacity, 1U);

  third.close();
  clients.clear();
  std::string status;
  while (status != "HTTP/1.1 200") {
    SocketClient later = under_test.connect();
    later.send(get());
    status = later.read_answer().first.substr(0, 12);
  }
}

// A thousand callers at once are all answered, and none of them leaves anything behind.
TEST(ServerLimits, ThousandConcurrentConnections) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < 4200) {
    files.rlim_cur = std::min<rlim_t>(4200, files.rlim_max);
    setrlimit(RLIMIT_NOFILE, &files);
  }
  if (files.rlim_cur < 4200) GTEST_SKIP() << "too few file descriptors are allowed here";
  ServerUnderTest under_test({}, hello());
  {
    std::vector<SocketClient> clients;
    for (int i = 0; i < 1000; ++i) clients.push_back(under_test.connect());
    for (SocketClient& client : clients) ASSERT_TRUE(client.send(get()));
    for (SocketClient& client : clients) ASSERT_EQ(client.read_answer().second, "hello");
    EXPECT_EQ(under_test.server().stats().accepted, 1000U);
  }
  under_test.server().shutdown();
  EXPECT_EQ(under_test.server().stats().open, 0U);
}

}  // namespace
}  // namespace tidegate::net
