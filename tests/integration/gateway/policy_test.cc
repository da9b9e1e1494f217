// The gateway under the policies of other projects, over real sockets.
#include <gmock/gmock.h>

#include <cctype>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "baselines/registry.h"
#include "journal/file.h"
#include "journal/replay.h"
#include "shell_fixture.h"

namespace tidegate::gateway {
namespace {

using ::testing::HasSubstr;

// A gateway that runs by a file, which the tests change, and keeps a journal.
class PolicyTest : public ShellTest, public ::testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    file_ = ::testing::TempDir() + "policy_test.yaml";
    journal_ = ::testing::TempDir() + "policy_test.journal";
    std::remove(journal_.c_str());
  }

  // One engine of four sequences, so that most of a small load waits for somebody. The policy is
  // on line 3.
  void write(const std::string& policy, const std::string& more = "") const {
    std::ofstream(file_) << "engines: [{llama: " << TIDEGATE_TEST_MODEL
                         << ", name: tidegate-tiny, threads: 1, calibration: 300ms,\n"
                            "  max_sequences: 4}]\n"
                            "server: {policy: "
                         << policy << ", journal: {path: " << journal_ << "}}\n"
                         << more;
  }
  void start_from_file() { ShellTest::start_from_file(file_); }

  // Twelve callers at once; the n-th wants n tokens, every other one as a stream.
  void serve_a_load() const {
    std::vector<Reply> replies(12);
    std::vector<std::thread> callers;
    for (std::size_t i = 0; i < replies.size(); ++i) {
      callers.emplace_back([this, i, &reply = replies[i]] {
        std::string more = ",\"max_tokens\":" + std::to_string(i + 1) + kEndless;
        if (i % 2 == 1) more += R"(,"stream":true,"stream_options":{"include_usage":true})";
        reply = post("/v1/chat/completions", chat(more));
      });
    }
    for (std::thread& caller : callers) caller.join();
    for (std::size_t i = 0; i < replies.size(); ++i) {
      EXPECT_EQ(replies[i].status, 200) << replies[i].body;
      EXPECT_THAT(replies[i].body, HasSubstr("\"completion_tokens\":" + std::to_string(i + 1)));
    }
  }

  std::string file_;
  std::string journal_;
};

// Feeds a record of a journal to the replay, which the first configuration makes.
void feed(const journal::Record& record, const std::string& policy,
          std::optional<journal::Replay>& replay) {
  if (const auto* step = std::get_if<journal::Step>(&record)) {
    ASSERT_TRUE(replay);
    ASSERT_FALSE(replay->feed(*step)) << "step " << replay->steps();
  }
  const auto* configuration = std::get_if<journal::Configuration>(&record);
  if (configuration == nullptr) return;
  EXPECT_EQ(configuration->policy, policy);
  const auto decider = baselines::policy(configuration->policy);
  ASSERT_TRUE(decider);
  if (replay) {
    EXPECT_TRUE(replay->reconfigure(configuration->pool));
  } else {
    replay.emplace(configuration->pool, decider->pool);
  }
}

// Under any policy every caller gets the tokens that were asked for, also while the configuration
// is read again; and who replays the journal finds in it who decided, and decides the same.
TEST_P(PolicyTest, ServesAndReplays) {
  write(GetParam());
  start_from_file();
  serve_a_load();
  write(GetParam(),
        "classes: [{name: chat, ttft: 9s, tpot: 1s}, {name: late, best_effort: true}]\n"
        "tenants: [{name: default, class: chat}]\n");
  EXPECT_EQ(post("/admin/v1/reload", "").status, 200);
  serve_a_load();
  until_empty();
  shell_->stop();
  auto reader = journal::Reader::open(journal_);
  ASSERT_TRUE(reader);
  std::optional<journal::Replay> replay;
  for (journal::Record record; *reader->next(record) == journal::ReadEnd::kRecord;) {
    feed(record, GetParam(), replay);
    ASSERT_FALSE(HasFatalFailure());
  }
  ASSERT_TRUE(replay);
  EXPECT_EQ(replay->pool().counters().ended, 24);
}

INSTANTIATE_TEST_SUITE_P(Policies, PolicyTest,
                         ::testing::Values("tidegate", "vllm-v1", "edf", "tidegate/slots",
                                           "qoserve/tidegate"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name) c = std::isalnum(c) != 0 ? c : '_';
                           return name;
                         });

// Who decides is settled at the start: another policy in the file is refused by its line, and the
// one that runs goes on.
TEST_F(PolicyTest, AnotherPolicyNeedsARestart) {
  write("vllm-v1");
  start_from_file();
  write("edf");
  const Reply reply = post("/admin/v1/reload", "");
  EXPECT_EQ(reply.status, 422);
  EXPECT_THAT(reply.body, HasSubstr("policy_test.yaml:3"));
  EXPECT_THAT(reply.body, HasSubstr("'server.policy' differs from what runs"));
  EXPECT_THAT(reply.body, HasSubstr("restart"));
  EXPECT_THAT(get("/admin/v1/state").body, HasSubstr(R"("policy":"vllm-v1")"));
  EXPECT_EQ(post("/v1/chat/completions", chat(R"(,"max_tokens":2)")).status, 200);
}

}  // namespace
}  // namespace tidegate::gateway
