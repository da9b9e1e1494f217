#include "fake_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "cost/length_forecast.h"
#include "cost/step_law.h"

namespace tidegate::batch::testing {

namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9E3779B97F4A7C15ULL + b + 0x7F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  return x ^ (x >> 27);
}

}  // namespace

Content prompt_of(std::uint64_t id, const Shape& shape) {
  Content prompt;
  for (std::int64_t i = 0; i < shape.prompt; ++i) {
    const auto position = static_cast<std::uint64_t>(i);
    prompt.push_back(i < shape.shared ? mix(1'000'000 + shape.family, position)
                                      : mix(2'000'000 + id, position));
  }
  return prompt;
}

domain::PrefixChain chain_of(const Content& prompt, std::int64_t block_tokens) {
  std::vector<std::uint64_t> chain;
  std::uint64_t hash = 17;
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    hash = mix(hash, prompt[i]);
    if ((i + 1) % static_cast<std::size_t>(block_tokens) == 0) chain.push_back(hash);
  }
  if (chain.empty()) return nullptr;
  return std::make_shared<const std::vector<std::uint64_t>>(std::move(chain));
}

domain::Assign make_assign(std::uint64_t id, const Shape& shape, std::int64_t block_tokens) {
  domain::Assign assign;
  assign.ref.request = units::RequestId(id);
  assign.tier = shape.tier;
  domain::Request& request = assign.request;
  request.id = units::RequestId(id);
  request.tenant = shape.tenant;
  request.arrival = shape.arrival;
  request.promise = shape.promise;
  request.footprint.prompt = units::Tokens(shape.prompt);
  request.footprint.max_output = units::Tokens(shape.max_output);
  request.footprint.output = cost::certain(
      units::Tokens(std::clamp<std::int64_t>(shape.expected_output, 1, shape.max_output)));
  request.prefix = chain_of(prompt_of(id, shape), block_tokens);
  return assign;
}

void FakeEngine::know(const domain::AttemptRef& ref, Content prompt) {
  prompts_[key(ref)] = static_cast<std::int64_t>(prompt.size());
  sequences_[key(ref)] = std::move(prompt);
}

void FakeEngine::prepare(const StepPlan& plan) {
  const auto slots = config_.spec.limits.max_sequences + config_.retained_slots;
  for (const Trim& trim : plan.trims) {
    ASSERT_TRUE(trim.slot >= 0 && trim.slot < slots);
    Content& held = slots_[trim.slot];
    if (static_cast<std::int64_t>(held.size()) > trim.keep.value()) {
      held.resize(static_cast<std::size_t>(trim.keep.value()));
    }
  }
  for (const Copy& copy : plan.copies) {
    ASSERT_TRUE(copy.to >= 0 && copy.to < slots);
    const Content& from = slots_[copy.from];
    ASSERT_LE(copy.length.value(), static_cast<std::int64_t>(from.size()));
    ASSERT_TRUE(slots_[copy.to].empty()) << "copy into a slot that holds something";
    const Content shared(from.begin(), from.begin() + copy.length.value());
    slots_[copy.to] = shared;
  }
}

void FakeEngine::compute(const Row& row) {
  Content& held = slots_[row.slot];
  const Content& wanted = sequences_.at(key(row.ref));
  ASSERT_GT(row.count.value(), 0);
  ASSERT_EQ(row.from.value(), static_cast<std::int64_t>(held.size())) << "gap or overlap";
  const auto end = static_cast<std::size_t>((row.from + row.count).value());
  ASSERT_LE(end, wanted.size()) << "tokens that do not exist yet";
  ASSERT_TRUE(std::equal(held.begin(), held.end(), wanted.begin())) << "foreign tokens in the slot";
  for (std::size_t i = held.size(); i < end; ++i) held.push_back(wanted[i]);
  ASSERT_EQ(row.samples, end == wanted.size());
}

StepResult FakeEngine::perform(
    const StepPlan& plan, units::Nanos duration,
    const std::function<bool(const domain::AttemptRef&, std::int64_t)>& ends) {
  prepare(plan);
  StepResult result{.number = plan.number, .duration = duration, .sampled = {}};
  std::set<Key> seen;
  std::set<Slot> slots;
  std::int64_t tokens = 0;
  for (const Row& row : plan.rows) {
    compute(row);
    EXPECT_TRUE(seen.insert(key(row.ref)).second) << "a request twice in a step";
    EXPECT_TRUE(slots.insert(row.slot).second) << "a slot twice in a step";
    tokens += row.count.value();
    if (!row.samples) continue;
    Content& sequence = sequences_.at(key(row.ref));
    const std::int64_t produced =
        static_cast<std::int64_t>(sequence.size()) - prompts_.at(key(row.ref)) + 1;
    sequence.push_back(mix(row.ref.request.value(), static_cast<std::uint64_t>(produced)));
    result.sampled.push_back({row.ref, ends && ends(row.ref, produced)});
  }
  EXPECT_LE(tokens, config_.spec.limits.max_step_tokens.value());
  EXPECT_LE(static_cast<std::int64_t>(plan.rows.size()), config_.spec.limits.max_sequences);
  return result;
}

void FakeEngine::fail(const StepPlan& plan, bool some_rows) {
  prepare(plan);
  if (!some_rows) return;
  for (std::size_t i = 0; i < plan.rows.size() / 2 + 1 && i < plan.rows.size(); ++i) {
    compute(plan.rows[i]);
  }
}

BatchConfig small_config(std::int64_t sequences, std::int64_t blocks) {
  BatchConfig config;
  config.spec.calibrated = true;
  config.spec.limits = {.kv_blocks = units::Blocks(blocks),
                        .max_sequences = sequences,
                        .max_step_tokens = units::Tokens(512),
                        .max_context = units::Tokens(blocks * 16)};
  config.spec.kv = {.block_tokens = units::Tokens(16), .per_sequence = units::Blocks(0)};
  constexpr std::int64_t kMicrosecond = 1'000'000'000;  // femtoseconds
  config.spec.law = {.base_fs = 2'000 * kMicrosecond,
                     .knees = {},
                     .per_token_fs = {0, 0, 500 * kMicrosecond},
                     .prefill_fs = 0,
                     .per_decode_fs = 0,
                     .per_kv_token_fs = 0,
                     .per_attention_fs = 0};
  return config;
}

units::Nanos step_time(const BatchConfig& config, const StepPlan& plan) {
  return cost::predict(config.spec.law, plan.shape);
}

}  // namespace tidegate::batch::testing
