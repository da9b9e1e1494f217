#include "bounds/packing.h"

#include <ClpSimplex.hpp>
#include <algorithm>

namespace tidegate::bounds {

Packing::Packing(std::span<const Column> columns) : lp_(std::make_unique<ClpSimplex>()) {
  lp_->setLogLevel(0);
  lp_->resize(0, static_cast<int>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    lp_->setObjectiveCoefficient(static_cast<int>(i), -columns[i].weight);
    lp_->setColumnBounds(static_cast<int>(i), 0, columns[i].upper);
  }
}

Packing::~Packing() = default;

void Packing::add_row(std::span<const Entry> entries, double limit) {
  std::vector<int> columns;
  std::vector<double> costs;
  for (const Entry& entry : entries) {
    columns.push_back(entry.column);
    costs.push_back(entry.cost);
  }
  lp_->addRow(static_cast<int>(columns.size()), columns.data(), costs.data(), -COIN_DBL_MAX, limit);
}

bool Packing::solve() {
  lp_->dual();
  return lp_->status() == 0;
}

std::span<const double> Packing::x() const {
  return {lp_->primalColumnSolution(), static_cast<std::size_t>(lp_->numberColumns())};
}

std::vector<double> Packing::prices() const {
  const double* duals = lp_->dualRowSolution();
  std::vector<double> prices(static_cast<std::size_t>(lp_->numberRows()));
  for (std::size_t i = 0; i < prices.size(); ++i) prices[i] = std::max(0.0, -duals[i]);
  return prices;
}

}  // namespace tidegate::bounds
