// Reads measured step times ("iteration time" profiles) and groups them by what was measured.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fitting/step_law_fit.h"
#include "units/result.h"

namespace tidegate::fit {

// What one law is fitted for. Ordered, so that output is in a stable order.
struct Subject {
  std::string gpu;
  std::string model;
  std::string dtype;
  std::int64_t tensor_parallel = 1;

  friend auto operator<=>(const Subject&, const Subject&) = default;
};

struct Profile {
  std::vector<fitting::Sample> samples;
  bool mixture_of_experts = false;  // some time was spent in expert layers
};

using Profiles = std::map<Subject, Profile>;

// Reads a CSV (plain, .gz or .zst) with the columns gpu, model, dtype, tp, prefill_tokens,
// prefill_prior_context, decode_seqs, decode_context, time_ms and optionally moe_ms: one prefill
// chunk of one sequence together with decode_seqs decodes of decode_context tokens each.
// Fails with file:line on a bad row.
units::Result<Profiles> read_profiles(const std::string& path);

}  // namespace tidegate::fit
