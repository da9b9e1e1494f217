// What is known about GPUs and models: facts with their sources, and step-time laws fitted to
// published measurements (catalogue/README.md). Compiled into the binary. Immutable after
// construction, safe to share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/engine_spec.h"
#include "units/quantity.h"
#include "units/result.h"

namespace tidegate::catalogue {

struct Gpu {
  std::string name;
  double memory_gb = 0;
  double bandwidth_gbps = 0;  // GB/s of memory
  double bf16_tflops = 0;     // dense
  std::optional<double> fp8_tflops;
};

struct ModelFacts {
  std::string name;
  bool mixture_of_experts = false;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  units::Tokens max_context{0};
  double parameters_b = 0;         // 10^9
  double active_parameters_b = 0;  // read or computed for one token
  units::Bytes kv_per_token{0};    // bf16, all layers, not divided by tensor parallelism
  double weights_gb = 0;           // bf16
};

enum class Dtype : std::uint8_t { kBfloat16, kFp8 };

// One engine: a model on `tensor_parallel` GPUs of one type.
struct Placement {
  const Gpu* gpu = nullptr;
  const ModelFacts* model = nullptr;
  Dtype dtype = Dtype::kBfloat16;
  std::int64_t tensor_parallel = 1;
};

struct Law {
  domain::StepCoefficients coefficients;
  bool measured = false;  // false: a roofline stands in
};

class Catalogue {
 public:
  // The one in the binary. Its files are tested; a bad row in them stops the process.
  static const Catalogue& bundled();
  // From the text of the three CSV files. Fails with file:line on a bad row.
  static units::Result<Catalogue> parse(std::string_view gpus, std::string_view models,
                                        std::string_view laws);

  // nullptr when the name is unknown.
  const Gpu* gpu(std::string_view name) const;
  const ModelFacts* model(std::string_view name) const;
  std::vector<std::string> gpu_names() const;
  std::vector<std::string> model_names() const;

  // The fitted law of the placement, or its roofline where nothing was measured.
  // REQUIRES: gpu and model are set.
  Law law(const Placement& placement) const;

 private:
  struct Fitted {
    std::string gpu;
    std::string model;
    Dtype dtype = Dtype::kBfloat16;
    std::int64_t tensor_parallel = 1;
    domain::StepCoefficients law;
  };
  std::vector<Gpu> gpus_;
  std::vector<ModelFacts> models_;
  std::vector<Fitted> laws_;
};

}  // namespace tidegate::catalogue
