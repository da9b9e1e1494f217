// Who is not served when more is asked of a model's engines than they can do: of each tenant that
// asks for more than its share, the requests that take the most engine time. Whoever is above the
// price of the moment is refused at once unless an engine has nothing to do; all others are served
// with a short queue instead of everybody with one at the edge of its promise.
//
// The price of a tenant is the largest size such that all of its smaller requests fit into its
// share of what the engines can do: a fluid knapsack, whose greedy solution by size is optimal
// (Dantzig 1957). Of those at the price, which may be all when they are alike, as large a part is
// below it as fits. Shares are max-min fair by weight over what tenants asked for in the last ten
// seconds or so, refused requests included and repeated ones not, so that a refusal never looks
// like a falling demand. What the engines can do is their number less what the queue in front of
// the newcomer takes of the time it has, times a yield that is steered until that queue is a fixed
// part of that time: it makes up for sizes that are only estimates. Two requests of the mean size
// for each engine are no queue, or promises of hardly more than one request's time would be taken
// for overload whenever two arrive together. Nor is a single request that takes a large part of
// what is remembered, if all others fit and it finds time enough.
//
// What is due in minutes or hours can be worked off later. So there are windows of time: one for
// all that is due within 69 s, and one for each octave after that and all that is due before it.
// Each has its own memory, the longer the more time it is for, and its own yield, and a queue
// counts in it only beyond a tenth of the time after the first minute. A newcomer has to be within
// the price of its own window and of all looser ones; a tighter one does not concern it (ADR 0013;
// the windows are the constraints of the interval LP of src/bounds, and the prices its duals).
//
// One owner; integers only; no allocation after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "units/quantity.h"

namespace tidegate::pool {

// Engine time that was asked for, by the size of the requests: size classes a quarter of an octave
// wide from 16 us to a quarter of an hour.
class SizeHistogram {
 public:
  static constexpr std::size_t kClasses = 104;

  void add(units::Nanos size);
  void fade();  // an eighth of all is forgotten
  std::int64_t total_ns() const { return total_ns_; }
  // Where a budget that serves the smallest first runs out: in this size class, of which so much of
  // the work still fits. Past the last class when everything fits. O(kClasses).
  struct Margin {
    std::size_t size_class = kClasses;
    std::int64_t fits_ns = 0;
    std::int64_t work_ns = 0;
  };
  Margin margin(std::int64_t budget_ns) const;
  static std::size_t class_of(units::Nanos size);

 private:
  std::array<std::int64_t, kClasses> work_ns_{};
  std::int64_t total_ns_ = 0;
};

// What was asked for lately by the tenants of a model, refused or not. Sums fade by an eighth each
// epoch, so they stand for about eight of these.
class Demand {
 public:
  Demand(std::size_t tenants, units::Nanos epoch) : epoch_(epoch), of_tenant_(tenants) {}

  void change_tenants(std::size_t tenants) { of_tenant_.resize(tenants); }
  void fade(units::Instant now);
  void add(std::size_t tenant, units::Nanos size);
  void add_guaranteed(units::Nanos size);
  const SizeHistogram& of(std::size_t tenant) const { return of_tenant_[tenant]; }
  std::size_t tenants() const { return of_tenant_.size(); }
  std::int64_t all_ns() const { return all_ns_; }  // without guaranteed work
  std::int64_t guaranteed_ns() const { return guaranteed_ns_; }
  units::Nanos mean_size() const;
  units::Nanos epoch() const { return epoch_; }
  units::Nanos span() const { return span_; }  // time that the sums stand for

 private:
  units::Nanos epoch_;
  std::vector<SizeHistogram> of_tenant_;
  std::int64_t all_ns_ = 0;
  std::int64_t asked_millionths_ = 0;  // requests that all_ns_ stands for
  std::int64_t guaranteed_ns_ = 0;
  units::Instant began_;        // the running epoch
  units::Nanos remembered_{0};  // time before it that the sums stand for, faded like them
  units::Nanos span_{0};
  bool begun_ = false;
};

class ShadowPrice {
 public:
  struct Asked {
    std::size_t tenant = 0;
    units::Nanos size{0};  // engine time that it takes
    units::Nanos time{0};  // until its first token is due
    bool guaranteed = false;
  };
  // A newcomer, and what stands in front of it.
  struct Newcomer {
    std::size_t tenant = 0;
    units::Nanos size{0};   // engine time that it takes
    units::Nanos ahead{0};  // engine time of all before it, engines together
    units::Nanos time{0};   // until its first token is due
    std::int64_t engines = 0;
  };
  struct Verdict {
    bool above = false;         // the price
    units::Nanos drains_in{0};  // until its tenant would be within its share if it asked no more;
                                // at most four memories of a window: 40 s, or 80 and so on
  };

  // `queue_target`: the part of a newcomer's time that the queue in front of it should take when
  // demand exceeds capacity; 0 = nobody is ever above the price.
  ShadowPrice(std::vector<std::int64_t> weight_of_tenant, units::Ppm queue_target);

  // Other weights, and perhaps more tenants. REQUIRES: not fewer tenants.
  void change_weights(const std::vector<std::int64_t>& weight_of_tenant);
  // A request of that size arrived, as a first try. Guaranteed ones come before all shares.
  void ask(const Asked& asked, units::Instant now);
  // REQUIRES: engines > 0, and its own demand was counted by ask() if it is a first try.
  // For each window in which demand exceeds capacity O(tenants with demand), else O(1).
  Verdict judge(const Newcomer& newcomer, units::Instant now);

 private:
  // The queue as those with about the same time saw it last.
  struct Outlook {
    std::int64_t queue_ppm = 0;  // of the time
    units::Nanos time{0};
    units::Instant seen;
  };
  static constexpr std::size_t kHorizons = 48;
  // One for all who are due within 69 s, then one for each octave of time and all who have less.
  static constexpr std::size_t kWindows = 7;
  struct Window {
    Demand demand;
    std::int64_t yield_ppb = 1'000'000'000;
    units::Instant steered = {};
    bool used = false;  // somebody had that much time
  };
  // What a tenant asked for in the memory of a window, and what it may have of it.
  struct Limit {
    std::int64_t asked_ns = 0;
    std::int64_t budget_ns = 0;
    std::int64_t capacity_ns = 0;  // for all tenants
    std::int64_t supply_ns = 0;    // engine time

    bool limits() const { return budget_ns < asked_ns; }
  };

  static std::size_t window_of(units::Nanos time);
  std::optional<Outlook> worst_outlook(std::size_t window, units::Instant now) const;
  void look(const Newcomer& newcomer, std::size_t window, units::Instant now);
  static std::int64_t queue_ns(const Demand& demand, const Newcomer& newcomer);
  bool finds_time(const Newcomer& newcomer) const;
  bool only_itself(const Window& window, const Limit& limit, const Newcomer& newcomer) const;
  void steer(Window& window, const Outlook& outlook, bool limited, units::Instant now);
  Limit limit(const Window& window, const Outlook& outlook, const Newcomer& newcomer);
  std::int64_t budget_ns(const Demand& demand, std::size_t tenant, std::int64_t capacity_ns);
  bool within(const Newcomer& newcomer, const SizeHistogram::Margin& margin);

  std::vector<std::int64_t> weight_;
  units::Ppm queue_target_;
  std::vector<Window> windows_;
  std::vector<std::int64_t> earned_ns_;  // by tenant: at its price, towards the next that is taken
  std::array<Outlook, kHorizons> outlooks_{};  // by octave of the time
  std::vector<std::size_t> limited_;           // scratch
};

}  // namespace tidegate::pool
