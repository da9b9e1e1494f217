// One structured line for each call: a JSON object with ids, sizes, times and the outcome; never a
// word of a prompt, an answer or a key. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "gateway/call.h"
#include "units/result.h"

namespace spdlog {
class logger;
}

namespace tidegate::gateway {

class RequestLog {
 public:
  // Lines go to `file`, or to stderr when it is empty. `level` is debug, info, warning or error;
  // calls are logged at info. Error: the file cannot be opened.
  static units::Result<std::unique_ptr<RequestLog>> open(const std::string& file,
                                                         const std::string& level);
  ~RequestLog();

  void call(const CallSummary& summary);
  // What the server itself has to say.
  void info(std::string_view event, std::string_view detail);
  void warning(std::string_view event, std::string_view detail);
  // Another level from now on. Any thread.
  void set_level(const std::string& level);
  void flush();

 private:
  explicit RequestLog(std::shared_ptr<spdlog::logger> logger);
  std::shared_ptr<spdlog::logger> logger_;
};

// The line of a call without its time stamp. Pure.
std::string log_line(const CallSummary& summary);

}  // namespace tidegate::gateway
