// The one place where output lengths are forecast: a learned model for each class of each model.
// Owned by the decision thread: forecasts are made when an arrival is stamped, so that the journal
// holds what was believed then.
#pragma once

#include <cstddef>
#include <vector>

#include "cost/length_model.h"
#include "domain/request.h"
#include "units/ids.h"

namespace tidegate::gateway {

class Forecasts {
 public:
  Forecasts(std::size_t classes, std::size_t models)
      : models_count_(models), models_(classes * models) {}

  // More classes from now on. REQUIRES: not fewer than before.
  void grow(std::size_t classes) { models_.resize(classes * models_count_); }

  // Fills in footprint.output from its max_output. REQUIRES: max_output >= 1.
  void fill(domain::Request& request) const;
  // A request of this class and model ended by itself after so many tokens.
  void observe(units::ClassId service_class, units::ModelId model, units::Tokens output);

 private:
  std::size_t index(units::ClassId service_class, units::ModelId model) const;

  std::size_t models_count_;
  std::vector<cost::LengthModel> models_;
};

}  // namespace tidegate::gateway
