// The admin API's JSON, made on the decision thread from what it owns. Sizes and ids only.
#pragma once

#include <string>

#include "gateway/decision_loop.h"

namespace tidegate::gateway {

// Counts of requests, the queue, the engines and the tenants in one object.
std::string state_json(DecisionLoop& loop);
std::string engines_json(DecisionLoop& loop);
std::string tenants_json(DecisionLoop& loop);
// Everything that was decided about one request, with times since its arrival.
std::string decisions_json(DecisionLoop& loop, const DecisionHistory& history);

}  // namespace tidegate::gateway
