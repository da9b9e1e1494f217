#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <fstream>
#include <thread>

#include "shell_fixture.h"

namespace tidegate::gateway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// SHA-256 of "one" and of "two", as `sha256sum` prints them.
constexpr const char* kOne = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";
constexpr const char* kTwo = "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3";

// A gateway that runs by a file, which the tests change.
class ReloadTest : public ShellTest {
 protected:
  void SetUp() override { file_ = ::testing::TempDir() + "reload_test.yaml"; }

  // `tenants` is the list's content, from line 5 on.
  void write(const std::string& tenants, const std::string& more = "") const {
    std::ofstream(file_)
        << "engines:\n  - {llama: " << TIDEGATE_TEST_MODEL
        << ",\n     name: tidegate-tiny, threads: 1, calibration: 300ms}\ntenants:\n"
        << tenants << more;
  }
  static std::string tenant(const std::string& name, const std::string& key,
                            const std::string& more = "") {
    return "  - {name: " + name + ", keys_sha256: [" + key + "]" + more + "}\n";
  }
  void start_from_file() { ShellTest::start_from_file(file_); }
  Reply reload() const { return ask(port(), {"POST", "/admin/v1/reload"}); }
  int models_with(const std::string& key) const {
    return get("/v1/models", {"authorization: Bearer " + key}).status;
  }

  std::string file_;
};

// Keys and tenants come and go with the file; the version counts.
TEST_F(ReloadTest, TakesOverTenants) {
  write(tenant("first", kOne));
  start_from_file();
  EXPECT_EQ(models_with("one"), 200);
  EXPECT_EQ(models_with("two"), 401);
  write(tenant("second", kTwo));
  const Reply reply = reload();
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr(R"("config_version":2)"));
  EXPECT_EQ(models_with("one"), 401);
  const Reply answer =
      post("/v1/chat/completions", chat(R"(,"max_tokens":2)"), {"authorization: Bearer two"});
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(get("/admin/v1/tenants").body, Not(HasSubstr("first")));
  EXPECT_THAT(get("/metrics").body, HasSubstr("tidegate_config_version 2"));
}

// A file that is wrong changes nothing, and the answer names the line and what would be right.
TEST_F(ReloadTest, KeepsTheOldOneWhenTheNewOneIsWrong) {
  write(tenant("first", kOne));
  start_from_file();
  write(tenant("first", kTwo, ", wieght: 2"));
  const Reply reply = reload();
  EXPECT_EQ(reply.status, 422);
  EXPECT_THAT(reply.body, HasSubstr("reload_test.yaml:5"));
  EXPECT_THAT(reply.body, HasSubstr("weight"));
  EXPECT_EQ(models_with("one"), 200);
  EXPECT_EQ(models_with("two"), 401);
  EXPECT_THAT(get("/metrics").body, HasSubstr("tidegate_config_reload_failed 1"));
  write(tenant("first", kTwo));
  EXPECT_EQ(reload().status, 200);
  EXPECT_EQ(models_with("two"), 200);
  EXPECT_THAT(get("/metrics").body, HasSubstr("tidegate_config_reload_failed 0"));
}

// What was built at the start cannot change; the answer says by which line, and that it takes a
// restart.
TEST_F(ReloadTest, SaysWhatNeedsARestart) {
  write(tenant("first", kOne));
  start_from_file();
  write(tenant("first", kTwo), "server:\n  net_threads: 2\n");
  const Reply reply = reload();
  EXPECT_EQ(reply.status, 422);
  EXPECT_THAT(reply.body, HasSubstr("reload_test.yaml:7"));
  EXPECT_THAT(reply.body, HasSubstr("restart"));
  EXPECT_EQ(models_with("one"), 200);
}

// A stream that runs when its tenant is taken away is finished, whole and counted.
TEST_F(ReloadTest, LosesNoRequest) {
  write(tenant("first", kOne) + tenant("second", kTwo));
  start_from_file();
  Client client(port());
  client.send({"POST",
               "/v1/chat/completions",
               chat(R"(,"stream":true,"max_tokens":300)" + kEndless),
               {"authorization: Bearer one"}});
  client.read_until("\"content\"");
  write(tenant("second", kTwo));
  ASSERT_EQ(reload().status, 200);
  EXPECT_EQ(models_with("one"), 401);
  EXPECT_THAT(client.reply().body, HasSubstr("data: [DONE]"));
  until_empty();
}

// Reloads under load: every caller is answered, and afterwards nothing is left.
TEST_F(ReloadTest, UnderLoad) {
  write(tenant("first", kOne, ", on_overload: queue, classes: ['*']"));
  start_from_file();
  std::vector<std::thread> callers;
  std::vector<int> statuses(24);
  for (int& status : statuses) {
    callers.emplace_back([this, &status] {
      status = post("/v1/chat/completions", chat(R"(,"max_tokens":20)"),
                    {"authorization: Bearer one", "x-tidegate-class: batch"})
                   .status;
    });
  }
  for (int i = 0; i < 10; ++i) {
    write(tenant("first", kOne,
                 ", on_overload: queue, classes: ['*'], weight: " + std::to_string(i + 1)) +
          tenant("t" + std::to_string(i), kTwo));
    EXPECT_EQ(reload().status, 200);
  }
  for (std::thread& caller : callers) caller.join();
  for (const int status : statuses) EXPECT_EQ(status, 200);
  until_empty();
  EXPECT_THAT(get("/admin/v1/state").body, HasSubstr(R"("config_version":11)"));
}

}  // namespace
}  // namespace tidegate::gateway
