#include "bounds/interval_lp.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "bounds/crowd.h"
#include "bounds/packing.h"
#include "bounds/prices.h"
#include "bounds/windows.h"

namespace tidegate::bounds {
namespace {

constexpr std::size_t kRowsAtOnce = 8;  // for each group and resource
// A round that lowers the value by less than this share, several times in a row, is the last.
constexpr double kProgress = 1e-5;
constexpr int kPatience = 3;

// One option of one crowd.
struct Choice {
  std::size_t crowd = 0;
  const Option* option = nullptr;
};

class Programme {
 public:
  Programme(std::span<const Job> jobs, std::span<const Group> groups,
            const IntervalOptions& options)
      : groups_(groups),
        options_(options),
        crowds_(crowds(jobs, options.most_columns)),
        choices_(all_choices(crowds_)),
        lp_(columns()) {
    choose_once();
    add_whole_spans();
  }

  // Prices of windows after the last round.
  std::vector<PricedWindow> solve() {
    if (windows_.empty()) return {};
    double best = std::numeric_limits<double>::infinity();
    int patience = kPatience;
    for (std::size_t round = 0; round < options_.most_rounds && patience > 0; ++round) {
      if (!lp_.solve() || !add_overfull()) break;
      const double value = weight();
      patience = value < best * (1 - kProgress) ? kPatience : patience - 1;
      best = std::min(best, value);
    }
    lp_.solve();
    const std::vector<double> prices = lp_.prices();
    for (std::size_t i = 0; i < windows_.size(); ++i) windows_[i].price = prices[once_rows_ + i];
    return windows_;
  }

 private:
  static std::vector<Choice> all_choices(const std::vector<Crowd>& crowds) {
    std::vector<Choice> choices;
    for (std::size_t i = 0; i < crowds.size(); ++i) {
      for (const Option& option : crowds[i].job.options) choices.push_back({i, &option});
    }
    return choices;
  }

  std::vector<Packing::Column> columns() const {
    std::vector<Packing::Column> columns;
    for (const Choice& choice : choices_) {
      columns.push_back({crowds_[choice.crowd].job.weight, crowds_[choice.crowd].count});
    }
    return columns;
  }

  // A job with several options takes one of them.
  void choose_once() {
    std::size_t next = 0;
    for (const Crowd& crowd : crowds_) {
      std::vector<Packing::Entry> entries;
      for (std::size_t o = 0; o < crowd.job.options.size(); ++o) {
        entries.push_back({static_cast<int>(next++), 1});
      }
      if (entries.size() < 2) continue;
      lp_.add_row(entries, crowd.count);
      once_rows_ += 1;
    }
  }

  // One window over everything, for each group and resource.
  void add_whole_spans() {
    std::vector<Span> spans(groups_.size(), {std::numeric_limits<double>::infinity(), 0, 0});
    for (const Choice& choice : choices_) {
      Span& span = spans[choice.option->group];
      for (const Part& part : choice.option->parts) {
        span.begin_s = std::min(span.begin_s, part.release_s);
        span.end_s = std::max(span.end_s, part.due_s);
      }
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (spans[g].end_s <= spans[g].begin_s) continue;
      for (std::size_t k = 0; k < kResourceCount; ++k) {
        add({g, static_cast<Resource>(k), spans[g].begin_s, spans[g].end_s, 0});
      }
    }
  }

  double weight() const {
    double sum = 0;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      sum += crowds_[choices_[i].crowd].job.weight * lp_.x()[i];
    }
    return sum;
  }

  std::vector<Load> loads(std::size_t group, std::size_t resource) const {
    std::vector<Load> loads;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      const double x = lp_.x()[i];
      if (choices_[i].option->group != group || x <= 0) continue;
      for (const Part& part : choices_[i].option->parts) {
        const double work = part.need_s[resource] * x;
        if (work > 0) loads.push_back({part.release_s, part.due_s, work});
      }
    }
    return loads;
  }

  void find_overfull(std::size_t group, std::size_t resource,
                     std::vector<PricedWindow>& found) const {
    for (const Span& span : overfull(loads(group, resource), groups_[group].engines, kRowsAtOnce)) {
      found.push_back({group, static_cast<Resource>(resource), span.begin_s, span.end_s, 0});
    }
  }

  // Adds rows for windows that the present choice overfills; false when there is none.
  bool add_overfull() {
    std::vector<PricedWindow> found;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (std::size_t k = 0; k < kResourceCount; ++k) find_overfull(g, k, found);
    }
    for (const PricedWindow& window : found) add(window);
    return !found.empty();
  }

  void add(const PricedWindow& window) {
    std::vector<Packing::Entry> entries;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      const double share = share_inside(*choices_[i].option, window, groups_[window.group].engines);
      if (share > 0) entries.push_back({static_cast<int>(i), share});
    }
    lp_.add_row(entries, 1);
    windows_.push_back(window);
  }

  std::span<const Group> groups_;
  IntervalOptions options_;
  std::vector<Crowd> crowds_;
  std::vector<Choice> choices_;
  Packing lp_;
  std::size_t once_rows_ = 0;
  std::vector<PricedWindow> windows_;
};

}  // namespace

double interval_lp(std::span<const Job> jobs, std::span<const Group> groups,
                   const IntervalOptions& options) {
  return weight_at_prices(jobs, groups, Programme(jobs, groups, options).solve());
}

}  // namespace tidegate::bounds
