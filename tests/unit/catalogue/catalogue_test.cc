#include "catalogue/catalogue.h"

#include <gtest/gtest.h>

#include "catalogue/memory.h"
#include "catalogue/roofline.h"
#include "cost/step_law.h"

namespace tidegate::catalogue {
namespace {

using units::Blocks;
using units::Bytes;
using units::Ppm;
using units::Tokens;

Placement place(const char* gpu, const char* model, std::int64_t tp) {
  const Catalogue& catalogue = Catalogue::bundled();
  return {catalogue.gpu(gpu), catalogue.model(model), Dtype::kBfloat16, tp};
}

// The bundled files parse, and known facts are in them: an H100 has 80 GB at 3350 GB/s.
TEST(Catalogue, CarriesItsFacts) {
  const Gpu* h100 = Catalogue::bundled().gpu("H100-SXM-80GB");
  ASSERT_NE(h100, nullptr);
  EXPECT_DOUBLE_EQ(h100->memory_gb, 80);
  EXPECT_NEAR(h100->bandwidth_gbps, 3350, 10);
  EXPECT_EQ(Catalogue::bundled().gpu("no such GPU"), nullptr);
  ASSERT_NE(Catalogue::bundled().model("Llama-3.1-8B"), nullptr);
}

// KV bytes are 2 x layers x KV heads x head size x 2 bytes: 128 KiB a token for Llama-3.1-8B;
// tensor parallelism divides them, but never below one head a GPU.
TEST(Catalogue, CountsKvMemory) {
  EXPECT_EQ(kv_bytes_per_token(place("H100-SXM-80GB", "Llama-3.1-8B", 1)), Bytes(131'072));
  EXPECT_EQ(kv_bytes_per_token(place("H100-SXM-80GB", "Llama-3.1-8B", 2)), Bytes(65'536));
  EXPECT_EQ(kv_bytes_per_token(place("H100-SXM-80GB", "Llama-3.1-8B", 64)), Bytes(16'384));
  // (0.9 x 80 GB - 16.06 GB) / (16 x 128 KiB) is about 26,670 blocks.
  const auto blocks =
      kv_blocks(place("H100-SXM-80GB", "Llama-3.1-8B", 1), Tokens(16), Ppm(900'000));
  EXPECT_NEAR(static_cast<double>(blocks.value()), 26'670, 60);
  EXPECT_EQ(kv_blocks(place("H100-SXM-80GB", "Llama-2-70B", 1), Tokens(16), Ppm(900'000)),
            Blocks(0));
}

// A pure decode step of an 8B model on an H100 reads 16 GB of weights: between 4.8 ms (the peak of
// the memory) and twice that, whether measured or from the roofline.
TEST(Catalogue, LawsAreWithinPhysics) {
  const Placement placement = place("H100-SXM-80GB", "Llama-3.1-8B", 1);
  cost::StepShape one;
  one.add_decode(Tokens(100));
  const Law measured = Catalogue::bundled().law(placement);
  EXPECT_TRUE(measured.measured);
  for (const auto& law : {measured.coefficients, roofline(placement)}) {
    const auto ns = static_cast<double>(cost::predict(law, one).value());
    EXPECT_GT(ns, 4.8e6);
    EXPECT_LT(ns, 9.6e6);
  }
}

// Where the roofline stands in, it is within a factor of two of the measured laws for a mixed step,
// on every measured dense placement without tensor parallelism.
TEST(Catalogue, RooflineIsNearTheMeasuredLaws) {
  cost::StepShape mixed;
  for (int i = 0; i < 32; ++i) mixed.add_decode(Tokens(1'000));
  mixed.add_chunk(Tokens(0), Tokens(512));
  for (const char* gpu : {"A100-SXM-80GB", "H100-SXM-80GB", "L40S"}) {
    const Placement placement = place(gpu, "Llama-3.1-8B", 1);
    if (placement.gpu == nullptr) continue;
    const Law law = Catalogue::bundled().law(placement);
    if (!law.measured) continue;
    const double ratio = static_cast<double>(cost::predict(roofline(placement), mixed).value()) /
                         static_cast<double>(cost::predict(law.coefficients, mixed).value());
    EXPECT_GT(ratio, 0.5) << gpu;
    EXPECT_LT(ratio, 2.0) << gpu;
  }
}

// A bad row is refused with its file and line.
TEST(Catalogue, RefusesABadRow) {
  const auto bad = Catalogue::parse(
      "gpu,mem_gb,mem_bw_gbps,peak_bf16_tflops_dense,peak_fp8_tflops_dense\nX,80,fast,1,1\n",
      "model\n", "gpu\n");
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().where, "gpus.csv:2");
}

}  // namespace
}  // namespace tidegate::catalogue
