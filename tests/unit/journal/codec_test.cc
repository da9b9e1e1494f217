#include "journal/codec.h"

#include <gtest/gtest.h>

#include <utility>

#include "journal/digest.h"
#include "journal/fields.h"
#include "random_record.h"

namespace tidegate::journal {
namespace {

Bytes encoded(const Record& record) {
  Bytes bytes;
  encode(record, bytes);
  return bytes;
}

// Law: a record survives encoding: what is decoded encodes to the same bytes again.
TEST(Codec, RoundTripKeepsEveryByte) {
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    const Bytes bytes = encoded(random_record(seed));
    const auto record = decode(bytes);
    ASSERT_TRUE(record) << "seed " << seed << ": " << record.error().message;
    ASSERT_EQ(encoded(*record), bytes) << "seed " << seed;
  }
}

// Law: every event and every decision has an encoding of its own.
TEST(Codec, EveryAlternativeRoundTrips) {
  constexpr auto kEvents = std::variant_size_v<domain::Event>;
  constexpr auto kDecisions = std::variant_size_v<domain::Decision>;
  Step step;
  for (std::size_t d = 0; d < kDecisions; ++d) {
    RandomFiller(d).fill_alternative(step.decisions.emplace_back(), d);
  }
  for (std::size_t e = 0; e < kEvents; ++e) {
    RandomFiller(e).fill_alternative(step.event, e);
    const auto record = decode(encoded(step));
    ASSERT_TRUE(record) << "event " << e << ": " << record.error().message;
    const Step& back = std::get<Step>(*record);
    EXPECT_EQ(back.event.index(), e);
    ASSERT_EQ(back.decisions.size(), kDecisions);
    for (std::size_t d = 0; d < kDecisions; ++d) EXPECT_EQ(back.decisions[d].index(), d);
  }
}

// Law: numbers are laid down as documented, byte for byte: LEB128, zigzag, index first.
TEST(Codec, BytesAreTheDocumentedOnes) {
  const Step step{units::Instant(150),
                  domain::CallerLeft{units::RequestId(300)},
                  {domain::WakeAt{units::Instant(-1)}}};
  const std::vector<int> expected = {1,           // a step
                                     0xAC, 0x02,  // now: zigzag(150) = 300
                                     1,           // CallerLeft
                                     0xAC, 0x02,  // request 300
                                     1,           // one decision
                                     6,           // WakeAt
                                     1};          // zigzag(-1)
  Bytes bytes;
  for (const int v : expected) bytes.push_back(static_cast<std::byte>(v));
  EXPECT_EQ(encoded(step), bytes);
}

// Law: a record cut short anywhere is an error, and so is one with anything after it.
TEST(Codec, CutOrExtendedIsAnError) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Bytes bytes = encoded(random_record(seed));
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      ASSERT_FALSE(decode(std::span<const std::byte>(bytes).first(cut)))
          << "seed " << seed << " cut " << cut;
    }
    bytes.push_back(std::byte{0});
    ASSERT_FALSE(decode(bytes)) << "seed " << seed;
  }
}

// Law: any bytes give a record that encodes to exactly them, or an error; never anything else.
TEST(Codec, MutatedBytesAreCanonicalOrRefused) {
  units::Prng prng(7);
  int accepted = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Bytes bytes = encoded(random_record(seed % 500));
    const std::uint64_t flips = 1 + prng.below(3);
    for (std::uint64_t i = 0; i < flips; ++i) {
      bytes[prng.below(bytes.size())] = static_cast<std::byte>(prng.below(256));
    }
    const auto record = decode(bytes);
    if (!record) continue;
    accepted += 1;
    ASSERT_EQ(encoded(*record), bytes) << "seed " << seed;
  }
  EXPECT_GT(accepted, 0);
}

// Law: a list that claims more entries than there are bytes is refused without memory for them.
TEST(Codec, AbsurdCountIsRefused) {
  Bytes bytes = encoded(Step{units::Instant(0), domain::Tick{}, {}});
  bytes.pop_back();
  for (int i = 0; i < 9; ++i) bytes.push_back(std::byte{0xFF});
  bytes.push_back(std::byte{0x01});
  const auto record = decode(bytes);
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().message, "a list is cut short");
}

// Law: a request or an engine that breaks its own rules is refused, so that replay cannot reach a
// CHECK.
TEST(Codec, UnsoundValuesAreRefused) {
  domain::Arrived arrived;
  arrived.request.footprint.max_output = units::Tokens(0);
  EXPECT_FALSE(decode(encoded(Step{units::Instant(0), arrived, {}})));
  domain::EngineJoined joined;
  joined.spec.kv.block_tokens = units::Tokens(0);
  EXPECT_FALSE(decode(encoded(Step{units::Instant(0), joined, {}})));
  joined = {};
  joined.spec.law.base_fs = -1;
  EXPECT_FALSE(decode(encoded(Step{units::Instant(0), joined, {}})));
  joined = {};
  EXPECT_TRUE(decode(encoded(Step{units::Instant(0), joined, {}})));
}

// Converts to whatever a member is; used only to count members.
struct AnyMember {
  template <class T>
  operator T() const {  // NOLINT(google-explicit-constructor): converting unasked is its purpose
    return T();
  }
};

template <class T, std::size_t... I>
consteval bool takes(std::index_sequence<I...> /*n*/) {
  return requires {
    T{((void)I, AnyMember{})...};
  };
}

template <class T, std::size_t N = 0>
consteval std::size_t members() {
  if constexpr (!takes<T>(std::make_index_sequence<N + 1>())) {
    return N;
  } else {
    return members<T, N + 1>();
  }
}

struct Counter {
  template <class T>
  void operator()(const char* /*name*/, const T& /*member*/) {
    count += 1;
  }
  std::size_t count = 0;
};

template <class T>
void expect_complete(const char* what) {
  Counter counter;
  const T value{};
  fields(counter, value);
  EXPECT_EQ(counter.count, members<T>()) << what;
}

template <class... Ts>
void expect_complete(const std::variant<Ts...>* /*type*/, const char* what) {
  (expect_complete<Ts>(what), ...);
}

// Law: no member of a recorded value is left out of its record. A footprint is listed with its
// forecast's array in place of the forecast, which has no other member.
TEST(Codec, EveryMemberIsListed) {
  expect_complete(static_cast<const domain::Event*>(nullptr), "event");
  expect_complete(static_cast<const domain::Decision*>(nullptr), "decision");
  expect_complete<domain::AttemptRef>("AttemptRef");
  expect_complete<domain::Promise>("Promise");
  expect_complete<domain::Footprint>("Footprint");
  expect_complete<domain::Request>("Request");
  expect_complete<domain::StepCoefficients>("StepCoefficients");
  expect_complete<domain::KvShape>("KvShape");
  expect_complete<domain::EngineLimits>("EngineLimits");
  expect_complete<domain::EngineSpec>("EngineSpec");
  expect_complete<domain::Usage>("Usage");
  expect_complete<batch::Trim>("Trim");
  expect_complete<batch::Copy>("Copy");
  expect_complete<batch::Row>("Row");
  expect_complete<batch::StepPlan>("StepPlan");
  expect_complete<cost::StepShape>("StepShape");
  expect_complete<domain::ServiceClass>("ServiceClass");
  expect_complete<domain::TenantLimits>("TenantLimits");
  expect_complete<domain::Guarantee>("Guarantee");
  expect_complete<domain::Tenant>("Tenant");
  expect_complete<pool::PoolLimits>("PoolLimits");
  expect_complete<pool::PoolPolicy>("PoolPolicy");
  expect_complete<pool::PoolConfig>("PoolConfig");
  expect_complete<Configuration>("Configuration");
}

// Law: the digest tells apart different decisions, different order, and different grouping by step.
TEST(Digest, SeesContentOrderAndGrouping) {
  const domain::Decision a = domain::WakeAt{units::Instant(1)};
  const domain::Decision b = domain::WakeAt{units::Instant(2)};
  const auto digest = [](const std::vector<std::vector<domain::Decision>>& steps) {
    Digest d;
    for (const auto& decisions : steps) d.add(decisions);
    return d.value();
  };
  EXPECT_EQ(digest({{a}, {b}}), digest({{a}, {b}}));
  EXPECT_NE(digest({{a}, {b}}), digest({{b}, {a}}));
  EXPECT_NE(digest({{a}, {b}}), digest({{a, b}}));
  EXPECT_NE(digest({{a}}), digest({{a}, {}}));
}

}  // namespace
}  // namespace tidegate::journal
