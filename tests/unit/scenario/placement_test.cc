#include "scenario/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "catalogue/memory.h"
#include "files.h"
#include "scenario/engine_model.h"

namespace tidegate::scenario {
namespace {

using ::testing::HasSubstr;

config::ScenarioConfig config_of(const std::string& pool_and_models) {
  const std::string folder = test_folder("placement");
  std::ofstream(folder + "/t.csv") << "arrival_seconds,input_tokens,output_tokens\n0,1,1\n";
  return scenario_in(folder, pool_and_models + "workload: [{trace: t.csv, model: a}]\n");
}

// The same amount of work for each model, so that its size alone decides.
std::vector<Demand> even(std::size_t models, double times = 1) {
  return std::vector<Demand>(models, Demand{1'000, 1e6 * times, 2e5 * times, 2e8 * times});
}

std::int64_t engines_of(const std::vector<PlacedEngine>& placed, std::size_t model) {
  return std::count_if(placed.begin(), placed.end(),
                       [model](const PlacedEngine& each) { return each.model == model; });
}

// Two models of one size and demand share the pool in halves.
TEST(Place, EqualDemandsShareEqually) {
  const auto config = config_of(
      "pool: [{gpu: H100-SXM-80GB, count: 8}]\n"
      "models: [{name: a, catalogue: Llama-3.1-8B}, {name: b, catalogue: Llama-3.1-8B}]\n");
  const auto placed = place(config, even(2));
  ASSERT_TRUE(placed);
  EXPECT_EQ(engines_of(*placed, 0), 4);
  EXPECT_EQ(engines_of(*placed, 1), 4);
}

// Three times the demand gets three times the engines.
TEST(Place, EnginesFollowTheDemand) {
  const auto config = config_of(
      "pool: [{gpu: H100-SXM-80GB, count: 8}]\n"
      "models: [{name: a, catalogue: Llama-3.1-8B}, {name: b, catalogue: Llama-3.1-8B}]\n");
  auto demands = even(2);
  demands[1] = even(1, 3)[0];
  const auto placed = place(config, demands);
  ASSERT_TRUE(placed);
  EXPECT_EQ(engines_of(*placed, 0), 2);
  EXPECT_EQ(engines_of(*placed, 1), 6);
}

// A model that nobody asks for keeps its least number of engines and gets no more.
TEST(Place, TheLeastNumberIsKept) {
  const auto config = config_of(
      "pool: [{gpu: H100-SXM-80GB, count: 8}]\n"
      "models: [{name: a, catalogue: Llama-3.1-8B},\n"
      "         {name: b, catalogue: Llama-3.1-8B, min_replicas: 3}]\n");
  auto demands = even(2);
  demands[1] = {};
  const auto placed = place(config, demands);
  ASSERT_TRUE(placed);
  EXPECT_EQ(engines_of(*placed, 1), 3);
  EXPECT_EQ(engines_of(*placed, 0), 5);
}

// An engine takes as many GPUs as its tensor parallelism says, all of one type.
TEST(Place, TensorParallelEnginesTakeSeveralGpus) {
  const auto config = config_of(
      "pool: [{gpu: H100-SXM-80GB, count: 7}, {gpu: A100-SXM-80GB, count: 3}]\n"
      "models: [{name: a, catalogue: Llama-3.1-70B, tensor_parallel: 4}]\n");
  const auto placed = place(config, even(1));
  ASSERT_TRUE(placed);
  ASSERT_EQ(placed->size(), 1u);
  EXPECT_EQ(placed->front().gpu, 0u);
}

// A model whose weights are larger than the GPU is an error at its line, with the parallelism that
// would do: two GPUs of 72 usable GB hold 141 GB of weights and some KV.
TEST(Place, AModelThatFitsNoGpu) {
  const auto config = config_of(
      "pool: [{gpu: H100-SXM-80GB, count: 8}]\n"
      "models: [{name: a, catalogue: Llama-3.1-8B},\n"
      "         {name: b, catalogue: Llama-3.1-70B}]\n");
  const auto placed = place(config, even(2));
  ASSERT_FALSE(placed);
  ASSERT_EQ(placed.error().size(), 1u);
  EXPECT_THAT(placed.error()[0].where, HasSubstr("s.yaml:3"));
  EXPECT_THAT(placed.error()[0].message, HasSubstr("model 'b' fits no GPU of the pool"));
  EXPECT_THAT(placed.error()[0].message, HasSubstr("set tensor_parallel: 2"));
}

// A least number of engines that the pool has no room for is an error at the model's line.
TEST(Place, TooFewGpus) {
  const auto config = config_of(
      "pool: [{gpu: H100-SXM-80GB, count: 2}]\n"
      "models: [{name: a, catalogue: Llama-3.1-8B, min_replicas: 3}]\n");
  const auto placed = place(config, even(1));
  ASSERT_FALSE(placed);
  EXPECT_THAT(placed.error()[0].where, HasSubstr("s.yaml:2"));
  EXPECT_THAT(placed.error()[0].message, HasSubstr("room for 2"));
}

// KV memory is what 90 % of the GPU leaves beside the weights: for 8 billion parameters in two
// bytes on 80 GB, (72 - 16.1) GB at 131,072 bytes a token.
TEST(EngineModel, MemoryIsWhatTheWeightsLeave) {
  const auto config = config_of(
      "pool: [{gpu: H100-SXM-80GB, count: 1}]\n"
      "models: [{name: a, catalogue: Llama-3.1-8B}]\n");
  const auto engine = engine_model(config, 0, 0);
  ASSERT_TRUE(engine);
  const double tokens = (72.0 - 16.1) * 1e9 / 131'072;
  EXPECT_NEAR(static_cast<double>(engine->batch.spec.limits.kv_blocks.value()), tokens / 16, 1);
  EXPECT_TRUE(engine->batch.spec.calibrated);
}

}  // namespace
}  // namespace tidegate::scenario
