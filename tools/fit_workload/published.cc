#include "published.h"

namespace tidegate::tools {

namespace {

workload::LengthLaw table(std::vector<workload::Quantile> points) {
  workload::LengthLaw law;
  law.kind = workload::LengthKind::kTable;
  law.low = units::Tokens(0);
  law.high = units::Tokens(100'000'000);
  law.table = std::move(points);
  return law;
}

}  // namespace

workload::Profile burstgpt(const std::vector<workload::RankLoad>& rank_load) {
  workload::Profile profile;
  profile.name = "burstgpt";
  profile.requests_per_s = 1;
  profile.rank_load = rank_load;
  profile.clients = static_cast<std::uint32_t>(rank_load.back().rank);
  workload::ClientKind kind;
  kind.name = "all";
  // Bursts of its arrivals are said to be Gamma; the figures below are assumptions.
  kind.arrivals = {workload::GapKind::kGamma, 2, 0.7, 0.8, 60e9};
  // The 50, 80, 95 and 99 % of Llumnix's table are printed; the ends were chosen so that the means
  // are the printed ones, 830 and 271.
  kind.input =
      table({{0, 4}, {0.1, 60}, {0.5, 582}, {0.8, 1427}, {0.95, 2345}, {0.99, 3549}, {1, 7000}});
  kind.output =
      table({{0, 1}, {0.1, 40}, {0.5, 243}, {0.8, 434}, {0.95, 669}, {0.99, 964}, {1, 2000}});
  kind.follow_input = kind.input;
  profile.kinds.push_back(kind);
  return profile;
}

}  // namespace tidegate::tools
