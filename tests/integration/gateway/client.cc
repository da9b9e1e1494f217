#include "client.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace tidegate::gateway {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string unchunked(const std::string& body) {
  std::string out;
  std::size_t at = 0;
  while (at < body.size()) {
    const std::size_t line = body.find("\r\n", at);
    if (line == std::string::npos) break;
    const std::size_t size = std::stoul(body.substr(at, line - at), nullptr, 16);
    out += body.substr(line + 2, size);
    at = line + 2 + size + 2;
  }
  return out;
}

}  // namespace

std::string Reply::header(const std::string& name) const {
  const std::string key = "\r\n" + name + ": ";
  const std::size_t at = head.find(key);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + key.size();
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::string bytes_of(const Question& question) {
  std::string bytes =
      question.method + " " + question.path + " HTTP/1.1\r\nhost: test\r\nconnection: close\r\n";
  for (const std::string& header : question.headers) bytes += header + "\r\n";
  if (!question.body.empty()) {
    bytes += "content-type: application/json\r\ncontent-length: " +
             std::to_string(question.body.size()) + "\r\n";
  }
  return bytes + "\r\n" + question.body;
}

Client::Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  const sockaddr_in address = loopback(port);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket_, generic, sizeof address) != 0) throw std::runtime_error("connect");
}

Client::~Client() {
  vanish();
}

void Client::vanish() {
  if (socket_ < 0) return;
  ::close(socket_);
  socket_ = -1;
}

void Client::send(const Question& question) {
  const std::string bytes = bytes_of(question);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
}

const std::string& Client::read_until(const std::string& text) {
  char buffer[4096];
  while (text.empty() || received_.find(text) == std::string::npos) {
    const ssize_t n = ::recv(socket_, buffer, sizeof buffer, 0);
    if (n <= 0) break;
    received_.append(buffer, static_cast<std::size_t>(n));
  }
  return received_;
}

Reply Client::reply() {
  read_until("");
  Reply reply;
  const std::size_t end = received_.find("\r\n\r\n");
  if (end == std::string::npos) return reply;
  reply.head = lower(received_.substr(0, end + 2));
  reply.status = std::stoi(reply.head.substr(9, 3));
  const std::string body = received_.substr(end + 4);
  const bool chunked = reply.header("transfer-encoding") == "chunked";
  reply.body = chunked ? unchunked(body) : body;
  return reply;
}

Reply ask(std::uint16_t port, const Question& question) {
  Client client(port);
  client.send(question);
  return client.reply();
}

}  // namespace tidegate::gateway
