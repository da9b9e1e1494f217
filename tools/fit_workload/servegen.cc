#include "servegen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "lengths_fit.h"
#include "tables/csv.h"
#include "trace_fit.h"

namespace tidegate::tools {

using workload::ClientKind;
using workload::Profile;

namespace {

constexpr std::int64_t kWindowS = 600;
constexpr std::int64_t kLengthWindowS = 21'600;
constexpr std::int64_t kDayS = 86'400;
constexpr std::size_t kOwnKinds = 8;  // clients with a kind of their own
constexpr std::size_t kGroups = 4;    // kinds of the others
constexpr int kDrawsPerTable = 200;   // to mix tables

struct Window {
  double rate = 0;
  double gap_cv = 0;
  bool weibull = false;
};

struct Table {
  std::int64_t window_s = 0;
  workload::LengthLaw input;
  workload::LengthLaw output;
};

struct Client {
  std::map<std::int64_t, Window> windows;
  std::map<std::int64_t, Table> tables;
  double rate_sum = 0;
  double input_mean = 0;  // of its tables, for grouping
};

struct Data {
  std::map<std::int64_t, Client> clients;
  std::map<std::int64_t, double> day_curve;  // by time of day, relative to the mean
  double windows = 0;
};

units::Result<void> read_rates(const std::string& path, Data& data) {
  auto csv = tables::Csv::open(path);
  if (!csv) return tl::unexpected(csv.error());
  std::map<std::int64_t, double> total;
  while (true) {
    const auto more = csv->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    const auto client = csv->integer(*csv->column("client"), 0, 1'000'000);
    const auto begin = csv->integer(*csv->column("window_start_s"), 0, 100'000'000);
    const auto rate = csv->number(*csv->column("rate_rps"), 0, 1e9);
    const auto cv = csv->number(*csv->column("iat_cv"), 0, 1e6);
    if (!client || !begin || !rate || !cv) {
      return units::error(csv->where(), "client, window_start_s, rate_rps and iat_cv are numbers");
    }
    Client& c = data.clients[*client];
    c.windows[*begin] = {*rate, *cv, csv->text(*csv->column("pattern")) == "Weibull"};
    c.rate_sum += *rate;
    total[*begin] += *rate;
  }
  data.windows = static_cast<double>(total.size());
  double sum = 0;
  for (const auto& [begin, rate] : total) sum += rate;
  std::map<std::int64_t, std::pair<double, int>> by_time;
  for (const auto& [begin, rate] : total) {
    by_time[begin % kDayS].first += rate;
    ++by_time[begin % kDayS].second;
  }
  for (const auto& [time, s] : by_time) {
    data.day_curve[time] = s.first / s.second / (sum / data.windows);
  }
  return {};
}

units::Result<void> read_lengths(const std::string& path, Data& data) {
  auto csv = tables::Csv::open(path);
  if (!csv) return tl::unexpected(csv.error());
  constexpr std::pair<const char*, double> kShares[] = {
      {"p0", 0},    {"p1", 0.01}, {"p5", 0.05},  {"p10", 0.1},  {"p20", 0.2},
      {"p30", 0.3}, {"p40", 0.4}, {"p50", 0.5},  {"p60", 0.6},  {"p70", 0.7},
      {"p80", 0.8}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p100", 1}};
  while (true) {
    const auto more = csv->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
    const auto client = csv->integer(*csv->column("client"), 0, 1'000'000);
    const auto begin = csv->integer(*csv->column("window_start_s"), 0, 100'000'000);
    if (!client || !begin) return units::error(csv->where(), "client and window are numbers");
    const auto field = csv->text(*csv->column("field"));
    if (field != "input_tokens" && field != "output_tokens") continue;
    workload::LengthLaw law;
    law.kind = workload::LengthKind::kTable;
    law.low = units::Tokens(0);
    for (const auto& [name, share] : kShares) {
      const auto tokens = csv->number(*csv->column(name), 0, 1e8);
      if (!tokens) return tl::unexpected(tokens.error());
      law.table.push_back({share, *tokens});
    }
    Table& table = data.clients[*client].tables[*begin];
    table.window_s = *begin;
    (field == "input_tokens" ? table.input : table.output) = law;
  }
}

double rate_in(const Client& client, std::int64_t begin, std::int64_t span) {
  double rate = 0;
  for (auto w = client.windows.lower_bound(begin);
       w != client.windows.end() && w->first < begin + span; ++w) {
    rate += w->second.rate;
  }
  return rate;
}

void add_draws(const workload::LengthLaw& law, double weight, std::vector<Weighted>& counts) {
  for (int i = 0; i < kDrawsPerTable; ++i) {
    const double u = (i + 0.5) / kDrawsPerTable;
    counts.emplace_back(static_cast<double>(workload::draw(law, u).value()), weight);
  }
}

// The counts of all tables of some clients, each weighted by what was sent in its window.
template <class Select>
std::vector<Weighted> mixture(const std::vector<const Client*>& clients, Select select) {
  std::vector<Weighted> counts;
  for (const Client* client : clients) {
    for (const auto& [begin, table] : client->tables) {
      const workload::LengthLaw& law = select(table);
      const double weight = rate_in(*client, begin, kLengthWindowS);
      if (law.table.empty() || weight <= 0) continue;
      add_draws(law, weight, counts);
    }
  }
  return counts;
}

double mean_of(const std::vector<Weighted>& counts) {
  double sum = 0;
  double weight = 0;
  for (const auto& [value, w] : counts) {
    sum += value * w;
    weight += w;
  }
  return weight > 0 ? sum / weight : 0;
}

struct Drift {
  double sigma = 0;
  double memory = 0;
};

// Sigma and memory of the logarithm of the rate, of a lognormal AR(1) path with the variance and
// the correlation of neighbours that the rates have, after the common curve of the day is taken
// out.
Drift drift_of(const Client& client, const Data& data) {
  std::vector<double> rates;
  const std::int64_t first = client.windows.begin()->first;
  const std::int64_t last = client.windows.rbegin()->first;
  for (std::int64_t t = first; t <= last; t += kWindowS) {
    const auto w = client.windows.find(t);
    const auto curve = data.day_curve.find(t % kDayS);
    if (curve == data.day_curve.end()) continue;
    rates.push_back((w == client.windows.end() ? 0 : w->second.rate) / curve->second);
  }
  if (rates.size() < 12) return {};
  double mean = 0;
  for (const double r : rates) mean += r / static_cast<double>(rates.size());
  double variance = 0;
  double neighbours = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    variance += (rates[i] - mean) * (rates[i] - mean);
    if (i > 0) neighbours += (rates[i] - mean) * (rates[i - 1] - mean);
  }
  if (variance <= 0) return {};
  const double squared_cv = variance / static_cast<double>(rates.size()) / (mean * mean);
  const double sigma_squared = std::log(1 + squared_cv);
  const double correlation = std::max(neighbours / variance, 0.0);
  const double memory = std::log(1 + correlation * squared_cv) / sigma_squared;
  return {std::min(std::sqrt(sigma_squared), 2.5), std::clamp(memory, 0.0, 0.99)};
}

// The middle of the windows' variability by load, and the drift of the largest of the clients.
workload::ArrivalLaw arrivals_of(const std::vector<const Client*>& clients, const Data& data) {
  std::vector<Weighted> cvs;
  double weibull = 0;
  double all = 0;
  std::vector<Weighted> sigmas;
  std::vector<Weighted> memories;
  for (const Client* client : clients) {
    for (const auto& [begin, w] : client->windows) {
      cvs.emplace_back(w.gap_cv, w.rate);
      all += w.rate;
      if (w.weibull) weibull += w.rate;
    }
    const Drift drift = drift_of(*client, data);
    sigmas.emplace_back(drift.sigma, client->rate_sum);
    memories.emplace_back(drift.memory, client->rate_sum);
  }
  std::sort(cvs.begin(), cvs.end());
  std::sort(sigmas.begin(), sigmas.end());
  std::sort(memories.begin(), memories.end());
  workload::ArrivalLaw law;
  law.gap_kind = weibull > all / 2 ? workload::GapKind::kWeibull : workload::GapKind::kGamma;
  law.gap_cv = std::clamp(weighted_quantile(cvs, 0.5), 0.1, 20.0);
  law.drift_sigma = weighted_quantile(sigmas, 0.5);
  law.drift_memory = weighted_quantile(memories, 0.5);
  law.drift_window_ns = static_cast<double>(kWindowS) * 1e9;
  return law;
}

ClientKind kind_of(const std::string& name, const std::string& model,
                   const std::vector<const Client*>& clients, const Data& data) {
  ClientKind kind;
  kind.name = name;
  kind.model = model;
  kind.load = 0;
  for (const Client* client : clients) kind.load += client->rate_sum;
  kind.arrivals = arrivals_of(clients, data);
  kind.input = table_of(mixture(
      clients, [](const Table& t) -> auto& { return t.input; }));
  kind.follow_input = kind.input;
  kind.output = table_of(mixture(
      clients, [](const Table& t) -> auto& { return t.output; }));
  kind.sessions.longest_input =
      units::Tokens(static_cast<std::int64_t>(kind.input.table.back().tokens) + 1);
  return kind;
}

// Clients that have lengths, the largest first.
std::vector<const Client*> described(const Data& data) {
  std::vector<const Client*> clients;
  for (const auto& [id, client] : data.clients) {
    const auto inputs = mixture(
        {&client}, [](const Table& t) -> auto& { return t.input; });
    const auto outputs = mixture(
        {&client}, [](const Table& t) -> auto& { return t.output; });
    if (!inputs.empty() && !outputs.empty()) clients.push_back(&client);
  }
  std::stable_sort(clients.begin(), clients.end(),
                   [](const Client* a, const Client* b) { return a->rate_sum > b->rate_sum; });
  return clients;
}

workload::LengthStatistics describe_lengths(std::vector<Weighted> counts) {
  std::sort(counts.begin(), counts.end());
  return {mean_of(counts), weighted_quantile(counts, 0.5), weighted_quantile(counts, 0.9),
          weighted_quantile(counts, 0.99)};
}

workload::TraceStatistics describe_tables(const std::vector<const Client*>& clients,
                                          const std::vector<double>& loads, const Data& data) {
  workload::TraceStatistics s;
  s.input = describe_lengths(mixture(
      clients, [](const Table& t) -> auto& { return t.input; }));
  s.output = describe_lengths(mixture(
      clients, [](const Table& t) -> auto& { return t.output; }));
  const double sum = std::accumulate(loads.begin(), loads.end(), 0.0);
  const auto ten = static_cast<std::ptrdiff_t>(std::min<std::size_t>(10, loads.size()));
  s.requests_per_s = sum / data.windows;
  s.top_client = loads.front() / sum;
  s.top_10_clients = std::accumulate(loads.begin(), loads.begin() + ten, 0.0) / sum;
  return s;
}

void add_groups(const std::vector<const Client*>& rest, const std::string& model, const Data& data,
                Profile& profile) {
  std::vector<std::pair<double, const Client*>> by_length;
  double load = 0;
  for (const Client* client : rest) {
    by_length.emplace_back(mean_of(mixture(
                               {client}, [](const Table& t) -> auto& { return t.input; })),
                           client);
    load += client->rate_sum;
  }
  std::stable_sort(by_length.begin(), by_length.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Client*> group;
  double taken = 0;
  std::size_t number = 1;
  for (const auto& [length, client] : by_length) {
    group.push_back(client);
    taken += client->rate_sum;
    const bool full = taken >= load * static_cast<double>(number) / kGroups;
    if (!full && client != by_length.back().second) continue;
    profile.kinds.push_back(kind_of(fmt::format("group-{}", number++), model, group, data));
    group.clear();
  }
}

}  // namespace

units::Result<ServeGen> fit_servegen(const std::string& folder, const std::string& model) {
  Data data;
  if (auto read = read_rates(folder + "/servegen_rates_" + model + ".csv.gz", data); !read) {
    return tl::unexpected(read.error());
  }
  if (auto read = read_lengths(folder + "/servegen_lengths_" + model + ".csv.gz", data); !read) {
    return tl::unexpected(read.error());
  }
  Profile profile;
  std::vector<double> loads;
  for (const auto& [id, client] : data.clients) {
    if (client.rate_sum > 0) loads.push_back(client.rate_sum);
  }
  std::sort(loads.begin(), loads.end(), std::greater<>());
  profile.requests_per_s = std::accumulate(loads.begin(), loads.end(), 0.0) / data.windows;
  profile.clients = static_cast<std::uint32_t>(loads.size());
  profile.rank_load = rank_load_of(loads);
  auto clients = described(data);
  const auto published = describe_tables(clients, loads, data);
  const std::size_t own = std::min(kOwnKinds, clients.size());
  for (std::size_t i = 0; i < own; ++i) {
    profile.kinds.push_back(kind_of(fmt::format("client-{}", i + 1), model, {clients[i]}, data));
  }
  clients.erase(clients.begin(), clients.begin() + static_cast<std::ptrdiff_t>(own));
  add_groups(clients, model, data, profile);
  double sum = 0;
  for (const ClientKind& kind : profile.kinds) sum += kind.load;
  for (ClientKind& kind : profile.kinds) kind.load /= sum;
  return ServeGen{std::move(profile), published};
}

}  // namespace tidegate::tools
