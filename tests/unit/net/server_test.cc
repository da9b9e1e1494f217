#include "net/server.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "socket_client.h"

namespace tidegate::net {
namespace {

using testing::get;
using testing::post;
using testing::ServerUnderTest;
using testing::SocketClient;
using testing::watch;

Handler echo() {
  return [](const std::shared_ptr<Exchange>& exchange) {
    const Request& request = exchange->request();
    exchange->respond(200, {{"content-type", "text/plain"}},
                      request.method + " " + request.target + " " + request.body);
  };
}

// One connection carries many requests, one after the other and pipelined, answered in order.
TEST(Server, KeepsConnectionsAlive) {
  ServerUnderTest under_test({}, echo());
  SocketClient client = under_test.connect();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.send(post("n" + std::to_string(i))));
    const auto [head, body] = client.read_answer();
    EXPECT_EQ(head.substr(0, 17), "HTTP/1.1 200 OK\r\n");
    EXPECT_EQ(body, "POST / n" + std::to_string(i));
  }
  ASSERT_TRUE(client.send(get("/a") + get("/b") + post("c")));
  EXPECT_EQ(client.read_answer().second, "GET /a ");
  EXPECT_EQ(client.read_answer().second, "GET /b ");
  EXPECT_EQ(client.read_answer().second, "POST / c");
}

// A caller that asks for close, or speaks 1.0, sees the end of the connection as the end.
TEST(Server, ClosesWhenAsked) {
  ServerUnderTest under_test({}, echo());
  SocketClient client = under_test.connect();
  client.send("GET /x HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  const auto answer = client.read_all();
  ASSERT_TRUE(answer.has_value());
  EXPECT_NE(answer->find("connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(answer->ends_with("GET /x "));
}

// A chunked upload arrives as one body, however it is cut, and "100 Continue" comes first if asked.
TEST(Server, TakesChunkedUploads) {
  ServerUnderTest under_test({}, echo());
  SocketClient client = under_test.connect();
  client.send(
      "POST /up HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  for (const char* piece : {"3\r", "\nab", "c\r\n", "1\r\nd\r\n0", "\r\n\r\n"}) client.send(piece);
  EXPECT_EQ(client.read_answer().second, "POST /up abcd");
}

// A 3 MB body is read whole.
TEST(Server, TakesLargeBodies) {
  ServerUnderTest under_test;
  SocketClient client = under_test.connect();
  const std::string body(3'000'000, 'p');
  std::thread sender([&] { EXPECT_TRUE(client.send(post(body))); });
  const auto exchange = under_test.next();
  sender.join();
  ASSERT_NE(exchange, nullptr);
  EXPECT_EQ(exchange->request().body, body);
  exchange->respond(204, {}, "");
  EXPECT_EQ(client.read_answer().first.substr(0, 12), "HTTP/1.1 204");
}

// The answer to HEAD has the length of the body and no body.
TEST(Server, AnswersHeadWithoutBody) {
  ServerUnderTest under_test({}, echo());
  SocketClient client = under_test.connect();
  client.send("HEAD /h HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  const auto answer = client.read_all();
  ASSERT_TRUE(answer.has_value());
  EXPECT_NE(answer->find("content-length: 8\r\n"), std::string::npos);
  EXPECT_TRUE(answer->ends_with("\r\n\r\n"));
}

// Each write goes out at once as a chunk; finish adds the end mark, and the exchange is done.
TEST(Server, StreamsChunks) {
  ServerUnderTest under_test;
  SocketClient client = under_test.connect();
  client.send(get());
  const auto exchange = under_test.next();
  ASSERT_NE(exchange, nullptr);
  const auto ends = watch(*exchange);
  ASSERT_TRUE(exchange->begin_stream(200, {{"content-type", "text/event-stream"}}));
  EXPECT_NE(client.read_until("\r\n\r\n").find("transfer-encoding: chunked"), std::string::npos);
  ASSERT_TRUE(exchange->write("hello"));
  EXPECT_EQ(client.read_until("\r\nhello\r\n"), "5\r\nhello\r\n");
  ASSERT_TRUE(exchange->write("data: 1\n\n"));
  ASSERT_TRUE(exchange->finish());
  EXPECT_EQ(client.read_until("0\r\n\r\n"), "9\r\ndata: 1\n\n\r\n0\r\n\r\n");
  EXPECT_EQ(ends->next(), CloseReason::kDone);
  EXPECT_FALSE(exchange->write("late"));
  client.send(get("/again"));
  const auto second = under_test.next();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->request().target, "/again");
}

// cut sends what is queued, then closes without the end mark, so that a stream is seen to be
// broken.
TEST(Server, CutLeavesTheStreamVisiblyBroken) {
  ServerUnderTest under_test;
  SocketClient client = under_test.connect();
  client.send(get());
  const auto exchange = under_test.next();
  ASSERT_NE(exchange, nullptr);
  const auto ends = watch(*exchange);
  exchange->begin_stream(200, {});
  exchange->write("event");
  EXPECT_TRUE(exchange->cut());
  const auto answer = client.read_all();
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(answer->ends_with("5\r\nevent\r\n"));
  EXPECT_EQ(ends->next(), CloseReason::kCut);
}

// A handler that forgets its exchange does not leave the caller waiting.
TEST(Server, DroppedExchangeClosesTheConnection) {
  ServerUnderTest under_test({}, [](const std::shared_ptr<Exchange>&) {});
  SocketClient client = under_test.connect();
  client.send(get());
  EXPECT_EQ(client.read_all(), "");
}

// Calls out of order do nothing and say so; the callback of an ended exchange runs at once.
TEST(Server, CallsOutOfOrderAreRefused) {
  ServerUnderTest under_test;
  SocketClient client = under_test.connect();
  client.send(get());
  const auto exchange = under_test.next();
  ASSERT_NE(exchange, nullptr);
  EXPECT_FALSE(exchange->write("before begin"));
  EXPECT_FALSE(exchange->finish());
  EXPECT_TRUE(exchange->respond(200, {}, "once"));
  EXPECT_FALSE(exchange->respond(200, {}, "twice"));
  EXPECT_FALSE(exchange->begin_stream(200, {}));
  EXPECT_EQ(client.read_answer().second, "once");
  EXPECT_EQ(watch(*exchange)->next(), CloseReason::kDone);
}

enum class Leaving { kClose, kReset, kHalfClose };

void leave(SocketClient& client, Leaving how) {
  if (how == Leaving::kClose) client.close();
  if (how == Leaving::kReset) client.reset();
  if (how == Leaving::kHalfClose) client.half_close();
}

// One caller leaves in the given way, before its answer began or in the middle of it.
void expect_noticed(ServerUnderTest& under_test, Leaving how, bool streaming) {
  SocketClient client = under_test.connect();
  client.send(post("x"));
  const auto exchange = under_test.next();
  ASSERT_NE(exchange, nullptr);
  const auto ends = watch(*exchange);
  if (streaming) {
    exchange->begin_stream(200, {});
    exchange->write("first");
    client.read_until("first\r\n");
  }
  leave(client, how);
  EXPECT_EQ(ends->next(), CloseReason::kPeerGone);
  EXPECT_FALSE(exchange->write("to nobody"));
  EXPECT_FALSE(exchange->respond(200, {}, "to nobody"));
}

// A caller that leaves is noticed at once, however it leaves: while nothing was answered yet (as in
// a queue) and while streaming with nothing to send.
TEST(Server, NoticesCallersThatLeave) {
  ServerUnderTest under_test;
  for (const Leaving how : {Leaving::kClose, Leaving::kReset, Leaving::kHalfClose}) {
    expect_noticed(under_test, how, false);
    expect_noticed(under_test, how, true);
  }
}

// Leaving is noticed also behind bytes of a next request that the caller had already sent.
TEST(Server, NoticesLeavingBehindPipelinedBytes) {
  ServerUnderTest under_test;
  SocketClient client = under_test.connect();
  client.send(get("/first") + get("/second"));
  const auto exchange = under_test.next();
  ASSERT_NE(exchange, nullptr);
  const auto ends = watch(*exchange);
  client.close();
  EXPECT_EQ(ends->next(), CloseReason::kPeerGone);
}

// After stop_accepting running answers are finished, then their connections close; idle ones close
// at once and new ones are refused.
TEST(Server, DrainsWithoutCuttingAnswers) {
  ServerUnderTest under_test({}, nullptr);
  SocketClient busy = under_test.connect();
  SocketClient idle = under_test.connect();
  idle.send(get("/idle"));
  under_test.next()->respond(200, {}, "");
  idle.read_answer();
  busy.send(get("/busy"));
  const auto exchange = under_test.next();
  ASSERT_NE(exchange, nullptr);
  under_test.server().stop_accepting();
  EXPECT_EQ(idle.read_all(), "");
  exchange->respond(200, {}, "finished");
  const auto answer = busy.read_all();
  ASSERT_TRUE(answer.has_value());
  EXPECT_NE(answer->find("connection: close"), std::string::npos);
  EXPECT_TRUE(answer->ends_with("finished"));
  EXPECT_FALSE(under_test.connect().connected());
}

// shutdown ends what is still under way, once, and says so to whoever watches.
TEST(Server, ShutdownEndsEveryExchange) {
  ServerUnderTest under_test;
  SocketClient client = under_test.connect();
  client.send(get());
  const auto exchange = under_test.next();
  ASSERT_NE(exchange, nullptr);
  const auto ends = watch(*exchange);
  under_test.server().shutdown();
  EXPECT_EQ(ends->next(), CloseReason::kShutdown);
  EXPECT_EQ(client.read_all(), "");
  EXPECT_FALSE(exchange->respond(200, {}, "late"));
  under_test.server().shutdown();
  EXPECT_EQ(under_test.server().stats().open, 0U);
}

// What cannot be listened on is an error that names it.
TEST(Server, ListenErrorsNameTheAddress) {
  ServerOptions bad_address;
  bad_address.address = "nowhere";
  auto refused = Server::listen(std::move(bad_address), echo());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().where, "nowhere:0");

  ServerUnderTest under_test({}, echo());
  ServerOptions taken_port;
  taken_port.port = under_test.server().port();
  refused = Server::listen(std::move(taken_port), echo());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().where, "127.0.0.1:" + std::to_string(under_test.server().port()));
}

}  // namespace
}  // namespace tidegate::net
