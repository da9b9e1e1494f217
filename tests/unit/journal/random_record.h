// Random records for tests: an archive that fills every member listed in journal/fields.h with a
// seeded value, often an extreme one, within the rules that a decoder enforces.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "journal/fields.h"
#include "units/prng.h"

namespace tidegate::journal {

class RandomFiller {
 public:
  explicit RandomFiller(std::uint64_t seed) : prng_(seed) {}

  template <class T>
  void operator()(const char* /*name*/, T& member) {
    fill(member);
  }

  void fill(bool& v) { v = prng_.below(2) == 1; }
  void fill(std::uint8_t& v) { v = static_cast<std::uint8_t>(prng_.below(256)); }
  void fill(std::int32_t& v) {
    v = static_cast<std::int32_t>(prng_.between(std::numeric_limits<std::int32_t>::min(),
                                                std::numeric_limits<std::int32_t>::max()));
  }
  void fill(std::int64_t& v) {
    constexpr std::array<std::int64_t, 6> kCorners = {0,
                                                      1,
                                                      -1,
                                                      127,
                                                      std::numeric_limits<std::int64_t>::max(),
                                                      std::numeric_limits<std::int64_t>::min()};
    v = prng_.below(3) == 0 ? kCorners[prng_.below(kCorners.size())]
                            : static_cast<std::int64_t>(prng_.next() >> prng_.below(64));
  }
  void fill(std::uint64_t& v) { v = prng_.next(); }
  template <class T>
  void fill(std::optional<T>& v) {
    if (prng_.below(2) == 0) fill(v.emplace());
  }
  void fill(units::Instant& v) {
    std::int64_t ns = 0;
    fill(ns);
    v = units::Instant(ns);
  }
  template <class Tag>
  void fill(units::Quantity<Tag>& v) {
    std::int64_t value = 0;
    fill(value);
    v = units::Quantity<Tag>(value);
  }
  template <class Tag>
  void fill(units::Id<Tag>& v) {
    v = units::Id<Tag>(prng_.next() >> prng_.below(64));
  }
  template <class T, std::size_t N>
  void fill(std::array<T, N>& list) {
    for (T& entry : list) fill(entry);
  }
  template <class T>
  void fill(std::vector<T>& list) {
    const std::uint64_t count = prng_.below(5);
    for (std::uint64_t i = 0; i < count; ++i) fill(list.emplace_back());
  }
  void fill(std::string& text) {
    const std::uint64_t count = prng_.below(300);
    for (std::uint64_t i = 0; i < count; ++i) text.push_back(static_cast<char>(prng_.below(256)));
  }
  void fill(domain::PrefixChain& chain) {
    if (prng_.below(3) == 0) return;
    std::vector<std::uint64_t> hashes(prng_.below(9));
    for (auto& hash : hashes) hash = prng_.next();
    chain = std::make_shared<const std::vector<std::uint64_t>>(std::move(hashes));
  }
  template <class... Ts>
  void fill(std::variant<Ts...>& v) {
    fill_alternative(v, prng_.below(sizeof...(Ts)));
  }
  template <class... Ts>
  void fill_alternative(std::variant<Ts...>& v, std::uint64_t index) {
    std::uint64_t i = 0;
    ((i++ == index ? fill(v.template emplace<Ts>()) : void()), ...);
  }
  template <class T>
  void fill(T& v) {
    if constexpr (std::is_enum_v<T>) {
      v = static_cast<T>(prng_.below(static_cast<std::uint64_t>(enumerators(T{}))));
    } else {
      fields(*this, v);
      repair(v);
    }
  }

 private:
  static std::int64_t positive(std::int64_t v) { return std::max<std::int64_t>(0, v); }
  template <class Tag>
  static units::Quantity<Tag> positive(units::Quantity<Tag> v) {
    return std::max(units::Quantity<Tag>(0), v);
  }

  template <class T>
  void repair(T& /*v*/) {}
  void repair(domain::Footprint& v) {
    v.prompt = positive(v.prompt);
    v.max_output = std::max(units::Tokens(1), v.max_output);
    for (auto& length : v.output.lengths)
      length = std::clamp(length, units::Tokens(1), v.max_output);
    std::ranges::sort(v.output.lengths);
  }
  void repair(domain::Tenant& v) { v.weight = prng_.between(1, 1'000'000); }
  void repair(pool::PoolLimits& v) {
    v = {prng_.between(1, 1'000'000), prng_.between(1, 1'000'000), prng_.between(1, 1'000'000)};
  }
  void repair(pool::PoolPolicy& v) {
    v.max_bypass = prng_.between(0, 1'000'000);
    v.scan_depth = prng_.between(0, 1'000'000);
  }
  void repair(domain::KvShape& v) {
    v.block_tokens = std::max(units::Tokens(1), v.block_tokens);
    v.per_sequence = positive(v.per_sequence);
  }
  void repair(domain::EngineLimits& v) {
    v.kv_blocks = positive(v.kv_blocks);
    v.max_sequences = positive(v.max_sequences);
    v.max_step_tokens = positive(v.max_step_tokens);
    v.max_context = positive(v.max_context);
  }
  void repair(domain::StepCoefficients& v) {
    for (auto* member : {&v.base_fs, &v.prefill_fs, &v.per_decode_fs, &v.per_kv_token_fs,
                         &v.per_attention_fs, &v.row_tile, &v.tile_fs, &v.stray_fs}) {
      *member = positive(*member);
    }
    for (auto& slope : v.per_token_fs) slope = positive(slope);
    for (auto& knee : v.knees) knee = positive(knee);
    std::ranges::sort(v.knees);
  }

  units::Prng prng_;
};

inline Record random_record(std::uint64_t seed) {
  Record record;
  RandomFiller(seed).fill(record);
  return record;
}

}  // namespace tidegate::journal
