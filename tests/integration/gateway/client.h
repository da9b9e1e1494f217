// A plain HTTP client for tests: one connection, bytes out, bytes in, nothing hidden. Blocking; one
// owner.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tidegate::gateway {

struct Reply {
  int status = 0;
  std::string head;  // status line and headers, lower-case
  std::string body;  // without chunk framing

  // The value of a header; empty when absent.
  std::string header(const std::string& name) const;
};

struct Question {
  std::string method;
  std::string path;
  std::string body = {};
  std::vector<std::string> headers = {};  // whole lines
};

// The request as it is sent; it asks the server to close afterwards.
std::string bytes_of(const Question& question);
sockaddr_in loopback(std::uint16_t port);

class Client {
 public:
  explicit Client(std::uint16_t port);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Sends a request that asks the server to close afterwards.
  void send(const Question& question);
  // Reads until `text` was received or the server closed; everything so far, framing included.
  const std::string& read_until(const std::string& text);
  // Reads until the server closes.
  Reply reply();
  // Closes at once, with what it has not read.
  void vanish();

 private:
  int socket_;
  std::string received_;
};

// One request and its whole answer.
Reply ask(std::uint16_t port, const Question& question);

}  // namespace tidegate::gateway
