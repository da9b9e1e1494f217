// The own engine against the simulator: reads the journal of a run of `tidegate serve` with one
// in-process engine and simulates the very same requests (arrivals, sizes, promises, order), under
// the same pool and batch tier, on an engine whose steps take what the law says that the engine had
// learned before the first judged request came, or on the average since. Prints one JSON object:
// per request of the judged class when its first and last token came, recorded and simulated.
// bench/own_engine.sh makes the journal and the table.
//
//   own_engine JOURNAL CACHED_BLOCKS DISPATCH_LAG_NS before|during JUDGED_CLASS
//
// Nothing is fitted here. The journal gives: configuration, engine facts and coefficients
// (EngineJoined), the learned correction (StateReport), arrivals and output lengths.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engines/llama/batching.h"
#include "journal/file.h"
#include "sim/simulator.h"
#include "sim/speed.h"

namespace tidegate {
namespace {

using units::Instant;
using units::Nanos;

// Finished prompts kept; more than any run here leaves within its blocks.
constexpr std::int64_t kRetained = 64;

struct Options {
  std::string journal;
  units::Blocks cached{0};  // that finished prompts may hold
  Nanos dispatch_lag{0};
  bool during = false;
  std::string judged;
};

// When a request's tokens came, and how many.
struct Stream {
  Instant arrived;  // as the pool heard of it
  Instant first;
  Instant last;
  std::int64_t tokens = 0;
  bool finished = false;

  void produced(std::int64_t count, Instant now) {
    if (tokens == 0) first = now;
    last = now;
    tokens += count;
  }
};
using Streams = std::map<units::RequestId, Stream>;

struct Recorded {
  pool::PoolConfig pool;
  domain::EngineSpec spec;
  units::Ppm before{units::kMillion};     // correction when the first judged request came
  units::Ppm during{units::kMillion};     // and its mean from then on
  std::vector<domain::Request> requests;  // in order of arrival
  Streams streams;
  std::vector<Nanos> accept_lags;  // from a decision to what the engine says to it
};

// Follows a journal from step to step.
class Recorder {
 public:
  explicit Recorder(std::string judged) : judged_(std::move(judged)) {}

  void take(const journal::Record& record) {
    if (const auto* configuration = std::get_if<journal::Configuration>(&record)) {
      recorded_.pool = configuration->pool;
    } else if (const auto* step = std::get_if<journal::Step>(&record)) {
      std::visit([&](const auto& event) { on(event, step->now); }, step->event);
      for (const domain::Decision& decision : step->decisions) {
        const auto* assign = std::get_if<domain::Assign>(&decision);
        if (assign != nullptr) assigned_[assign->ref.request] = step->now;
      }
    }
  }
  Recorded done() { return std::move(recorded_); }

 private:
  void on(const domain::EngineJoined& joined, Instant) { recorded_.spec = joined.spec; }
  void on(const domain::Arrived& arrived, Instant now) {
    const std::size_t index = arrived.request.service_class.value();
    judging_ = judging_ || recorded_.pool.classes[index].name == judged_;
    recorded_.requests.push_back(arrived.request);
    recorded_.streams[arrived.request.id].arrived = now;
  }
  void on(const domain::Accepted& accepted, Instant now) {
    const auto assigned = assigned_.find(accepted.ref.request);
    if (assigned != assigned_.end()) recorded_.accept_lags.push_back(now - assigned->second);
  }
  void on(const domain::TokensProduced& produced, Instant now) {
    recorded_.streams[produced.ref.request].produced(produced.count.value(), now);
  }
  void on(const domain::Finished& finished, Instant) {
    recorded_.streams[finished.ref.request].finished =
        finished.outcome == domain::Outcome::kCompleted;
  }
  void on(const domain::StateReport& report, Instant) {
    if (!judging_) {
      recorded_.before = recorded_.during = report.law_correction;
      return;
    }
    ++reports_;
    recorded_.during += (report.law_correction - recorded_.during) / reports_;
  }
  template <class Other>
  void on(const Other&, Instant) {}

  std::string judged_;
  Recorded recorded_;
  std::map<units::RequestId, Instant> assigned_;
  bool judging_ = false;
  std::int64_t reports_ = 0;
};

units::Result<Recorded> read(const Options& options) {
  auto reader = journal::Reader::open(options.journal);
  if (!reader) return tl::unexpected(reader.error());
  Recorder recorder(options.judged);
  journal::Record record;
  while (true) {
    const auto end = reader->next(record);
    if (!end) return tl::unexpected(end.error());
    if (*end != journal::ReadEnd::kRecord) break;
    recorder.take(record);
  }
  Recorded recorded = recorder.done();
  if (recorded.requests.empty() || !recorded.spec.calibrated) {
    return units::error(options.journal, "holds no requests, or no engine that measured its law");
  }
  return recorded;
}

sim::World world_of(const Recorded& recorded, const Options& options, Nanos before) {
  sim::World world;
  world.pool = recorded.pool;
  sim::EngineModel engine;
  engine.gpu = "own";
  engine.batch = engines::llama::batching(recorded.spec, {kRetained, options.cached});
  engine.true_law =
      sim::stretched(recorded.spec.law, options.during ? recorded.during : recorded.before);
  world.engines = {engine};
  world.physics.dispatch_lag = options.dispatch_lag;
  world.horizon =
      recorded.streams.rbegin()->second.arrived - Instant(0) - before + units::seconds(600);
  return world;
}

// The same requests, `before` earlier, so that the clock begins with the run.
Streams simulate(const Recorded& recorded, const Options& options, Nanos before) {
  Streams streams;
  const auto shift = [before](Instant at) { return at == Instant::never() ? at : at - before; };
  sim::Simulator simulator(
      world_of(recorded, options, before),
      [&, next = std::size_t{0}]() mutable -> std::optional<sim::WorldRequest> {
        if (next == recorded.requests.size()) return std::nullopt;
        sim::WorldRequest made;
        made.request = recorded.requests[next++];
        const Stream& real = recorded.streams.at(made.request.id);
        made.request.arrival = real.arrived - before;
        made.request.promise.first_token_due = shift(made.request.promise.first_token_due);
        made.request.promise.total_due = shift(made.request.promise.total_due);
        made.output = units::Tokens(real.tokens);
        return made;
      },
      {"own"});
  simulator.observe([&](const auto&, const domain::Event& event, const auto&, Instant now) {
    if (const auto* produced = std::get_if<domain::TokensProduced>(&event)) {
      streams[produced->ref.request].produced(produced->count.value(), now);
    } else if (const auto* arrived = std::get_if<domain::Arrived>(&event)) {
      streams[arrived->request.id].arrived = now;
    }
  });
  simulator.run();
  return streams;
}

std::string json_of(const Stream& stream) {
  const auto ms = [](Nanos span) { return static_cast<double>(span.value()) / 1e6; };
  return fmt::format("[{:.3f},{:.3f}]", ms(stream.first - stream.arrived),
                     ms(stream.last - stream.arrived));
}

int compare(const Options& options) {
  const auto recorded = read(options);
  if (!recorded) {
    std::fputs((recorded.error().where + ": " + recorded.error().message + "\n").c_str(), stderr);
    return 2;
  }
  const Nanos before = recorded->streams.begin()->second.arrived - Instant(0);
  const Streams simulated = simulate(*recorded, options, before);
  std::vector<Nanos> lags = recorded->accept_lags;
  std::sort(lags.begin(), lags.end());
  const auto ratio = [](units::Ppm ppm) { return static_cast<double>(ppm.value()) / 1e6; };
  std::string text =
      fmt::format("{{\"before\":{:.4f},\"during\":{:.4f},\"accept_lag_ns_p10\":{},\"requests\":[",
                  ratio(recorded->before), ratio(recorded->during),
                  lags.empty() ? 0 : lags[lags.size() / 10].value());
  const char* separator = "\n";
  for (const domain::Request& request : recorded->requests) {
    const Stream& real = recorded->streams.at(request.id);
    if (!real.finished) continue;
    fmt::format_to(std::back_inserter(text),
                   "{}{{\"class\":\"{}\",\"tokens\":{},\"recorded\":{},\"simulated\":{}}}",
                   std::exchange(separator, ",\n"),
                   recorded->pool.classes[request.service_class.value()].name, real.tokens,
                   json_of(real), json_of(simulated.at(request.id)));
  }
  std::fputs((text + "]}\n").c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace tidegate

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("own_engine JOURNAL CACHED_BLOCKS DISPATCH_LAG_NS before|during JUDGED_CLASS\n",
               stderr);
    return 2;
  }
  return tidegate::compare({argv[1], tidegate::units::Blocks(std::atoll(argv[2])),
                            tidegate::units::Nanos(std::atoll(argv[3])),
                            std::string(argv[4]) == "during", argv[5]});
}
