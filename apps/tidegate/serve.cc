// tidegate serve: options to a configuration, engines, a gateway, and its life until a signal.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "config/defaults.h"
#include "config/load.h"
#include "config/quantity_text.h"
#include "config/scenario_load.h"
#include "gateway/clock.h"
#include "gateway/open_engines.h"
#include "gateway/server_shell.h"
#include "model_files.h"
#include "policy_names.h"
#include "subcommand.h"

namespace tidegate::app {
namespace {

struct ServeOptions {
  std::string file;
  std::string listen;
  std::vector<std::string> models;
  int threads = 0;
  std::string log_file;
  std::string journal;
  std::string drain;
  std::string policy;
};

int complain(const units::Error& error) {
  std::fprintf(stderr, "tidegate serve: %s%s%s\n", error.where.c_str(),
               error.where.empty() ? "" : ": ", error.message.c_str());
  return kWrongInput;
}

tl::expected<config::ServerConfig, config::LoadErrors> config_without_file(
    const ServeOptions& options) {
  std::vector<std::string> models = options.models;
  if (models.empty()) {
    auto bundled = bundled_model();
    if (!bundled) return tl::unexpected(config::LoadErrors{bundled.error()});
    models.push_back(std::move(*bundled));
  }
  for (const std::string& model : models) {
    std::error_code failure;
    if (std::filesystem::is_regular_file(model, failure)) continue;
    return tl::unexpected(config::LoadErrors{
        units::Error{"--model", "there is no file '" + model + "'; name a GGUF file"}});
  }
  return config::config_for_models(models);
}

// The command line wins over the environment, and that over the file.
units::Result<void> override_config(const ServeOptions& options, config::ServerConfig& config) {
  if (!options.listen.empty()) {
    const auto address = config::parse_address(options.listen);
    if (!address) return units::error("--listen", address.error().message);
    config.server.listen = *address;
  }
  if (!options.drain.empty()) {
    const auto limit = config::parse_duration(options.drain);
    if (!limit) return units::error("--drain", limit.error().message);
    config.server.drain = *limit;
  }
  if (!options.journal.empty()) config.server.journal = {options.journal, true};
  if (!options.policy.empty()) config.server.policy = {options.policy, "--policy"};
  const auto known = known_policies({config.server.policy});
  if (!known) return tl::unexpected(known.error().front());
  if (!options.log_file.empty()) config.server.log_file = options.log_file;
  for (config::EngineConfig& engine : config.engines) {
    if (options.threads > 0) engine.threads = options.threads;
  }
  return {};
}

using Loaded = tl::expected<gateway::LoadedConfig, config::LoadErrors>;

// With what the command line says beside it. The text is for the journal.
Loaded overridden(const ServeOptions& options, config::ServerConfig config, std::string text) {
  if (const auto done = override_config(options, config); !done) {
    return tl::unexpected(config::LoadErrors{done.error()});
  }
  return gateway::LoadedConfig{std::move(config), std::move(text)};
}

// The configuration that these options ask for, as it is now.
Loaded load(const ServeOptions& options) {
  if (options.file.empty()) {
    auto config = config_without_file(options);
    if (!config) return tl::unexpected(std::move(config.error()));
    std::string text = config::text_for_models(*config);
    return overridden(options, std::move(*config), std::move(text));
  }
  auto text = config::read_file(options.file);
  if (!text) return tl::unexpected(config::LoadErrors{text.error()});
  auto config = config::parse_server_config(*text, options.file);
  if (!config) return tl::unexpected(std::move(config.error()));
  return overridden(options, std::move(*config), std::move(*text));
}

// Every connection is an open file; take as many as the system allows this user.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Signals are waited for, never handled: blocked here, before the first thread is made.
sigset_t block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int each : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, each);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return set;
}

// The signal that came within a tenth of a second; 0 for none.
int next_signal(const sigset_t& set) {
  const timespec tenth{0, 100'000'000};
  return std::max(0, sigtimedwait(&set, nullptr, &tenth));
}

// The same for those that end the process. While it drains there is nothing to reload for.
bool asked_to_stop(const sigset_t& set) {
  const int signal = next_signal(set);
  return signal == SIGTERM || signal == SIGINT;
}

void print_ready(const gateway::ServerShell& shell, const config::ServerConfig& config) {
  const std::string scheme = config.server.tls ? "https" : "http";
  const std::string address = scheme + "://" + shell.address().text();
  const bool keyless = config.tenants.empty() || config.tenants.front().keys.empty();
  std::printf(
      "Tidegate is ready on %s\n\n"
      "  curl -N %s/v1/chat/completions -H 'content-type: application/json'%s \\\n"
      "    -d '{\"model\":\"%s\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":"
      "\"Tell me a story about a boat.\"}]}'\n\n",
      address.c_str(), address.c_str(), keyless ? "" : " -H \"authorization: Bearer $API_KEY\"",
      config.models.front().name.c_str());
  std::fflush(stdout);
}

// From SIGTERM to the end: wait for what runs, up to the limit; a second signal cuts it short.
void drain(gateway::ServerShell& shell, units::Nanos limit, const sigset_t& signals) {
  shell.log().info("drain", "no new requests; running ones may finish");
  shell.begin_drain();
  const units::Instant end = gateway::now() + limit;
  while (!shell.drained() && gateway::now() < end) {
    if (asked_to_stop(signals)) break;
  }
  if (shell.drained()) return;
  shell.log().warning("drain", "cutting what still runs");
  shell.abandon();
  const units::Instant grace = gateway::now() + units::seconds(5);
  while (!shell.drained() && gateway::now() < grace) asked_to_stop(signals);
}

int live(gateway::ServerShell& shell, const sigset_t& signals) {
  shell.start();
  bool announced = false;
  for (int signal = 0; signal != SIGTERM && signal != SIGINT; signal = next_signal(signals)) {
    if (signal == SIGHUP) shell.reload([](const gateway::ReloadResult&) {});
    if (announced || !shell.ready()) continue;
    print_ready(shell, shell.settings()->config);
    announced = true;
  }
  drain(shell, shell.settings()->config.server.drain, signals);
  shell.stop();
  return kDone;
}

int serve(const ServeOptions& options) {
  auto loaded = load(options);
  if (!loaded) {
    for (const units::Error& each : loaded.error()) complain(each);
    return kWrongInput;
  }
  const config::ServerConfig& config = loaded->config;
  const sigset_t signals = block_signals();
  raise_file_limit();
  auto engines = gateway::open_engines(config, [](std::string_view line) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  });
  if (!engines) return complain(engines.error());
  const bool anonymous = !config.server.listen.loopback() && config.tenants.front().keys.empty();
  gateway::ServerShell::Options shell_options;
  shell_options.config = config;
  shell_options.engines = std::move(*engines);
  shell_options.journal_configuration = loaded->text;
  if (!options.file.empty()) shell_options.load = [options] { return load(options); };
  auto shell = gateway::ServerShell::open(std::move(shell_options));
  if (!shell) {
    complain(shell.error());
    return kFailed;
  }
  if (anonymous) {
    (*shell)->log().warning("open_to_all", "no keys, and the address is not a loopback one");
  }
  return live(**shell, signals);
}

}  // namespace

Subcommand add_serve(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("serve", "Serve models behind the OpenAI API");
  const auto options = std::make_shared<ServeOptions>();
  auto* file = app->add_option("--config", options->file, "Configuration file (YAML)");
  app->add_option("--listen", options->listen, "HOST:PORT; default 127.0.0.1:8080")
      ->envname("TIDEGATE_LISTEN");
  app->add_option("--model", options->models, "GGUF file to serve; may be given several times")
      ->excludes(file);
  app->add_option("--threads", options->threads, "Compute threads of each engine")
      ->check(CLI::Range(1, 1'024));
  app->add_option("--log-file", options->log_file, "Log to this file instead of stderr");
  app->add_option("--journal", options->journal, "Record events and decisions in this file");
  app->add_option("--drain", options->drain, "How long running requests may take after SIGTERM");
  app->add_option("--policy", options->policy,
                  "Who decides, in the pool and in the engines: a name of `tidegate sim --help`; "
                  "for comparisons");
  app->footer(
      "Without --config and --model the bundled model tidegate-tiny is served to everybody on "
      "this\n"
      "machine. SIGTERM drains and ends with status 0; a second one cuts what still runs. SIGHUP\n"
      "reads the file of --config again.\n\n"
      "Examples:\n"
      "  tidegate serve\n"
      "  tidegate serve --model llama-3.1-8b-q4_k_m.gguf --threads 8\n"
      "  tidegate serve --config examples/minimal.yaml");
  return {app, [options] { return serve(*options); }};
}

}  // namespace tidegate::app
