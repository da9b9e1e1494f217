// The admin API's JSON, made on the decision thread from what it owns. Sizes and ids only.
#pragma once

#include <string>

#include "gateway/decision_loop.h"
#include "gateway/reload.h"

namespace tidegate::gateway {

// Counts of requests, the queue, the engines and the tenants in one object.
std::string state_json(DecisionLoop& loop);
std::string engines_json(DecisionLoop& loop);
std::string tenants_json(DecisionLoop& loop);
// The version in force and, when it was not taken over, what is wrong with the new one. Pure.
std::string reload_json(const ReloadResult& result);
// Everything that was decided about one request, with times since its arrival.
std::string decisions_json(DecisionLoop& loop, const DecisionHistory& history);
// The same in words, a line for each decision.
std::string decisions_text(DecisionLoop& loop, const DecisionHistory& history);

}  // namespace tidegate::gateway
