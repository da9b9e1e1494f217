// Feeds a journal's events to the pool again and compares what it decides with what was recorded
// (invariant D3). The first difference is the interesting one; from there on the two worlds are not
// the same any more. Pure; one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "journal/digest.h"
#include "journal/record.h"
#include "pool/scheduler.h"

namespace tidegate::journal {

struct Divergence {
  std::int64_t step = 0;  // counted from 0
  Step recorded;
  std::vector<domain::Decision> decided;
};

class Replay {
 public:
  // Without a factory the house's own scheduler decides.
  explicit Replay(const pool::PoolConfig& config, const pool::SchedulerFactory& policy = {});

  // The configuration was changed here. False when the pool cannot take it over.
  bool reconfigure(const pool::PoolConfig& config) { return pool_->reconfigure(config); }

  // One step of the journal; what differs, if it does. A step whose time is before that of the one
  // before it is a divergence of its own and is not fed.
  std::optional<Divergence> feed(const Step& step);

  std::int64_t steps() const { return steps_; }
  std::int64_t decisions() const { return decisions_; }
  // Of what the pool decided now.
  std::uint64_t digest() const { return digest_.value(); }
  const pool::Scheduler& pool() const { return *pool_; }

 private:
  std::unique_ptr<pool::Scheduler> pool_;
  Digest digest_;
  Bytes recorded_;
  Bytes decided_;
  std::int64_t steps_ = 0;
  std::int64_t decisions_ = 0;
};

}  // namespace tidegate::journal
