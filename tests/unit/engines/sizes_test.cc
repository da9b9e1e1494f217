#include "engines/llama/sizes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <optional>

#include "units/prng.h"

namespace tidegate::engines::llama {
namespace {

using units::Tokens;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

LlamaOptions options(std::optional<bool> kv_unified = false) {
  LlamaOptions o;
  o.threads = 1;
  o.kv_unified = kv_unified;
  return o;
}

void expect_honest(const LlamaOptions& o, const Sizes& s) {
  const std::int32_t share = s.kv_tokens / s.max_sequences;
  EXPECT_EQ(share * s.max_sequences, s.kv_tokens);
  EXPECT_EQ(share % 256, 0);
  EXPECT_LE(s.max_context, share);
  EXPECT_LE(s.kv_tokens, o.kv_tokens.value() > 0 ? o.kv_tokens.value() : s.kv_tokens);
  EXPECT_EQ(s.max_context, o.max_context.value() > 0 ? o.max_context.value() : s.max_context);
  EXPECT_EQ(s.max_sequences, o.max_sequences > 0 ? o.max_sequences : s.max_sequences);
}

LlamaOptions draw_options(units::Prng& prng, std::optional<bool> kv_unified) {
  LlamaOptions o = options(kv_unified);
  if (prng.between(0, 1) == 1) o.kv_tokens = Tokens(prng.between(1, 100'000));
  if (prng.between(0, 1) == 1) o.max_sequences = static_cast<std::int32_t>(prng.between(1, 40));
  if (prng.between(0, 1) == 1) o.max_context = Tokens(prng.between(1, 8'192));
  return o;
}

ModelNeeds draw_model(units::Prng& prng) {
  constexpr std::array<std::int64_t, 4> kBytes{3'072, 12'288, 36'864, 131'072};
  return {.kv_bytes_per_token = kBytes[static_cast<std::size_t>(prng.between(0, 3))],
          .trained_context = static_cast<std::int32_t>(prng.between(64, 40'000))};
}

// Whatever is asked for, what the engine says it holds fits into what llama.cpp is told to
// allocate: every sequence that may run has cells for the longest context that is admitted, in
// multiples of 256 as llama.cpp allocates them, and what was asked for is given or refused.
TEST(Sizes, WhatIsAdmittedHasCells) {
  units::Prng prng(7);
  int chosen = 0;
  for (int i = 0; i < 5'000; ++i) {
    const LlamaOptions o = draw_options(prng, false);
    const auto s = choose_sizes(o, draw_model(prng));
    if (!s) continue;
    expect_honest(o, *s);
    chosen += 1;
  }
  EXPECT_GT(chosen, 1'000);
}

// Left to itself an engine takes 2 GiB at most, shares and cached prompts together, and gives each
// sequence the model's context up to the usual one.
TEST(Sizes, DefaultsKeepToTwoGiB) {
  for (const std::int64_t bytes : {2'048, 36'864, 131'072}) {
    const auto s = choose_sizes(options(), {.kv_bytes_per_token = bytes, .trained_context = 8'192});
    ASSERT_TRUE(s);
    EXPECT_LE(s->held_tokens() * bytes, 2 * kGiB);
    EXPECT_EQ(s->max_context, kUsualContext);
    EXPECT_GT(s->cached_tokens, 0);
  }
  const auto small = choose_sizes(options(), {.kv_bytes_per_token = 2'048, .trained_context = 512});
  EXPECT_EQ(small->max_context, 512);
  EXPECT_EQ(small->max_sequences, 32);
}

// Sizes that contradict each other are an error that says what it would take.
TEST(Sizes, RefusesWhatContradictsItself) {
  LlamaOptions o = options();
  o.kv_tokens = Tokens(1024);
  o.max_sequences = 8;
  const ModelNeeds model{.kv_bytes_per_token = 2'048, .trained_context = 2'048};
  ASSERT_FALSE(choose_sizes(o, model));
  EXPECT_EQ(choose_sizes(o, model).error().where, "kv_tokens");
  o.kv_tokens = Tokens(8192);
  o.max_context = Tokens(2048);
  ASSERT_FALSE(choose_sizes(o, model));
  EXPECT_NE(choose_sizes(o, model).error().message.find("16384"), std::string::npos);
}

// Where the kind of memory is left open, no sequence may be shorter than with one pool, whatever
// else is asked for, and nothing is refused that a pool can do; shares go to at least eight.
TEST(Sizes, LeftOpenNobodyLosesContext) {
  units::Prng prng(11);
  int shares = 0;
  int pools = 0;
  for (int i = 0; i < 5'000; ++i) {
    const LlamaOptions open = draw_options(prng, std::nullopt);
    LlamaOptions pool = open;
    pool.kv_unified = true;
    const ModelNeeds model = draw_model(prng);
    const auto s = choose_sizes(open, model);
    const auto p = choose_sizes(pool, model);
    ASSERT_EQ(s.has_value(), p.has_value());
    if (!s) continue;
    EXPECT_EQ(s->max_context, p->max_context);
    EXPECT_GE(s->max_sequences, s->kv_unified || open.max_sequences > 0 ? 1 : 8);
    (s->kv_unified ? pools : shares) += 1;
  }
  EXPECT_GT(shares, 500);
  EXPECT_GT(pools, 500);
}

// A small model has shares by default, a large one or one with a sliding window a pool.
TEST(Sizes, LeftOpenTheModelDecides) {
  const auto kind = [](std::int64_t bytes, std::int32_t trained, bool sliding = false) {
    return choose_sizes(
               options(std::nullopt),
               {.kv_bytes_per_token = bytes, .trained_context = trained, .sliding_window = sliding})
        ->kv_unified;
  };
  EXPECT_FALSE(kind(3'072, 4'096));
  EXPECT_FALSE(kind(12'288, 32'768));
  EXPECT_TRUE(kind(131'072, 8'192));
  EXPECT_TRUE(kind(3'072, 4'096, true));
}

// With one pool any sequence may take all of it, and what is cached lives inside it.
TEST(Sizes, OnePoolIsForAll) {
  LlamaOptions o = options(true);
  o.kv_tokens = Tokens(4096);
  o.max_sequences = 8;
  const auto s = choose_sizes(o, {.kv_bytes_per_token = 2'048, .trained_context = 8'192});
  ASSERT_TRUE(s);
  EXPECT_EQ(s->max_context, 4096);
  EXPECT_EQ(s->held_tokens(), 4096);
}

// A sliding window forgets what a shorter prefix needs: nothing is taken out of a stream then.
TEST(Sizes, ASlidingWindowCachesNothing) {
  const auto s = choose_sizes(
      options(), {.kv_bytes_per_token = 2'048, .trained_context = 8'192, .sliding_window = true});
  ASSERT_TRUE(s);
  EXPECT_EQ(s->cached_tokens, 0);
  EXPECT_EQ(s->retained, 0);
}

}  // namespace
}  // namespace tidegate::engines::llama
