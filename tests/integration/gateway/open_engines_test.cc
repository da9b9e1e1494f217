#include "gateway/open_engines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/defaults.h"

namespace tidegate::gateway {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::MatchesRegex;

// What is said, at the default log level, when an engine with so many layers on the GPU opens.
std::vector<std::string> said_with(std::int32_t gpu_layers) {
  config::ServerConfig config = config::config_for_models({TIDEGATE_TEST_MODEL});
  config.engines.front().gpu_layers = gpu_layers;
  std::vector<std::string> said;
  const auto engines =
      open_engines(config, [&](std::string_view line) { said.emplace_back(line); });
  EXPECT_TRUE(engines) << engines.error().message;
  return said;
}

// Whoever asks for a GPU is told which one computes, or that none does, without asking for more
// log.
TEST(OpenEngines, SayWhetherTheGpuThatWasAskedForComputes) {
  EXPECT_THAT(said_with(1), ElementsAre(MatchesRegex(".+: (computes on|runs on the CPU).+")));
}

// Whoever wants the CPU is not told about GPUs.
TEST(OpenEngines, SayNothingOfGpusThatNobodyAskedFor) {
  EXPECT_THAT(said_with(0), IsEmpty());
}

}  // namespace
}  // namespace tidegate::gateway
