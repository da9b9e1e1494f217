// Bugs on purpose: what a scheduler decided or holds is altered on its way to the oracle, as if the
// scheduler had that bug. Each must be found, and as a violation of the invariant that it breaks.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "journal/text.h"
#include "world.h"

namespace tidegate::swarm {
namespace {

using invariants::Invariant;
using units::Tokens;

constexpr std::uint64_t kSeeds = 400;
constexpr int kEnough = 5;

// A bug in the pool: alters a step and says whether there was something to alter.
using PoolBug = bool (*)(PoolStep&);
using BatchBug = bool (*)(BatchStep&);

struct Tally {
  int worlds = 0;  // in which the bug struck
  int caught = 0;  // and the invariant was named
  std::string missed;
};

void judge(Tally& tally, std::uint64_t seed, const Outcome& outcome, Invariant expected) {
  tally.worlds += 1;
  const bool named = std::ranges::any_of(outcome.violations,
                                         [&](const auto& v) { return v.invariant == expected; });
  if (named) {
    tally.caught += 1;
  } else {
    tally.missed += "seed " + std::to_string(seed) + "\n" + outcome.story +
                    invariants::to_text(outcome.violations);
  }
}

// The bug strikes once in each world, the first time it can.
Tally try_pool_bug(PoolBug bug, Invariant expected) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < kSeeds && tally.worlds < kEnough; ++seed) {
    bool struck = false;
    WorldOptions options;
    options.seed = seed;
    options.pool_tamper = [&](PoolStep& step) { struck = struck || bug(step); };
    const Outcome outcome = World(std::move(options)).run();
    if (struck) judge(tally, seed, outcome, expected);
  }
  return tally;
}

Tally try_batch_bug(BatchBug bug, Invariant expected) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < kSeeds && tally.worlds < kEnough; ++seed) {
    bool struck = false;
    WorldOptions options;
    options.seed = seed;
    options.batch_tamper = [&](BatchStep& step) { struck = struck || bug(step); };
    const Outcome outcome = World(std::move(options)).run();
    if (struck) judge(tally, seed, outcome, expected);
  }
  return tally;
}

void expect_caught(const Tally& tally) {
  EXPECT_GE(tally.worlds, kEnough) << "the bug hardly ever strikes";
  EXPECT_EQ(tally.caught, tally.worlds) << tally.missed;
}

template <class T>
T* first(PoolStep& step) {
  for (auto& decision : step.step.decisions) {
    if (T* found = std::get_if<T>(&decision)) return found;
  }
  return nullptr;
}

template <class T>
bool drop(PoolStep& step) {
  auto& decisions = step.step.decisions;
  const auto is = [](const domain::Decision& d) { return std::holds_alternative<T>(d); };
  const auto found = std::ranges::find_if(decisions, is);
  if (found == decisions.end()) return false;
  decisions.erase(found);
  return true;
}

// Law: an end that is decided twice breaks S3.
TEST(MutationTest, PoolEndsTwice) {
  expect_caught(try_pool_bug(
      [](PoolStep& step) {
        const auto* end = first<domain::End>(step);
        if (end == nullptr) return false;
        step.step.decisions.emplace_back(domain::End(*end));
        return true;
      },
      Invariant::kS3OneEnd));
}

// Law: an end that is not decided loses its request (S4).
TEST(MutationTest, PoolForgetsAnEnd) {
  expect_caught(
      try_pool_bug([](PoolStep& step) { return drop<domain::End>(step); }, Invariant::kS4NoneLost));
}

// Law: a request that vanishes from the pool breaks S4.
TEST(MutationTest, PoolLosesARequest) {
  expect_caught(try_pool_bug(
      [](PoolStep& step) {
        if (step.view.requests.empty()) return false;
        step.view.requests.pop_back();
        return true;
      },
      Invariant::kS4NoneLost));
}

// Law: a second assignment of a running request breaks S5.
TEST(MutationTest, PoolAssignsTwice) {
  expect_caught(try_pool_bug(
      [](PoolStep& step) {
        const auto* assign = first<domain::Assign>(step);
        if (assign == nullptr) return false;
        domain::Assign again = *assign;
        again.ref.attempt = units::Attempt(again.ref.attempt.value() + 1);
        step.step.decisions.emplace_back(again);
        return true;
      },
      Invariant::kS5OneTry));
}

bool count_a_token_more(PoolStep& step) {
  for (auto& engine : step.view.engines) {
    for (auto& booked : engine.tries) {
      if (booked.ended) continue;
      booked.produced += Tokens(1);
      return true;
    }
  }
  return false;
}

// Law: a token that is counted twice breaks S6.
TEST(MutationTest, PoolDoublesAToken) {
  expect_caught(try_pool_bug(count_a_token_more, Invariant::kS6Tokens));
}

// Law: an engine that is not told of a cancel keeps computing (S7).
TEST(MutationTest, PoolDropsAnAbort) {
  expect_caught(
      try_pool_bug([](PoolStep& step) { return drop<domain::Abort>(step); }, Invariant::kS7Cancel));
}

// Law: a try that stays booked after the engine has let it go breaks S7.
TEST(MutationTest, PoolSkipsARelease) {
  expect_caught(try_pool_bug(
      [](PoolStep& step) {
        const auto* finished = std::get_if<domain::Finished>(&step.step.event);
        if (finished == nullptr || first<domain::End>(step) == nullptr) return false;
        for (auto& engine : step.view.engines) {
          if (engine.id != finished->ref.engine) continue;
          engine.tries.push_back({finished->ref, Tokens(1), true});
          return true;
        }
        return false;
      },
      Invariant::kS7Cancel));
}

// Law: a hold on a quota that is not given back breaks S8.
TEST(MutationTest, PoolKeepsAQuotaHold) {
  expect_caught(try_pool_bug(
      [](PoolStep& step) {
        if (first<domain::End>(step) == nullptr || step.view.tenants.empty()) return false;
        step.view.tenants[0].alive += 1;
        return true;
      },
      Invariant::kS8Quota));
}

// Law: a request that can run is not refused for ever (S9).
TEST(MutationTest, PoolRefusesForEver) {
  expect_caught(try_pool_bug(
      [](PoolStep& step) {
        auto* end = first<domain::End>(step);
        const bool arrived = std::holds_alternative<domain::Arrived>(step.step.event);
        if (!arrived || end == nullptr || end->reason != domain::Reason::kQueueFull) return false;
        end->outcome = domain::Outcome::kRejectedInvalid;
        end->reason = domain::Reason::kNeverFits;
        return true;
      },
      Invariant::kS9NeverFits));
}

// Law: an assignment to an engine of another life breaks S10.
TEST(MutationTest, PoolPlacesOnADeadEngine) {
  expect_caught(try_pool_bug(
      [](PoolStep& step) {
        auto* assign = first<domain::Assign>(step);
        if (assign == nullptr) return false;
        assign->ref.epoch = units::Epoch(assign->ref.epoch.value() + 7);
        return true;
      },
      Invariant::kS10Placement));
}

// Law: a request that is sent as another one, here with a longer output, breaks S6.
TEST(MutationTest, PoolChangesARequest) {
  expect_caught(try_pool_bug(
      [](PoolStep& step) {
        auto* assign = first<domain::Assign>(step);
        if (assign == nullptr) return false;
        assign->request.footprint.max_output += Tokens(1);
        return true;
      },
      Invariant::kS6Tokens));
}

template <class T>
T* first(BatchStep& step) {
  for (auto& event : step.events) {
    if (T* found = std::get_if<T>(&event)) return found;
  }
  return nullptr;
}

// Law: more blocks in use than there are, or a count that the lists do not bear out, breaks S2.
TEST(MutationTest, BatchMiscountsBlocks) {
  expect_caught(try_batch_bug(
      [](BatchStep& step) {
        if (step.view.referenced.value() == 0) return false;
        step.view.referenced -= units::Blocks(1);
        step.view.free += units::Blocks(1);
        return true;
      },
      Invariant::kS2Blocks));
}

// Law: a block that two sequences are given as their own shows in its holders (S2).
TEST(MutationTest, BatchGivesABlockTwice) {
  expect_caught(try_batch_bug(
      [](BatchStep& step) {
        const auto held = std::ranges::find_if(
            step.view.slots, [](const auto& slot) { return slot.blocks.size() > 1; });
        if (held == step.view.slots.end()) return false;
        held->blocks[0] = held->blocks[1];
        return true;
      },
      Invariant::kS2Blocks));
}

// Law: a sequence with fewer blocks than its tokens need breaks S1.
TEST(MutationTest, BatchReservesTooLittle) {
  expect_caught(try_batch_bug(
      [](BatchStep& step) {
        for (const auto& sequence : step.view.sequences) {
          if (sequence.slot < 0 || sequence.computed.value() == 0) continue;
          step.view.slots[static_cast<std::size_t>(sequence.slot)].blocks.clear();
          return true;
        }
        return false;
      },
      Invariant::kS1Memory));
}

// Law: a token told twice breaks S6.
TEST(MutationTest, BatchDoublesAToken) {
  expect_caught(try_batch_bug(
      [](BatchStep& step) {
        const auto* token = first<domain::TokensProduced>(step);
        if (token == nullptr) return false;
        step.events.insert(step.events.begin(), domain::TokensProduced(*token));
        return true;
      },
      Invariant::kS6Tokens));
}

// Law: an end told twice breaks S3.
TEST(MutationTest, BatchEndsTwice) {
  expect_caught(try_batch_bug(
      [](BatchStep& step) {
        const auto* end = first<domain::Finished>(step);
        if (end == nullptr) return false;
        step.events.emplace_back(domain::Finished(*end));
        return true;
      },
      Invariant::kS3OneEnd));
}

// Law: a slot that still runs when its sequence is gone breaks S7.
TEST(MutationTest, BatchKeepsASlot) {
  expect_caught(try_batch_bug(
      [](BatchStep& step) {
        if (first<domain::Finished>(step) == nullptr) return false;
        const auto unused = std::ranges::find_if(step.view.slots, [](const auto& slot) {
          return slot.use == batch::SlotUse::kFree && slot.blocks.empty();
        });
        if (unused == step.view.slots.end()) return false;
        unused->use = batch::SlotUse::kRunning;
        return true;
      },
      Invariant::kS7Cancel));
}

// Law: a row that skips a token breaks S6.
TEST(MutationTest, BatchSkipsAToken) {
  expect_caught(try_batch_bug(
      [](BatchStep& step) {
        if (!step.plan || step.plan->rows.empty()) return false;
        step.plan->rows[0].from += Tokens(1);
        return true;
      },
      Invariant::kS6Tokens));
}

// Law: a prefix copied from the wrong place, here one token more than is shared, is found by its
// content or by the row that follows (S6).
TEST(MutationTest, BatchCopiesTooLittle) {
  expect_caught(try_batch_bug(
      [](BatchStep& step) {
        if (!step.plan || step.plan->copies.empty() || step.plan->rows.empty()) return false;
        const batch::Copy& copy = step.plan->copies[0];
        const bool used = std::ranges::count(step.plan->rows, copy.to, &batch::Row::slot) > 0;
        if (!used) return false;
        step.plan->copies[0].length -= Tokens(1);
        return true;
      },
      Invariant::kS6Tokens));
}

// Law: a trim that is not told leaves the engine with what the table thinks is gone (S6).
TEST(MutationTest, BatchForgetsATrim) {
  expect_caught(try_batch_bug(
      [](BatchStep& step) {
        if (!step.plan || step.plan->trims.empty() || step.plan->rows.empty()) return false;
        const batch::Trim& trim = step.plan->trims[0];
        const bool used = std::ranges::count(step.plan->rows, trim.slot, &batch::Row::slot) > 0;
        if (!used || std::ranges::count(step.plan->copies, trim.slot, &batch::Copy::to) > 0) {
          return false;
        }
        step.plan->trims.erase(step.plan->trims.begin());
        return true;
      },
      Invariant::kS6Tokens));
}

// Law: a request computed twice in one step breaks S11.
TEST(MutationTest, BatchPlansARowTwice) {
  expect_caught(try_batch_bug(
      [](BatchStep& step) {
        if (!step.plan || step.plan->rows.empty()) return false;
        step.plan->rows.push_back(step.plan->rows[0]);
        return true;
      },
      Invariant::kS11Step));
}

// Law: a step beyond the engine's limit of tokens breaks S11.
TEST(MutationTest, BatchPlansTooMuch) {
  expect_caught(try_batch_bug(
      [](BatchStep& step) {
        if (!step.plan || step.plan->rows.empty()) return false;
        step.plan->rows[0].count += Tokens(100'000);
        return true;
      },
      Invariant::kS11Step));
}

// Law: a row of another engine breaks S11.
TEST(MutationTest, BatchPlansForAnotherEngine) {
  expect_caught(try_batch_bug(
      [](BatchStep& step) {
        if (!step.plan || step.plan->rows.empty()) return false;
        step.plan->rows[0].ref.engine = units::EngineId(99);
        return true;
      },
      Invariant::kS11Step));
}

// Law: time that goes backwards breaks S12, in both tiers.
TEST(MutationTest, TimeGoesBackwards) {
  invariants::PoolOracle pool{pool::PoolConfig{}};
  EXPECT_TRUE(pool.check_step(units::Instant(10), domain::Tick{}, {}, {}).empty());
  const auto found = pool.check_step(units::Instant(9), domain::Tick{}, {}, {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].invariant, Invariant::kS12Time);
  batch::BatchConfig config;
  config.spec.limits = {units::Blocks(4), 1, Tokens(4), Tokens(16)};
  invariants::BatchOracle batch(config);
  EXPECT_TRUE(batch.abort({}, units::Instant(10)).empty());
  EXPECT_EQ(batch.abort({}, units::Instant(9)).size(), 1U);
}

// Law: a request that waits while nothing runs and no wake-up is asked for is found (L4).
TEST(MutationTest, PoolForgetsAWakeUp) {
  invariants::PoolOracle pool{pool::PoolConfig{}};
  domain::Arrived arrived;
  arrived.request.id = units::RequestId(1);
  arrived.request.footprint.max_output = Tokens(1);
  std::vector<domain::Decision> decisions = {
      domain::Hold{arrived.request.id, domain::Reason::kNoEngine, 0, {}, {}},
      domain::WakeAt{units::Instant(5)}};
  const invariants::PoolView view{{{arrived.request.id, false, {}}}, {}, {}};
  EXPECT_TRUE(pool.check_step(units::Instant(1), arrived, decisions, view).empty());
  const auto found = pool.check_step(units::Instant(5), domain::Tick{}, {}, view);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].invariant, Invariant::kL4Wake);
}

}  // namespace
}  // namespace tidegate::swarm
