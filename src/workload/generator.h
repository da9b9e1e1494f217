// A stream of requests in the manner of ServeGen (Xiang et al., "ServeGen: Workload
// Characterization and Generation of Large Language Model Serving in Production", 2025): many
// clients of very uneven rates, each a renewal process with its own variability (Gamma or Weibull
// gaps), its own slow drift and its own lengths. The figures come from profiles fitted to published
// traces and shipped with the project (catalogue/README.md says how close they are).
//
// Same spec and seed, same bytes, on gcc and clang. Values and one owner: no clock, no I/O.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "units/quantity.h"
#include "units/result.h"
#include "workload/lengths.h"
#include "workload/trace.h"

namespace tidegate::workload {

// How the rate of the whole moves. Every pattern keeps the mean rate over the run.
enum class Pattern : std::uint8_t {
  kSteady,
  kSquare,   // half of each period low, then half high
  kDiurnal,  // a sine of the given period that starts at its trough
  kSpike,    // high from `begin` for `duration`, low before and after; all clients take part
  kFlood,  // the same, but what is above the low rate comes from one more client, "<profile>-flood"
};

struct ShapeSpec {
  Pattern pattern = Pattern::kSteady;
  double peak_to_trough = 1;                // highest rate over lowest, at least 1
  units::Nanos period{86'400'000'000'000};  // of kSquare and kDiurnal
  units::Nanos begin{0};                    // of kSpike and kFlood
  units::Nanos duration{0};
};

// Requests that belong together: each turn's prompt is the whole conversation before it, prompts
// and answers, and something new. Turns follow their predecessor by the think time on the clock of
// the trace (open loop); sessions that began before the run are under way at its start.
struct SessionSpec {
  double turns_mean = 1;                           // geometric, at least 1; 1 is "no sessions"
  units::Nanos think_time_median{20'000'000'000};  // from one turn to the next, lognormal
  double think_time_sigma = 1;                     // of its logarithm
  units::Tokens shared_prefix{0};  // at the head of every prompt of a client: its system prompt
  units::Tokens longest_input{131'072};  // a turn that would not fit starts a new session instead
};

// One of several names and how much of the load it gets, relative to the others.
struct Share {
  std::string name;
  double weight = 1;
};

struct GeneratorSpec {
  std::string profile = "mixed";  // one of profile_names()
  std::uint32_t clients = 0;      // each a tenant "<profile>-<rank>"; 0 is the profile's number
  double requests_per_s = 0;      // mean over the run, all clients together; 0 is the profile's own
  double load = 1;                // multiplies that rate
  units::Nanos length{3'600'000'000'000};
  ShapeSpec shape;
  std::optional<LengthLaw> input;  // whole prompts, or first turns; in place of the profile's
  std::optional<LengthLaw> follow_input;  // what a later turn adds to its conversation; the same
  std::optional<LengthLaw> output;        // the same
  std::optional<double> skew;  // client r's rate goes as r^-skew (Zipf), in place of the profile's
  std::optional<double> gap_cv;         // of every client, in place of the profile's; 1 is Poisson
  std::optional<double> rate_drift;     // in place of the profile's; 0 keeps each client's share
  std::optional<SessionSpec> sessions;  // in place of the profile's
  std::vector<Share> models;            // in place of the profile's; a client keeps one model
  std::vector<Share> classes;           // service class of each request, drawn; empty is none
  units::Tokens hash_block{512};        // prompt tokens of one id in hash_ids; 0 leaves them out
  std::uint64_t seed = 1;
};

// The profiles shipped, in the order of the catalogue.
std::vector<std::string> profile_names();

struct Profile;

class Generator {
 public:
  // Fails on an unknown profile or a value out of range; Error::where is the field's name
  // ("shape.peak_to_trough"), for the caller to put its file and line before.
  static units::Result<Generator> create(const GeneratorSpec& spec);
  // The same on a profile of the caller's (profiles.h); spec.profile is not looked at.
  static units::Result<Generator> create(const GeneratorSpec& spec, const Profile& profile);

  Generator(Generator&&) noexcept;
  Generator& operator=(Generator&&) noexcept;
  ~Generator();

  // The next request in order of arrival (ties by client), nullopt after spec.length. Names count
  // in names(); hash_begin is 0. O(log clients); memory O(clients + open sessions).
  std::optional<TraceRow> next();
  // Content ids of the last row's prompt, hash_count of them, valid until the next call.
  std::span<const std::uint64_t> hash_ids() const;
  // What the numbers of the rows stand for; complete from the start but for sessions, which are
  // numbered from names().size() on and have no name.
  const std::vector<std::string>& names() const;

 private:
  struct State;
  explicit Generator(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// All rows at once, for small runs and for writing to a file; here sessions have names as well.
units::Result<Trace> generate(const GeneratorSpec& spec);
// The rest of a generator's rows; `hash_block` is its spec's.
Trace collect(Generator generator, units::Tokens hash_block);

}  // namespace tidegate::workload
