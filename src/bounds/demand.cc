#include "bounds/demand.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "bounds/group_costs.h"
#include "cost/kv_law.h"
#include "units/check.h"

namespace tidegate::bounds {
namespace {

using units::Instant;
using units::Tokens;

// A paced output is cut into so many parts, each with its own window.
constexpr std::int64_t kDecodeParts = 4;
constexpr unsigned kSeenBits = 27;
// Multiplicative hashing (Knuth, TAOCP 3, 6.4): 2^64 over the golden ratio, and another odd number.
constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
constexpr std::uint64_t kOtherOdd = 0xBF58476D1CE4E5B9;

double seconds(Instant t) {
  return static_cast<double>(t.ns()) * 1e-9;
}

bool same_kind(const Engine& a, const Engine& b) {
  return a.model == b.model && a.limits == b.limits && a.kv == b.kv && a.law == b.law;
}

bool runs(const Engine& engine) {
  return engine.limits.max_step_tokens.value() > 0 && engine.limits.max_sequences > 0 &&
         engine.limits.kv_blocks.value() > 0;
}

struct GroupOfEngines {
  Engine spec;
  GroupCosts costs;
};

// One request on one group.
class Costing {
 public:
  Costing(const Offered& offered, const GroupOfEngines& group, const Setting& setting)
      : offered_(offered),
        costs_(group.costs),
        end_(std::min(setting.horizon, offered.leaves)),
        fastest_(1 - static_cast<double>(setting.step_noise.value()) / units::kMillion),
        arrival_(seconds(offered.arrival)),
        prompt_(static_cast<double>(std::max<std::int64_t>(1, offered.prompt.value()))),
        output_(std::max<std::int64_t>(1, offered.output.value())) {}

  // The parts in order, or nothing when even an engine of its own would be late.
  std::optional<std::vector<Part>> parts(double shared_tokens) {
    shared_ = std::min(shared_tokens, prompt_ - 1);
    parts_.clear();
    clock_ = arrival_ + fastest_ * costs_.prompt_latency(shared_, prompt_);
    add_prompt();
    const double first_decode = clock_;
    const bool paced = due(output_ - 1) > due(0);
    const std::int64_t cuts = paced && output_ > 4 * kDecodeParts ? kDecodeParts : 1;
    for (std::int64_t cut = 0; cut < cuts; ++cut) {
      const auto first = 1 + (output_ - 1) * cut / cuts;
      const auto last = 1 + (output_ - 1) * (cut + 1) / cuts;
      if (last > first) add_decodes(first, last);
    }
    if (output_ > 1) add_pace(first_decode);
    if (late_) return std::nullopt;
    return std::move(parts_);
  }

 private:
  double due(std::int64_t token) const {
    return seconds(std::min(end_, offered_.promise.token_due(token)));
  }

  DecodeRange range(std::int64_t first, std::int64_t last) const {
    return {prompt_, static_cast<double>(first), static_cast<double>(last)};
  }

  void add(double release_s, double due_s, const Demand& law_s) {
    Part part{release_s, due_s, law_s};
    for (double& need : part.need_s) need *= fastest_;
    parts_.push_back(part);
  }

  void add_prompt() {
    const double tokens = prompt_ - shared_;
    const double own = costs_.prompt_own(shared_, prompt_);
    const double beside = costs_.sigma() * tokens + own;
    late_ = late_ || clock_ > due(0);
    add(arrival_, due(0),
        {costs_.tau() * tokens + own,
         costs_.base() * costs_.prompt_memory(prompt_, shared_) + beside,
         costs_.base() * costs_.prefill_steps(tokens) * costs_.seat() + beside, beside});
  }

  void add_decodes(std::int64_t first, std::int64_t last) {
    const DecodeRange decodes = range(first, last);
    const double own = costs_.decode_own(decodes);
    const double beside = costs_.sigma() * decodes.count() + own;
    const double release = clock_;
    clock_ += fastest_ * costs_.decode_latency(decodes);
    late_ = late_ || clock_ > due(last - 1);
    add(release, due(last - 1),
        {costs_.tau() * decodes.count() + own,
         costs_.base() * costs_.decode_memory(decodes, shared_) + beside,
         costs_.base() * decodes.count() * costs_.seat() + beside, beside});
  }

  // What the pace adds to the pace resource of all decodes together.
  void add_pace(double first_decode_s) {
    const double last_due = due(output_ - 1);
    const auto steps = static_cast<double>(output_ - 1);
    const double step = (last_due - first_decode_s) / fastest_ / steps;
    if (step <= costs_.base()) {
      late_ = true;
      return;
    }
    const double least = costs_.decode_own(range(1, 2)) + costs_.sigma();
    const double extra = costs_.base() / (step - costs_.base());
    add(first_decode_s, last_due, {0, 0, 0, least * steps * extra});
  }

  const Offered& offered_;
  const GroupCosts& costs_;
  Instant end_;
  double fastest_;
  double arrival_;
  double prompt_;
  std::int64_t output_;
  double shared_ = 0;
  double clock_ = 0;  // when the tokens so far are there at the earliest
  bool late_ = false;
  std::vector<Part> parts_;
};

bool fits(const Engine& engine, const Offered& offered) {
  const Tokens longest = offered.prompt + std::max(Tokens(1), offered.output);
  return longest <= engine.limits.max_context &&
         cost::blocks_for(engine.kv, longest - Tokens(1)) <= engine.limits.kv_blocks;
}

class Builder {
 public:
  Builder(std::span<const Engine> engines, const Setting& setting) : setting_(setting) {
    TIDEGATE_CHECK(setting.step_noise.value() < units::kMillion);
    for (const Engine& engine : engines) add(engine);
  }

  Job job(const Offered& offered) const {
    Job job{.model = static_cast<std::size_t>(offered.model.value()),
            .weight = offered.weight,
            .options = {}};
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const Engine& spec = groups_[i].spec;
      if (spec.model != offered.model || !fits(spec, offered)) continue;
      const auto tokens = static_cast<double>(offered.shared_blocks * spec.kv.block_tokens.value());
      auto parts = Costing(offered, groups_[i], setting_).parts(tokens);
      if (parts) job.options.push_back({i, std::move(*parts)});
    }
    return job;
  }

  std::vector<Group> groups() const { return counted_; }

 private:
  void add(const Engine& engine) {
    if (!runs(engine)) return;
    const auto same = std::find_if(groups_.begin(), groups_.end(), [&](const auto& group) {
      return same_kind(group.spec, engine);
    });
    if (same != groups_.end()) {
      counted_[static_cast<std::size_t>(same - groups_.begin())].engines += 1;
      return;
    }
    groups_.push_back({engine, GroupCosts(engine)});
    counted_.push_back({static_cast<std::size_t>(engine.model.value()), 1});
  }

  const Setting& setting_;
  std::vector<GroupOfEngines> groups_;
  std::vector<Group> counted_;
};

}  // namespace

std::int64_t PromptOwners::shared_blocks(const domain::Request& request) {
  if (request.prefix == nullptr) return 0;
  seen_.resize(std::size_t{1} << kSeenBits);
  const auto place = [&](std::uint64_t block) {
    return ((block ^ (request.model.value() * kOtherOdd)) * kOdd) >> (64 - kSeenBits);
  };
  const auto& chain = *request.prefix;
  // A block's hash covers all before it, so those that others have come first.
  const auto own =
      std::find_if(chain.begin(), chain.end(), [&](auto block) { return !seen_[place(block)]; });
  for (auto block = own; block != chain.end(); ++block) seen_[place(*block)] = true;
  return own - chain.begin();
}

Instance instance(std::span<const Offered> requests, std::span<const Engine> engines,
                  const Setting& setting) {
  const Builder builder(engines, setting);
  Instance result{builder.groups(), {}};
  result.jobs.reserve(requests.size());
  for (const Offered& offered : requests) result.jobs.push_back(builder.job(offered));
  return result;
}

}  // namespace tidegate::bounds
