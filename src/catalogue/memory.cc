#include "catalogue/memory.h"

#include <algorithm>
#include <cmath>

#include "units/check.h"

namespace tidegate::catalogue {
namespace {

constexpr double kGiga = 1e9;

double weight_bytes(const Placement& placement) {
  const double halves = placement.dtype == Dtype::kFp8 ? 0.5 : 1.0;
  return placement.model->weights_gb * kGiga * halves;
}

}  // namespace

units::Bytes kv_bytes_per_token(const Placement& placement) {
  const std::int64_t shares = std::clamp<std::int64_t>(
      placement.tensor_parallel, 1, std::max<std::int64_t>(1, placement.model->kv_heads));
  return placement.model->kv_per_token / shares;
}

units::Blocks kv_blocks(const Placement& placement, units::Tokens block_tokens, units::Ppm use) {
  TIDEGATE_CHECK(block_tokens.value() > 0);
  const double share = static_cast<double>(use.value()) / static_cast<double>(units::kMillion);
  const double free = placement.gpu->memory_gb * kGiga * share -
                      weight_bytes(placement) / static_cast<double>(placement.tensor_parallel);
  const auto block =
      static_cast<double>(kv_bytes_per_token(placement).value() * block_tokens.value());
  if (free <= 0 || block <= 0) return units::Blocks(0);
  return units::Blocks(static_cast<std::int64_t>(std::floor(free / block)));
}

}  // namespace tidegate::catalogue
