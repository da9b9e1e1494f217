// The adapter for llama.cpp (v0.4.0) through its C API: one model, one context, one thread. Each
// turn of the thread drains the inbox, lets batch/ compose a plan, and performs exactly that plan:
// trims, copies, one llama_decode over all rows, one draw per sampling row.
//
// Threading as in engine.h. Several engines may live in one process; what llama.cpp keeps globally
// (backends, log callback) is set up once, by the first open.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "batch/step_policy.h"
#include "engines/engine.h"
#include "units/ids.h"
#include "units/quantity.h"
#include "units/result.h"

namespace tidegate::engines::llama {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };
// May be called from any thread; lines carry no line end.
using LogCallback = std::function<void(LogLevel, std::string_view line)>;

struct LlamaOptions {
  std::string path;  // of the GGUF file
  units::EngineId engine;
  units::ModelId model;
  // The monotonic clock that arrivals and due times are given in. REQUIRES: set, thread-safe.
  std::function<units::Instant()> now;
  // Lines of llama.cpp itself at warning and above. Null: silent.
  LogCallback log;
  // Told once, before the model is loaded, which GPU computes, or that none can though gpu_layers
  // asks for one. Null: nobody is told.
  std::function<void(std::string_view line)> on_device;

  std::int32_t threads =
      0;  // 0: cores - 1, at least 1 (a spinning barrier must not be descheduled)
  std::int32_t gpu_layers = -1;  // -1: all, where a GPU build has a GPU; otherwise no effect
  // The sizes of the KV memory; how zeros are chosen: sizes.h.
  std::int32_t max_sequences = 0;  // running at once
  units::Tokens kv_tokens{0};      // cells for those that run
  units::Tokens max_context{0};    // of one sequence
  units::Tokens cached_tokens{
      -1};  // of finished prompts kept for others that begin alike; -1: choose
  units::Tokens max_step_tokens{512};
  units::Tokens block_tokens{16};
  // One pool for all sequences: any of them may grow to max_context and prefixes are shared without
  // a copy, but a step goes through every resident cell. False: an equal share for each sequence.
  // None: shares where they leave nobody less context than a pool, see sizes.h.
  std::optional<bool> kv_unified;
  // Time for measuring the step law at start; 0: none, and the spec says calibrated = false.
  units::Nanos calibration{units::seconds(3)};
  // Who composes the steps; empty: the house's own.
  batch::StepPolicyFactory step_policy;
  // What the spec says of it: it takes tiers and due times.
  bool own_batching = true;
  // Where llama.cpp's backends are; empty: $TIDEGATE_LLAMA_LIBRARIES, then where the build found
  // them.
  std::string libraries;
};

// Loads the model and makes its context; calibration comes later, with start(). Takes as long as
// the file takes to map or read. Error: no such file, not a GGUF file, an architecture that
// llama.cpp does not know or that cannot hold many sequences, or not enough memory.
units::Result<std::unique_ptr<Engine>> open_engine(const LlamaOptions& options);

// Version of llama.cpp this was built against, such as "0.4.0".
std::string_view version();

}  // namespace tidegate::engines::llama
