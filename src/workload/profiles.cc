#include "workload/profiles.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "tables/csv.h"
#include "units/check.h"
#include "workload/formats.h"

namespace tidegate::workload {

namespace {

struct Pair {
  std::string key;
  double value = 0;
};

// One field "key:value", for instance "0.5:1015".
std::optional<Pair> parse_pair(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  Pair pair{std::string(text.substr(0, colon)), 0};
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data() + colon + 1, end, pair.value);
  if (failure != std::errc() || rest != end) return std::nullopt;
  return pair;
}

units::Result<std::vector<Pair>> parse_pairs(std::string_view text, const std::string& where) {
  std::vector<Pair> pairs;
  while (!text.empty()) {
    const auto blank = std::min(text.find(' '), text.size());
    const auto pair = parse_pair(text.substr(0, blank));
    if (!pair) {
      return units::error(where, "'" + std::string(text.substr(0, blank)) +
                                     "' must be key:number, several separated by one blank");
    }
    pairs.push_back(*pair);
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return pairs;
}

units::Result<double> key_number(const Pair& pair, const std::string& where) {
  double number = 0;
  const char* end = pair.key.data() + pair.key.size();
  const auto [rest, failure] = std::from_chars(pair.key.data(), end, number);
  if (failure == std::errc() && rest == end) return number;
  return units::error(where, "'" + pair.key + "' must be a number");
}

// One table that is read by column name, with every column required.
class Reader {
 public:
  static units::Result<Reader> open(std::string name, std::string_view text) {
    auto csv = tables::Csv::from_text(std::move(name), text);
    if (!csv) return tl::unexpected(csv.error());
    return Reader(std::move(*csv));
  }

  units::Result<bool> next() { return csv_.next(); }
  std::string where() const { return csv_.where(); }

  std::string text(std::string_view name) {
    const auto column = csv_.require(name);
    if (column) return std::string(csv_.text(*column));
    note(column.error());
    return {};
  }
  double number(std::string_view name, double low, double high) {
    const auto column = csv_.require(name);
    if (!column) return note(column.error()), low;
    const auto value = csv_.number(*column, low, high);
    if (!value) return note(value.error()), low;
    return *value;
  }
  std::vector<Quantile> points(std::string_view name) {
    std::vector<Quantile> points;
    const auto pairs = parse_pairs(text(name), csv_.where());
    if (!pairs) return note(pairs.error()), points;
    for (const Pair& pair : *pairs) {
      const auto key = key_number(pair, csv_.where());
      if (!key) return note(key.error()), points;
      points.push_back({*key, pair.value});
    }
    return points;
  }
  LengthLaw table(std::string_view name) {
    LengthLaw law;
    law.kind = LengthKind::kTable;
    law.low = units::Tokens(0);
    law.high = units::Tokens(static_cast<std::int64_t>(kMostTokens));
    law.table = points(name);
    const auto checked = check(law);
    if (!checked) note({csv_.where(), std::string(name) + ": " + checked.error().message});
    return law;
  }

  void note(const units::Error& error) {
    if (!failure_) failure_ = error;
  }
  // The first failure since the table was opened.
  const std::optional<units::Error>& failure() const { return failure_; }

 private:
  explicit Reader(tables::Csv csv) : csv_(std::move(csv)) {}

  tables::Csv csv_;
  std::optional<units::Error> failure_;
};

units::Nanos seconds_column(Reader& in, std::string_view name) {
  return from_seconds(in.number(name, 0, 1e6));
}

SessionSpec read_sessions(Reader& in) {
  SessionSpec sessions;
  sessions.turns_mean = in.number("turns_mean", 1, 1e4);
  sessions.think_time_median = seconds_column(in, "think_time_median_s");
  sessions.think_time_sigma = in.number("think_time_sigma", 0, 10);
  sessions.shared_prefix =
      units::Tokens(static_cast<std::int64_t>(in.number("shared_prefix_tokens", 0, 1e7)));
  sessions.longest_input =
      units::Tokens(static_cast<std::int64_t>(in.number("longest_input_tokens", 1, 1e8)));
  return sessions;
}

ArrivalLaw read_arrivals(Reader& in) {
  ArrivalLaw law;
  const std::string kind = in.text("gap_law");
  if (kind != "gamma" && kind != "weibull") {
    in.note({in.where(), "gap_law must be gamma or weibull"});
  }
  law.gap_kind = kind == "weibull" ? GapKind::kWeibull : GapKind::kGamma;
  law.gap_cv = in.number("gap_cv", GapLaw::kLowestCv, GapLaw::kHighestCv);
  law.drift_sigma = in.number("drift_sigma", 0, 10);
  law.drift_memory = in.number("drift_memory", 0, 0.99999);
  law.drift_window_ns = in.number("drift_window_s", 1, 1e6) * 1e9;
  return law;
}

ClientKind read_kind(Reader& in) {
  ClientKind kind;
  kind.name = in.text("profile") + "/" + in.text("kind");
  kind.model = in.text("model");
  kind.load = in.number("load", 1e-9, 1);
  kind.arrivals = read_arrivals(in);
  kind.length_correlation = in.number("length_correlation", -0.99, 0.99);
  kind.sessions = read_sessions(in);
  kind.input = in.table("input");
  kind.follow_input = kind.sessions.turns_mean > 1 ? in.table("follow_input") : kind.input;
  kind.output = in.table("output");
  return kind;
}

Profile* find(std::vector<Profile>& profiles, std::string_view name) {
  const auto found = std::find_if(profiles.begin(), profiles.end(),
                                  [&](const Profile& p) { return p.name == name; });
  return found == profiles.end() ? nullptr : &*found;
}

struct Part {
  std::string whole;
  Pair pair;
  std::string where;
};

Profile read_profile(Reader& in, std::vector<Part>& parts) {
  Profile profile;
  profile.name = in.text("profile");
  profile.requests_per_s = in.number("requests_per_s", 1e-6, 1e6);
  profile.clients = static_cast<std::uint32_t>(in.number("clients", 1, 1e5));
  profile.rank_load.push_back({0, 0});
  for (const Quantile& point : in.points("rank_load")) {
    profile.rank_load.push_back({point.share, point.tokens});
  }
  profile.source = in.text("source");
  const auto listed = parse_pairs(in.text("parts"), in.where());
  if (!listed) in.note(listed.error());
  for (const Pair& pair : listed.value_or(std::vector<Pair>{})) {
    parts.push_back({profile.name, pair, in.where()});
  }
  return profile;
}

// Gives a profile that is made of others their kinds, each in proportion.
units::Result<void> compose(std::vector<Profile>& profiles, const Part& part) {
  Profile* whole = find(profiles, part.whole);
  const Profile* source = find(profiles, part.pair.key);
  if (source == nullptr || source == whole || !(part.pair.value > 0)) {
    return units::error(
        part.where, "parts: '" + part.pair.key + "' must be another profile with a share above 0");
  }
  double total = 0;
  for (const ClientKind& kind : source->kinds) total += kind.load;
  for (ClientKind kind : source->kinds) {
    kind.load *= part.pair.value / total;
    if (kind.model.empty()) kind.model = source->name;
    whole->kinds.push_back(std::move(kind));
  }
  return {};
}

bool well_formed(const Profile& profile) {
  const auto& points = profile.rank_load;
  if (points.size() < 2 || points.back().load < 0.999 || points.back().load > 1.001) return false;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    if (!(points[i].rank < points[i + 1].rank && points[i].load < points[i + 1].load)) return false;
  }
  return !profile.kinds.empty();
}

units::Result<void> read_kinds(std::string_view text, std::vector<Profile>& profiles) {
  auto in = Reader::open("workload_kinds.csv", text);
  if (!in) return tl::unexpected(in.error());
  while (true) {
    const auto more = in->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
    ClientKind kind = read_kind(*in);
    if (in->failure()) return tl::unexpected(*in->failure());
    Profile* profile = find(profiles, in->text("profile"));
    if (profile == nullptr) {
      return units::error(in->where(), "profile must be one of workload_profiles.csv");
    }
    profile->kinds.push_back(std::move(kind));
  }
}

}  // namespace

units::Result<std::vector<Profile>> read_profiles(std::string_view profile_text,
                                                  std::string_view kind_text) {
  auto in = Reader::open("workload_profiles.csv", profile_text);
  if (!in) return tl::unexpected(in.error());
  std::vector<Profile> profiles;
  std::vector<Part> parts;
  while (true) {
    const auto more = in->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    profiles.push_back(read_profile(*in, parts));
    if (in->failure()) return tl::unexpected(*in->failure());
  }
  if (const auto kinds = read_kinds(kind_text, profiles); !kinds) {
    return tl::unexpected(kinds.error());
  }
  for (const Part& part : parts) {
    if (const auto done = compose(profiles, part); !done) return tl::unexpected(done.error());
  }
  for (const Profile& profile : profiles) {
    if (well_formed(profile)) continue;
    return units::error("workload_profiles.csv",
                        profile.name + ": needs kinds, and rank_load must ascend to load 1");
  }
  return profiles;
}

const std::vector<Profile>& shipped_profiles() {
  static const std::vector<Profile> profiles = [] {
    auto read = read_profiles(kWorkloadProfiles, kWorkloadKinds);
    TIDEGATE_CHECK(read.has_value());
    return std::move(*read);
  }();
  return profiles;
}

}  // namespace tidegate::workload
