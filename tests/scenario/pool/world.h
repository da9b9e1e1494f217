// The world of a pool scenario: the pool as it is, and tiny scripted engines. An engine computes
// one prompt after the other by tier and due time at `token` each, then each of its sequences
// produces a token every `step`; nothing slows down anything else. It confirms aborts after one
// step.
//
// Settings: tenant N [on_overload= weight= in_flight= queued= requests_per_min= tokens_per_min=],
// engine N [sequences= blocks= step= token= law=PERCENT uncalibrated hung], policy [queued=
// slack=], callers tenant=N retries=N [after=hint|DURATION] (who ask again when refused for want of
// capacity; without a deadline of their total), show decisions|summary. Happenings: arrive N
// [tenant= prompt= output= ttft= pace= deadline= retries=], leave N, lose engine=N, join engine=N,
// drain engine=N, duplicate N (the last event of request N again).
#pragma once

#include "course.h"
#include "script.h"

namespace tidegate::pool::scenario {

// Measures of a request, in the group tenantN or, of those who ask again, tenantN.again: arrived
// (1), wait (to an engine), try, ttft, took (to its end), on_time (first token, and completed),
// tokens (when completed), refused_after (for want of capacity), hint, held, and 1 for its outcome
// and its reason by their names. Of a look, by its number: kept (on time so far). Of the whole:
// waiting (whenever somebody is held), dropped, shadow. The
// text names what the oracle of src/invariants finds broken after any step, and what is held by
// anybody at the end.
script::Course play(const script::Script& script);

}  // namespace tidegate::pool::scenario
