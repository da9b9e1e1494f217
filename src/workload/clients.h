// Who the clients of a run are: how the load divides over them and which kind each is. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "workload/profiles.h"

namespace tidegate::workload {

// Shares of the load of the `clients` largest clients of a profile, descending, sum 1. A profile
// that knows fewer goes on with clients as small as its smallest. REQUIRES: clients > 0.
std::vector<double> client_shares(const Profile& profile, std::uint32_t clients);

// rank^-skew, normalised (Zipf). REQUIRES: clients > 0.
std::vector<double> zipf_shares(std::uint32_t clients, double skew);

// For each client, in order of descending share, the index of the weight that lacks most of its
// part so far: the loads come as near to the weights as whole clients allow (greedy, largest
// first). O(clients * weights). REQUIRES: weights not empty, all above 0.
std::vector<std::size_t> divide(std::span<const double> shares, std::span<const double> weights);

}  // namespace tidegate::workload
