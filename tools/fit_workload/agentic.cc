#include "agentic.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "compare.h"
#include "lengths_fit.h"
#include "tables/csv.h"

namespace tidegate::tools {

using workload::Profile;

namespace {

constexpr double kTrialS = 4 * 3600;       // of generated requests, to compare their mean
constexpr double kRequestsPerS = 1;        // the published sessions have no common clock
constexpr double kUsualContext = 200'000;  // sessions that go beyond had a wider context window
// The tool and system prompts, which deployments share over sessions, are this long or longer in
// three quarters of the published sessions (whole blocks of 512).
constexpr units::Tokens kToolPrompt{12'288};

struct Request {
  double input = 0;
  double output = 0;
  std::optional<double> arrival_s;
};

struct Samples {
  std::vector<Weighted> first, follow, output, think_s;
};

std::optional<double> optional_number(std::string_view text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void take(const Request& now, const Request& before, Samples& samples) {
  samples.output.emplace_back(now.output, 1);
  if (before.input == 0 || now.input < before.input / 2) {
    samples.first.emplace_back(now.input, 1);
    return;
  }
  samples.follow.emplace_back(std::max(now.input - before.input - before.output, 1.0), 1);
  if (now.arrival_s && before.arrival_s) {
    samples.think_s.emplace_back(std::max(*now.arrival_s - *before.arrival_s, 0.01), 1);
  }
}

workload::ClientKind kind_of(const std::string& name, Samples samples, double longest) {
  workload::ClientKind kind;
  kind.name = name;
  kind.load = static_cast<double>(samples.output.size());
  kind.sessions.turns_mean =
      static_cast<double>(samples.output.size()) / static_cast<double>(samples.first.size());
  const Lognormal think = lognormal_of(samples.think_s);
  kind.sessions.think_time_median = units::Nanos(static_cast<std::int64_t>(think.median * 1e9));
  kind.sessions.think_time_sigma = think.sigma;
  kind.sessions.longest_input = units::Tokens(static_cast<std::int64_t>(longest));
  kind.sessions.shared_prefix = kToolPrompt;
  kind.input = table_of(std::move(samples.first));
  kind.follow_input = table_of(std::move(samples.follow));
  kind.output = table_of(std::move(samples.output));
  return kind;
}

// The samples of one group of sessions and the longest prompt in it.
struct Group {
  Samples samples;
  double longest = 0;
  double input_sum = 0;
};

double mean_input(const Group& group) {
  return group.input_sum / static_cast<double>(group.samples.output.size());
}

// Real conversations are cut back before they reach the longest prompt of all. The length at which
// generated ones are is set so that the mean of the prompts is the recorded one, by bisection.
void match_mean_input(Profile& profile, double mean) {
  workload::SessionSpec& sessions = profile.kinds[0].sessions;
  auto low = static_cast<std::int64_t>(mean);
  std::int64_t high = sessions.longest_input.value();
  for (int i = 0; i < 12; ++i) {
    sessions.longest_input = units::Tokens(low + (high - low) / 2);
    const double found = describe_generated(profile, kTrialS).input.mean;
    (found < mean ? low : high) = sessions.longest_input.value();
  }
}

void take(const std::vector<Request>& session, Group& group) {
  Request before{0, 0, {}};
  for (const Request& now : session) {
    take(now, before, group.samples);
    before = now;
    group.longest = std::max(group.longest, now.input);
    group.input_sum += now.input;
  }
}

units::Result<std::map<std::int64_t, std::vector<Request>>> read_sessions(const std::string& path) {
  auto csv = tables::Csv::open(path);
  if (!csv) return tl::unexpected(csv.error());
  std::map<std::int64_t, std::vector<Request>> sessions;
  while (true) {
    const auto more = csv->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return sessions;
    if (csv->text(*csv->column("agent")) != "0") continue;
    const auto session = csv->integer(*csv->column("session"), 0, 1'000'000);
    const auto input = csv->number(*csv->column("input_tokens"), 1, 1e8);
    const auto output = csv->number(*csv->column("output_tokens"), 0, 1e8);
    if (!session || !input || !output) return units::error(csv->where(), "needs whole numbers");
    sessions[*session].push_back(
        {*input, *output, optional_number(csv->text(*csv->column("arrival_seconds")))});
  }
}

}  // namespace

units::Result<Agentic> fit_agentic(const std::string& path,
                                   const std::vector<workload::RankLoad>& rank_load) {
  const auto sessions = read_sessions(path);
  if (!sessions) return tl::unexpected(sessions.error());
  Agentic result;
  Group usual;
  Group wide;
  for (const auto& [id, session] : *sessions) {
    double longest = 0;
    for (const Request& request : session) {
      longest = std::max(longest, request.input);
      workload::TraceRow row;
      row.input = units::Tokens(static_cast<std::int64_t>(request.input));
      row.output = units::Tokens(static_cast<std::int64_t>(request.output));
      result.requests.rows.push_back(row);
    }
    take(session, longest <= kUsualContext ? usual : wide);
  }
  workload::Profile& profile = result.profile;
  profile.name = "agentic";
  profile.requests_per_s = kRequestsPerS;
  profile.rank_load = rank_load;
  profile.clients = static_cast<std::uint32_t>(rank_load.back().rank);
  for (Group* group : {&usual, &wide}) {
    const double mean = mean_input(*group);
    Profile one = profile;
    one.kinds = {
        kind_of(group == &usual ? "200k" : "1m", std::move(group->samples), group->longest)};
    match_mean_input(one, mean);
    profile.kinds.push_back(one.kinds[0]);
  }
  const double sum = profile.kinds[0].load + profile.kinds[1].load;
  for (auto& kind : profile.kinds) kind.load /= sum;
  return result;
}

}  // namespace tidegate::tools
