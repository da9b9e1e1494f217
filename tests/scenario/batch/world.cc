#include "world.h"

#include <algorithm>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "course_of_steps.h"
#include "fake_engine.h"
#include "invariants/batch_oracle.h"
#include "invariants/batch_view.h"
#include "units/prng.h"

namespace tidegate::batch::scenario {
namespace {

using script::Line;
using script::Script;
using units::Blocks;
using units::Instant;
using units::Nanos;
using units::Tokens;

domain::Tier tier_of(const std::string& text) {
  for (int i = 0; i < domain::kTierCount; ++i) {
    const auto tier = static_cast<domain::Tier>(i);
    if (name(tier) == text) return tier;
  }
  throw std::runtime_error("no such tier: " + text);
}

// The settings of that word; an empty line when there are none.
Line setting(const Script& script, const std::string& word) {
  const auto found = std::find_if(script.settings.begin(), script.settings.end(),
                                  [&](const Line& line) { return line.word == word; });
  return found == script.settings.end() ? Line{} : *found;
}

BatchConfig config_of(const Line& engine) {
  BatchConfig config;
  const std::int64_t block = engine.number("block", 16);
  const std::int64_t blocks = engine.number("blocks", 256);
  domain::EngineSpec& spec = config.spec;
  spec.calibrated = true;
  spec.limits = {.kv_blocks = Blocks(blocks),
                 .max_sequences = engine.number("sequences", 8),
                 .max_step_tokens = Tokens(engine.number("step_tokens", 512)),
                 .max_context = Tokens(engine.number("context", blocks * block))};
  spec.kv = {.block_tokens = Tokens(block), .per_sequence = Blocks(0)};
  constexpr std::int64_t kFemtosecondsOfNano = 1'000'000;
  spec.law.base_fs = engine.nanos("step", 2'000'000) * kFemtosecondsOfNano;
  spec.law.per_token_fs = {0, 0, engine.nanos("token", 500'000) * kFemtosecondsOfNano};
  config.retained_slots = engine.number("retained", config.retained_slots);
  return config;
}

class World {
 public:
  explicit World(const Script& script)
      : script_(script),
        config_(config_of(setting(script, "engine"))),
        scheduler_(config_),
        oracle_(config_),
        engine_(config_),
        prng_(static_cast<std::uint64_t>(setting(script, "seed").id)),
        course_(!setting(script, "show").has("summary")) {}

  script::Course run() {
    for (;;) {
      happen_until(now_);
      if (scheduler_.has_work() && step()) continue;
      if (next_ == script_.happenings.size()) break;
      now_ = std::max(now_, Instant(script_.happenings[next_].at_ns));
    }
    if (scheduler_.has_work()) course_.broken("work is left and nothing is computed", now_);
    if (scheduler_.kv().referenced() != Blocks(0)) course_.broken("blocks are held", now_);
    return course_.close(scheduler_.counters());
  }

 private:
  bool step();
  void happen_until(Instant until);
  void happen(const Line& line);
  void arrive(const Line& line);
  void abort(std::uint64_t id);
  std::int64_t drawn(const Line& line, const std::string& key, std::int64_t otherwise);
  void settle(std::span<const EngineEvent> events, const StepPlan* plan = nullptr);
  void note(const invariants::Violations& found) {
    if (!found.empty()) course_.broken(invariants::to_text(found), now_);
  }

  const Script& script_;
  BatchConfig config_;
  BatchScheduler scheduler_;
  invariants::BatchOracle oracle_;
  testing::FakeEngine engine_;
  units::Prng prng_;
  CourseOfSteps course_;
  std::map<std::uint64_t, std::int64_t> outputs_;
  std::size_t next_ = 0;  // happening
  Instant now_;
};

// False when there was nothing to compute.
bool World::step() {
  const StepPlan plan = scheduler_.compose(now_);
  settle(scheduler_.drain_events(), &plan);
  course_.composed(scheduler_.sequences(), now_);
  const Nanos took = std::max(Nanos(1), testing::step_time(config_, plan));
  const StepResult result =
      engine_.perform(plan, took, [this](const domain::AttemptRef& ref, std::int64_t produced) {
        return produced >= outputs_.at(ref.request.value());
      });
  if (plan.idle()) return false;
  const Instant end = now_ + took;
  happen_until(end);
  now_ = end;
  course_.step_ended(took);
  const auto events = scheduler_.complete(result, now_);
  note(oracle_.complete(result, now_));
  settle(events);
  return true;
}

void World::settle(std::span<const EngineEvent> events, const StepPlan* plan) {
  const std::vector<EngineEvent> said(events.begin(), events.end());
  if (plan != nullptr) note(oracle_.compose(*plan, now_));
  note(oracle_.events(said));
  note(oracle_.state(invariants::view_of(scheduler_)));
  for (const EngineEvent& event : said) course_.heard(event, now_);
}

void World::happen_until(Instant until) {
  while (next_ < script_.happenings.size()) {
    const Line& line = script_.happenings[next_];
    if (Instant(line.at_ns) > until) return;
    next_ += 1;
    now_ = std::max(now_, Instant(line.at_ns));
    happen(line);
  }
}

void World::happen(const Line& line) {
  if (line.word == "arrive") {
    arrive(line);
  } else if (line.word == "abort") {
    abort(static_cast<std::uint64_t>(line.id));
  } else if (line.word == "look") {
    course_.looked(line.id, scheduler_, now_);
  } else {
    throw std::runtime_error("unknown happening: " + line.word);
  }
}

std::int64_t World::drawn(const Line& line, const std::string& key, std::int64_t otherwise) {
  const std::string text = line.text(key, "");
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return line.number(key, otherwise);
  return prng_.between(std::stoll(text.substr(0, dots)), std::stoll(text.substr(dots + 2)));
}

void World::arrive(const Line& line) {
  const auto id = static_cast<std::uint64_t>(line.id);
  testing::Shape shape;
  shape.prompt = drawn(line, "prompt", 100);
  const std::int64_t output = drawn(line, "output", 10);
  outputs_[id] = output;
  shape.max_output = line.number("max", output);
  shape.expected_output = line.number("forecast", output);
  shape.family = static_cast<std::uint64_t>(line.number("family", 0));
  shape.shared = line.number("shared", 0);
  shape.tier = tier_of(line.text("tier", "within_share"));
  shape.arrival = now_;
  const Nanos ttft(line.nanos("ttft", 0));
  if (ttft > Nanos(0)) shape.promise.first_token_due = now_ + ttft;
  shape.promise.token_pace = Nanos(line.nanos("pace", 0));
  const domain::Assign assign =
      testing::make_assign(id, shape, config_.spec.kv.block_tokens.value());
  engine_.know(assign.ref, testing::prompt_of(id, shape));
  course_.arrived(assign.request, line.text("as", "all"), now_);
  scheduler_.submit(assign, now_);
  note(oracle_.submit(assign, now_));
  settle(scheduler_.drain_events());
}

void World::abort(std::uint64_t id) {
  const domain::AttemptRef ref{
      .request = units::RequestId(id), .attempt = {}, .engine = {}, .epoch = {}};
  course_.asked_to_abort(id, now_);
  scheduler_.abort(ref, now_);
  note(oracle_.abort(ref, now_));
  settle(scheduler_.drain_events());
}

}  // namespace

script::Course play(const Script& script) {
  return World(script).run();
}

}  // namespace tidegate::batch::scenario
