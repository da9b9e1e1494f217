// What travels through the mailbox. Values, moved from writer to reader.
#pragma once

#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "domain/event.h"
#include "engines/engine.h"
#include "gateway/terms.h"

namespace tidegate::gateway {

class Call;
class DecisionLoop;

// One choice of a call: one request of the core and the work behind it. The decision thread fills
// in the forecast and the promise when it stamps the arrival.
struct Lane {
  domain::Request request;
  std::shared_ptr<const engines::Generation> generation;
};

// A call that passed the edge; its lanes share prompt, tenant, class and model.
struct Submission {
  std::shared_ptr<Call> call;
  Terms terms;
  std::vector<Lane> lanes;
};

// Something to look at or do on the decision thread, where its state may be read.
using Visit = std::function<void(DecisionLoop&)>;

using Message = std::variant<Submission, domain::Event, Visit>;

}  // namespace tidegate::gateway
