#include "gateway/mailbox.h"

#include <gtest/gtest.h>

#include <thread>

namespace tidegate::gateway {
namespace {

domain::Event left(std::uint64_t id) {
  return domain::CallerLeft{units::RequestId(id)};
}

std::uint64_t id_of(const Message& message) {
  return std::get<domain::CallerLeft>(std::get<domain::Event>(message)).request.value();
}

// What went in comes out, in the same order.
TEST(Mailbox, KeepsTheOrder) {
  Mailbox mailbox(4);
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(mailbox.try_post(left(i)));
  std::vector<Message> out;
  ASSERT_TRUE(mailbox.take(out, units::Instant::never()));
  ASSERT_EQ(out.size(), 4u);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(id_of(out[i]), i);
}

// A full mailbox turns the edge away and still takes what is urgent.
TEST(Mailbox, IsBounded) {
  Mailbox mailbox(1);
  EXPECT_TRUE(mailbox.try_post(left(0)));
  EXPECT_FALSE(mailbox.try_post(left(1)));
  mailbox.post_urgent(left(2));
  EXPECT_EQ(mailbox.size(), 2u);
}

// An engine waits for room, and gets it when the reader takes.
TEST(Mailbox, MakesEnginesWait) {
  Mailbox mailbox(1);
  ASSERT_TRUE(mailbox.try_post(left(0)));
  std::thread engine([&mailbox] { mailbox.post(left(1)); });
  std::vector<Message> out;
  std::size_t taken = 0;
  while (taken < 2) {
    ASSERT_TRUE(mailbox.take(out, units::Instant::never()));
    taken += out.size();
  }
  engine.join();
  EXPECT_EQ(id_of(out.back()), 1u);
}

// A reader waits no longer than until the instant it names.
TEST(Mailbox, WakesAtTheTime) {
  Mailbox mailbox(1);
  std::vector<Message> out;
  EXPECT_TRUE(mailbox.take(out, units::Instant(0)));
  EXPECT_TRUE(out.empty());
}

// Closing lets the rest be taken, wakes everybody and refuses what comes later.
TEST(Mailbox, Closes) {
  Mailbox mailbox(1);
  ASSERT_TRUE(mailbox.try_post(left(0)));
  std::thread engine([&mailbox] { mailbox.post(left(1)); });
  mailbox.close();
  engine.join();
  EXPECT_FALSE(mailbox.try_post(left(2)));
  std::vector<Message> out;
  EXPECT_TRUE(mailbox.take(out, units::Instant::never()));
  EXPECT_GE(out.size(), 1u);
  EXPECT_FALSE(mailbox.take(out, units::Instant::never()));
}

}  // namespace
}  // namespace tidegate::gateway
