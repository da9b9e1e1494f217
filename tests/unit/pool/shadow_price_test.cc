#include "pool/admission/shadow_price.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "units/prng.h"

namespace tidegate::pool {
namespace {

using units::Instant;
using units::milliseconds;
using units::Nanos;
using units::Ppm;

constexpr Ppm kTarget{150'000};

// Law: the margin is the size class in which a greedy knapsack of the sorted sizes runs out of
// budget, and says exactly how much of that class still fits.
TEST(SizeHistogram, FindsTheSizeAtWhichTheNaiveKnapsackIsFull) {
  units::Prng prng(7);
  for (int round = 0; round < 2'000; ++round) {
    SizeHistogram histogram;
    std::vector<std::int64_t> sizes;
    std::int64_t total = 0;
    for (std::int64_t i = prng.between(1, 200); i > 0; --i) {
      sizes.push_back(prng.between(20'000, 2'000'000'000));
      total += sizes.back();
      histogram.add(Nanos(sizes.back()));
    }
    ASSERT_EQ(histogram.total_ns(), total);
    std::sort(sizes.begin(), sizes.end());
    const std::int64_t budget = prng.between(0, total - 1);
    std::int64_t used = 0;
    std::size_t first_out = 0;
    while (used + sizes[first_out] <= budget) used += sizes[first_out++];
    const auto margin = histogram.margin(budget);
    EXPECT_LE(margin.size_class, SizeHistogram::class_of(Nanos(sizes[first_out])));
    std::int64_t below = 0;
    std::int64_t through = 0;
    for (const std::int64_t size : sizes) {
      const std::size_t size_class = SizeHistogram::class_of(Nanos(size));
      below += size_class < margin.size_class ? size : 0;
      through += size_class <= margin.size_class ? size : 0;
    }
    EXPECT_LE(below, budget);
    EXPECT_GT(through, budget);
    EXPECT_EQ(margin.fits_ns, budget - below);
    EXPECT_EQ(margin.work_ns, through - below);
  }
}

// Law: everything fits a budget as large as all of it.
TEST(SizeHistogram, HasNoLimitWhenAllFits) {
  SizeHistogram histogram;
  histogram.add(milliseconds(3));
  histogram.add(milliseconds(500));
  EXPECT_EQ(histogram.margin(histogram.total_ns()).size_class, SizeHistogram::kClasses);
}

// One engine that serves `served` of each second; newcomers see the backlog of those before them.
struct Fluid {
  explicit Fluid(std::vector<std::int64_t> weights) : price(std::move(weights), kTarget) {}

  // True when it was taken on.
  bool arrive(std::size_t tenant, Nanos size, Nanos time) {
    price.ask({tenant, size, time, false}, now);
    const bool above =
        price
            .judge({.tenant = tenant, .size = size, .ahead = backlog, .time = time, .engines = 1},
                   now)
            .above;
    if (!above) backlog += size;
    return !above;
  }
  void pass(Nanos time) {
    now = now + time;
    backlog = std::max(Nanos(0), backlog - time * served_percent / 100);
  }

  ShadowPrice price;
  Instant now;
  Nanos backlog{0};
  std::int64_t served_percent = 100;
};

// Law: while demand is below capacity nobody is above the price, however sizes differ.
TEST(ShadowPrice, HoldsNobodyBackBelowCapacity) {
  Fluid fluid({1, 1});
  units::Prng prng(1);
  for (int i = 0; i < 20'000; ++i) {
    EXPECT_TRUE(
        fluid.arrive(prng.below(2), Nanos(prng.between(1'000'000, 13'000'000)), units::seconds(2)));
    fluid.pass(milliseconds(10));  // 7 ms of work in 10
  }
}

// Law: two requests that arrive together are no overload, even where a promise leaves hardly more
// than the time of both: 90 % of the engine's time is asked for.
TEST(ShadowPrice, TakesABurstForNoQueue) {
  Fluid fluid({1});
  for (int i = 0; i < 2'000; ++i) {
    EXPECT_TRUE(fluid.arrive(0, milliseconds(200), units::seconds(1)));
    EXPECT_TRUE(fluid.arrive(0, milliseconds(200), units::seconds(1)));
    fluid.pass(milliseconds(444));
  }
}

// Law: that an engine was slow for a while is forgotten while the queue is short: after minutes at
// half of its load nobody is held back at 80 %.
TEST(ShadowPrice, ForgetsABadTime) {
  Fluid fluid({1});
  const auto offer = [&](int requests, Nanos size) {
    int taken = 0;
    for (int i = 0; i < requests; ++i) {
      taken += fluid.arrive(0, size, units::seconds(2)) ? 1 : 0;
      fluid.pass(milliseconds(10));
    }
    return taken;
  };
  fluid.served_percent = 40;
  EXPECT_LT(offer(12'000, milliseconds(9)), 7'000);
  fluid.served_percent = 100;
  offer(30'000, milliseconds(5));
  EXPECT_EQ(offer(6'000, milliseconds(8)), 6'000);
}

// Law: a request that takes most of the remembered time is no sign of overload while it has much
// more time than it needs: one of 8 s every 16 s, due in a minute, beside short ones takes 80 %.
TEST(ShadowPrice, DoesNotTakeOneLargeRequestForOverload) {
  Fluid fluid({1});
  for (int i = 0; i < 1'600; ++i) {
    if (i % 160 == 10) {
      EXPECT_TRUE(fluid.arrive(0, units::seconds(8), units::seconds(60))) << i;
      fluid.backlog -= units::seconds(8);  // the short ones pass it
    }
    EXPECT_TRUE(fluid.arrive(0, milliseconds(30), units::seconds(2))) << i;
    fluid.pass(milliseconds(100));
  }
}

// Law: at twice the capacity the largest are held back, the queue stays near its part of the time,
// and the engine is never left without work: as many are kept as the greedy knapsack keeps.
TEST(ShadowPrice, KeepsTheSmallestThatFit) {
  for (const std::int64_t served : {60, 100, 170}) {  // sizes are only estimates
    Fluid fluid({1});
    fluid.served_percent = served;
    units::Prng prng(3);
    std::vector<std::int64_t> offered;
    std::int64_t kept = 0;
    double queue = 0;
    constexpr int kBegin = 20'000;
    constexpr int kEnd = 60'000;
    for (int i = 0; i < kEnd; ++i) {
      // Twice what is served: 20 ms a piece every 10 ms at 100 %.
      const Nanos size(prng.between(0, 40'000 * served / 100) * 1'000);
      const bool taken = fluid.arrive(0, size, units::seconds(2));
      fluid.pass(milliseconds(10));
      if (i < kBegin) continue;
      offered.push_back(size.value());
      kept += taken ? 1 : 0;
      queue += static_cast<double>(fluid.backlog.value()) / 2e9;
    }
    std::sort(offered.begin(), offered.end());
    std::int64_t most = 0;
    std::int64_t room = std::int64_t{kEnd - kBegin} * 10'000'000 * served / 100;
    for (const std::int64_t size : offered) {
      if (size > room) break;
      room -= size;
      most += 1;
    }
    EXPECT_GT(kept, most * 97 / 100) << served;
    EXPECT_LE(kept, most + most / 50) << served;
    EXPECT_NEAR(queue / (kEnd - kBegin), 0.15, 0.05) << served;
  }
}

// Law: who asks for less than its share by weight is never held back, however much others ask for.
TEST(ShadowPrice, ProtectsWhoStaysWithinItsShare) {
  Fluid fluid({3, 1});
  units::Prng prng(5);
  std::int64_t flood_taken = 0;
  for (int i = 0; i < 40'000; ++i) {
    // Tenant 0 asks for 45 % of the engine, less than three quarters; tenant 1 for 300 %.
    const bool taken =
        fluid.arrive(0, Nanos(prng.between(1'000'000, 8'000'000)), units::seconds(2));
    EXPECT_TRUE(taken || i < 1'000) << i;
    for (int k = 0; k < 3; ++k) {
      flood_taken += fluid.arrive(1, milliseconds(10), units::seconds(2)) ? 1 : 0;
    }
    fluid.pass(milliseconds(10));
  }
  EXPECT_GT(flood_taken, 40'000 / 3);  // what is left of the engine goes to it
}

// Law: guaranteed work takes its part of the capacity before any share is counted.
TEST(ShadowPrice, CountsGuaranteedWorkFirst) {
  Fluid fluid({1});
  std::int64_t taken = 0;
  for (int i = 0; i < 40'000; ++i) {
    fluid.price.ask({0, milliseconds(7), units::seconds(2), true}, fluid.now);
    fluid.backlog += milliseconds(7);
    const bool kept = fluid.arrive(0, milliseconds(1 + i % 11), units::seconds(2));  // 6 ms each
    if (i >= 20'000 && kept) taken += 1 + i % 11;
    fluid.pass(milliseconds(10));
  }
  EXPECT_NEAR(static_cast<double>(taken) / 20'000, 3.0, 0.3);  // of ten, seven are taken
}

// Law: a tenant that asked for twice its share is told to come back when, asking no more, it would
// be within it: an eighth of its demand is forgotten every 1.25 s, so after six of these, which one
// who was told at the worst moment waits for once more; and nobody is told more than 40 s.
TEST(ShadowPrice, TellsWhenTheTenantWillBeWithinItsShare) {
  Fluid fluid({1});
  Nanos longest(0);
  Nanos last(0);
  for (int i = 0; i < 40'000; ++i) {
    fluid.price.ask({0, milliseconds(20), units::seconds(2), false}, fluid.now);
    const auto verdict = fluid.price.judge({.tenant = 0,
                                            .size = milliseconds(20),
                                            .ahead = fluid.backlog,
                                            .time = units::seconds(2),
                                            .engines = 1},
                                           fluid.now);
    if (!verdict.above) fluid.backlog += milliseconds(20);
    if (verdict.above) last = verdict.drains_in;
    longest = std::max(longest, verdict.drains_in);
    fluid.pass(milliseconds(10));
  }
  EXPECT_NEAR(static_cast<double>(last.value()) / 1e9, 7 * 1.25, 2 * 1.25);
  EXPECT_LE(longest, units::seconds(40));
}

// Law: a target of 0 turns the price off.
TEST(ShadowPrice, CanBeTurnedOff) {
  ShadowPrice off({1}, Ppm(0));
  for (int i = 0; i < 1'000; ++i) {
    off.ask({0, units::seconds(10), units::seconds(1), false}, Instant(0));
    const auto verdict = off.judge({.tenant = 0,
                                    .size = units::seconds(10),
                                    .ahead = units::seconds(100),
                                    .time = units::seconds(1),
                                    .engines = 1},
                                   Instant(0));
    ASSERT_FALSE(verdict.above);
  }
}

// Law: a tight promise does not hide how long the queue of loose ones is: with the loose queue as
// long as its time, tight newcomers without a queue of their own are held back too.
TEST(ShadowPrice, LooksAtTheWorstQueueOfAllHorizons) {
  ShadowPrice price({1}, kTarget);
  Instant now(0);
  bool held_back = false;
  for (int i = 0; i < 4'000; ++i) {
    price.ask({0, milliseconds(10), units::seconds(30), false}, now);
    price.judge({.tenant = 0,
                 .size = milliseconds(10),
                 .ahead = units::seconds(30),
                 .time = units::seconds(30),
                 .engines = 1},
                now);
    price.ask({0, milliseconds(40), units::seconds(1), false}, now);
    held_back = price
                    .judge({.tenant = 0,
                            .size = milliseconds(40),
                            .ahead = Nanos(0),
                            .time = units::seconds(1),
                            .engines = 1},
                           now)
                    .above;
    now = now + milliseconds(10);
  }
  EXPECT_TRUE(held_back);
}

// An engine that is asked for tight requests, which pass, and for loose ones, due in ten minutes.
struct TightAndLoose {
  // 50 % of the engine in tight requests, and so much in loose ones.
  void run(Nanos time, std::int64_t loose_percent) {
    const Instant end = fluid.now + time;
    for (std::int64_t i = 0; fluid.now < end; ++i, fluid.pass(milliseconds(100))) {
      const Nanos tight = milliseconds(prng.between(20, 180));
      if (i % 2 == 0 && !fluid.arrive(0, tight, units::seconds(2))) refused_tight += 1;
      fluid.backlog = Nanos(0);
      loose += 1;
      if (!arrive_loose(milliseconds(prng.between(0, 2 * loose_percent)))) refused_loose += 1;
      loose_backlog = std::max(Nanos(0), loose_backlog - milliseconds(50));
    }
  }
  bool arrive_loose(Nanos size) {
    fluid.price.ask({0, size, units::seconds(600), false}, fluid.now);
    const ShadowPrice::Newcomer newcomer{.tenant = 0,
                                         .size = size,
                                         .ahead = loose_backlog,
                                         .time = units::seconds(600),
                                         .engines = 1};
    if (fluid.price.judge(newcomer, fluid.now).above) return false;
    loose_backlog += size;
    return true;
  }

  Fluid fluid{{1}};
  units::Prng prng{11};
  Nanos loose_backlog{0};
  std::int64_t loose = 0;
  std::int64_t refused_tight = 0;
  std::int64_t refused_loose = 0;
};

// Law: a surge that is short against the time of those who make it holds nobody back: a minute at
// 140 % of the engine after minutes at 60 %, by requests that are due in ten minutes.
TEST(ShadowPrice, HoldsNobodyBackForASurgeThatCanBeWorkedOff) {
  TightAndLoose both;
  both.run(units::seconds(600), 10);
  both.run(units::seconds(60), 90);
  both.run(units::seconds(300), 10);
  EXPECT_EQ(both.refused_loose, 0);
  EXPECT_EQ(both.refused_tight, 0);
}

// Law: when a surge lasts, all pay: after an hour at 150 % the largest are refused, loose and tight
// ones, and the queue of the loose stays within their time.
TEST(ShadowPrice, RefusesTheLargestOfAllWhenALooseSurgeLasts) {
  TightAndLoose both;
  both.run(units::seconds(3'600), 100);
  both = {std::move(both.fluid), both.prng, both.loose_backlog};
  both.run(units::seconds(600), 100);
  EXPECT_GT(both.refused_loose, both.loose / 10);
  EXPECT_GT(both.refused_tight, 0);
  EXPECT_LT(both.loose_backlog, units::seconds(200));
  EXPECT_TRUE(both.arrive_loose(milliseconds(5)));
  EXPECT_FALSE(both.arrive_loose(milliseconds(199)));
}

// Law: a queue of a tenth of the time after the first minute is no reason to refuse: with 90 %
// asked for, one that is due in ten minutes is taken behind 53 s of work, and not behind five
// minutes.
TEST(ShadowPrice, BearsAQueueOfLooseRequests) {
  for (const std::int64_t queue_s : {53, 300}) {
    ShadowPrice price({1}, kTarget);
    bool above = false;
    for (int i = 0; i < 600; ++i) {
      const Instant now = Instant(0) + milliseconds(100) * i;
      price.ask({0, milliseconds(90), units::seconds(600), false}, now);
      above = price
                  .judge({.tenant = 0,
                          .size = milliseconds(90),
                          .ahead = units::seconds(queue_s),
                          .time = units::seconds(600),
                          .engines = 1},
                         now)
                  .above ||
              above;
    }
    EXPECT_EQ(above, queue_s == 300) << queue_s;
  }
}

}  // namespace
}  // namespace tidegate::pool
