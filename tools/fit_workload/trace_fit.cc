#include "trace_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "calibrate.h"
#include "lengths_fit.h"
#include "workload/statistics.h"

namespace tidegate::tools {

using workload::ClientKind;
using workload::Profile;
using workload::Trace;
using workload::TraceRow;

namespace {

constexpr double kPi = 3.14159265358979323846;

// What the rows say about conversations.
struct Turns {
  std::vector<Weighted> first;    // input of prompts that continue nothing
  std::vector<Weighted> follow;   // what continuing prompts add to prompt and answer before
  std::vector<Weighted> think_s;  // from the one to the other
  double shared_prefix = 0;       // tokens at the head of all prompts
};

// A prompt continues an earlier one when all whole blocks of that one are at its head.
Turns turns_of(const Trace& trace) {
  Turns turns;
  const std::int64_t block = trace.hash_block_tokens.value();
  std::unordered_map<std::uint64_t, std::size_t> last_with;  // id -> latest row that has it
  const auto known_blocks = [&](const TraceRow& row) {
    std::uint32_t known = 0;
    while (known < row.hash_count && last_with.contains(trace.hash_ids[row.hash_begin + known])) {
      ++known;
    }
    return known;
  };
  for (std::size_t i = 0; i < trace.rows.size(); ++i) {
    const TraceRow& row = trace.rows[i];
    const std::uint32_t known = known_blocks(row);
    const TraceRow* before = nullptr;
    if (known > 1) before = &trace.rows[last_with[trace.hash_ids[row.hash_begin + known - 1]]];
    const bool continues =
        before != nullptr && known >= before->input.value() / block && row.input >= before->input;
    if (continues) {
      const auto added = static_cast<double>((row.input - before->input - before->output).value());
      turns.follow.emplace_back(std::max(added, 1.0), 1);
      turns.think_s.emplace_back(static_cast<double>((row.arrival - before->arrival).value()) / 1e9,
                                 1);
    } else {
      turns.first.emplace_back(static_cast<double>(row.input.value()), 1);
    }
    for (std::uint32_t k = 0; k < row.hash_count; ++k) {
      last_with[trace.hash_ids[row.hash_begin + k]] = i;
    }
  }
  return turns;
}

// Tokens of the whole blocks that every prompt of at least that length begins with.
double common_head(const Trace& trace) {
  const TraceRow& first = trace.rows.front();
  std::uint32_t common = first.hash_count;
  for (const TraceRow& row : trace.rows) {
    std::uint32_t same = 0;
    const std::uint32_t most = std::min(common, row.hash_count);
    while (same < most &&
           trace.hash_ids[row.hash_begin + same] == trace.hash_ids[first.hash_begin + same]) {
      ++same;
    }
    if (row.hash_count > 1) common = std::min(common, same);
  }
  return static_cast<double>(common * trace.hash_block_tokens.value());
}

void fit_sessions(const Trace& trace, ClientKind& kind) {
  Turns turns = turns_of(trace);
  if (turns.follow.size() < 100) return;
  kind.sessions.turns_mean =
      static_cast<double>(trace.rows.size()) / static_cast<double>(turns.first.size());
  const Lognormal think = lognormal_of(turns.think_s);
  kind.sessions.think_time_median = units::Nanos(static_cast<std::int64_t>(think.median * 1e9));
  kind.sessions.think_time_sigma = think.sigma;
  kind.sessions.shared_prefix = units::Tokens(static_cast<std::int64_t>(common_head(trace)));
  kind.input = table_of(std::move(turns.first));
  kind.follow_input = table_of(std::move(turns.follow));
}

}  // namespace

std::vector<workload::RankLoad> rank_load_of(const std::vector<double>& loads) {
  const double sum = std::accumulate(loads.begin(), loads.end(), 0.0);
  std::vector<workload::RankLoad> points{{0, 0}};
  double below = 0;
  std::size_t next = 1;
  for (std::size_t rank = 1; rank <= loads.size(); ++rank) {
    below += loads[rank - 1];
    if (rank != next && rank != loads.size()) continue;
    points.push_back({static_cast<double>(rank), below / sum});
    next = std::max(rank + 1, rank * 8 / 5);
  }
  points.back().load = 1;
  return points;
}

Profile fit_trace(const Trace& trace, const TraceFit& how) {
  Profile profile;
  profile.name = how.name;
  profile.source = how.source;
  const auto s = workload::describe(trace);
  profile.requests_per_s = s.requests_per_s;
  profile.rank_load = how.rank_load;
  profile.clients = static_cast<std::uint32_t>(how.rank_load.back().rank);
  ClientKind kind;
  kind.name = "all";
  std::vector<Weighted> input;
  std::vector<Weighted> output;
  for (const TraceRow& row : trace.rows) {
    input.emplace_back(static_cast<double>(row.input.value()), 1);
    output.emplace_back(static_cast<double>(row.output.value()), 1);
  }
  kind.sessions.longest_input =
      units::Tokens(static_cast<std::int64_t>(std::max_element(input.begin(), input.end())->first));
  kind.input = table_of(std::move(input));
  kind.follow_input = kind.input;
  kind.output = table_of(std::move(output));
  // Of the copula that has this rank correlation (Kruskal, 1958).
  kind.length_correlation = 2 * std::sin(kPi / 6 * s.length_correlation);
  fit_sessions(trace, kind);
  profile.kinds.push_back(kind);
  calibrate(profile, target_of(trace, how.coarse_clock));
  return profile;
}

}  // namespace tidegate::tools
