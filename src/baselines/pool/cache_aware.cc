#include "baselines/pool/cache_aware.h"

#include <algorithm>
#include <vector>

#include "units/integer.h"

namespace tidegate::baselines {
namespace {

// PrefixAffinity.
constexpr std::int64_t kMatchPercent = 30;
constexpr std::int64_t kImbalance = 64;
constexpr std::int64_t kImbalancePercent = 150;

// Epp. Scores are in millionths.
constexpr std::int64_t kQueueWeight = 2;
constexpr std::int64_t kMemoryWeight = 2;
constexpr std::int64_t kPrefixWeight = 3;
constexpr std::int64_t kQueueLimit = 5;
constexpr std::int64_t kMemoryLimitPercent = 80;

std::size_t blocks_of(const Target& target) {
  return static_cast<std::size_t>(std::max<std::int64_t>(target.spec->limits.kv_blocks.value(), 0));
}

std::int64_t share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : units::multiply_divide(part, units::kMillion, whole);
}

std::int64_t memory_used(const Target& target) {
  return share(target.report.kv_used.value(), target.spec->limits.kv_blocks.value());
}

bool has_capacity(const Target& target) {
  return target.report.waiting <= kQueueLimit &&
         memory_used(target) <= kMemoryLimitPercent * (units::kMillion / 100);
}

}  // namespace

std::optional<EngineIndex> PrefixAffinity::route(const domain::Request& request,
                                                 std::span<const Target> targets) {
  const auto by_load = [](const Target& a, const Target& b) { return a.in_flight < b.in_flight; };
  const auto [least, most] = std::minmax_element(targets.begin(), targets.end(), by_load);
  const bool unbalanced = most->in_flight - least->in_flight > kImbalance &&
                          most->in_flight * 100 > least->in_flight * kImbalancePercent;
  const Target* chosen = &*least;
  if (!unbalanced && request.prefix != nullptr) {
    std::size_t longest = request.prefix->size() * kMatchPercent / 100;
    for (const Target& target : targets) {
      const std::size_t matched = memory_.matched(target.index, request.prefix);
      if (matched <= longest) continue;
      longest = matched;
      chosen = &target;
    }
  }
  memory_.note(chosen->index, request.prefix, blocks_of(*chosen));
  return chosen->index;
}

std::optional<EngineIndex> Epp::route(const domain::Request& request,
                                      std::span<const Target> targets) {
  if (std::none_of(targets.begin(), targets.end(), has_capacity)) return std::nullopt;
  const auto by_queue = [](const Target& a, const Target& b) {
    return a.report.waiting < b.report.waiting;
  };
  const auto [least, most] = std::minmax_element(targets.begin(), targets.end(), by_queue);
  const std::int64_t range = most->report.waiting - least->report.waiting;
  const auto blocks =
      static_cast<std::int64_t>(request.prefix == nullptr ? 0 : request.prefix->size());
  std::int64_t highest = -1;
  std::vector<const Target*> equals;
  for (const Target& target : targets) {
    const auto matched = static_cast<std::int64_t>(memory_.matched(target.index, request.prefix));
    const std::int64_t queue =
        range == 0 ? units::kMillion : share(most->report.waiting - target.report.waiting, range);
    const std::int64_t score = kQueueWeight * queue +
                               kMemoryWeight * (units::kMillion - memory_used(target)) +
                               kPrefixWeight * share(matched, blocks);
    if (score > highest) equals.clear();
    if (score >= highest) equals.push_back(&target);
    highest = std::max(highest, score);
  }
  const Target& chosen = *equals[prng_.below(equals.size())];
  memory_.note(chosen.index, request.prefix, blocks_of(chosen));
  return chosen.index;
}

}  // namespace tidegate::baselines
