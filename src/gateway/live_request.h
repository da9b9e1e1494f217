// What the decision thread remembers of a request while it is alive: whom to tell, and the times
// from which its figures are made. A plain record with one owner.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "domain/promise.h"
#include "domain/seam.h"
#include "engines/engine.h"
#include "gateway/call.h"

namespace tidegate::gateway {

struct LiveRequest {
  std::shared_ptr<Call> call;
  std::size_t lane = 0;
  std::shared_ptr<const engines::Generation> generation;
  units::TenantId tenant;
  units::ClassId service_class;
  units::ModelId model;
  units::Instant arrival;
  domain::Promise promise;
  units::Tokens max_output{0};
  std::optional<domain::AttemptRef> ref;  // the live try; none while no engine has it
  std::optional<units::Instant> first_token;
  units::Instant last_token;
  bool in_time = true;  // no token was later than promised
  domain::Usage usage;  // what was produced; complete once the engine has finished
};

}  // namespace tidegate::gateway
