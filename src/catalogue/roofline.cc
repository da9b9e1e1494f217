#include "catalogue/roofline.h"

#include <cmath>

#include "catalogue/memory.h"

namespace tidegate::catalogue {
namespace {

constexpr double kFemtosPerSecond = 1e15;
// Usual shares of the peaks, as the measured engines of the catalogue reach them.
constexpr double kMemoryEfficiency = 0.75;
constexpr double kComputeEfficiency = 0.6;
// Launches and small operations of each layer.
constexpr double kSecondsPerLayer = 20e-6;

std::int64_t femtos(double seconds) {
  return static_cast<std::int64_t>(std::llround(seconds * kFemtosPerSecond));
}

}  // namespace

domain::StepCoefficients roofline(const Placement& p) {
  const bool fp8 = p.dtype == Dtype::kFp8;
  const auto tp = static_cast<double>(p.tensor_parallel);
  const double bytes_per_s = p.gpu->bandwidth_gbps * 1e9 * kMemoryEfficiency;
  const double tflops = fp8 ? p.gpu->fp8_tflops.value_or(p.gpu->bf16_tflops) : p.gpu->bf16_tflops;
  const double flops = tflops * 1e12 * kComputeEfficiency;
  const double bytes_per_parameter = fp8 ? 1 : 2;
  const double weights_s = p.model->parameters_b * 1e9 * bytes_per_parameter / tp / bytes_per_s;
  const double token_s = 2 * p.model->active_parameters_b * 1e9 / tp / flops;
  const double pair_flops = 4.0 * static_cast<double>(p.model->layers * p.model->heads) *
                            static_cast<double>(p.model->head_dim) / tp;
  domain::StepCoefficients law;
  law.base_fs = femtos(weights_s + kSecondsPerLayer * static_cast<double>(p.model->layers));
  const units::Tokens knee(static_cast<std::int64_t>(weights_s / token_s));
  law.knees = {knee, knee};
  law.per_token_fs = {0, femtos(token_s), femtos(token_s)};
  law.per_kv_token_fs = femtos(static_cast<double>(kv_bytes_per_token(p).value()) / bytes_per_s);
  law.per_attention_fs = femtos(pair_flops / flops);
  return law;
}

}  // namespace tidegate::catalogue
