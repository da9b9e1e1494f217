// The cost of deciding one engine step. Budget (docs/architecture.md): less than 1 us for each
// running request and less than 200 us at 1,000 of them. An iteration composes a step and takes its
// result; `compose_ns` is the composition alone, timed inside.
#include <benchmark/benchmark.h>

#include <chrono>

#include "batch/batch_scheduler.h"
#include "cost/length_forecast.h"

namespace tidegate::batch {
namespace {

using units::Instant;
using units::Tokens;

BatchConfig config_for(std::int64_t running) {
  constexpr std::int64_t kMicrosecond = 1'000'000'000;  // femtoseconds
  BatchConfig config;
  config.spec.calibrated = true;
  config.spec.limits = {.kv_blocks = units::Blocks(running * 128),
                        .max_sequences = running + 16,
                        .max_step_tokens = Tokens(running + 2'048),
                        .max_context = Tokens(1 << 17)};
  config.spec.law = {.base_fs = 5'000 * kMicrosecond,
                     .knees = {},
                     .per_token_fs = {0, 0, 10 * kMicrosecond},
                     .prefill_fs = 0,
                     .per_decode_fs = 0,
                     .per_kv_token_fs = 0,
                     .per_attention_fs = 0};
  return config;
}

domain::Assign assign_for(std::uint64_t id, std::int64_t prompt, std::int64_t output, Instant now) {
  domain::Assign assign;
  assign.ref.request = units::RequestId(id);
  assign.request.id = units::RequestId(id);
  assign.request.arrival = now;
  if (id % 2 == 0) {
    assign.request.promise.first_token_due = now + units::seconds(1);
    assign.request.promise.token_pace = units::milliseconds(100);
  }
  assign.request.footprint = {.prompt = Tokens(prompt),
                              .max_output = Tokens(output),
                              .output = cost::certain(Tokens(output))};
  return assign;
}

// An engine without a model: computes nothing, in the time that the law gives.
class Loop {
 public:
  explicit Loop(const BatchConfig& config) : scheduler_(config) {
    result_.sampled.reserve(static_cast<std::size_t>(config.spec.limits.max_sequences));
  }

  void submit(std::int64_t prompt, std::int64_t output) {
    scheduler_.submit(assign_for(next_id_++, prompt, output, now_), now_);
  }
  // Returns the time of the composition.
  std::chrono::nanoseconds step() {
    const auto start = std::chrono::steady_clock::now();
    const StepPlan& plan = scheduler_.compose(now_);
    const auto spent = std::chrono::steady_clock::now() - start;
    if (plan.idle()) return spent;
    result_.number = plan.number;
    result_.duration = plan.predicted;
    result_.sampled.clear();
    for (const Row& row : plan.rows) {
      if (row.samples) result_.sampled.push_back({row.ref, false});
    }
    now_ = now_ + plan.predicted;
    scheduler_.complete(result_, now_);
    return spent;
  }
  std::int64_t waiting() const { return scheduler_.report(now_).waiting; }
  std::int64_t running() const { return scheduler_.report(now_).running; }

 private:
  BatchScheduler scheduler_;
  StepResult result_;
  Instant now_;
  std::uint64_t next_id_ = 1;
};

void run(benchmark::State& state, std::int64_t prompts_ahead) {
  const std::int64_t streams = state.range(0);
  Loop loop(config_for(streams));
  for (std::int64_t i = 0; i < streams; ++i) loop.submit(20 + i % 40, 1'500);
  while (loop.running() < streams) loop.step();
  for (int i = 0; i < 50; ++i) loop.step();

  std::chrono::nanoseconds composing{0};
  for (auto _ : state) {
    state.PauseTiming();
    while (loop.waiting() < prompts_ahead) loop.submit(600, 4);
    while (loop.running() < streams) {
      loop.submit(30, 1'500);
      loop.step();
    }
    state.ResumeTiming();
    composing += loop.step();
  }
  state.counters["compose_ns"] = benchmark::Counter(static_cast<double>(composing.count()),
                                                    benchmark::Counter::kAvgIterations);
}

// Streams only.
void streams(benchmark::State& state) {
  run(state, 0);
}
// Streams with prompts waiting behind them, so that every step also sizes chunks, checks memory and
// starts requests.
void streams_and_prompts(benchmark::State& state) {
  run(state, 8);
}

BENCHMARK(streams)->Arg(10)->Arg(100)->Arg(1'000);
BENCHMARK(streams_and_prompts)->Arg(10)->Arg(100)->Arg(1'000);

}  // namespace
}  // namespace tidegate::batch
