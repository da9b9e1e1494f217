// The whole gateway in one object: mailbox, decision thread, engines, edge, listeners. The command
// line and the tests build it, start it and stop it.
//
// Threading: one owner calls the functions; those that say so may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "config/server_config.h"
#include "gateway/decision_loop.h"
#include "gateway/edge.h"
#include "gateway/engine_set.h"
#include "gateway/journal_sink.h"
#include "gateway/mailbox.h"
#include "gateway/metrics.h"
#include "gateway/operations.h"
#include "gateway/reload.h"
#include "gateway/request_log.h"
#include "gateway/settings.h"
#include "gateway/text_routes.h"
#include "net/server.h"
#include "units/result.h"

namespace tidegate::gateway {

class ServerShell {
 public:
  struct Options {
    config::ServerConfig config;
    std::vector<NamedEngine> engines;   // in the order of the configuration
    std::string journal_configuration;  // what the journal says about the configuration
    LoadConfig load = {};               // null: the configuration cannot be read again
  };

  // Binds the addresses and opens log and journal. Error: one of them cannot be had.
  static units::Result<std::unique_ptr<ServerShell>> open(Options options);
  ~ServerShell();

  // Starts all threads; engines calibrate and then join. REQUIRES: called once.
  void start();
  // The address that callers reach, with the real port.
  config::Address address() const;
  // Every model has an engine that is up, and nothing drains.
  bool ready() const { return ready_; }

  // Reads the configuration again and goes on with it, or says what is wrong with it and goes on
  // with the one before. Nothing that is inside is lost or judged again. Any thread; `done` is
  // called once, from any thread. REQUIRES: started.
  void reload(ReloadDone done);
  SettingsPtr settings() const { return current_.get(); }

  // No longer ready, no new admissions; what is inside may finish. Any thread.
  void stop_admitting();
  // The same, and no new connections either. Any thread.
  void begin_drain();
  // Nothing is alive in the core any more. Only after one of the two.
  bool drained() const { return drained_; }
  // Ends what is still alive with Outcome::kShutdown.
  void abandon();
  // Sends the last bytes, stops the threads and closes the files. Idempotent.
  void stop();

  RequestLog& log() { return *log_; }

 private:
  explicit ServerShell(Options options);
  units::Result<void> listen();
  units::Result<void> open_journal();
  net::ServerOptions net_options(const config::Address& address,
                                 const std::optional<config::TlsConfig>& tls) const;
  void handle(const std::shared_ptr<net::Exchange>& exchange, bool admin_plane);
  void joined(const domain::EngineSpec& spec);
  // What a reload takes over, found to be usable before anything changes.
  struct Prepared {
    LoadedConfig loaded;
    std::shared_ptr<net::TlsContext> tls;        // null: plain
    std::shared_ptr<net::TlsContext> admin_tls;  // (the same)
  };
  static units::Result<Prepared> prepare(LoadedConfig loaded);
  void take_over(DecisionLoop& loop, Prepared prepared, const ReloadDone& done);
  void reload_failed(const ReloadResult& result, const ReloadDone& done);

  Options options_;
  CurrentSettings current_;
  std::unique_ptr<RequestLog> log_;
  std::unique_ptr<Metrics> metrics_;
  JournalSink journal_;
  Mailbox mailbox_;
  TextRoutes routes_;
  std::unique_ptr<EngineSet> engines_;
  std::unique_ptr<DecisionLoop> loop_;
  std::unique_ptr<Edge> edge_;
  std::unique_ptr<Operations> operations_;
  std::unique_ptr<net::Server> server_;
  std::unique_ptr<net::Server> admin_server_;  // null: on the main address
  std::thread decisions_;
  std::atomic<bool> ready_{false};
  std::atomic<bool> draining_{false};
  std::atomic<bool> drained_{false};
  bool stopped_ = false;
};

}  // namespace tidegate::gateway
