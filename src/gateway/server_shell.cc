#include "gateway/server_shell.h"

#include <chrono>
#include <utility>

#include "config/reload.h"
#include "gateway/pool_setup.h"

namespace tidegate::gateway {
namespace {

// Messages that may wait for the decision thread before the edge turns callers away.
constexpr std::size_t kMailboxMessages = 65'536;
// How long the last bytes may take to leave when the server stops.
constexpr auto kFlush = std::chrono::seconds(2);

std::chrono::milliseconds chrono_of(units::Nanos span) {
  return std::chrono::milliseconds(span.value() / 1'000'000);
}

std::vector<std::string> model_names(const config::ServerConfig& config) {
  std::vector<std::string> names;
  for (const config::ModelConfig& model : config.models) names.push_back(model.name);
  return names;
}

std::vector<std::string> engine_names(const config::ServerConfig& config) {
  std::vector<std::string> names;
  for (const config::EngineConfig& engine : config.engines) names.push_back(engine.name);
  return names;
}

net::TlsFiles files_of(const config::TlsConfig& tls) {
  return {tls.certificate, tls.key};
}

// Null where there is no TLS.
units::Result<std::shared_ptr<net::TlsContext>> loaded_tls(
    const std::optional<config::TlsConfig>& tls) {
  if (!tls) return nullptr;
  return net::load_tls(files_of(*tls));
}

std::vector<domain::ServiceClass> classes_now(const DecisionLoop& loop,
                                              const config::ServerConfig& config) {
  std::vector<domain::ServiceClass> classes = config.classes;
  if (!config.builtin_classes) return classes;
  for (const auto& [id, up] : loop.engines_up()) classes = loosened(std::move(classes), up);
  return classes;
}

void wait_until_closed(const net::Server& server) {
  const auto limit = std::chrono::steady_clock::now() + kFlush;
  while (server.stats().open > 0 && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

ServerShell::ServerShell(Options options)
    : options_(std::move(options)),
      current_(std::make_shared<const Settings>(options_.config)),
      mailbox_(kMailboxMessages) {}

ServerShell::~ServerShell() {
  stop();
}

units::Result<std::unique_ptr<ServerShell>> ServerShell::open(Options options) {
  std::unique_ptr<ServerShell> shell(new ServerShell(std::move(options)));
  const config::ServerConfig& config = shell->options_.config;
  auto log = RequestLog::open(config.server.log_file, config.server.log_level);
  if (!log) return tl::unexpected(log.error());
  shell->log_ = std::move(*log);
  shell->metrics_ = std::make_unique<Metrics>(engine_names(config));
  if (const auto opened = shell->open_journal(); !opened) return tl::unexpected(opened.error());
  shell->engines_ =
      std::make_unique<EngineSet>(std::move(shell->options_.engines), model_names(config));
  shell->loop_ = std::make_unique<DecisionLoop>(DecisionParts{shell->settings(), shell->mailbox_,
                                                              *shell->engines_, shell->routes_,
                                                              *shell->metrics_, shell->journal_});
  shell->edge_ =
      std::make_unique<Edge>(EdgeParts{shell->current_, *shell->engines_, shell->mailbox_,
                                       *shell->metrics_, *shell->log_, shell->journal_});
  shell->operations_ = std::make_unique<Operations>(
      OperationsParts{shell->current_, shell->mailbox_, *shell->metrics_,
                      [raw = shell.get()] { raw->stop_admitting(); },
                      [raw = shell.get()](ReloadDone done) { raw->reload(std::move(done)); }});
  if (const auto bound = shell->listen(); !bound) return tl::unexpected(bound.error());
  return shell;
}

units::Result<void> ServerShell::open_journal() {
  const config::JournalConfig& journal = options_.config.server.journal;
  if (journal.path.empty()) return {};
  journal::Configuration configuration{options_.journal_configuration,
                                       options_.config.server.policy.name,
                                       pool_config(options_.config)};
  auto opened =
      journal_.open(journal.path, std::move(configuration), [this](const std::string& why) {
        metrics_->journal_failed(true);
        log_->warning("journal_stopped", why);
      });
  if (opened || journal.required) return opened;
  metrics_->journal_failed(true);
  log_->warning("journal_stopped", opened.error().message);
  return {};
}

net::ServerOptions ServerShell::net_options(const config::Address& address,
                                            const std::optional<config::TlsConfig>& tls) const {
  const config::EdgeLimits& limits = options_.config.server.limits;
  net::ServerOptions options;
  options.address = address.host == "localhost" ? "127.0.0.1" : address.host;
  options.port = address.port;
  if (tls) options.tls = std::make_unique<net::TlsFiles>(files_of(*tls));
  options.threads = static_cast<int>(options_.config.server.net_threads);
  options.limits.body_bytes = static_cast<std::size_t>(limits.body.value());
  options.limits.header_bytes = static_cast<std::size_t>(limits.headers.value());
  options.limits.connections = static_cast<std::size_t>(limits.connections);
  options.limits.header_timeout = chrono_of(limits.header_timeout);
  options.limits.body_grace = chrono_of(limits.body_timeout);
  options.limits.idle_timeout = chrono_of(limits.idle_timeout);
  options.limits.write_stall_timeout = chrono_of(limits.stall_timeout);
  options.refusal_body = [edge = edge_.get()](int status, std::string_view what) {
    return edge->refuse_unread(status, what);
  };
  return options;
}

units::Result<void> ServerShell::listen() {
  const config::ServerSettings& settings = options_.config.server;
  auto server = net::Server::listen(
      net_options(settings.listen, settings.tls),
      [this, alone = !settings.admin.listen.has_value()](
          const std::shared_ptr<net::Exchange>& exchange) { handle(exchange, alone); });
  if (!server) return tl::unexpected(server.error());
  server_ = std::move(*server);
  if (!settings.admin.listen) return {};
  auto admin = net::Server::listen(net_options(*settings.admin.listen, settings.admin.tls),
                                   [this, open = settings.admin.listen->loopback()](
                                       const std::shared_ptr<net::Exchange>& exchange) {
                                     const std::string_view target = exchange->request().target;
                                     const std::string_view path =
                                         target.substr(0, target.find('?'));
                                     if (!operations_->handle(exchange, path, open))
                                       edge_->handle(exchange);
                                   });
  if (!admin) return tl::unexpected(admin.error());
  admin_server_ = std::move(*admin);
  return {};
}

// On the main address health is always answered; metrics and the admin API only where they have no
// address of their own.
void ServerShell::handle(const std::shared_ptr<net::Exchange>& exchange, bool admin_plane) {
  const std::string_view target = exchange->request().target;
  const std::string_view path = target.substr(0, target.find('?'));
  const bool health = path == "/healthz" || path == "/livez" || path == "/readyz";
  const bool open = options_.config.server.listen.loopback();
  if ((health || admin_plane) && operations_->handle(exchange, path, open)) return;
  edge_->handle(exchange);
}

void ServerShell::start() {
  loop_->on_join([this](const domain::EngineSpec& spec) { joined(spec); });
  decisions_ = std::thread([this] { loop_->run(); });
  engines_->start(mailbox_, routes_, *metrics_);
  server_->start();
  if (admin_server_) admin_server_->start();
}

// On the decision thread.
void ServerShell::joined(const domain::EngineSpec& spec) {
  ready_ = loop_->ready();
  log_->info("engine_joined", loop_->engine_name(spec.id));
  if (!loop_->config().builtin_classes) return;
  auto settings = std::make_shared<Settings>(loop_->settings());
  settings->classes = classes_now(*loop_, settings->config);
  current_.set(std::move(settings));
}

void ServerShell::reload(ReloadDone done) {
  if (!options_.load) {
    const units::Error none{"", "there is no configuration file; start with --config FILE"};
    return reload_failed({settings()->version, {none}}, done);
  }
  auto loaded = options_.load();
  if (!loaded) return reload_failed({settings()->version, std::move(loaded.error())}, done);
  auto prepared = prepare(std::move(*loaded));
  if (!prepared) return reload_failed({settings()->version, {prepared.error()}}, done);
  mailbox_.post_urgent(
      Visit([this, prepared = std::move(*prepared), done = std::move(done)](
                DecisionLoop& loop) mutable { take_over(loop, std::move(prepared), done); }));
}

units::Result<ServerShell::Prepared> ServerShell::prepare(LoadedConfig loaded) {
  auto tls = loaded_tls(loaded.config.server.tls);
  if (!tls) return tl::unexpected(tls.error());
  auto admin_tls = loaded_tls(loaded.config.server.admin.tls);
  if (!admin_tls) return tl::unexpected(admin_tls.error());
  return Prepared{std::move(loaded), std::move(*tls), std::move(*admin_tls)};
}

// On the decision thread: the pool first, since the edge may name a new tenant right afterwards.
void ServerShell::take_over(DecisionLoop& loop, Prepared prepared, const ReloadDone& done) {
  LoadedConfig& loaded = prepared.loaded;
  const std::int64_t version = loop.settings().version;
  auto merged = config::taken_over(loop.config(), std::move(loaded.config), loaded.text);
  if (!merged) return reload_failed({version, std::move(merged.error())}, done);
  auto settings = std::make_shared<Settings>(std::move(*merged));
  settings->version = version + 1;
  settings->classes = classes_now(loop, settings->config);
  if (!loop.reconfigure(settings, loaded.text)) {
    const units::Error other{settings->config.file, "this needs another pool; restart to use it"};
    return reload_failed({version, {other}}, done);
  }
  current_.set(settings);
  if (prepared.tls) server_->use_tls(std::move(prepared.tls));
  if (prepared.admin_tls) admin_server_->use_tls(std::move(prepared.admin_tls));
  log_->set_level(settings->config.server.log_level);
  metrics_->configuration(settings->version, false);
  log_->info("config_reloaded", "version " + std::to_string(settings->version));
  done({settings->version, {}});
}

void ServerShell::reload_failed(const ReloadResult& result, const ReloadDone& done) {
  metrics_->configuration(result.version, true);
  for (const units::Error& each : result.problems) {
    log_->warning("config_not_reloaded", each.where + ": " + each.message);
  }
  done(result);
}

config::Address ServerShell::address() const {
  return {options_.config.server.listen.host, server_->port()};
}

void ServerShell::stop_admitting() {
  if (draining_.exchange(true)) return;
  ready_ = false;
  mailbox_.post_urgent(Visit([this](DecisionLoop& loop) {
    loop.drain(false);
    loop.when_idle([this] { drained_ = true; });
  }));
}

void ServerShell::begin_drain() {
  stop_admitting();
  server_->stop_accepting();
}

void ServerShell::abandon() {
  mailbox_.post_urgent(Visit([](DecisionLoop& loop) { loop.drain(true); }));
}

void ServerShell::stop() {
  if (std::exchange(stopped_, true)) return;
  if (server_) {
    server_->stop_accepting();
    if (decisions_.joinable()) wait_until_closed(*server_);
    server_->shutdown();
  }
  if (admin_server_) admin_server_->shutdown();
  if (engines_) engines_->stop();
  mailbox_.close();
  if (decisions_.joinable()) decisions_.join();
  journal_.close();
  if (log_) log_->flush();
}

}  // namespace tidegate::gateway
