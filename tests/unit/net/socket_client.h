// A caller made of one blocking socket, for tests: sends exactly the bytes it is told to, reads
// answers, and goes away in the ways that callers do. And a server under test whose handler can be
// waited for. Every wait is for a condition, with a long limit that only a failing test reaches.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/server.h"

namespace tidegate::net::testing {

inline constexpr std::chrono::seconds kPatience{30};

class SocketClient {
 public:
  explicit SocketClient(std::uint16_t port, int receive_buffer_bytes = 0) {
    fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
    if (receive_buffer_bytes > 0) {
      setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
    }
    timeval patience{};
    patience.tv_sec = kPatience.count();
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr generic{};
    std::memcpy(&generic, &address, sizeof address);
    connected_ = ::connect(fd_, &generic, sizeof address) == 0;
  }
  ~SocketClient() { close(); }
  SocketClient(SocketClient&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        connected_(other.connected_),
        inbox_(std::move(other.inbox_)) {}
  SocketClient(const SocketClient&) = delete;
  SocketClient& operator=(const SocketClient&) = delete;

  bool connected() const { return connected_; }
  int descriptor() const { return fd_; }

  // False when the other side closed first.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // Everything up to and including `mark`; what there was when the other side closed before.
  std::string read_until(std::string_view mark) {
    for (;;) {
      const std::size_t at = inbox_.find(mark);
      if (at != std::string::npos) return take(at + mark.size());
      if (!receive()) return take(inbox_.size());
    }
  }

  std::string read_bytes(std::size_t count) {
    while (inbox_.size() < count && receive()) {
    }
    return take(std::min(count, inbox_.size()));
  }

  // Until the other side closes; nullopt when it does not.
  std::optional<std::string> read_all() {
    while (receive()) {
    }
    if (timed_out_) return std::nullopt;
    return take(inbox_.size());
  }

  // One answer with a content-length: its head and its body.
  std::pair<std::string, std::string> read_answer() {
    std::string head = read_until("\r\n\r\n");
    const std::size_t at = head.find("content-length: ");
    if (at == std::string::npos) return {head, ""};
    return {head, read_bytes(std::stoul(head.substr(at + 16)))};
  }

  void half_close() { ::shutdown(fd_, SHUT_WR); }
  // As the kernel does for a killed process.
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  // Closes with a reset instead of a goodbye.
  void reset() {
    const linger now{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }

 private:
  bool receive() {
    char buffer[4096];
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    timed_out_ = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (got <= 0) return false;
    inbox_.append(buffer, static_cast<std::size_t>(got));
    return true;
  }

  std::string take(std::size_t count) {
    std::string taken = inbox_.substr(0, count);
    inbox_.erase(0, count);
    return taken;
  }

  int fd_ = -1;
  bool connected_ = false;
  bool timed_out_ = false;
  std::string inbox_;
};

// Things that happen on other threads, to be waited for in order.
template <class Thing>
class Arrivals {
 public:
  void put(Thing thing) {
    const std::lock_guard lock(mutex_);
    things_.push_back(std::move(thing));
    arrived_.notify_all();
  }
  // What has come already, without waiting.
  std::optional<Thing> poll() {
    const std::lock_guard lock(mutex_);
    if (things_.empty()) return {};
    Thing thing = std::move(things_.front());
    things_.pop_front();
    return thing;
  }
  // Nullopt when nothing came for a very long time.
  std::optional<Thing> next() {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, kPatience, [this] { return !things_.empty(); })) return {};
    Thing thing = std::move(things_.front());
    things_.pop_front();
    return thing;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Thing> things_;
};

// A server whose requests are handed to the test, which answers them itself.
class ServerUnderTest {
 public:
  explicit ServerUnderTest(Limits limits = {}, Handler handler = nullptr) {
    ServerOptions options;
    options.limits = limits;
    options.threads = 2;
    if (!handler) {
      handler = [this](std::shared_ptr<Exchange> exchange) { exchanges_.put(std::move(exchange)); };
    }
    auto listening = Server::listen(std::move(options), std::move(handler));
    EXPECT_TRUE(listening.has_value());
    server_ = std::move(*listening);
    server_->start();
  }

  Server& server() { return *server_; }
  SocketClient connect(int receive_buffer_bytes = 0) {
    return SocketClient(server_->port(), receive_buffer_bytes);
  }
  // The next request, as the handler saw it.
  std::shared_ptr<Exchange> next() { return exchanges_.next().value_or(nullptr); }

 private:
  Arrivals<std::shared_ptr<Exchange>> exchanges_;
  std::unique_ptr<Server> server_;
};

inline std::string get(std::string_view target = "/") {
  return "GET " + std::string(target) + " HTTP/1.1\r\nhost: test\r\n\r\n";
}

inline std::string post(std::string_view body, std::string_view more_headers = "") {
  return "POST / HTTP/1.1\r\nhost: test\r\n" + std::string(more_headers) +
         "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

// Registers for the end of an exchange; wait for it with next().
inline std::shared_ptr<Arrivals<CloseReason>> watch(Exchange& exchange) {
  auto ends = std::make_shared<Arrivals<CloseReason>>();
  exchange.on_closed([ends](CloseReason reason) { ends->put(reason); });
  return ends;
}

}  // namespace tidegate::net::testing
