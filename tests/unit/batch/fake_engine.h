// An engine whose memory is a list of tokens for each sequence number: performs plans literally and
// checks that each row continues exactly what its slot holds. Together with make_assign() it lets
// tests drive the scheduler as an engine would.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "batch/batch_scheduler.h"
#include "domain/seam.h"

namespace tidegate::batch::testing {

using Content = std::vector<std::uint64_t>;

// What a request's tokens are: `shared` first tokens are those of `family`, the others its own.
struct Shape {
  std::int64_t prompt = 16;
  std::int64_t max_output = 8;
  std::int64_t expected_output = 8;
  std::uint64_t family = 0;
  std::int64_t shared = 0;
  domain::Tier tier = domain::Tier::kWithinShare;
  units::TenantId tenant = {};
  domain::Promise promise = {};
  units::Instant arrival = {};
};

Content prompt_of(std::uint64_t id, const Shape& shape);
domain::PrefixChain chain_of(const Content& prompt, std::int64_t block_tokens);
domain::Assign make_assign(std::uint64_t id, const Shape& shape, std::int64_t block_tokens);

class FakeEngine {
 public:
  explicit FakeEngine(const BatchConfig& config) : config_(config) {}

  // The tokens of a try; needed before its first row.
  void know(const domain::AttemptRef& ref, Content prompt);
  // Performs the plan with gtest expectations on every trim, copy and row. A sampling row ends its
  // sequence when `ends` says so for (ref, produced so far).
  StepResult perform(const StepPlan& plan, units::Nanos duration,
                     const std::function<bool(const domain::AttemptRef&, std::int64_t)>& ends = {});
  // Performs trims and copies, and as many of the rows as an engine might before it fails.
  void fail(const StepPlan& plan, bool some_rows);

  const Content& slot(Slot slot) const { return slots_.at(slot); }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  static Key key(const domain::AttemptRef& ref) {
    return {ref.request.value(), ref.attempt.value()};
  }
  void prepare(const StepPlan& plan);
  void compute(const Row& row);

  BatchConfig config_;
  std::map<Slot, Content> slots_;
  std::map<Key, Content> sequences_;
  std::map<Key, std::int64_t> prompts_;
};

// A config with a linear law: `base` + per_token for each decode and prefill token, in
// microseconds.
BatchConfig small_config(std::int64_t sequences, std::int64_t blocks);
// The step time that small_config's law gives.
units::Nanos step_time(const BatchConfig& config, const StepPlan& plan);

}  // namespace tidegate::batch::testing
