// The one place where output lengths are forecast: a learned model for each class of each model,
// and one for all classes of a model, on which a class falls back that was seen too little.
// One owner; integers only. The gateway's decision thread forecasts when it stamps an arrival, so
// that the journal holds what was believed then; the simulator does the same.
#pragma once

#include <cstddef>
#include <vector>

#include "cost/length_model.h"
#include "domain/request.h"
#include "units/ids.h"

namespace tidegate::cost {

class OutputLengths {
 public:
  OutputLengths(std::size_t classes, std::size_t models);

  // More classes from now on. REQUIRES: not fewer than before.
  void grow(std::size_t classes);

  // Fills in footprint.output from its max_output. REQUIRES: max_output >= 1.
  void fill(domain::Request& request) const;
  // A request of this class and model was answered with `output` of at most `max_output` tokens.
  void observe(units::ClassId service_class, units::ModelId model, units::Tokens output,
               units::Tokens max_output);

 private:
  std::size_t index(units::ClassId service_class, units::ModelId model) const;

  std::vector<LengthModel> by_model_;
  std::vector<LengthModel> by_class_;  // of each model
};

}  // namespace tidegate::cost
