#include "gateway/forecasts.h"

namespace tidegate::gateway {

std::size_t Forecasts::index(units::ClassId service_class, units::ModelId model) const {
  return service_class.value() * models_count_ + model.value();
}

void Forecasts::fill(domain::Request& request) const {
  const cost::LengthModel& learned = models_[index(request.service_class, request.model)];
  request.footprint.output = learned.forecast(request.footprint.max_output);
}

void Forecasts::observe(units::ClassId service_class, units::ModelId model, units::Tokens output) {
  models_[index(service_class, model)].observe(output);
}

}  // namespace tidegate::gateway
