#include "workload/generator.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <utility>

#include "units/prng.h"
#include "workload/arrivals.h"
#include "workload/check_spec.h"
#include "workload/clients.h"
#include "workload/conversation.h"
#include "workload/exact_math.h"
#include "workload/profiles.h"
#include "workload/rate_curve.h"

namespace tidegate::workload {

namespace {

// What keeps the streams of one seed apart.
enum Stream : std::uint64_t { kArrivalStream = 1, kContentStream, kPreludeStream, kPrefixStream };

// Sessions that began before the run are simulated over this many mean lives of a session.
constexpr double kPreludeLives = 8;
constexpr double kMostPreludeSessions = 100'000;

struct Client {
  const ClientKind* kind;
  Name model;
  Name tenant;
  std::uint64_t prefix;  // content of its system prompt
  Arrivals arrivals;     // of first turns
  units::Prng content;   // lengths and sessions, apart from arrivals: changing one keeps the other
};

// Something that will arrive: the next new session of a client, or the next turn of one.
struct Event {
  double time_ns = 0;
  std::uint32_t client = 0;
  std::uint64_t number = 0;  // order of creation, the last tie-break
  bool turn = false;
  Conversation conversation;

  bool operator>(const Event& other) const {
    return std::tie(time_ns, client, number) > std::tie(other.time_ns, other.client, other.number);
  }
};

struct Lengths {
  units::Tokens input{0};
  units::Tokens output{0};
};

// Two lengths joined by a Gaussian copula (Nelsen, "An Introduction to Copulas", 2006).
Lengths draw_lengths(const ClientKind& kind, const LengthLaw& input, units::Prng& prng) {
  const double u = uniform(prng);
  const double v = uniform(prng);
  const double r = kind.length_correlation;
  const double z = r * normal_quantile(u) + std::sqrt(1 - r * r) * normal_quantile(v);
  const double joined = r == 0 ? v : std::clamp(normal_below(z), 1e-9, 1 - 1e-9);
  return {draw(input, u), draw(kind.output, joined)};
}

double think_time_ns(const SessionSpec& sessions, units::Prng& prng) {
  return static_cast<double>(sessions.think_time_median.value()) *
         exact_exp(sessions.think_time_sigma * normal(prng));
}

double mean_think_time_ns(const SessionSpec& sessions) {
  const double sigma = sessions.think_time_sigma;
  return static_cast<double>(sessions.think_time_median.value()) * exact_exp(sigma * sigma / 2);
}

bool goes_on(const SessionSpec& sessions, units::Prng& prng) {
  return sessions.turns_mean > 1 && uniform(prng) > 1 / sessions.turns_mean;
}

std::vector<double> weights_of(const std::vector<Share>& shares) {
  std::vector<double> weights;
  for (const Share& share : shares) weights.push_back(share.weight);
  return weights;
}

std::vector<double> loads_of(const std::vector<ClientKind>& kinds) {
  std::vector<double> loads;
  for (const ClientKind& kind : kinds) loads.push_back(kind.load);
  return loads;
}

// The profile's kinds with what the spec puts in their place.
std::vector<ClientKind> kinds_of(const Profile& profile, const GeneratorSpec& spec) {
  std::vector<ClientKind> kinds = profile.kinds;
  for (ClientKind& kind : kinds) {
    if (spec.input) {
      kind.input = *spec.input;
      kind.sessions.longest_input = spec.input->high;  // the profile's is that of its own lengths
    }
    if (spec.follow_input) kind.follow_input = *spec.follow_input;
    if (spec.output) kind.output = *spec.output;
    if (spec.gap_cv) kind.arrivals.gap_cv = *spec.gap_cv;
    if (spec.gap_cv) kind.arrivals.gap_kind = GapKind::kGamma;
    if (spec.rate_drift) kind.arrivals.drift_sigma = *spec.rate_drift;
    if (spec.sessions) kind.sessions = *spec.sessions;
  }
  return kinds;
}

// Load of the run that comes from the flooding client: what is above the low rate.
double flood_share(const GeneratorSpec& spec) {
  const auto length = static_cast<double>(spec.length.value());
  const auto begin = static_cast<double>(spec.shape.begin.value());
  const auto duration = static_cast<double>(spec.shape.duration.value());
  const double extra = (spec.shape.peak_to_trough - 1) * std::min(duration, length - begin);
  return extra / (length + extra);
}

RateCurve curve_of(const GeneratorSpec& spec) {
  const ShapeSpec& s = spec.shape;
  switch (s.pattern) {
    case Pattern::kSteady:
    case Pattern::kFlood:
      break;
    case Pattern::kSquare:
      return square_curve(s.period, s.peak_to_trough, spec.length);
    case Pattern::kDiurnal:
      return diurnal_curve(s.period, s.peak_to_trough, spec.length);
    case Pattern::kSpike:
      return window_curve({s.begin, s.duration, 1, s.peak_to_trough}, spec.length);
  }
  return steady_curve(spec.length);
}

RateCurve flood_curve(const GeneratorSpec& spec) {
  if (spec.shape.pattern != Pattern::kFlood) return steady_curve(spec.length);
  return window_curve({spec.shape.begin, spec.shape.duration, 0, 1}, spec.length);
}

// A client before its streams are made.
struct NewClient {
  std::string tenant;
  const ClientKind* kind = nullptr;
  Name model = 0;
  double count = 0;  // requests over the run
  const RateCurve* curve = nullptr;
  ArrivalLaw law;
};

}  // namespace

struct Generator::State {
  State(const GeneratorSpec& s, const Profile& p)
      : spec(s), profile(p), kinds(kinds_of(p, s)), curve(curve_of(s)), flood(flood_curve(s)) {}

  void add_clients(double count);
  void add_client(const NewClient& added);
  void add_running_sessions(std::uint32_t index, const RateCurve& rate_curve);
  void push(double time_ns, std::uint32_t client, const Conversation* turn);
  Conversation open_session(Client& client);
  TraceRow arrive(const Event& event);
  Name draw_class(units::Prng& prng) const;
  void write_ids(const Client& client, const Conversation& conversation, TraceRow& row);

  GeneratorSpec spec;
  Profile profile;
  std::vector<ClientKind> kinds;
  RateCurve curve;
  RateCurve flood;
  std::vector<Client> clients;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::uint64_t event_count = 0;
  Name session_count = 0;
  std::vector<Name> class_names;
  Trace names;  // only its table of names
  std::vector<std::uint64_t> ids;
};

void Generator::State::push(double time_ns, std::uint32_t client, const Conversation* turn) {
  if (time_ns >= static_cast<double>(spec.length.value())) return;
  Event event;
  event.time_ns = time_ns;
  event.client = client;
  event.number = event_count++;
  event.turn = turn != nullptr;
  if (turn != nullptr) event.conversation = *turn;
  events.push(event);
}

Name Generator::State::draw_class(units::Prng& prng) const {
  if (class_names.empty()) return 0;
  double left = 0;
  for (const Share& share : spec.classes) left += share.weight;
  left *= uniform(prng);
  std::size_t i = 0;
  for (; i + 1 < class_names.size() && left >= spec.classes[i].weight; ++i) {
    left -= spec.classes[i].weight;
  }
  return class_names[i];
}

Conversation Generator::State::open_session(Client& client) {
  Conversation fresh;
  fresh.content = client.content.next();
  fresh.service_class = draw_class(client.content);
  if (client.kind->sessions.turns_mean > 1) {
    fresh.session = static_cast<Name>(names.names.size()) + session_count++;
  }
  return fresh;
}

void Generator::State::add_client(const NewClient& added) {
  const auto index = static_cast<std::uint32_t>(clients.size());
  const std::uint64_t seed = mix(spec.seed, index);
  const ArrivalPlan plan{added.law, added.count / added.kind->sessions.turns_mean,
                         mix(seed, kArrivalStream)};
  clients.push_back({added.kind, added.model, names.intern(added.tenant), mix(seed, kPrefixStream),
                     Arrivals(*added.curve, spec.length, plan),
                     units::Prng(mix(seed, kContentStream))});
}

void Generator::State::add_clients(double count) {
  const std::uint32_t number = spec.clients > 0 ? spec.clients : profile.clients;
  const auto shares = spec.skew ? zipf_shares(number, *spec.skew) : client_shares(profile, number);
  const auto kind_of = divide(shares, loads_of(kinds));
  std::vector<std::size_t> model_of;
  if (!spec.models.empty()) model_of = divide(shares, weights_of(spec.models));
  const auto model_name = [&](std::size_t i) {
    return names.intern(spec.models.empty() ? kinds[kind_of[i]].model
                                            : spec.models[model_of[i]].name);
  };
  const double flood_part = spec.shape.pattern == Pattern::kFlood ? flood_share(spec) : 0;
  clients.reserve(number + 1);
  for (std::uint32_t i = 0; i < number; ++i) {
    const ClientKind& kind = kinds[kind_of[i]];
    add_client({profile.name + "-" + std::to_string(i + 1), &kind, model_name(i),
                shares[i] * count * (1 - flood_part), &curve, kind.arrivals});
  }
  if (flood_part > 0) {
    add_client({profile.name + "-flood", &kinds[kind_of[0]], model_name(0), count * flood_part,
                &flood, ArrivalLaw{}});
  }
  for (const Share& share : spec.classes) class_names.push_back(names.intern(share.name));
}

// The sessions under way when the run begins: begun as a Poisson process at the first rate, long
// enough ago, and followed to their first turn inside the run.
void Generator::State::add_running_sessions(std::uint32_t index, const RateCurve& rate_curve) {
  Client& client = clients[index];
  const SessionSpec& sessions = client.kind->sessions;
  const double rate = client.arrivals.first_rate() * rate_curve.rate(0);
  if (sessions.turns_mean <= 1 || rate <= 0) return;
  units::Prng prng(mix(mix(spec.seed, index), kPreludeStream));
  const double lives = kPreludeLives * sessions.turns_mean * mean_think_time_ns(sessions);
  for (double begin = -std::min(lives, kMostPreludeSessions / rate); true;) {
    begin += exponential(prng) / rate;
    if (begin >= 0) return;
    Conversation conversation = open_session(client);
    const LengthLaw* law = &client.kind->input;
    double time = begin;
    bool alive = true;
    for (; alive && time < 0; time += think_time_ns(sessions, prng)) {
      const Lengths lengths = draw_lengths(*client.kind, *law, prng);
      conversation.context += lengths.input + lengths.output;
      law = &client.kind->follow_input;
      alive = goes_on(sessions, prng);
    }
    if (alive) push(time, index, &conversation);
  }
}

void Generator::State::write_ids(const Client& client, const Conversation& conversation,
                                 TraceRow& row) {
  const SessionSpec& sessions = client.kind->sessions;
  ids.clear();
  const bool shares = sessions.turns_mean > 1 || sessions.shared_prefix > units::Tokens(0);
  if (shares && spec.hash_block > units::Tokens(0)) {
    write_block_ids(
        {row.input, sessions.shared_prefix, spec.hash_block, client.prefix, conversation.content},
        ids);
  }
  row.hash_count = static_cast<std::uint32_t>(ids.size());
}

TraceRow Generator::State::arrive(const Event& event) {
  Client& client = clients[event.client];
  const ClientKind& kind = *client.kind;
  const SessionSpec& sessions = kind.sessions;
  Conversation conversation = event.conversation;
  Lengths lengths;
  if (event.turn) {
    lengths = draw_lengths(kind, kind.follow_input, client.content);
    lengths.input = conversation.context + std::max(lengths.input, units::Tokens(1));
  }
  if (!event.turn || lengths.input > sessions.longest_input) {
    conversation = open_session(client);
    lengths = draw_lengths(kind, kind.input, client.content);
    const units::Tokens prefix = sessions.shared_prefix;
    if (prefix > units::Tokens(0))
      lengths.input = std::max(lengths.input, prefix + units::Tokens(1));
    lengths.input = std::min(lengths.input, sessions.longest_input);
  }
  TraceRow row;
  row.arrival = units::Nanos(static_cast<std::int64_t>(event.time_ns));
  row.input = lengths.input;
  row.output = lengths.output;
  row.model = client.model;
  row.tenant = client.tenant;
  row.session = conversation.session;
  row.service_class = conversation.service_class;
  write_ids(client, conversation, row);
  conversation.context = lengths.input + lengths.output;
  if (goes_on(sessions, client.content)) {
    push(event.time_ns + think_time_ns(sessions, client.content), event.client, &conversation);
  }
  return row;
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const Profile& profile : shipped_profiles()) names.push_back(profile.name);
  return names;
}

units::Result<Generator> Generator::create(const GeneratorSpec& spec) {
  const auto& profiles = shipped_profiles();
  const auto profile = std::find_if(profiles.begin(), profiles.end(),
                                    [&](const Profile& p) { return p.name == spec.profile; });
  if (profile == profiles.end()) {
    std::string known;
    for (const Profile& p : profiles) known += (known.empty() ? "" : ", ") + p.name;
    return units::error("profile", "must be one of " + known);
  }
  return create(spec, *profile);
}

units::Result<Generator> Generator::create(const GeneratorSpec& spec, const Profile& profile) {
  if (const auto checked = check(spec); !checked) return tl::unexpected(checked.error());
  auto state = std::make_unique<State>(spec, profile);
  const double base = spec.requests_per_s > 0 ? spec.requests_per_s : profile.requests_per_s;
  const double rate = base * spec.load;
  state->add_clients(rate * static_cast<double>(spec.length.value()) / 1e9);
  for (std::uint32_t i = 0; i < state->clients.size(); ++i) {
    const bool floods = spec.shape.pattern == Pattern::kFlood && i + 1 == state->clients.size();
    state->add_running_sessions(i, floods ? state->flood : state->curve);
    state->push(state->clients[i].arrivals.next(), i, nullptr);
  }
  return Generator(std::move(state));
}

Generator::Generator(std::unique_ptr<State> state) : state_(std::move(state)) {}
Generator::Generator(Generator&&) noexcept = default;
Generator& Generator::operator=(Generator&&) noexcept = default;
Generator::~Generator() = default;

std::optional<TraceRow> Generator::next() {
  State& s = *state_;
  if (s.events.empty()) return std::nullopt;
  const Event event = s.events.top();
  s.events.pop();
  if (!event.turn) s.push(s.clients[event.client].arrivals.next(), event.client, nullptr);
  return s.arrive(event);
}

std::span<const std::uint64_t> Generator::hash_ids() const {
  return state_->ids;
}

const std::vector<std::string>& Generator::names() const {
  return state_->names.names;
}

units::Result<Trace> generate(const GeneratorSpec& spec) {
  auto generator = Generator::create(spec);
  if (!generator) return tl::unexpected(generator.error());
  return collect(std::move(*generator), spec.hash_block);
}

Trace collect(Generator generator, units::Tokens hash_block) {
  Trace trace;
  trace.hash_block_tokens = hash_block;
  for (const std::string& name : generator.names()) trace.intern(name);
  while (auto row = generator.next()) {
    // The sessions in order of their first row; those that end before the run have none.
    if (row->session != 0) row->session = trace.intern("session-" + std::to_string(row->session));
    row->hash_begin = static_cast<std::uint32_t>(trace.hash_ids.size());
    const auto ids = generator.hash_ids();
    trace.hash_ids.insert(trace.hash_ids.end(), ids.begin(), ids.end());
    trace.rows.push_back(*row);
  }
  return trace;
}

}  // namespace tidegate::workload
