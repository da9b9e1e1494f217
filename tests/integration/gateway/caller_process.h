// A caller in a process of its own that can be killed: it sends one request and hands on the bytes
// of the answer. Killed, it runs no code of its own any more; the kernel closes its socket, with a
// reset where bytes of the answer lie unread. One owner.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "client.h"

namespace tidegate::gateway {

class CallerProcess {
 public:
  enum class Reads : std::uint8_t {
    kOn,       // all that comes
    kNothing,  // leaves the answer in its socket
  };

  CallerProcess(std::uint16_t port, const Question& question, Reads reads = Reads::kOn);
  ~CallerProcess();
  CallerProcess(const CallerProcess&) = delete;
  CallerProcess& operator=(const CallerProcess&) = delete;

  // Waits until the answer has `text` in it; false when the answer ended without.
  // REQUIRES: the caller reads on.
  bool received(const std::string& text);
  // SIGKILL; returns once the process is gone. True when it had been alive until then.
  bool kill();

 private:
  pid_t process_ = -1;
  int answer_ = -1;
  std::string received_;
};

}  // namespace tidegate::gateway
