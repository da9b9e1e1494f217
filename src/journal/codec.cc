#include "journal/codec.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "journal/fields.h"

namespace tidegate::journal {
namespace {

constexpr unsigned kPayloadBits = 7;
constexpr std::uint64_t kPayloadMask = 0x7F;
constexpr std::uint64_t kMore = 0x80;

constexpr std::int64_t kWeightMax = 1'000'000;
// Memory is allocated for the bounds of a pool, so a file may not ask for any amount of it.
constexpr std::int64_t kBoundMax = 1'000'000;

constexpr std::uint64_t zigzag(std::int64_t v) {
  return (static_cast<std::uint64_t>(v) << 1U) ^ (v < 0 ? ~std::uint64_t{0} : 0);
}

constexpr std::int64_t unzigzag(std::uint64_t u) {
  return static_cast<std::int64_t>((u >> 1U) ^ ((u & 1U) != 0 ? ~std::uint64_t{0} : 0));
}

class Encoder {
 public:
  explicit Encoder(Bytes& out) : out_(out) {}

  template <class T>
  void operator()(const char* /*name*/, const T& member) {
    put(member);
  }

  void put(bool v) { byte(v ? 1 : 0); }
  void put(std::uint8_t v) { byte(v); }
  void put(std::int32_t v) { put(std::int64_t{v}); }
  void put(std::int64_t v) { number(zigzag(v)); }
  void put(std::uint64_t v) { number(v); }
  template <class T>
  void put(const std::optional<T>& v) {
    put(v.has_value());
    if (v) put(*v);
  }
  void put(units::Instant v) { put(v.ns()); }
  template <class Tag>
  void put(units::Quantity<Tag> v) {
    put(v.value());
  }
  template <class Tag>
  void put(units::Id<Tag> v) {
    number(v.value());
  }
  template <class T, std::size_t N>
  void put(const std::array<T, N>& list) {
    for (const T& entry : list) put(entry);
  }
  template <class T>
  void put(const std::vector<T>& list) {
    number(list.size());
    for (const T& entry : list) put(entry);
  }
  void put(const std::string& text) {
    number(text.size());
    for (const char c : text) byte(static_cast<unsigned char>(c));
  }
  // 0 is "no chain"; a chain of n hashes is n + 1.
  void put(const domain::PrefixChain& chain) {
    if (!chain) return number(0);
    number(chain->size() + 1);
    for (const std::uint64_t hash : *chain) fixed(hash);
  }
  template <class... Ts>
  void put(const std::variant<Ts...>& v) {
    byte(v.index());
    std::visit([this](const auto& alternative) { this->put(alternative); }, v);
  }
  template <class T>
  void put(const T& v) {
    if constexpr (std::is_enum_v<T>) {
      byte(static_cast<std::uint64_t>(v));
    } else {
      fields(*this, v);
    }
  }

 private:
  void byte(std::uint64_t v) { out_.push_back(static_cast<std::byte>(v)); }
  void number(std::uint64_t v) {
    for (; v > kPayloadMask; v >>= kPayloadBits) byte((v & kPayloadMask) | kMore);
    byte(v);
  }
  void fixed(std::uint64_t v) {
    for (unsigned shift = 0; shift < 64; shift += 8) byte((v >> shift) & 0xFFU);
  }

  Bytes& out_;
};

// Reads until the first mistake; from then on everything is zero and the mistake is kept.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  void operator()(const char* /*name*/, T& member) {
    get(member);
  }

  void get(bool& v) { v = choice(2) == 1; }
  void get(std::uint8_t& v) { v = byte(); }
  void get(std::int32_t& v) {
    const std::int64_t wide = unzigzag(number());
    if (wide < std::numeric_limits<std::int32_t>::min() ||
        wide > std::numeric_limits<std::int32_t>::max()) {
      return fail("a number does not fit 32 bits");
    }
    v = static_cast<std::int32_t>(wide);
  }
  void get(std::int64_t& v) { v = unzigzag(number()); }
  void get(std::uint64_t& v) { v = number(); }
  template <class T>
  void get(std::optional<T>& v) {
    bool there = false;
    get(there);
    if (there) get(v.emplace());
  }
  void get(units::Instant& v) { v = units::Instant(unzigzag(number())); }
  template <class Tag>
  void get(units::Quantity<Tag>& v) {
    v = units::Quantity<Tag>(unzigzag(number()));
  }
  template <class Tag>
  void get(units::Id<Tag>& v) {
    v = units::Id<Tag>(number());
  }
  template <class T, std::size_t N>
  void get(std::array<T, N>& list) {
    for (T& entry : list) get(entry);
  }
  // Every entry takes a byte at least, so a count is never larger than what is left.
  template <class T>
  void get(std::vector<T>& list) {
    const std::uint64_t count = length();
    for (std::uint64_t i = 0; i < count && !failed(); ++i) get(list.emplace_back());
  }
  void get(std::string& text) {
    const std::uint64_t count = length();
    text.clear();
    text.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) text.push_back(static_cast<char>(byte()));
  }
  void get(domain::PrefixChain& chain) {
    const std::uint64_t code = number();
    if (code == 0 || failed()) return;
    if (code - 1 > left() / sizeof(std::uint64_t)) return fail("a prefix chain is cut short");
    std::vector<std::uint64_t> hashes;
    hashes.reserve(code - 1);
    for (std::uint64_t i = 1; i < code; ++i) hashes.push_back(fixed());
    chain = std::make_shared<const std::vector<std::uint64_t>>(std::move(hashes));
  }
  template <class... Ts>
  void get(std::variant<Ts...>& v) {
    const auto index = choice(sizeof...(Ts));
    std::size_t i = 0;
    ((i++ == index && !failed() ? get(v.template emplace<Ts>()) : void()), ...);
  }
  template <class T>
  void get(T& v) {
    if constexpr (std::is_enum_v<T>) {
      v = static_cast<T>(choice(static_cast<std::uint64_t>(enumerators(T{}))));
    } else {
      fields(*this, v);
      check(v);
    }
  }

  bool failed() const { return problem_ != nullptr; }
  std::size_t left() const { return bytes_.size() - at_; }
  void fail(const char* problem) {
    if (failed()) return;
    problem_ = problem;
    problem_at_ = at_;
    at_ = bytes_.size();
  }
  units::Error error() const { return {"byte " + std::to_string(problem_at_), problem_}; }

 private:
  std::uint8_t byte() {
    if (left() == 0) fail("the record is cut short");
    return failed() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(bytes_[at_++]);
  }
  std::uint64_t number() {
    std::uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += kPayloadBits) {
      const std::uint64_t next = byte();
      if (shift == 63 && next > 1) fail("a number does not fit 64 bits");
      if (shift > 0 && next == 0) fail("a number is longer than it needs to be");
      if (failed()) return 0;
      v |= (next & kPayloadMask) << shift;
      if ((next & kMore) == 0) return v;
    }
    return v;
  }
  std::uint64_t fixed() {
    std::uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) v |= std::uint64_t{byte()} << shift;
    return v;
  }
  std::uint64_t choice(std::uint64_t count) {
    const std::uint64_t v = byte();
    if (v >= count) fail("a value is none of its kind");
    return failed() ? 0 : v;
  }
  std::uint64_t length() {
    const std::uint64_t count = number();
    if (count > left()) fail("a list is cut short");
    return failed() ? 0 : count;
  }

  // What the rest of the house relies on, so that a replayed record can never reach a CHECK.
  template <class T>
  void check(const T& /*value*/) {}
  void check(const domain::Footprint& v) {
    const auto in_range = [&](units::Tokens length) {
      return length.value() >= 1 && length <= v.max_output;
    };
    const bool sound = v.prompt.value() >= 0 && v.max_output.value() >= 1 &&
                       std::ranges::all_of(v.output.lengths, in_range) &&
                       std::ranges::is_sorted(v.output.lengths);
    if (!sound) fail("a footprint needs a prompt >= 0 and ascending lengths in 1..max_output");
  }
  void check(const domain::Tenant& v) {
    if (v.weight < 1 || v.weight > kWeightMax) fail("a tenant's weight is in 1..1000000");
  }
  void check(const pool::PoolLimits& v) {
    const auto sound = [](std::int64_t n) { return n >= 1 && n <= kBoundMax; };
    if (!sound(v.max_requests) || !sound(v.max_queued) || !sound(v.max_engines)) {
      fail("a bound of the pool is in 1..1000000");
    }
  }
  void check(const pool::PoolPolicy& v) {
    const auto sound = [](std::int64_t n) { return n >= 0 && n <= kBoundMax; };
    if (!sound(v.max_bypass) || !sound(v.scan_depth)) fail("a look-ahead is in 0..1000000");
  }
  void check(const domain::KvShape& v) {
    if (v.block_tokens.value() < 1 || v.per_sequence.value() < 0) {
      fail("a KV shape needs block_tokens >= 1 and per_sequence >= 0");
    }
  }
  void check(const domain::EngineLimits& v) {
    if (v.kv_blocks.value() < 0 || v.max_sequences < 0 || v.max_step_tokens.value() < 0 ||
        v.max_context.value() < 0) {
      fail("an engine's limits are never negative");
    }
  }
  void check(const domain::StepCoefficients& v) {
    const bool sound =
        std::min({v.base_fs, v.prefill_fs, v.per_decode_fs, v.per_kv_token_fs, v.per_attention_fs,
                  v.row_tile, v.tile_fs, v.stray_fs, std::ranges::min(v.per_token_fs)}) >= 0 &&
        v.knees[0].value() >= 0 && v.knees[0] <= v.knees[1];
    if (!sound) fail("a step law needs coefficients >= 0 and ascending knees");
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  const char* problem_ = nullptr;
  std::size_t problem_at_ = 0;
};

}  // namespace

void encode(const Record& record, Bytes& out) {
  Encoder(out).put(record);
}

void encode(const std::vector<domain::Decision>& decisions, Bytes& out) {
  Encoder(out).put(decisions);
}

void encode(const batch::StepPlan& plan, Bytes& out) {
  Encoder(out).put(plan);
}

units::Result<Record> decode(std::span<const std::byte> bytes) {
  Decoder decoder(bytes);
  Record record;
  decoder.get(record);
  if (!decoder.failed() && decoder.left() > 0) decoder.fail("something follows the record");
  if (decoder.failed()) return tl::unexpected(decoder.error());
  return record;
}

}  // namespace tidegate::journal
