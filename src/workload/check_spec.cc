#include "workload/check_spec.h"

#include <string>

#include "workload/lengths.h"
#include "workload/samplers.h"

namespace tidegate::workload {

namespace {

constexpr units::Nanos kLongestRun = units::seconds(366LL * 86'400);
constexpr units::Nanos kLongestThinkTime = units::seconds(7LL * 86'400);
constexpr units::Tokens kLongestInput{100'000'000};

// Holds the first failure; written so that a value that is not a number fails as well.
class Checks {
 public:
  void require(bool holds, const char* where, const char* message) {
    if (!holds && result_) result_ = units::error(where, message);
  }
  void require(const std::optional<LengthLaw>& law, const std::string& where) {
    if (!law || !result_) return;
    if (const auto checked = check(*law); !checked) {
      result_ = units::error(where + "." + checked.error().where, checked.error().message);
    }
  }
  const units::Result<void>& result() const { return result_; }

 private:
  units::Result<void> result_;
};

bool within(double value, double low, double high) {
  return value >= low && value <= high;
}

void check_shape(const GeneratorSpec& spec, Checks& checks) {
  const ShapeSpec& shape = spec.shape;
  checks.require(within(shape.peak_to_trough, 1, 1e6), "shape.peak_to_trough",
                 "must be in 1..1000000");
  const bool repeats = shape.pattern == Pattern::kSquare || shape.pattern == Pattern::kDiurnal;
  checks.require(!repeats || (shape.period >= units::seconds(1) && shape.period <= kLongestRun),
                 "shape.period", "must be from one second to a year");
  const bool once = shape.pattern == Pattern::kSpike || shape.pattern == Pattern::kFlood;
  if (!once) return;
  checks.require(shape.begin >= units::Nanos(0) && shape.begin < spec.length, "shape.begin",
                 "must lie in the run");
  checks.require(shape.duration > units::Nanos(0) && shape.duration <= kLongestRun,
                 "shape.duration", "must be above 0 and at most a year");
  checks.require(shape.pattern == Pattern::kSpike || shape.peak_to_trough > 1,
                 "shape.peak_to_trough", "must be above 1 for a flood");
}

void check_sessions(const SessionSpec& sessions, Checks& checks) {
  checks.require(within(sessions.turns_mean, 1, 1e4), "sessions.turns_mean", "must be in 1..10000");
  checks.require(sessions.think_time_median >= units::Nanos(0) &&
                     sessions.think_time_median <= kLongestThinkTime,
                 "sessions.think_time_median", "must be from 0 to a week");
  checks.require(within(sessions.think_time_sigma, 0, 5), "sessions.think_time_sigma",
                 "must be in 0..5");
  checks.require(
      sessions.longest_input > units::Tokens(0) && sessions.longest_input <= kLongestInput,
      "sessions.longest_input", "must be in 1..100000000 tokens");
  checks.require(
      sessions.shared_prefix >= units::Tokens(0) && sessions.shared_prefix < sessions.longest_input,
      "sessions.shared_prefix", "must be from 0 to less than the longest input");
}

void check_weights(const std::vector<Share>& shares, const char* where, Checks& checks) {
  for (const Share& share : shares) {
    checks.require(!share.name.empty() && within(share.weight, 1e-9, 1e9), where,
                   "each needs a name and a weight above 0");
  }
}

}  // namespace

units::Result<void> check(const GeneratorSpec& spec) {
  Checks checks;
  checks.require(spec.length > units::Nanos(0) && spec.length <= kLongestRun, "length",
                 "must be above 0 and at most a year");
  checks.require(spec.clients <= 100'000, "clients", "must be at most 100000");
  checks.require(within(spec.load, 1e-3, 1e3), "load", "must be in 0.001..1000");
  checks.require(spec.requests_per_s == 0 || within(spec.requests_per_s, 1e-6, 1e6),
                 "requests_per_s", "must be in 0.000001..1000000, or 0 for the profile's own");
  check_shape(spec, checks);
  checks.require(spec.input, "input");
  checks.require(spec.follow_input, "follow_input");
  checks.require(spec.output, "output");
  checks.require(!spec.skew || within(*spec.skew, 0, 10), "skew", "must be in 0..10");
  checks.require(!spec.gap_cv || within(*spec.gap_cv, GapLaw::kLowestCv, GapLaw::kHighestCv),
                 "gap_cv", "must be in 0.05..30");
  checks.require(!spec.rate_drift || within(*spec.rate_drift, 0, 5), "rate_drift",
                 "must be in 0..5");
  if (spec.sessions) check_sessions(*spec.sessions, checks);
  check_weights(spec.models, "models", checks);
  check_weights(spec.classes, "classes", checks);
  checks.require(spec.hash_block >= units::Tokens(0) && spec.hash_block <= kLongestInput,
                 "hash_block", "must be in 1..100000000 tokens, or 0 for none");
  return checks.result();
}

}  // namespace tidegate::workload
