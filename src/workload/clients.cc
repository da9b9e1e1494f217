#include "workload/clients.h"

#include <algorithm>
#include <numeric>

#include "units/check.h"
#include "workload/exact_math.h"

namespace tidegate::workload {

namespace {

void normalise(std::vector<double>& shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
}

}  // namespace

std::vector<double> client_shares(const Profile& profile, std::uint32_t clients) {
  TIDEGATE_CHECK(clients > 0);
  const auto& points = profile.rank_load;
  std::vector<double> shares;
  std::size_t i = 1;
  for (std::uint32_t rank = 1; rank <= clients; ++rank) {
    while (i + 1 < points.size() && points[i].rank < rank) ++i;
    shares.push_back((points[i].load - points[i - 1].load) / (points[i].rank - points[i - 1].rank));
  }
  std::sort(shares.begin(), shares.end(), std::greater<>());
  normalise(shares);
  return shares;
}

std::vector<double> zipf_shares(std::uint32_t clients, double skew) {
  TIDEGATE_CHECK(clients > 0);
  std::vector<double> shares;
  for (std::uint32_t rank = 1; rank <= clients; ++rank) {
    shares.push_back(exact_power(rank, -skew));
  }
  normalise(shares);
  return shares;
}

std::vector<std::size_t> divide(std::span<const double> shares, std::span<const double> weights) {
  TIDEGATE_CHECK(!weights.empty());
  std::vector<double> lacking(weights.begin(), weights.end());
  normalise(lacking);
  std::vector<std::size_t> chosen;
  for (const double share : shares) {
    const auto most = std::max_element(lacking.begin(), lacking.end());
    *most -= share;
    chosen.push_back(static_cast<std::size_t>(most - lacking.begin()));
  }
  return chosen;
}

}  // namespace tidegate::workload
