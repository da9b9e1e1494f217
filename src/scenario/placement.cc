#include "scenario/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "scenario/engine_model.h"

namespace tidegate::scenario {
namespace {

using config::LoadErrors;
using config::ScenarioConfig;

// Less than this much demand still wants an engine more than none.
constexpr double kLeastDemand = 1e-9;

class Placer {
 public:
  Placer(const ScenarioConfig& config, const std::vector<Demand>& demands)
      : config_(config), free_(config.gpus.size(), 0), engines_(config.models.size()) {
    for (const config::PoolEntry& entry : config.pool) free_[entry.gpu] += entry.count;
    coverage_.resize(config.models.size(), 0);
    for (std::size_t model = 0; model < config.models.size(); ++model) {
      speeds_.emplace_back(config.gpus.size(), 0);
      for (std::size_t gpu = 0; gpu < free_.size(); ++gpu) measure(demands[model], model, gpu);
    }
  }

  bool fits_somewhere(std::size_t model) const {
    const auto& speeds = speeds_[model];
    return std::any_of(speeds.begin(), speeds.end(), [](double speed) { return speed > 0; });
  }

  // Gives the model one more engine where that is best; false when no GPUs are left for it.
  bool add(std::size_t model) {
    const auto gpu = best_gpu(model);
    if (!gpu) return false;
    free_[*gpu] -= config_.models[model].tensor_parallel;
    coverage_[model] += speeds_[model][*gpu];
    engines_[model].push_back(*gpu);
    return true;
  }

  // The model that is covered worst among those that can have another engine.
  std::optional<std::size_t> neediest() const {
    std::optional<std::size_t> found;
    for (std::size_t model = 0; model < engines_.size(); ++model) {
      if (!best_gpu(model)) continue;
      if (!found || coverage_[model] < coverage_[*found]) found = model;
    }
    return found;
  }

  std::size_t types_for(std::size_t model) const {
    const auto& speeds = speeds_[model];
    return static_cast<std::size_t>(
        std::count_if(speeds.begin(), speeds.end(), [](double speed) { return speed > 0; }));
  }

  std::vector<PlacedEngine> engines() const {
    std::vector<PlacedEngine> all;
    for (std::size_t gpu = 0; gpu < free_.size(); ++gpu) {
      for (std::size_t model = 0; model < engines_.size(); ++model) {
        const auto count = std::count(engines_[model].begin(), engines_[model].end(), gpu);
        all.insert(all.end(), static_cast<std::size_t>(count), PlacedEngine{model, gpu});
      }
    }
    return all;
  }

  std::size_t placed(std::size_t model) const { return engines_[model].size(); }

 private:
  // Part of the model's demand that one engine there covers; 0 where it does not fit.
  void measure(const Demand& demand, std::size_t model, std::size_t gpu) {
    const auto engine = free_[gpu] > 0 ? engine_model(config_, model, gpu) : std::nullopt;
    if (!engine) return;
    const double needed = engines_needed(demand, *engine, config_.run.length);
    speeds_[model][gpu] = 1 / std::max(needed, kLeastDemand);
  }

  // How much better the GPU is for this model than for the others, among the free ones.
  std::optional<std::size_t> best_gpu(std::size_t model) const {
    std::optional<std::size_t> best;
    double best_share = 0;
    for (std::size_t gpu = 0; gpu < free_.size(); ++gpu) {
      if (speeds_[model][gpu] <= 0 || free_[gpu] < config_.models[model].tensor_parallel) continue;
      double all = 0;
      for (const auto& speeds : speeds_) {
        all += speeds[gpu] / *std::max_element(speeds.begin(), speeds.end());
      }
      const auto& own = speeds_[model];
      const double share = own[gpu] / *std::max_element(own.begin(), own.end()) / all;
      if (best && share <= best_share) continue;
      best = gpu;
      best_share = share;
    }
    return best;
  }

  const ScenarioConfig& config_;
  std::vector<std::int64_t> free_;                 // by GPU type
  std::vector<std::vector<double>> speeds_;        // by model, GPU type
  std::vector<double> coverage_;                   // by model: of its demand
  std::vector<std::vector<std::size_t>> engines_;  // by model: the GPU types of its engines
};

// "32 x h100, 8 x l40s"
std::string pool_text(const ScenarioConfig& config) {
  std::string text;
  for (const config::PoolEntry& entry : config.pool) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", entry.count,
                        config.gpus[entry.gpu].catalogue);
  }
  return text;
}

// What would make the model fit: the smallest tensor parallelism that does in its own dtype.
std::string remedy(const ScenarioConfig& config, std::size_t model) {
  ScenarioConfig other = config;
  for (const std::int64_t degree : std::array<std::int64_t, 4>{2, 4, 8, 16}) {
    if (degree <= config.models[model].tensor_parallel) continue;
    other.models[model].tensor_parallel = degree;
    const bool fits =
        std::any_of(config.pool.begin(), config.pool.end(), [&](const config::PoolEntry& entry) {
          return entry.count >= degree && engine_model(other, model, entry.gpu);
        });
    if (fits) return fmt::format("set tensor_parallel: {}", degree);
  }
  return "add GPUs with more memory to the pool";
}

units::Error fits_nowhere(const ScenarioConfig& config, std::size_t model) {
  const config::ScenarioModel& wanted = config.models[model];
  const double gb =
      catalogue::Catalogue::bundled().model(wanted.catalogue)->weights_gb * (wanted.fp8 ? 0.5 : 1);
  return {wanted.where,
          fmt::format("model '{}' fits no GPU of the pool ({}): {:.0f} GB of {} weights on {} "
                      "GPU(s) leave no room for KV memory; {}",
                      wanted.name, pool_text(config), gb, wanted.fp8 ? "fp8" : "bfloat16",
                      wanted.tensor_parallel, remedy(config, model))};
}

units::Error too_few_gpus(const ScenarioConfig& config, std::size_t model, std::size_t placed) {
  const config::ScenarioModel& wanted = config.models[model];
  return {wanted.where,
          fmt::format("model '{}' wants at least {} engine(s) of {} GPU(s), and the pool ({}) has "
                      "room for {} beside the other models; add GPUs or lower min_replicas",
                      wanted.name, wanted.min_replicas, wanted.tensor_parallel, pool_text(config),
                      placed)};
}

// Those with the fewest GPU types to choose from first, then the widest.
std::vector<std::size_t> hardest_first(const ScenarioConfig& config, const Placer& placer) {
  std::vector<std::size_t> order(config.models.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::size_t types_a = placer.types_for(a);
    const std::size_t types_b = placer.types_for(b);
    if (types_a != types_b) return types_a < types_b;
    return config.models[a].tensor_parallel > config.models[b].tensor_parallel;
  });
  return order;
}

}  // namespace

tl::expected<std::vector<PlacedEngine>, LoadErrors> place(const ScenarioConfig& config,
                                                          const std::vector<Demand>& demands) {
  Placer placer(config, demands);
  LoadErrors errors;
  for (const std::size_t model : hardest_first(config, placer)) {
    if (!placer.fits_somewhere(model)) {
      errors.push_back(fits_nowhere(config, model));
      continue;
    }
    for (std::int64_t i = 0; i < config.models[model].min_replicas; ++i) {
      if (placer.add(model)) continue;
      errors.push_back(too_few_gpus(config, model, placer.placed(model)));
      break;
    }
  }
  if (!errors.empty()) return tl::unexpected(errors);
  while (const auto model = placer.neediest()) placer.add(*model);
  return placer.engines();
}

}  // namespace tidegate::scenario
