#include "write.h"

#include <fmt/format.h>

namespace tidegate::tools {

using workload::ClientKind;
using workload::Profile;

namespace {

std::string points(const std::vector<workload::Quantile>& table) {
  std::string text;
  for (const auto& [share, tokens] : table) {
    text += fmt::format("{}{:.4g}:{:.0f}", text.empty() ? "" : " ", share, tokens);
  }
  return text;
}

std::string points(const std::vector<workload::RankLoad>& table) {
  std::string text;
  for (const auto& [rank, load] : table) {
    if (rank == 0) continue;
    text += fmt::format("{}{:.0f}:{:.6g}", text.empty() ? "" : " ", rank, load);
  }
  return text;
}

std::string kind_row(const Profile& profile, const ClientKind& kind) {
  const auto& a = kind.arrivals;
  const auto& s = kind.sessions;
  return fmt::format(
      "{},{},{},{:.5g},{},{:.4g},{:.4g},{:.4g},{:.4g},{:.3f},{:.4g},{:.4g},{:.4g},{},{},{},{},{}\n",
      profile.name, kind.name, kind.model, kind.load,
      a.gap_kind == workload::GapKind::kGamma ? "gamma" : "weibull", a.gap_cv, a.drift_sigma,
      a.drift_memory, a.drift_window_ns / 1e9, kind.length_correlation, s.turns_mean,
      static_cast<double>(s.think_time_median.value()) / 1e9, s.think_time_sigma,
      s.shared_prefix.value(), s.longest_input.value(), points(kind.input.table),
      s.turns_mean > 1 ? points(kind.follow_input.table) : "", points(kind.output.table));
}

}  // namespace

std::string profiles_csv(const std::vector<Profile>& profiles, const Mixed& mixed) {
  std::string text = "profile,requests_per_s,clients,rank_load,parts,source\n";
  text +=
      fmt::format("mixed,{:.4g},{:.0f},{},{},the profiles named in parts\n", mixed.requests_per_s,
                  mixed.rank_load.back().rank, points(mixed.rank_load), mixed.parts);
  for (const Profile& p : profiles) {
    text += fmt::format("{},{:.4g},{},{},,{}\n", p.name, p.requests_per_s, p.clients,
                        points(p.rank_load), p.source);
  }
  return text;
}

std::string kinds_csv(const std::vector<Profile>& profiles) {
  std::string text =
      "profile,kind,model,load,gap_law,gap_cv,drift_sigma,drift_memory,drift_window_s,"
      "length_correlation,turns_mean,think_time_median_s,think_time_sigma,shared_prefix_tokens,"
      "longest_input_tokens,input,follow_input,output\n";
  for (const Profile& profile : profiles) {
    for (const ClientKind& kind : profile.kinds) text += kind_row(profile, kind);
  }
  return text;
}

}  // namespace tidegate::tools
