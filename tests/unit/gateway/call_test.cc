#include "gateway/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/clock.h"

namespace tidegate::gateway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// An exchange that remembers what was answered.
class FakeExchange final : public net::Exchange {
 public:
  const net::Request& request() const override { return request_; }
  bool respond(int status, net::Headers headers, std::string body) override {
    if (gone) return false;
    status_ = status;
    headers_ = std::move(headers);
    bytes += body;
    ended = "responded";
    return true;
  }
  bool begin_stream(int status, net::Headers headers) override {
    if (gone) return false;
    status_ = status;
    headers_ = std::move(headers);
    return true;
  }
  bool write(std::string_view text) override {
    if (gone || full) return false;
    bytes += text;
    return true;
  }
  bool finish() override {
    ended = "finished";
    return true;
  }
  bool cut() override {
    ended = "cut";
    return true;
  }
  void on_closed(net::ClosedCallback) override {}

  std::string header(const std::string& name) const {
    for (const auto& [key, value] : headers_) {
      if (key == name) return value;
    }
    return "";
  }
  int status() const { return status_; }

  std::string bytes;
  std::string ended;
  bool gone = false;
  bool full = false;

 private:
  net::Request request_;
  int status_ = 0;
  net::Headers headers_;
};

class CallTest : public ::testing::Test {
 protected:
  std::shared_ptr<Call> make(bool stream, std::size_t lanes = 1) {
    CallSetup setup;
    setup.exchange = exchange_;
    setup.envelope.id = "chatcmpl-1";
    setup.envelope.model = "tiny";
    setup.stream = stream;
    setup.lanes = lanes;
    setup.choices_per_prompt = lanes;
    setup.received = received_;
    setup.summary.request_id = "req-1";
    setup.summary.service_class = "chat";
    setup.abandon = [this] { ++abandoned_; };
    setup.done = [this](const CallSummary& summary) { ended_.push_back(summary); };
    return std::make_shared<Call>(std::move(setup));
  }
  static engines::TextDelta delta(std::string text, bool last = false) {
    engines::TextDelta made;
    made.text = std::move(text);
    if (last) made.finish = engines::FinishReason::kStop;
    return made;
  }
  static domain::End completed() { return {}; }
  static domain::End refused() {
    domain::End end;
    end.outcome = domain::Outcome::kRejectedCapacity;
    end.reason = domain::Reason::kFirstTokenTooLate;
    end.full = domain::Resource::kStepTime;
    end.retry_after = units::milliseconds(1'500);
    return end;
  }
  static domain::Usage usage(std::int64_t prompt, std::int64_t output) {
    return {units::Tokens(prompt), units::Tokens(0), units::Tokens(output)};
  }

  const units::Instant received_ = now();
  std::shared_ptr<FakeExchange> exchange_ = std::make_shared<FakeExchange>();
  int abandoned_ = 0;
  std::vector<CallSummary> ended_;
};

// A whole answer goes out when the last lane has ended, once, with the prompt counted once.
TEST_F(CallTest, AnswersWholeAfterTheLastLane) {
  const auto call = make(false, 2);
  call->placed("tiny", units::milliseconds(3));
  call->text(0, delta("one", true));
  call->text(1, delta("two", true));
  call->ended(1, completed(), usage(10, 4));
  EXPECT_EQ(exchange_->ended, "");
  call->ended(0, completed(), usage(10, 5));
  EXPECT_EQ(exchange_->status(), 200);
  EXPECT_THAT(exchange_->bytes, HasSubstr("one"));
  EXPECT_THAT(exchange_->bytes, HasSubstr("two"));
  EXPECT_THAT(exchange_->header("x-tidegate-decision"),
              HasSubstr("admitted; queued_ms=3; engine=tiny; class=chat"));
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].usage, usage(10, 9));
  EXPECT_EQ(abandoned_, 0);
}

// A stream ends with [DONE] and nothing is sent before the first text.
TEST_F(CallTest, Streams) {
  const auto call = make(true);
  call->placed("tiny", units::Nanos(0));
  EXPECT_EQ(exchange_->status(), 0);
  call->text(0, delta("hello"));
  EXPECT_THAT(exchange_->header("content-type"), HasSubstr("text/event-stream"));
  EXPECT_THAT(exchange_->bytes, HasSubstr("\"role\":\"assistant\""));
  EXPECT_THAT(exchange_->bytes, HasSubstr("hello"));
  call->text(0, delta("", true));
  EXPECT_THAT(exchange_->bytes, HasSubstr("\"finish_reason\":\"stop\""));
  call->ended(0, completed(), usage(1, 1));
  EXPECT_THAT(exchange_->bytes, HasSubstr("data: [DONE]\n\n"));
  EXPECT_EQ(exchange_->ended, "finished");
}

// Who is refused before anything was sent gets the status, and the other lanes are given up.
TEST_F(CallTest, RefusesWithAStatusBeforeTheFirstByte) {
  const auto call = make(true, 2);
  EXPECT_TRUE(call->tell(received_ + kWordEvery - units::milliseconds(1)));
  call->ended(0, refused(), {});
  EXPECT_GE(exchange_->status(), 429);
  EXPECT_EQ(exchange_->header("retry-after-ms"), "1500");
  EXPECT_EQ(exchange_->header("x-tidegate-reason"), "first_token_too_late");
  EXPECT_EQ(abandoned_, 1);
  call->ended(1, refused(), {});
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].outcome, domain::Outcome::kRejectedCapacity);
}

// Who is held is told so at once; a refusal is then an error event.
TEST_F(CallTest, TellsTheHeldAndThenRefusesInBand) {
  const auto call = make(true);
  call->held(0, 3, received_ + units::seconds(1));
  EXPECT_TRUE(call->tell(received_));
  EXPECT_EQ(exchange_->status(), 200);
  EXPECT_THAT(exchange_->bytes, HasSubstr(": queued position=3 eta_ms=1000\n\n"));
  call->ended(0, refused(), {});
  EXPECT_THAT(exchange_->bytes, HasSubstr("data: {\"error\":"));
  EXPECT_THAT(exchange_->bytes, Not(HasSubstr("[DONE]")));
  EXPECT_EQ(exchange_->ended, "cut");
}

// From the moment a caller waits to its first text it hears something within every second, on an
// engine too; after the first text the stream itself is the word.
TEST_F(CallTest, NeverLeavesAStreamInSilence) {
  const auto call = make(true);
  call->held(0, 1, received_ + units::seconds(2));
  units::Instant heard = received_;
  std::size_t bytes = 0;
  for (int round = 1; round <= 40; ++round) {
    const units::Instant now = received_ + units::milliseconds(100) * round;
    if (round == 20) call->placed("tiny", units::seconds(2));
    EXPECT_TRUE(call->tell(now));
    if (exchange_->bytes.size() > bytes) heard = now;
    bytes = exchange_->bytes.size();
    EXPECT_LE(now - heard, units::seconds(1)) << round;
  }
  EXPECT_THAT(exchange_->bytes, HasSubstr(": keep-alive"));
  call->text(0, delta("hello"));
  bytes = exchange_->bytes.size();
  EXPECT_FALSE(call->tell(received_ + units::seconds(10)));
  EXPECT_EQ(exchange_->bytes.size(), bytes);
}

// A caller who leaves, or does not read, has its lanes ended; the line says 499.
TEST_F(CallTest, GivesUpForACallerWhoIsGone) {
  const auto left = make(true);
  left->closed(net::CloseReason::kPeerGone);
  EXPECT_EQ(abandoned_, 1);
  left->text(0, delta("late"));
  EXPECT_EQ(exchange_->bytes, "");
  left->ended(0, refused(), {});
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].status, 499);
  EXPECT_EQ(ended_[0].outcome, domain::Outcome::kCancelled);

  const auto slow = make(true);
  exchange_->full = true;
  slow->text(0, delta("x"));
  EXPECT_EQ(abandoned_, 2);
  EXPECT_EQ(exchange_->ended, "cut");
}

}  // namespace
}  // namespace tidegate::gateway
