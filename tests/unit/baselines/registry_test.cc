#include "baselines/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidegate::baselines {
namespace {

// The house's own engine policy, whole or with a part switched off.
bool own(const std::string& engine) {
  return engine == "tidegate" || engine == "unspent" || engine == "shared";
}

// Every engine policy has a default placement, and goes with every placement.
TEST(Registry, CombinesEveryEngineWithEveryPlacement) {
  for (const std::string& engine : engine_names()) {
    EXPECT_TRUE(policy(engine).has_value()) << engine;
    for (const std::string& placement : placement_names()) {
      const auto made = policy(engine + "/" + placement);
      ASSERT_TRUE(made.has_value()) << engine << "/" << placement;
      EXPECT_EQ(made->name, engine + "/" + placement);
      EXPECT_EQ(static_cast<bool>(made->engine), engine != "tidegate");
      EXPECT_EQ(static_cast<bool>(made->pool), placement != "tidegate");
      EXPECT_EQ(made->own_batching, own(engine));
    }
  }
}

// A placement without an engine policy stands in front of vLLM.
TEST(Registry, PutsAPlacementInFrontOfVllm) {
  EXPECT_EQ(policy("epp")->name, "vllm-v1/epp");
  EXPECT_EQ(policy("tidegate")->name, "tidegate/tidegate");
}

// An unknown name is an error that says which part is meant and what it may have been.
TEST(Registry, SuggestsForAnUnknownName) {
  EXPECT_THAT(policy("vlm-v1").error().message, testing::HasSubstr("did you mean 'vllm-v1'?"));
  EXPECT_THAT(policy("vllm-v1/round-robbin").error().message,
              testing::HasSubstr("no placement 'round-robbin'; did you mean 'round-robin'?"));
  EXPECT_FALSE(policy("vllm-v1/").has_value());
  EXPECT_FALSE(policy("").has_value());
}

}  // namespace
}  // namespace tidegate::baselines
