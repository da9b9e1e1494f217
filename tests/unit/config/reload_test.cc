#include "config/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tidegate::config {
namespace {

using ::testing::HasSubstr;

class TakenOver : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "taken_over";
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/m.gguf") << "GGUF";
  }
  ServerConfig parse(const std::string& text) const {
    auto config = parse_server_config(kEngine + text, folder_ + "/c.yaml");
    EXPECT_TRUE(config) << text;
    return config ? *config : ServerConfig{};
  }
  tl::expected<ServerConfig, LoadErrors> take_over(const ServerConfig& running,
                                                   const std::string& text) const {
    return taken_over(running, parse(text), kEngine + text);
  }
  static inline const std::string kEngine = "engines: [{llama: m.gguf, name: tiny}]\n";
  std::string folder_;
};

const std::string kDigest(64, 'a');

// Names keep their ids, in whatever order the new file has them; new names get new ids, and what
// is gone stays where it was, without keys.
TEST_F(TakenOver, IdsStayWithTheirNames) {
  const ServerConfig running = parse(
      "classes: [{name: chat, ttft: 1s, tpot: 50ms}, {name: bulk, best_effort: true}]\n"
      "tenants: [{name: a, class: bulk, keys_sha256: [" +
      kDigest + "]}, {name: b, class: chat}]\n");
  const auto fresh =
      take_over(running,
                "classes: [{name: bulk, best_effort: true}, {name: night, deadline: 1h}]\n"
                "tenants: [{name: c, class: night}, {name: b, class: bulk, keys_sha256: [" +
                    kDigest + "]}]\n");
  ASSERT_TRUE(fresh);
  ASSERT_EQ(fresh->classes.size(), 3u);
  EXPECT_EQ(fresh->classes[0].name, "chat");
  EXPECT_EQ(fresh->classes[1].name, "bulk");
  EXPECT_EQ(fresh->classes[2].name, "night");
  ASSERT_EQ(fresh->tenants.size(), 3u);
  EXPECT_TRUE(fresh->tenants[0].removed);
  EXPECT_TRUE(fresh->tenants[0].keys.empty());
  EXPECT_EQ(fresh->tenants[1].values.name, "b");
  EXPECT_EQ(fresh->tenants[1].values.default_class, fresh->classes[1].id);
  EXPECT_EQ(fresh->tenants[1].classes, std::vector{fresh->classes[1].id});
  EXPECT_EQ(fresh->tenants[2].values.name, "c");
  EXPECT_EQ(fresh->tenants[2].values.default_class, fresh->classes[2].id);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(fresh->classes[i].id, units::ClassId(i));
    EXPECT_EQ(fresh->tenants[i].values.id, units::TenantId(i));
  }
}

// Who was removed and comes back is the same again.
TEST_F(TakenOver, TheReturnedAreTheSame) {
  const ServerConfig first = parse("tenants: [{name: a, keys_sha256: [" + kDigest + "]}]\n");
  const auto second = take_over(first, "tenants: [{name: b}]\n");
  ASSERT_TRUE(second);
  const auto third = take_over(*second, "tenants: [{name: a, weight: 3}]\n");
  ASSERT_TRUE(third);
  ASSERT_EQ(third->tenants.size(), 2u);
  EXPECT_FALSE(third->tenants[0].removed);
  EXPECT_EQ(third->tenants[0].values.weight, 3);
  EXPECT_TRUE(third->tenants[1].removed);
}

// What needs a restart is named with its line, all of it at once.
TEST_F(TakenOver, NamesWhatNeedsARestart) {
  const auto fresh = take_over(parse(""),
                               "server:\n"
                               "  listen: 127.0.0.1:1\n"
                               "  limits: {body: 1MiB}\n"
                               "  policy: edf\n"
                               "  drain: 1s\n");
  ASSERT_FALSE(fresh);
  ASSERT_EQ(fresh.error().size(), 3u);
  EXPECT_THAT(fresh.error()[0].where, HasSubstr("c.yaml:3"));
  EXPECT_THAT(fresh.error()[0].message, HasSubstr("'server.listen' differs"));
  EXPECT_THAT(fresh.error()[1].where, HasSubstr("c.yaml:4"));
  EXPECT_THAT(fresh.error()[2].where, HasSubstr("c.yaml:5"));
}

// The time to drain, the log level and the admin's keys may change.
TEST_F(TakenOver, TakesOverTheRest) {
  const auto fresh = take_over(parse(""),
                               "server: {drain: 1s, log: {level: debug},\n"
                               "  admin: {keys_sha256: [" +
                                   kDigest + "]}}\n");
  ASSERT_TRUE(fresh);
  EXPECT_EQ(fresh->server.drain, units::seconds(1));
  EXPECT_EQ(fresh->server.log_level, "debug");
  EXPECT_EQ(fresh->server.admin.keys.size(), 1u);
}

}  // namespace
}  // namespace tidegate::config
