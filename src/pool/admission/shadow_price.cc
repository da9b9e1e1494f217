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

// Demand of those who are due within a minute or so is remembered for eight of these on average,
// and twice as long in each window after that.
constexpr Nanos kEpoch = units::milliseconds(1'250);
// The first octave of the second window: 69 s.
constexpr std::size_t kLooseOctave = 36;
constexpr Nanos kMinute{std::int64_t{1} << kLooseOctave};
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
// Of the time after the first minute one part in so many may be queue before it counts. With one
// in five, those with less time were squeezed out after hours of overload.
constexpr std::int64_t kSpare = 10;
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
Nanos forgotten_in(std::int64_t demand_ns, std::int64_t budget_ns, Nanos epoch) {
  constexpr std::int64_t kMostEpochs = 32;
  Nanos time = epoch;
  while (time < epoch * kMostEpochs && demand_ns > budget_ns) {
    demand_ns -= units::divide_up(demand_ns, 8);
    time += epoch;
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

void Demand::fade(Instant now) {
  if (!begun_) began_ = now;
  begun_ = true;
  while (now - began_ >= epoch_ && (all_ns_ > 0 || guaranteed_ns_ > 0)) {
    began_ = began_ + epoch_;
    remembered_ = (remembered_ + epoch_) * 7 / 8;
    guaranteed_ns_ -= units::divide_up(guaranteed_ns_, 8);
    asked_millionths_ -= units::divide_up(asked_millionths_, 8);
    all_ns_ = 0;
    for (SizeHistogram& demand : of_tenant_) {
      if (demand.total_ns() > 0) demand.fade();
      all_ns_ = units::add_saturating(all_ns_, demand.total_ns());
    }
  }
  if (now - began_ >= epoch_) began_ = now;  // nothing is left to fade
  span_ = std::max(remembered_ + (now - began_), kLeastSpan);
}

void Demand::add(std::size_t tenant, Nanos size) {
  of_tenant_[tenant].add(size);
  all_ns_ = units::add_saturating(all_ns_, size.value());
  asked_millionths_ += units::kMillion;
}

void Demand::add_guaranteed(Nanos size) {
  guaranteed_ns_ = units::add_saturating(guaranteed_ns_, size.value());
}

Nanos Demand::mean_size() const {
  if (asked_millionths_ == 0) return Nanos(0);
  return Nanos(units::multiply_divide(all_ns_, units::kMillion, asked_millionths_));
}

ShadowPrice::ShadowPrice(std::vector<std::int64_t> weight_of_tenant, Ppm queue_target)
    : weight_(std::move(weight_of_tenant)),
      queue_target_(queue_target),
      earned_ns_(weight_.size(), 0) {
  limited_.reserve(weight_.size());
  windows_.reserve(kWindows);
  for (std::size_t i = 0; i < kWindows; ++i) {
    windows_.push_back({.demand = Demand(weight_.size(), kEpoch * (std::int64_t{1} << i))});
  }
}

void ShadowPrice::change_weights(const std::vector<std::int64_t>& weight_of_tenant) {
  TIDEGATE_CHECK(weight_of_tenant.size() >= weight_.size());
  weight_ = weight_of_tenant;
  for (Window& window : windows_) window.demand.change_tenants(weight_.size());
  earned_ns_.resize(weight_.size(), 0);
  limited_.reserve(weight_.size());
}

std::size_t ShadowPrice::window_of(Nanos time) {
  if (time < kMinute) return 0;
  return std::min(kWindows - 1, octave_of(time.value()) - kLooseOctave + 1);
}

void ShadowPrice::ask(const Asked& asked, Instant now) {
  if (queue_target_ == Ppm(0)) return;
  const Nanos size = std::max(asked.size, Nanos(1));
  const std::size_t own = window_of(asked.time);
  windows_[own].used = true;
  for (std::size_t i = own; i < kWindows; ++i) {
    if (!windows_[i].used) continue;
    Demand& demand = windows_[i].demand;
    demand.fade(now);
    if (asked.guaranteed) {
      demand.add_guaranteed(size);
    } else {
      demand.add(asked.tenant, size);
    }
  }
}

// What is in front of the newcomer beyond a burst, and beyond what it has time for in any case.
std::int64_t ShadowPrice::queue_ns(const Demand& demand, const Newcomer& newcomer) {
  const Nanos spare = std::max(Nanos(0), newcomer.time - kMinute) / kSpare;
  const Nanos each = demand.mean_size() * kBurst + spare;
  const std::int64_t ignored = units::multiply_saturating(each.value(), newcomer.engines);
  return std::max<std::int64_t>(0, newcomer.ahead.value() - ignored);
}

void ShadowPrice::look(const Newcomer& newcomer, std::size_t window, Instant now) {
  const Nanos time = std::max(newcomer.time, Nanos(1));
  const std::int64_t supply =
      std::max<std::int64_t>(1, units::multiply_saturating(time.value(), newcomer.engines));
  const std::int64_t queue = queue_ns(windows_[window].demand, newcomer);
  outlooks_[std::min(kHorizons - 1, octave_of(time.value()))] = {
      .queue_ppm = std::min(kMostQueuePpm, units::multiply_divide(queue, units::kMillion, supply)),
      .time = time,
      .seen = now};
}

// Loose promises wait behind tight ones, so the tight ones alone would never see how long the queue
// is. An outlook counts less the longer ago it was seen, and nothing once its time has passed.
// Of those who have as much time as the window is for; nothing when the last of them is due.
std::optional<ShadowPrice::Outlook> ShadowPrice::worst_outlook(std::size_t window,
                                                               Instant now) const {
  const std::size_t begin = window == 0 ? 0 : kLooseOctave + window - 1;
  const std::size_t end = window + 1 == kWindows ? kHorizons : kLooseOctave + window;
  std::optional<Outlook> worst;
  for (std::size_t i = begin; i < end; ++i) {
    const Outlook& other = outlooks_[i];
    const Nanos rest = other.time - (now - other.seen);
    if (rest <= Nanos(0)) continue;
    const std::int64_t queue =
        units::multiply_divide(other.queue_ppm, rest.value(), other.time.value());
    const bool more = !worst || queue > worst->queue_ppm;
    if (more || (queue == worst->queue_ppm && other.seen == now)) {
      worst = Outlook{queue, other.time, now};
    }
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
void ShadowPrice::steer(Window& window, const Outlook& outlook, bool limited, Instant now) {
  const Nanos since = std::min(now - window.steered, kLongestSilence);
  window.steered = now;
  std::int64_t& yield_ppb = window.yield_ppb;
  const std::int64_t wanted =
      std::clamp(queue_target_.value() - outlook.queue_ppm, -units::kMillion, units::kMillion);
  if (wanted > 0 && !limited && yield_ppb >= kNominalYieldPpb) return;
  const std::int64_t whole = units::multiply_divide(yield_ppb, wanted, units::kMillion);
  const Nanos constant = std::max(outlook.time, kLeastTime) * kSteeringTimes;
  yield_ppb += units::multiply_divide(whole, since.value(), constant.value());
  yield_ppb = std::clamp(yield_ppb, kLeastYieldPpb, kMostYieldPpb);
}

// Water-filling: who asks for less than an equal share by weight gets all of it, and what it leaves
// goes to the others. The demand of the tenant itself when that fits.
std::int64_t ShadowPrice::budget_ns(const Demand& demand, std::size_t tenant,
                                    std::int64_t capacity_ns) {
  const std::int64_t own = demand.of(tenant).total_ns();
  if (demand.all_ns() <= capacity_ns) return own;
  limited_.clear();
  std::int64_t weights = 0;
  for (std::size_t i = 0; i < demand.tenants(); ++i) {
    if (demand.of(i).total_ns() == 0) continue;
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
      if (demand.of(i).total_ns() > share) return false;
      left -= demand.of(i).total_ns();
      weights -= weight_[i];
      return true;
    };
    limited_.erase(std::remove_if(limited_.begin(), limited_.end(), fits), limited_.end());
  }
  const bool limited = std::find(limited_.begin(), limited_.end(), tenant) != limited_.end();
  if (!limited) return own;
  return units::multiply_divide(left, weight_[tenant], weights);
}

// Each one at the price earns the part of its size that fits; whoever finds enough earned is taken.
bool ShadowPrice::within(const Newcomer& newcomer, const SizeHistogram::Margin& margin) {
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

ShadowPrice::Limit ShadowPrice::limit(const Window& window, const Outlook& outlook,
                                      const Newcomer& newcomer) {
  const Demand& demand = window.demand;
  const std::int64_t each_ppm =
      std::max<std::int64_t>(0, window.yield_ppb / 1'000 - outlook.queue_ppm);
  Limit limit;
  limit.supply_ns = units::multiply_saturating(demand.span().value(), newcomer.engines);
  limit.capacity_ns =
      units::multiply_divide(limit.supply_ns, each_ppm, units::kMillion) - demand.guaranteed_ns();
  limit.asked_ns = demand.of(newcomer.tenant).total_ns();
  limit.budget_ns =
      budget_ns(demand, newcomer.tenant, std::max<std::int64_t>(0, limit.capacity_ns));
  return limit;
}

// All others fit, it is so large that nobody knows how many like it will come, and it finds time.
bool ShadowPrice::only_itself(const Window& window, const Limit& limit,
                              const Newcomer& newcomer) const {
  const std::int64_t size = newcomer.size.value();
  if (window.demand.all_ns() - size > limit.capacity_ns) return false;
  return size > limit.supply_ns / kFewest && finds_time(newcomer);
}

ShadowPrice::Verdict ShadowPrice::judge(const Newcomer& newcomer, Instant now) {
  if (queue_target_ == Ppm(0)) return {};
  const std::size_t own = window_of(newcomer.time);
  windows_[own].used = true;
  windows_[own].demand.fade(now);
  look(newcomer, own, now);
  Verdict verdict;
  SizeHistogram::Margin least;
  bool itself = true;
  for (std::size_t i = own; i < kWindows; ++i) {
    Window& window = windows_[i];
    const auto outlook = window.used ? worst_outlook(i, now) : std::nullopt;
    if (!outlook) continue;
    window.demand.fade(now);
    const Limit found = limit(window, *outlook, newcomer);
    if (i == own) steer(window, *outlook, found.limits(), now);
    if (!found.limits()) continue;
    const auto margin = window.demand.of(newcomer.tenant).margin(found.budget_ns);
    if (margin.size_class < least.size_class) least = margin;
    itself = itself && only_itself(window, found, newcomer);
    verdict.drains_in = std::max(
        verdict.drains_in, forgotten_in(found.asked_ns, found.budget_ns, window.demand.epoch()));
  }
  const bool limited = least.size_class < SizeHistogram::kClasses;
  if (!limited || within(newcomer, least) || itself) return {};
  verdict.above = true;
  return verdict;
}

}  // namespace tidegate::pool
