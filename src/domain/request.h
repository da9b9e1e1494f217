// A request as the core sees it: sizes, promises and ids, never text. Parsed and validated once at
// the edge, immutable from then on. A plain value; the prefix chain is shared and immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "domain/footprint.h"
#include "domain/promise.h"
#include "units/ids.h"
#include "units/quantity.h"

namespace tidegate::domain {

// One hash per full KV block of the prompt; entry i covers the first i + 1 blocks, so that equal
// entries mean equal content and an equal prefix before it. Salted per tenant unless sharing was
// opted into (invariant S18). Null when the prompt is shorter than a block or sharing is off.
using PrefixChain = std::shared_ptr<const std::vector<std::uint64_t>>;

struct Request {
  units::RequestId id;
  units::TenantId tenant;
  units::ClassId service_class;
  units::ModelId model;
  units::Instant arrival;
  Promise promise;
  Footprint footprint;
  PrefixChain prefix;
  // How often the caller says it has tried this before (x-stainless-retry-count), capped at 255.
  std::uint8_t caller_retries = 0;
};

}  // namespace tidegate::domain
