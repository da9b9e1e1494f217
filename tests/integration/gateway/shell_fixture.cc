#include "shell_fixture.h"

#include <filesystem>
#include <thread>

#include "config/defaults.h"
#include "config/load.h"
#include "config/scenario_load.h"
#include "gateway/open_engines.h"

namespace tidegate::gateway {
namespace {

tl::expected<LoadedConfig, config::LoadErrors> read_config(const std::string& file,
                                                           const std::string& log_file) {
  const auto text = config::read_file(file);
  if (!text) return tl::unexpected(config::LoadErrors{text.error()});
  auto config = config::parse_server_config(*text, file);
  if (!config) return tl::unexpected(config.error());
  config->server.listen.port = 0;
  config->server.log_file = log_file;
  return LoadedConfig{std::move(*config), *text};
}

}  // namespace

std::string chat(const std::string& more) {
  return R"({"model":"tidegate-tiny","messages":[{"role":"user","content":"hello"}])" + more + "}";
}

void ShellTest::start(const std::function<void(config::ServerConfig&)>& change) {
  config::ServerConfig config = config::config_for_models({TIDEGATE_TEST_MODEL});
  for (config::EngineConfig& engine : config.engines) {
    engine.threads = 1;
    engine.calibration = units::milliseconds(300);
  }
  if (change) change(config);
  auto engines = open_engines(config, [](std::string_view) {});
  ASSERT_TRUE(engines) << engines.error().message;
  start_with_engines(std::move(config), std::move(*engines));
}

void ShellTest::start_from_file(const std::string& file) {
  load_ = [file] { return read_config(file, log_file()); };
  const auto loaded = load_();
  ASSERT_TRUE(loaded) << loaded.error().front().message;
  start([&](config::ServerConfig& config) { config = loaded->config; });
}

void ShellTest::start_with_engines(config::ServerConfig config, std::vector<NamedEngine> engines) {
  config.server.listen.port = 0;
  config.server.log_file = log_file();
  std::filesystem::remove(config.server.log_file);
  ServerShell::Options options;
  options.config = std::move(config);
  options.engines = std::move(engines);
  options.load = load_;
  auto shell = ServerShell::open(std::move(options));
  ASSERT_TRUE(shell) << shell.error().message;
  shell_ = std::move(*shell);
  shell_->start();
  if (!tls_) {
    while (get("/readyz").status != 200) std::this_thread::yield();
  }
}

void ShellTest::until_state_has(const std::string& text) const {
  while (get("/admin/v1/state").body.find(text) == std::string::npos) std::this_thread::yield();
}

void ShellTest::until_empty() const {
  until_state_has(R"("alive":0)");
  until_state_has(R"("promised_requests":0,"prefilling":0,"promised_kv_tokens":0)");
}

}  // namespace tidegate::gateway
