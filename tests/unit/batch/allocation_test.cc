// Counts allocations: after construction and a warm-up the scheduler must not make any, whatever it
// is asked to do.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <vector>

#include "batch/batch_scheduler.h"
#include "fake_engine.h"
#include "units/prng.h"

namespace {

bool counting = false;
long allocations = 0;

}  // namespace

// Not inlined: else gcc sees new, which it knows, beside free() and warns that they do not match.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (counting) allocations += 1;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace tidegate::batch::testing {
namespace {

using units::Instant;
using units::Nanos;

class Counted {
 public:
  Counted() { counting = true; }
  ~Counted() { counting = false; }
};

// Submits, steps, preemptions, shared prefixes, failed steps and aborts, without one allocation.
TEST(Allocation, NoneAfterConstruction) {
  BatchConfig config = small_config(16, 64);
  config.max_waiting = 256;
  BatchScheduler scheduler(config);
  units::Prng prng(2);
  std::vector<domain::Assign> work;
  for (std::uint64_t id = 1; id <= 1'000; ++id) {
    Shape shape{
        .prompt = prng.between(1, 120), .max_output = prng.between(1, 80), .expected_output = 10};
    shape.family = id % 3;
    shape.shared = prng.between(0, shape.prompt);
    shape.tier = static_cast<domain::Tier>(prng.between(0, 3));
    work.push_back(make_assign(id, shape, 16));
  }
  Instant now;
  StepResult result;
  result.sampled.reserve(64);
  for (std::size_t i = 0; i < work.size(); ++i) {
    const Counted guard;
    scheduler.submit(work[i], now);
    if (i % 9 == 0) scheduler.abort(work[i / 2].ref, now);
    const StepPlan& plan = scheduler.compose(now);
    if (plan.idle()) continue;
    now = now + step_time(config, plan);
    if (i % 50 == 0) {
      scheduler.fail_step(plan.number, StepFault::kNoMemory, now);
      continue;
    }
    result.number = plan.number;
    result.duration = plan.predicted;
    result.sampled.clear();
    for (const Row& row : plan.rows) {
      if (row.samples) result.sampled.push_back({row.ref, false});
    }
    scheduler.complete(result, now);
  }
  EXPECT_EQ(allocations, 0);
  EXPECT_GT(scheduler.counters().preemptions, 0);
  EXPECT_GT(scheduler.counters().shared_tokens, units::Tokens(0));
}

}  // namespace
}  // namespace tidegate::batch::testing
