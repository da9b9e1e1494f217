#include "gateway/open_engines.h"

#include <memory>
#include <utility>

#include "baselines/registry.h"
#include "gateway/clock.h"

#if TIDEGATE_HAS_LLAMA
#include "engines/llama/llama_engine.h"
#endif

namespace tidegate::gateway {

#if TIDEGATE_HAS_LLAMA
namespace {

using engines::llama::LogLevel;

engines::llama::LlamaOptions options_of(const config::EngineConfig& engine,
                                        const baselines::Policy& policy) {
  engines::llama::LlamaOptions options;
  options.path = engine.gguf;
  options.engine = engine.id;
  options.model = engine.model;
  options.now = now;
  options.threads = static_cast<std::int32_t>(engine.threads);
  options.gpu_layers = static_cast<std::int32_t>(engine.gpu_layers);
  options.max_sequences = static_cast<std::int32_t>(engine.max_sequences);
  options.kv_tokens = engine.kv_tokens;
  options.max_context = engine.max_context;
  options.cached_tokens = engine.cached_tokens;
  options.max_step_tokens = engine.max_step_tokens;
  options.kv_unified = engine.kv_unified;
  options.calibration = engine.calibration;
  options.step_policy = policy.engine;
  options.own_batching = policy.own_batching;
  return options;
}

}  // namespace

units::Result<std::vector<NamedEngine>> open_engines(const config::ServerConfig& config,
                                                     const EngineWarning& warning) {
  std::vector<NamedEngine> engines;
  // Most of llama.cpp's warnings are about what we do on purpose, such as one pool of cells that is
  // larger than one sequence can be.
  const LogLevel least = config.server.log_level == "debug" ? LogLevel::kWarning : LogLevel::kError;
  const auto policy = baselines::policy(config.server.policy.name);
  if (!policy) return units::error(config.server.policy.where, policy.error().message);
  for (const config::EngineConfig& each : config.engines) {
    engines::llama::LlamaOptions options = options_of(each, *policy);
    options.log = [warning, least](LogLevel level, std::string_view line) {
      if (level >= least) warning(line);
    };
    options.on_device = [warning, name = each.name](std::string_view line) {
      warning(name + ": " + std::string(line));
    };
    auto engine = engines::llama::open_engine(options);
    if (!engine) {
      return units::error(each.name + " (" + each.gguf + ")", engine.error().message);
    }
    engines.push_back({each.name, each.model, std::move(*engine)});
  }
  return engines;
}

#else

units::Result<std::vector<NamedEngine>> open_engines(const config::ServerConfig&,
                                                     const EngineWarning&) {
  return units::error("", "this build has no llama.cpp engine; build with -DTIDEGATE_LLAMA=ON");
}

#endif

}  // namespace tidegate::gateway
