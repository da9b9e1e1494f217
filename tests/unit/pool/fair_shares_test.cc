#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "pool/queueing/waiting_room.h"
#include "units/prng.h"

namespace tidegate::pool {
namespace {

// A server that always takes the first in line; requests are priced in nanoseconds.
struct Server {
  Server(const std::vector<std::int64_t>& weights, units::Nanos slack)
      : room(1, weights, 4'096, slack), served(weights.size(), 0), price(4'096, 0) {
    for (SlotIndex i = 4'096; i > 0; --i) free.push_back(i - 1);
  }
  void arrive(std::size_t tenant, std::int64_t cost, units::Instant due) {
    const SlotIndex slot = free.back();
    free.pop_back();
    price[slot] = cost;
    room.enter(slot, room.lane_of(0, tenant, Band::kShare), {due, due, units::RequestId(++ids)},
               {.requests = 1});
    owner[slot] = tenant;
  }
  std::size_t serve() {
    room.start(walk, 0, false);
    const SlotIndex slot = walk.next();
    const std::size_t tenant = owner[slot];
    const LaneIndex lane = room.lane_of(0, tenant, Band::kShare);
    room.charge(lane, units::Nanos(price[slot]));
    room.leave(slot, lane);
    served[tenant] += price[slot];
    free.push_back(slot);
    return tenant;
  }

  WaitingRoom room;
  WaitingRoom::Walk walk;
  std::vector<std::int64_t> served;
  std::vector<std::int64_t> price;
  std::vector<std::size_t> owner = std::vector<std::size_t>(4'096, 0);
  std::vector<SlotIndex> free;
  std::uint64_t ids = 0;
};

// How much more one tenant has been served than another, by their weights, at most.
std::int64_t widest_gap(const Server& server, const std::vector<std::int64_t>& weights) {
  std::vector<std::int64_t> by_weight;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    by_weight.push_back(server.served[i] / weights[i]);
  }
  const auto [least, most] = std::minmax_element(by_weight.begin(), by_weight.end());
  return *most - *least;
}

// Tenants that always have work get service in proportion to their weights, within the slack and
// the largest request, whatever the sizes, due times and how often each one sends (VTC's bound).
TEST(FairShares, BackloggedTenantsStayWithinTheBound) {
  const std::vector<std::int64_t> weights = {1, 1, 4};
  constexpr std::int64_t kLargest = 1'000;
  constexpr std::int64_t kSlack = 500;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    units::Prng prng(seed);
    Server server(weights, units::Nanos(kSlack));
    // The first tenant sends huge requests that are all due first, the others small ones.
    const auto refill = [&](std::size_t tenant) {
      const bool huge = tenant == 0;
      server.arrive(tenant, huge ? kLargest : prng.between(1, 50),
                    units::Instant(huge ? 0 : prng.between(1, 1'000)));
    };
    for (int i = 0; i < 3; ++i) {
      for (std::size_t tenant = 0; tenant < weights.size(); ++tenant) refill(tenant);
    }
    for (int i = 0; i < 5'000; ++i) {
      refill(server.serve());
      ASSERT_LE(widest_gap(server, weights), kSlack + 2 * kLargest) << "seed " << seed;
    }
  }
}

// A tenant that was idle while others were served gets its share from then on, not the past.
TEST(FairShares, IdlingEarnsNoCredit) {
  Server server({1, 1}, units::Nanos(0));
  for (int i = 0; i < 200; ++i) server.arrive(0, 100, units::Instant(5));
  for (int i = 0; i < 100; ++i) server.serve();
  for (int i = 0; i < 100; ++i) server.arrive(1, 100, units::Instant(5));
  const std::int64_t before = server.served[0];
  for (int i = 0; i < 100; ++i) server.serve();
  EXPECT_NEAR(static_cast<double>(server.served[0] - before), 5'000, 200);
  EXPECT_NEAR(static_cast<double>(server.served[1]), 5'000, 200);
}

// A tenant that waits alone is within its share, however much it was served.
TEST(FairShares, AloneIsAlwaysWithin) {
  Server server({1, 1}, units::Nanos(0));
  for (int i = 0; i < 50; ++i) server.arrive(0, 1'000'000, units::Instant(5));
  for (int i = 0; i < 49; ++i) server.serve();
  EXPECT_EQ(server.room.tier(server.room.lane_of(0, 0, Band::kShare)), domain::Tier::kWithinShare);
}

}  // namespace
}  // namespace tidegate::pool
