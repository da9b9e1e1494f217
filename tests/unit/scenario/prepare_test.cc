#include "scenario/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files.h"
#include "sim/simulator.h"

namespace tidegate::scenario {
namespace {

// 200 requests over 20 s on two engines: busy enough that decisions depend on step times.
Prepared prepared() {
  const std::string folder = test_folder("prepare");
  std::ofstream rows(folder + "/t.csv");
  rows << "arrival_seconds,input_tokens,output_tokens\n";
  for (int i = 0; i < 200; ++i) rows << i * 0.1 << ',' << 100 + i * 37 % 3'000 << ",40\n";
  rows.close();
  auto made =
      prepare(scenario_in(folder,
                          "pool: [{gpu: H100-SXM-80GB, count: 1}, {gpu: A100-SXM-80GB, count: 1}]\n"
                          "models: [{name: a, catalogue: Llama-3.1-8B}]\n"
                          "workload: [{trace: t.csv}]\n"
                          "run: {seconds: 30, warmup: 5}\n"));
  if (!made) throw std::runtime_error(made.error().front().message);
  return std::move(*made);
}

report::Run run(const Prepared& scenario, std::uint64_t seed) {
  sim::Simulator simulator(scenario.world_of(seed), scenario.sources.arrivals(seed),
                           scenario.model_names());
  return simulator.run();
}

// Engine ids are positions, each engine has the law of its GPU and the names are the scenario's.
TEST(Prepare, WorldFollowsTheScenario) {
  const Prepared scenario = prepared();
  ASSERT_EQ(scenario.world.engines.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(scenario.world.engines[i].batch.spec.id, units::EngineId(i));
  }
  EXPECT_EQ(scenario.world.engines[0].gpu, "H100-SXM-80GB");
  EXPECT_EQ(scenario.world.engines[1].gpu, "A100-SXM-80GB");
  EXPECT_NE(scenario.world.engines[0].true_law, scenario.world.engines[1].true_law);
  EXPECT_EQ(scenario.world.horizon, units::seconds(30));
  EXPECT_EQ(scenario.world.warmup, units::seconds(5));
  EXPECT_EQ(scenario.model_names(), std::vector<std::string>{"a"});
}

// Schedulers believe in steps that take the bias times as long; what they really take stays.
TEST(Prepare, StepTimesAreBelievedWrongByTheBias) {
  const std::string folder = test_folder("bias");
  std::ofstream(folder + "/t.csv") << "arrival_seconds,input_tokens,output_tokens\n0,1,1\n";
  const auto engine = [&](const char* run) {
    const std::string text =
        "pool: [{gpu: H100-SXM-80GB, count: 1}]\n"
        "models: [{name: a, catalogue: Llama-3.1-8B}]\n"
        "workload: [{trace: t.csv}]\n";
    return prepare(scenario_in(folder, text + run))->world.engines.at(0);
  };
  const sim::EngineModel right = engine("");
  const sim::EngineModel wrong = engine("run: {step_time_bias: 0.5}\n");
  EXPECT_EQ(right.batch.spec.law, right.true_law);
  EXPECT_EQ(wrong.true_law, right.true_law);
  EXPECT_EQ(wrong.batch.spec.law.base_fs, right.true_law.base_fs / 2);
  EXPECT_EQ(wrong.batch.spec.law.per_kv_token_fs, right.true_law.per_kv_token_fs / 2);
}

// One seed gives one sequence of decisions, another seed another; a request that arrives in the
// warm-up (the first 50 of 200) is simulated and not counted.
TEST(Prepare, ASeedIsOneRun) {
  const Prepared scenario = prepared();
  const report::Run first = run(scenario, 1);
  EXPECT_EQ(first.digest, run(scenario, 1).digest);
  EXPECT_NE(first.digest, run(scenario, 2).digest);
  EXPECT_EQ(first.totals.offered, 150);
}

// What is counted in the demand is what arrives: 200 requests of 40 tokens.
TEST(Prepare, DemandIsWhatArrives) {
  const Prepared scenario = prepared();
  EXPECT_EQ(scenario.demands.at(0).requests, 200);
  EXPECT_DOUBLE_EQ(scenario.demands.at(0).output_tokens, 8'000);
}

}  // namespace
}  // namespace tidegate::scenario
