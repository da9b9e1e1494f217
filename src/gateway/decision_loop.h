// The one thread that decides: it takes messages out of the mailbox in order, stamps each with the
// time, feeds it to the pool tier's step(), writes down what was decided and performs it. The only
// owner of the scheduler, of the forecasts and of the requests alive; others who want to look or to
// act post a Visit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cost/output_lengths.h"
#include "gateway/attainment.h"
#include "gateway/decision_log.h"
#include "gateway/engine_set.h"
#include "gateway/journal_sink.h"
#include "gateway/live_request.h"
#include "gateway/mailbox.h"
#include "gateway/metrics.h"
#include "gateway/settings.h"
#include "gateway/text_routes.h"
#include "pool/scheduler.h"

namespace tidegate::gateway {

// What the loop works with; all that is referred to outlives the loop.
struct DecisionParts {
  SettingsPtr settings;  // to begin with
  Mailbox& mailbox;
  EngineSet& engines;
  TextRoutes& routes;
  Metrics& metrics;
  JournalSink& journal;
};

class DecisionLoop {
 public:
  // REQUIRES: the configured policy exists.
  explicit DecisionLoop(const DecisionParts& parts);

  // Runs until the mailbox is closed.
  void run();

  // For visits, on the decision thread.
  const pool::Scheduler& scheduler() const { return *scheduler_; }
  const DecisionLog& log() const { return log_; }
  const Settings& settings() const { return *settings_; }
  const config::ServerConfig& config() const { return settings_->config; }
  const std::string& engine_name(units::EngineId id) const { return parts_.engines.name(id); }
  // The engine's last report; null before the first.
  const domain::StateReport* report(units::EngineId id) const;
  std::size_t alive() const { return live_.size(); }
  std::size_t waiting() const { return waiting_.size(); }
  // Engines that joined and were not lost since, as they joined.
  const std::map<units::EngineId, domain::EngineSpec>& engines_up() const { return up_; }
  // Every model has an engine that is up.
  bool ready() const;
  // No new admissions; with `abandon` everything alive ends now.
  void drain(bool abandon);
  bool draining() const { return draining_; }
  // Other settings from here on; `text` is how somebody wrote them, for the journal. False, and
  // nothing changed, when the pool cannot take them over.
  bool reconfigure(SettingsPtr settings, const std::string& text);
  // Runs `then`, on this thread, once nothing is alive.
  void when_idle(std::function<void()> then);
  // Brings the gauges up to date: queues, ledgers.
  void set_gauges();
  // Called with each engine that joins, on this thread.
  void on_join(std::function<void(const domain::EngineSpec&)> callback) {
    on_join_ = std::move(callback);
  }

 private:
  void handle(Message& message);
  void submit(Submission& submission);
  void step(const domain::Event& event);
  // What the events tell about requests alive, before the scheduler hears of them.
  void note(const domain::Event& event);
  void note_tokens(const domain::TokensProduced& produced);
  void note_engine(const domain::EngineSpec& joined);
  void note_engine(const domain::EngineLost& lost);
  void perform(const domain::Decision& decision);
  void perform(const domain::Admit& admit);
  void perform(const domain::Hold& hold);
  void perform(const domain::End& end);
  void perform(const domain::Downgrade& downgrade);
  void perform(const domain::Assign& assign);
  void perform(const domain::Abort& abort);
  void perform(const domain::WakeAt& wake);
  void account(const LiveRequest& request, const domain::End& end);
  void tell_silent();
  LiveRequest* find(units::RequestId id);
  LiveRequest* find(const domain::AttemptRef& ref);
  const domain::Tenant& tenant(units::TenantId id) const {
    return config().tenants[id.value()].values;
  }

  DecisionParts parts_;
  SettingsPtr settings_;
  std::unique_ptr<pool::Scheduler> scheduler_;
  cost::OutputLengths lengths_;
  Attainment attainment_;
  DecisionLog log_;
  std::map<units::RequestId, LiveRequest> live_;
  std::set<units::RequestId> waiting_;
  std::set<units::RequestId> silent_;  // whose callers have yet to hear their first text
  std::map<units::EngineId, domain::EngineSpec> up_;
  std::map<units::EngineId, domain::StateReport> reports_;
  std::vector<std::function<void()>> when_idle_;
  std::function<void(const domain::EngineSpec&)> on_join_;
  units::Instant now_;
  units::Instant wake_ = units::Instant::never();
  units::Instant next_round_;  // of comments
  bool draining_ = false;
};

}  // namespace tidegate::gateway
