// Records in words: one line per event or decision, exact and stable, for golden tests, `why` and
// the first divergence of a replay. Pure functions; thread-safe.
//
// Ids carry a letter (r7 = request 7, t tenant, c class, m model, e engine), a try reads
// r7.1@e2.4 (request 7, attempt 1, engine 2, epoch 4), spans and instants are exact in the largest
// unit that divides them.
#pragma once

#include <string>

#include "batch/step_plan.h"
#include "journal/record.h"

namespace tidegate::journal {

std::string to_text(const domain::Event& event);
std::string to_text(const domain::Decision& decision);
std::string to_text(const Refused& refused);
std::string to_text(const batch::StepPlan& plan);
std::string to_text(units::Instant at);
std::string to_text(units::Nanos span);

// The instant and the event on the first line, then one indented line for each decision.
std::string to_text(const Step& step);

}  // namespace tidegate::journal
