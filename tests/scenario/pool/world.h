// The world of a pool scenario: the pool as it is, and tiny scripted engines. An engine computes
// one prompt after the other by tier and due time at `token` each, then each of its sequences
// produces a token every `step`; nothing slows down anything else. It confirms aborts after one
// step.
//
// Settings: tenant N [on_overload= weight= in_flight= queued= requests_per_min= tokens_per_min=],
// engine N [sequences= blocks= step= token= law=PERCENT uncalibrated hung], policy [queued=
// slack=], show decisions|summary. Happenings: arrive N [tenant= prompt= output= ttft= pace=
// deadline= retries=], leave N, lose engine=N, join engine=N, drain engine=N, duplicate N (the last
// event of request N again).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pool/pool_scheduler.h"
#include "script.h"

namespace tidegate::pool::scenario {

// What the course of a script looks like, in text.
std::string play(const Script& script);

}  // namespace tidegate::pool::scenario
