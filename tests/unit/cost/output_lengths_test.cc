#include "cost/output_lengths.h"

#include <gtest/gtest.h>

namespace tidegate::cost {
namespace {

using units::ClassId;
using units::ModelId;
using units::Tokens;

constexpr Tokens kMost{1'000};

domain::LengthForecast forecast(const OutputLengths& lengths, std::uint64_t service_class,
                                std::uint64_t model) {
  domain::Request request;
  request.service_class = ClassId(service_class);
  request.model = ModelId(model);
  request.footprint.max_output = kMost;
  lengths.fill(request);
  return request.footprint.output;
}

// A hundred answers of a class of model 0 or 1.
void answer(OutputLengths& lengths, std::uint64_t service_class, std::uint64_t model,
            Tokens output) {
  for (int i = 0; i < 100; ++i) {
    lengths.observe(ClassId(service_class), ModelId(model), output, kMost);
  }
}

// Law: a class of which nothing was seen yet is expected to be like the model's other classes, and
// nothing is learned for another model.
TEST(OutputLengths, AnUnseenClassIsForecastFromItsModel) {
  OutputLengths lengths(2, 2);
  const auto unknown = forecast(lengths, 0, 0);
  answer(lengths, 0, 0, Tokens(10));
  EXPECT_EQ(forecast(lengths, 1, 0).lengths.back(), Tokens(10));
  EXPECT_EQ(forecast(lengths, 1, 1), unknown);
}

// Law: a class that was seen often enough is forecast by what it did, whatever others do.
TEST(OutputLengths, AKnownClassIsForecastFromItself) {
  OutputLengths lengths(2, 1);
  answer(lengths, 0, 0, Tokens(12));
  for (int i = 0; i < 4; ++i) answer(lengths, 1, 0, Tokens(900));
  EXPECT_EQ(forecast(lengths, 0, 0).lengths.front(), Tokens(12));
  EXPECT_EQ(forecast(lengths, 0, 0).lengths.back(), Tokens(12));
  EXPECT_GT(forecast(lengths, 1, 0).lengths.front(), Tokens(800));
}

// Law: classes added later begin like any other, and the known ones keep what was learned.
TEST(OutputLengths, GrowsByClassesWithoutForgetting) {
  OutputLengths lengths(1, 2);
  answer(lengths, 0, 1, Tokens(10));
  const auto known = forecast(lengths, 0, 1);
  lengths.grow(3);
  EXPECT_EQ(forecast(lengths, 0, 1), known);
  EXPECT_EQ(forecast(lengths, 2, 1).lengths.back(), Tokens(10));
}

}  // namespace
}  // namespace tidegate::cost
