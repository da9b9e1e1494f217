#include "caller_process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace tidegate::gateway {
namespace {

// After a fork of a process with threads only system calls are safe: no allocation, no exception.
[[noreturn]] void live(const sockaddr_in& address, const std::string& bytes, int answer,
                       bool reads) {
  // What the parent has open must not stay open through this process.
  ::dup2(answer, 0);
  ::close_range(1, ~0U, 0);
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket, generic, sizeof address) != 0) ::_exit(1);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) ::_exit(1);
    sent += static_cast<std::size_t>(n);
  }
  char buffer[4096];
  for (;;) {
    if (!reads) {
      ::pause();
      continue;
    }
    const ssize_t n = ::recv(socket, buffer, sizeof buffer, 0);
    if (n <= 0 || ::write(0, buffer, static_cast<std::size_t>(n)) != n) ::_exit(0);
  }
}

}  // namespace

CallerProcess::CallerProcess(std::uint16_t port, const Question& question, Reads reads) {
  const std::string bytes = bytes_of(question);
  const sockaddr_in address = loopback(port);
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("pipe");
  process_ = ::fork();
  if (process_ == 0) live(address, bytes, ends[1], reads == Reads::kOn);
  ::close(ends[1]);
  answer_ = ends[0];
  if (process_ < 0) throw std::runtime_error("fork");
}

CallerProcess::~CallerProcess() {
  kill();
  ::close(answer_);
}

bool CallerProcess::received(const std::string& text) {
  char buffer[4096];
  while (received_.find(text) == std::string::npos) {
    const ssize_t n = ::read(answer_, buffer, sizeof buffer);
    if (n <= 0) return false;
    received_.append(buffer, static_cast<std::size_t>(n));
  }
  return true;
}

bool CallerProcess::kill() {
  if (process_ < 0) return false;
  ::kill(process_, SIGKILL);
  int status = 0;
  ::waitpid(process_, &status, 0);
  process_ = -1;
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

}  // namespace tidegate::gateway
