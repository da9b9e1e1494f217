#include "cost/output_lengths.h"

#include "cost/length_forecast.h"

namespace tidegate::cost {

namespace {

// Longest answer that is thought of before any was seen.
constexpr units::Tokens kUninformedCap{512};

}  // namespace

OutputLengths::OutputLengths(std::size_t classes, std::size_t models)
    : by_model_(models), by_class_(classes * models) {}

void OutputLengths::grow(std::size_t classes) {
  by_class_.resize(classes * by_model_.size());
}

std::size_t OutputLengths::index(units::ClassId service_class, units::ModelId model) const {
  return service_class.value() * by_model_.size() + model.value();
}

void OutputLengths::fill(domain::Request& request) const {
  const units::Tokens most = request.footprint.max_output;
  const domain::LengthForecast of_model =
      by_model_[request.model.value()].forecast(most, uninformed(most, kUninformedCap));
  request.footprint.output =
      by_class_[index(request.service_class, request.model)].forecast(most, of_model);
}

void OutputLengths::observe(units::ClassId service_class, units::ModelId model,
                            units::Tokens output, units::Tokens max_output) {
  by_model_[model.value()].observe(output, max_output);
  by_class_[index(service_class, model)].observe(output, max_output);
}

}  // namespace tidegate::cost
