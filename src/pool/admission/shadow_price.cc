#include "pool/admission/shadow_price.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "units/check.h"
#include "units/integer.h"

namespace tidegate::pool {

using units::Instant;
using units::Nanos;
using units::Ppm;

namespace {

// Demand is remembered for eight of these on average.
constexpr Nanos kEpoch = units::milliseconds(1'250);
// A shorter memory counts as one of this length: the first requests are no trend.
constexpr Nanos kLeastSpan = kEpoch * 4;
constexpr int kSmallestOctave = 14;
// The yield follows the queue in this many times of a newcomer, which is critically damped: the
// queue integrates over one such time, and itself counts against the capacity.
constexpr std::int64_t kSteeringTimes = 4;
// Of a size of which fewer than this fit into what is remembered, nobody knows how many will come.
constexpr std::int64_t kFewest = 4;
// Requests of the mean size that may be in front of a newcomer, for each engine.
constexpr std::int64_t kBurst = 2;
constexpr Nanos kLeastTime = units::milliseconds(500);
constexpr Nanos kLongestSilence = units::seconds(1);
constexpr std::int64_t kNominalYieldPpb = 1'000'000'000;
constexpr std::int64_t kLeastYieldPpb = 50'000'000;
constexpr std::int64_t kMostYieldPpb = 8'000'000'000;
constexpr std::int64_t kMostQueuePpm = 8'000'000;

std::size_t octave_of(std::int64_t value) {
  return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(value))) - 1;
}

// Until demand that is not added to is no more than `budget_ns`; after so many epochs hardly
// anything is left of it.
Nanos forgotten_in(std::int64_t demand_ns, std::int64_t budget_ns) {
  constexpr std::int64_t kMostEpochs = 32;
  Nanos time = kEpoch;
  while (time < kEpoch * kMostEpochs && demand_ns > budget_ns) {
    demand_ns -= units::divide_up(demand_ns, 8);
    time += kEpoch;
  }
  return time;
}

}  // namespace

std::size_t SizeHistogram::class_of(Nanos size) {
  const std::int64_t value = std::max(std::int64_t{1} << kSmallestOctave, size.value());
  const std::size_t octave = octave_of(value);
  const auto quarter = static_cast<std::size_t>((value >> (octave - 2)) & 3);
  return std::min(kClasses - 1, (octave - kSmallestOctave) * 4 + quarter);
}

void SizeHistogram::add(Nanos size) {
  std::int64_t& work = work_ns_[class_of(size)];
  work = units::add_saturating(work, size.value());
  total_ns_ = units::add_saturating(total_ns_, size.value());
}

void SizeHistogram::fade() {
  total_ns_ = 0;
  for (std::int64_t& work : work_ns_) {
    work -= units::divide_up(work, 8);
    total_ns_ = units::add_saturating(total_ns_, work);
  }
}

SizeHistogram::Margin SizeHistogram::margin(std::int64_t budget_ns) const {
  for (std::size_t i = 0; i < kClasses; ++i) {
    if (work_ns_[i] > budget_ns) return {i, std::max<std::int64_t>(0, budget_ns), work_ns_[i]};
    budget_ns -= work_ns_[i];
  }
  return {};
}

ShadowPrice::ShadowPrice(std::vector<std::int64_t> weight_of_tenant, Ppm queue_target)
    : weight_(std::move(weight_of_tenant)),
      queue_target_(queue_target),
      demand_(weight_.size()),
      earned_ns_(weight_.size(), 0) {
  limited_.reserve(weight_.size());
}

void ShadowPrice::change_weights(const std::vector<std::int64_t>& weight_of_tenant) {
  TIDEGATE_CHECK(weight_of_tenant.size() >= weight_.size());
  weight_ = weight_of_tenant;
  demand_.resize(weight_.size());
  earned_ns_.resize(weight_.size(), 0);
  limited_.reserve(weight_.size());
}

void ShadowPrice::fade(Instant now) {
  if (!begun_) epoch_ = now;
  begun_ = true;
  while (now - epoch_ >= kEpoch && (all_demand_ns_ > 0 || guaranteed_ns_ > 0)) {
    epoch_ = epoch_ + kEpoch;
    remembered_ = (remembered_ + kEpoch) * 7 / 8;
    guaranteed_ns_ -= units::divide_up(guaranteed_ns_, 8);
    asked_millionths_ -= units::divide_up(asked_millionths_, 8);
    all_demand_ns_ = 0;
    for (SizeHistogram& demand : demand_) {
      if (demand.total_ns() > 0) demand.fade();
      all_demand_ns_ = units::add_saturating(all_demand_ns_, demand.total_ns());
    }
  }
  if (now - epoch_ >= kEpoch) epoch_ = now;  // nothing is left to fade
  span_ = std::max(remembered_ + (now - epoch_), kLeastSpan);
}

void ShadowPrice::ask(std::size_t tenant, Nanos size, bool guaranteed, Instant now) {
  if (queue_target_ == Ppm(0)) return;
  fade(now);
  size = std::max(size, Nanos(1));
  if (guaranteed) {
    guaranteed_ns_ = units::add_saturating(guaranteed_ns_, size.value());
    return;
  }
  demand_[tenant].add(size);
  all_demand_ns_ = units::add_saturating(all_demand_ns_, size.value());
  asked_millionths_ += units::kMillion;
}

// What is in front of the newcomer beyond a burst.
std::int64_t ShadowPrice::queue_ns(const Newcomer& newcomer) const {
  if (asked_millionths_ == 0) return newcomer.ahead.value();
  const std::int64_t mean =
      units::multiply_divide(all_demand_ns_, units::kMillion, asked_millionths_);
  const std::int64_t burst =
      units::multiply_saturating(units::multiply_saturating(mean, kBurst), newcomer.engines);
  return std::max<std::int64_t>(0, newcomer.ahead.value() - burst);
}

// Loose promises wait behind tight ones, so the tight ones alone would never see how long the queue
// is. An outlook counts less the longer ago it was seen, and nothing once its time has passed.
ShadowPrice::Outlook ShadowPrice::worst_outlook(const Newcomer& newcomer, Instant now) {
  const Nanos time = std::max(newcomer.time, Nanos(1));
  const std::int64_t supply =
      std::max<std::int64_t>(1, units::multiply_saturating(time.value(), newcomer.engines));
  Outlook worst{
      .queue_ppm = std::min(kMostQueuePpm,
                            units::multiply_divide(queue_ns(newcomer), units::kMillion, supply)),
      .time = time,
      .seen = now};
  outlooks_[std::min(kHorizons - 1, octave_of(time.value()))] = worst;
  for (const Outlook& other : outlooks_) {
    const Nanos rest = other.time - (now - other.seen);
    if (other.queue_ppm <= worst.queue_ppm || rest <= Nanos(0)) continue;
    const std::int64_t queue =
        units::multiply_divide(other.queue_ppm, rest.value(), other.time.value());
    if (queue > worst.queue_ppm) worst = {queue, other.time, now};
  }
  return worst;
}

// With itself, what is in front of it takes no more of its time than a queue should.
bool ShadowPrice::finds_time(const Newcomer& newcomer) const {
  const Nanos time = units::scaled(newcomer.time, queue_target_);
  const std::int64_t together =
      units::add_saturating(newcomer.ahead.value(), newcomer.size.value());
  return together <= units::multiply_saturating(time.value(), newcomer.engines);
}

// Above what sizes say only while somebody is held back: an idle pool does not show what it could
// do. What a burst took from it comes back while the queue is short, or the next burst would find
// a price that is too low.
void ShadowPrice::steer(const Outlook& outlook, bool limited, Instant now) {
  const Nanos since = std::min(now - steered_, kLongestSilence);
  steered_ = now;
  const std::int64_t wanted =
      std::clamp(queue_target_.value() - outlook.queue_ppm, -units::kMillion, units::kMillion);
  if (wanted > 0 && !limited && yield_ppb_ >= kNominalYieldPpb) return;
  const std::int64_t whole = units::multiply_divide(yield_ppb_, wanted, units::kMillion);
  const Nanos constant = std::max(outlook.time, kLeastTime) * kSteeringTimes;
  yield_ppb_ += units::multiply_divide(whole, since.value(), constant.value());
  yield_ppb_ = std::clamp(yield_ppb_, kLeastYieldPpb, kMostYieldPpb);
}

// Water-filling: who asks for less than an equal share by weight gets all of it, and what it leaves
// goes to the others. The demand of the tenant itself when that fits.
std::int64_t ShadowPrice::budget_ns(std::size_t tenant, std::int64_t capacity_ns) {
  if (all_demand_ns_ <= capacity_ns) return demand_[tenant].total_ns();
  limited_.clear();
  std::int64_t weights = 0;
  for (std::size_t i = 0; i < demand_.size(); ++i) {
    if (demand_[i].total_ns() == 0) continue;
    limited_.push_back(i);
    weights += weight_[i];
  }
  std::int64_t left = capacity_ns;
  for (std::size_t before = limited_.size() + 1; limited_.size() < before;) {
    before = limited_.size();
    const std::int64_t shared = left;
    const std::int64_t of = weights;
    const auto fits = [&](std::size_t i) {
      const std::int64_t share = units::multiply_divide(shared, weight_[i], of);
      if (demand_[i].total_ns() > share) return false;
      left -= demand_[i].total_ns();
      weights -= weight_[i];
      return true;
    };
    limited_.erase(std::remove_if(limited_.begin(), limited_.end(), fits), limited_.end());
  }
  const bool limited = std::find(limited_.begin(), limited_.end(), tenant) != limited_.end();
  if (!limited) return demand_[tenant].total_ns();
  return units::multiply_divide(left, weight_[tenant], weights);
}

// Each one at the price earns the part of its size that fits; whoever finds enough earned is taken.
bool ShadowPrice::within(const Newcomer& newcomer, std::int64_t budget_ns) {
  const SizeHistogram::Margin margin = demand_[newcomer.tenant].margin(budget_ns);
  const std::size_t size_class = SizeHistogram::class_of(newcomer.size);
  if (size_class != margin.size_class) return size_class < margin.size_class;
  std::int64_t& earned = earned_ns_[newcomer.tenant];
  const std::int64_t size = newcomer.size.value();
  earned =
      std::min(earned, size * 2) + units::multiply_divide(size, margin.fits_ns, margin.work_ns);
  if (earned < size) return false;
  earned -= size;
  return true;
}

ShadowPrice::Verdict ShadowPrice::judge(const Newcomer& newcomer, Instant now) {
  if (queue_target_ == Ppm(0)) return {};
  fade(now);
  const Outlook outlook = worst_outlook(newcomer, now);
  const std::int64_t each_ppm = std::max<std::int64_t>(0, yield_ppb_ / 1'000 - outlook.queue_ppm);
  const std::int64_t supply_ns = units::multiply_saturating(span_.value(), newcomer.engines);
  const std::int64_t capacity_ns =
      units::multiply_divide(supply_ns, each_ppm, units::kMillion) - guaranteed_ns_;
  const std::int64_t asked = demand_[newcomer.tenant].total_ns();
  const std::int64_t budget = budget_ns(newcomer.tenant, std::max<std::int64_t>(0, capacity_ns));
  const bool limited = budget < asked;
  steer(outlook, limited, now);
  if (!limited || within(newcomer, budget)) return {};
  const bool only_itself = all_demand_ns_ - newcomer.size.value() <= capacity_ns;
  if (only_itself && newcomer.size.value() > supply_ns / kFewest && finds_time(newcomer)) return {};
  return {.above = true, .drains_in = forgotten_in(asked, budget)};
}

}  // namespace tidegate::pool
