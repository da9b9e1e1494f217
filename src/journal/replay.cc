#include "journal/replay.h"

#include "pool/pool_scheduler.h"

namespace tidegate::journal {

Replay::Replay(const pool::PoolConfig& config, const pool::SchedulerFactory& policy)
    : pool_(policy ? policy(config) : std::make_unique<pool::PoolScheduler>(config)) {}

std::optional<Divergence> Replay::feed(const Step& step) {
  const std::int64_t number = steps_++;
  if (step.now < pool_->now()) return Divergence{number, step, {}};
  const auto decided = pool_->step(step.event, step.now);
  const std::vector<domain::Decision> decisions(decided.begin(), decided.end());
  decisions_ += static_cast<std::int64_t>(decisions.size());
  digest_.add(decisions);
  recorded_.clear();
  decided_.clear();
  encode(step.decisions, recorded_);
  encode(decisions, decided_);
  if (recorded_ == decided_) return std::nullopt;
  return Divergence{number, step, decisions};
}

}  // namespace tidegate::journal
