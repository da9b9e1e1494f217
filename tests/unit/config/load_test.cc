#include "config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "config/defaults.h"

namespace tidegate::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A folder with a model file in it, since a configuration names one.
class LoadConfig : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "load_config";
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/m.gguf") << "GGUF";
  }
  tl::expected<ServerConfig, LoadErrors> parse(const std::string& text) const {
    return parse_server_config(text, folder_ + "/c.yaml");
  }
  // "line: message" of every problem.
  std::vector<std::string> problems(const std::string& text) const {
    std::vector<std::string> lines;
    const auto config = parse(text);
    if (config) return lines;
    for (const auto& error : config.error()) {
      lines.push_back(error.where.substr(error.where.rfind(':') + 1) + ": " + error.message);
    }
    return lines;
  }
  std::string folder_;
};

constexpr const char* kEngine = "engines: [{llama: m.gguf, name: tiny}]\n";

// What the file says is what the values say.
TEST_F(LoadConfig, ReadsEverySection) {
  const std::string digest(64, 'a');
  const auto config = parse(std::string(kEngine) +
                            "server: {listen: '0.0.0.0:80', drain: 5s, limits: {body: 1MiB}}\n"
                            "classes: [{name: chat, ttft: 500ms, tpot: 50ms, percentile: 95},\n"
                            "          {name: nightly, deadline: 30min}]\n"
                            "tenants: [{name: acme, keys_sha256: [" +
                            digest +
                            "], class: nightly,\n"
                            "           weight: 4, on_overload: queue, models: [tiny],\n"
                            "           limits: {requests_per_min: 600, queued: 0}}]\n");
  ASSERT_TRUE(config) << config.error().front().where << config.error().front().message;
  EXPECT_EQ(config->server.listen, (Address{"0.0.0.0", 80}));
  EXPECT_EQ(config->server.drain, units::seconds(5));
  EXPECT_EQ(config->server.limits.body, units::Bytes(1 << 20));
  ASSERT_EQ(config->engines.size(), 1u);
  EXPECT_EQ(config->engines[0].gguf, folder_ + "/m.gguf");
  EXPECT_EQ(config->models.at(0).name, "tiny");
  EXPECT_EQ(config->classes.at(0).ttft, units::milliseconds(500));
  EXPECT_EQ(config->classes.at(0).percentile, units::Ppm(950'000));
  const TenantConfig& acme = config->tenants.at(0);
  EXPECT_EQ(acme.keys.at(0)[31], 0xaa);
  EXPECT_EQ(acme.values.default_class, config->classes[1].id);
  EXPECT_EQ(acme.values.weight, 4);
  EXPECT_EQ(acme.values.on_overload, domain::OnOverload::kQueue);
  EXPECT_THAT(acme.values.models, ElementsAre(config->models[0].id));
  EXPECT_EQ(acme.values.limits.requests_per_min, 600);
  EXPECT_EQ(acme.values.limits.queued, 0);
  EXPECT_FALSE(acme.values.limits.in_flight);
}

// A file with engines alone gets the built-in classes and one tenant without keys.
TEST_F(LoadConfig, FillsInDefaults) {
  const auto config = parse(kEngine);
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->builtin_classes);
  EXPECT_EQ(config->classes.at(0).name, "interactive");
  EXPECT_EQ(config->tenants.at(0).values.name, "default");
  EXPECT_TRUE(config->server.listen.loopback());
}

// The text for the journal reads back as what it was made from.
TEST_F(LoadConfig, ReadsItsOwnText) {
  const ServerConfig made = config_for_models({folder_ + "/m.gguf", folder_ + "/m.gguf"});
  const auto read = parse(text_for_models(made));
  ASSERT_TRUE(read) << read.error().front().message;
  ASSERT_EQ(read->engines.size(), 2u);
  EXPECT_EQ(read->engines[1].name, made.engines[1].name);
  EXPECT_EQ(read->engines[1].gguf, made.engines[1].gguf);
  EXPECT_EQ(read->engines[1].model, made.engines[1].model);
  EXPECT_EQ(read->models.size(), made.models.size());
  EXPECT_TRUE(read->builtin_classes);
}

// One run shows every problem, in the order of the lines, each with what would be right.
TEST_F(LoadConfig, ReportsEverythingAtOnce) {
  const auto found = problems(
      "engines: [{llama: m.gguf, name: tiny, thread: 2}]\n"
      "classes: [{name: chat, ttft: 500}]\n"
      "tenants:\n"
      "  - {name: a, class: chta, wieght: 2}\n"
      "  - {name: b, models: [tinny]}\n");
  EXPECT_THAT(
      found,
      ElementsAre(HasSubstr("1: unknown key 'thread' in engine; did you mean 'threads'?"),
                  HasSubstr("2: 'ttft' of class: '500' has no unit; write for example 500ms"),
                  HasSubstr("4: tenant names the unknown class 'chta'; did you mean 'chat'?"),
                  HasSubstr("4: unknown key 'wieght' in tenant; did you mean 'weight'?"),
                  HasSubstr("4: 2 tenants have no keys"),
                  HasSubstr("5: tenant names the unknown model 'tinny'; did you mean 'tiny'?")));
}

// Names are unique, keys belong to one tenant, and a key stands once in its map.
TEST_F(LoadConfig, RefusesDoubles) {
  const std::string digest(64, '1');
  const auto found = problems(std::string(kEngine) + "server: {drain: 1s, drain: 2s}\n" +
                              "tenants: [{name: a, keys_sha256: [" + digest + ", " + digest +
                              "]},\n {name: a}]\n");
  EXPECT_THAT(
      found, ElementsAre(HasSubstr("2: 'drain' stands twice"), HasSubstr("3: one key stands twice"),
                         HasSubstr("4: tenant 'a' stands twice")));
}

// Broken syntax, wrong shapes and missing files are told with their line.
TEST_F(LoadConfig, SurvivesBrokenFiles) {
  EXPECT_THAT(problems("engines: [\n"), ElementsAre(HasSubstr("not YAML")));
  EXPECT_THAT(problems("just text"), ElementsAre(HasSubstr("1: the configuration is not a map")));
  EXPECT_THAT(problems(""), ElementsAre(HasSubstr("no 'engines'")));
  EXPECT_THAT(problems("engines: [{llama: gone.gguf, name: x}]"),
              ElementsAre(HasSubstr("there is no file")));
  EXPECT_THAT(problems(std::string(kEngine) + "workload: []\n"),
              ElementsAre(HasSubstr("2: 'workload' belongs to a scenario")));
  EXPECT_FALSE(load_server_config(folder_ + "/none.yaml"));
  EXPECT_FALSE(load_server_config(folder_));
}

}  // namespace
}  // namespace tidegate::config
