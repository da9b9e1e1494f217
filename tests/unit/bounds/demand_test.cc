#include "bounds/demand.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "bounds/group_costs.h"
#include "cost/step_law.h"
#include "units/prng.h"

namespace tidegate::bounds {
namespace {

using units::Tokens;

Engine engine() {
  Engine spec;
  spec.model = units::ModelId(0);
  spec.limits = {units::Blocks(1'000), 64, Tokens(512), Tokens(8'192)};
  spec.law = {.base_fs = 6'000'000'000'000,
              .knees = {Tokens(64), Tokens(256)},
              .per_token_fs = {1'000'000'000, 20'000'000'000, 15'000'000'000},
              .prefill_fs = 200'000'000'000,
              .per_decode_fs = 3'000'000'000,
              .per_kv_token_fs = 50'000'000,
              .per_attention_fs = 3'000'000};
  return spec;
}

Offered offered(std::int64_t prompt, std::int64_t output) {
  Offered result;
  result.model = units::ModelId(0);
  result.prompt = Tokens(prompt);
  result.promise = {units::Instant(2'000'000'000), units::milliseconds(50),
                    units::Instant::never()};
  result.output = Tokens(output);
  return result;
}

double total(const Job& job, Resource resource) {
  double sum = 0;
  for (const Part& part : job.options.at(0).parts) {
    sum += part.need_s[static_cast<std::size_t>(resource)];
  }
  return sum;
}

// Running a set of equal requests in lockstep, all prompts chunked into as few steps as possible,
// takes at least what is charged to them, by every resource that does not depend on the pace. The
// step times come from the production law, the schedule from this test.
TEST(Demand, ChargesNoMoreThanALockstepScheduleTakes) {
  units::Prng prng(3);
  for (int i = 0; i < 500; ++i) {
    const auto prompt = prng.between(1, 400);
    const auto output = prng.between(2, 60);
    const auto together = prng.between(1, 30);
    double seconds = 0;
    for (std::int64_t r = 0; r < together; ++r) {
      cost::StepShape step;
      step.add_chunk(Tokens(0), Tokens(prompt));
      seconds += static_cast<double>(cost::predict(engine().law, step).value()) * 1e-9;
    }
    for (std::int64_t j = 1; j < output; ++j) {
      cost::StepShape step;
      for (std::int64_t r = 0; r < together; ++r) step.add_decode(Tokens(prompt + j - 1));
      seconds += static_cast<double>(cost::predict(engine().law, step).value()) * 1e-9;
    }
    const std::vector<Offered> requests{offered(prompt, output)};
    const std::vector<Engine> engines{engine()};
    const Job job = instance(requests, engines, {}).jobs.at(0);
    ASSERT_EQ(job.options.size(), 1U);
    const bool fits = together * ((prompt + output + 15) / 16) <= 1'000;
    for (const Resource resource : {Resource::kCompute, Resource::kMemory, Resource::kSeats}) {
      if (!fits) continue;
      ASSERT_LE(total(job, resource) * static_cast<double>(together), seconds + 1e-6)
          << "prompt " << prompt << " output " << output << " together " << together;
    }
  }
}

// A first token that even an idle engine cannot compute in time cannot be kept by anybody: 2 s of
// promise against a prompt of 200,000 tokens at no less than 15 us a token is 3 s.
TEST(Demand, ImpossibleRequestsHaveNoOption) {
  std::vector<Engine> engines{engine()};
  engines[0].limits.max_context = Tokens(400'000);
  engines[0].limits.kv_blocks = units::Blocks(100'000);
  const std::vector<Offered> requests{offered(200'000, 1), offered(100, 1)};
  const Instance made = instance(requests, engines, {});
  EXPECT_TRUE(made.jobs[0].options.empty());
  EXPECT_EQ(made.jobs[1].options.size(), 1U);
}

// A block of a prompt belongs to the first request that has it; another model's cache is another's.
TEST(Demand, TheFirstRequestOwnsABlock) {
  domain::Request request;
  request.prefix =
      std::make_shared<const std::vector<std::uint64_t>>(std::vector<std::uint64_t>{7, 8});
  PromptOwners owners;
  EXPECT_EQ(owners.shared_blocks(request), 0);
  EXPECT_EQ(owners.shared_blocks(request), 2);
  request.prefix =
      std::make_shared<const std::vector<std::uint64_t>>(std::vector<std::uint64_t>{7, 9});
  EXPECT_EQ(owners.shared_blocks(request), 1);
  request.model = units::ModelId(1);
  EXPECT_EQ(owners.shared_blocks(request), 0);
}

// Blocks of others cost nothing: of 100 tokens in blocks of 16, all but 4 are somebody else's.
TEST(Demand, SharedPromptBlocksCostNothing) {
  std::vector<Offered> requests{offered(100, 2)};
  const std::vector<Engine> engines{engine()};
  const double alone = total(instance(requests, engines, {}).jobs[0], Resource::kCompute);
  requests[0].shared_blocks = 6;
  const double shared = total(instance(requests, engines, {}).jobs[0], Resource::kCompute);
  EXPECT_LT(shared, alone / 5);
}

// Equal engines are one group; a different law makes another, and both are options.
TEST(Demand, GroupsEqualEngines) {
  std::vector<Engine> engines{engine(), engine(), engine()};
  engines[2].law.base_fs *= 2;
  const std::vector<Offered> requests{offered(100, 2)};
  const Instance made = instance(requests, engines, {});
  ASSERT_EQ(made.groups.size(), 2U);
  EXPECT_EQ(made.groups[0].engines, 2);
  EXPECT_EQ(made.jobs[0].options.size(), 2U);
}

// Noise that makes steps shorter makes the charge smaller by the same share.
TEST(Demand, NoiseLowersTheCharge) {
  const std::vector<Offered> requests{offered(100, 2)};
  const std::vector<Engine> engines{engine()};
  const double exact = total(instance(requests, engines, {}).jobs[0], Resource::kCompute);
  const double noisy = total(
      instance(requests, engines, {.step_noise = units::Ppm(100'000)}).jobs[0], Resource::kCompute);
  EXPECT_NEAR(noisy, exact * 0.9, 1e-12);
}

}  // namespace
}  // namespace tidegate::bounds
