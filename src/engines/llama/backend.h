// What llama.cpp keeps once per process: its compute backends and its log. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engines/llama/llama_engine.h"

namespace tidegate::engines::llama {

// Loads the backends from `libraries` (empty: $TIDEGATE_LLAMA_LIBRARIES, then the folder known at
// build time, then where llama.cpp looks by itself). Only the first call does anything.
// Error: no CPU backend was found there.
units::Result<void> load_backends(const std::string& libraries);

// What is to be said about GPUs before a model of `gpu_layers` (see LlamaOptions) is loaded: the
// one that is used, or that one was asked for and none can be used, with the cause. Empty: nothing.
// REQUIRES: load_backends() succeeded.
std::string device_note(std::int32_t gpu_layers);

// Sends llama.cpp's own lines at warning and above to the callback of the newest living LogRoute,
// and nowhere when there is none: it never writes to stderr by itself.
class LogRoute {
 public:
  // A null callback is fine: then lines are dropped.
  explicit LogRoute(LogCallback callback);
  ~LogRoute();
  LogRoute(const LogRoute&) = delete;
  LogRoute& operator=(const LogRoute&) = delete;

  void log(LogLevel level, std::string_view line) const;

 private:
  std::shared_ptr<const LogCallback> callback_;
};

}  // namespace tidegate::engines::llama
