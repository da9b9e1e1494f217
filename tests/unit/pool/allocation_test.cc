// The program's operator new is replaced to count, so that "no allocation in step after warm-up" is
// shown and not claimed.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <variant>
#include <vector>

#include "pool_env.h"
#include "units/prng.h"

namespace {

std::int64_t allocations = 0;

void* counted(std::size_t size) {
  allocations += 1;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Not inlined: else gcc sees new, which it knows, beside free() and warns that they do not match.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return counted(size);
}
[[gnu::noinline]] void* operator new[](std::size_t size) {
  return counted(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace tidegate::pool::testing {
namespace {

// Arrivals, tokens, ends, cancels and reports at random on a pool that is always over its capacity.
class Load {
 public:
  explicit Load(std::uint64_t seed)
      : pool_(config({tenant(0), tenant(1, domain::OnOverload::kQueue),
                      tenant(2, domain::OnOverload::kDowngrade)})),
        prng_(seed) {
    running_.reserve(1'000);
    for (std::uint64_t id = 1; id <= 4; ++id) step(domain::EngineJoined{engine_spec(id)});
  }

  void arrive() {
    domain::Request r = request(++ids_, prng_.between(1, 600), prng_.between(1, 300));
    r.tenant = units::TenantId(prng_.below(3));
    r.arrival = now_;
    if (prng_.below(4) != 0) {
      r.promise = {now_ + ms(prng_.between(50, 5'000)), ms(20), units::Instant::never()};
    }
    step(domain::Arrived{r});
  }
  void act() {
    now_ = now_ + units::microseconds(prng_.between(1, 2'000));
    const std::uint64_t what = prng_.below(10);
    if (what < 3 || running_.empty()) return arrive();
    if (what == 3) return step(domain::CallerLeft{units::RequestId(1 + prng_.below(ids_))});
    const std::size_t index = prng_.below(running_.size());
    const domain::AttemptRef ref = running_[index];
    if (what < 7) return step(domain::TokensProduced{ref, units::Tokens(1)});
    running_[index] = running_.back();
    running_.pop_back();
    domain::Finished end;
    end.ref = ref;
    end.usage.output = units::Tokens(5);
    step(end);
  }

  std::int64_t in_step = 0;  // allocations

 private:
  void step(const domain::Event& event) {
    const std::int64_t before = allocations;
    const auto decisions = pool_.step(event, now_);
    in_step += allocations - before;
    for (const domain::Decision& decision : decisions) {
      if (const auto* assign = std::get_if<domain::Assign>(&decision)) {
        running_.push_back(assign->ref);
      }
    }
  }

  PoolScheduler pool_;
  units::Prng prng_;
  units::Instant now_;
  std::uint64_t ids_ = 0;
  std::vector<domain::AttemptRef> running_;
};

// After warm-up no step allocates, whatever happens.
TEST(PoolScheduler, DoesNotAllocateAfterWarmUp) {
  Load load(1);
  for (int i = 0; i < 20'000; ++i) load.act();
  load.in_step = 0;
  for (int i = 0; i < 50'000; ++i) load.act();
  EXPECT_EQ(load.in_step, 0);
}

}  // namespace
}  // namespace tidegate::pool::testing
