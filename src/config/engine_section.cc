#include <filesystem>

#include "config/schema.h"
#include "config/suggestion.h"

namespace tidegate::config {
namespace {

constexpr std::int64_t kMaxTokens = 1LL << 30;

void read_gguf(Section& section, const std::string& folder, EngineConfig& engine) {
  if (section.take("openai")) {
    section.problem("openai", "engines behind HTTP are not in this version",
                    "serve a model file with {llama: FILE.gguf, name: NAME}");
    for (const char* key : {"models", "gpu", "dialect"}) section.take(key);
    return;
  }
  section.require("llama", "add llama: FILE.gguf");
  const auto file = section.text("llama");
  if (!file) return;
  const std::filesystem::path path(*file);
  engine.gguf = path.is_absolute() ? *file : (std::filesystem::path(folder) / path).string();
  std::error_code failure;
  if (!std::filesystem::is_regular_file(engine.gguf, failure)) {
    section.problem("llama", "there is no file '" + engine.gguf + "'",
                    "name a GGUF file, relative to the configuration's folder or absolute");
  }
}

void read_sizes(Section& section, EngineConfig& engine) {
  engine.threads = section.integer("threads", 1, 1'024).value_or(engine.threads);
  engine.gpu_layers = section.integer("gpu_layers", -1, 10'000).value_or(engine.gpu_layers);
  engine.max_sequences = section.integer("max_sequences", 1, 128).value_or(engine.max_sequences);
  const auto tokens = [&section](const char* key, units::Tokens fallback, std::int64_t least = 1) {
    return units::Tokens(section.integer(key, least, kMaxTokens).value_or(fallback.value()));
  };
  engine.kv_tokens = tokens("kv_tokens", engine.kv_tokens);
  engine.max_context = tokens("max_context", engine.max_context);
  engine.cached_tokens = tokens("cached_tokens", engine.cached_tokens, 0);
  engine.max_step_tokens = tokens("max_step_tokens", engine.max_step_tokens);
  engine.kv_unified = section.boolean("kv_unified");
  engine.calibration = section.duration("calibration").value_or(engine.calibration);
}

void read_engine_model(Section& section, const ServerConfig& config, EngineConfig& engine) {
  const std::string name = section.text("model").value_or(engine.name);
  const auto index = index_of(config.models, name);
  if (index) {
    engine.model = config.models[*index].id;
  } else {
    section.problem(section.has("model") ? "model" : "name",
                    "engine '" + engine.name + "' serves the unknown model '" + name + "'",
                    suggestion(name, names_of(config.models)));
  }
}

}  // namespace

void read_engines(Section& root, const std::string& folder, ServerConfig& config) {
  root.require("engines", "add engines: [{llama: FILE.gguf, name: NAME}]");
  std::vector<std::string> taken;
  for (const YAML::Node& node : root.list("engines")) {
    Section section(node, "engine", root.problems());
    EngineConfig engine;
    engine.id = units::EngineId(config.engines.size());
    read_gguf(section, folder, engine);
    const auto name = read_name(section, taken);
    engine.name = name.value_or("");
    read_sizes(section, engine);
    if (name && section.has("llama")) read_engine_model(section, config, engine);
    section.take("model");
    section.finish();
    if (name) config.engines.push_back(std::move(engine));
  }
  if (root.has("engines") && config.engines.empty()) {
    root.problem("engines", "there is no engine", "add {llama: FILE.gguf, name: NAME}");
  }
}

}  // namespace tidegate::config
