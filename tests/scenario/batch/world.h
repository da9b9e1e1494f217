// The world of a batch scenario: the batch tier of one engine as it is, an engine that performs its
// plans literally (tests/unit/batch/fake_engine.h), and a clock that the step law moves. What
// happens during a step is told during it. The oracle of src/invariants hears every call.
//
// Settings: engine [sequences= blocks= block= step_tokens= context= step= token= retained=] (a step
// takes `step` and `token` for each token it computes), show events|summary, seed N. Happenings:
// arrive N [prompt= output= forecast= max= tier= ttft= pace= family= shared= as=] (`prompt` and
// `output` may be drawn from A..B; `forecast` and `max` are `output` unless given; `shared` first
// tokens are those of the `family`; `as` names its group), abort N, look N.
#pragma once

#include "course.h"
#include "script.h"

namespace tidegate::batch::scenario {

// Measures of a request: ttft, gap (longest between tokens), late (tokens after their due time),
// preempted (times), start (wait for its first sequence), took, output (tokens), freed (steps that
// ended after its abort until it was free, the running one included), and 1 for its outcome or the
// reason of its failure by their names. Of a look, by its number: running, waiting, blocks
// (referenced), prefilled (tokens so far). Of the whole: preemptions, recomputed, shared, prefill
// (tokens), steps, longest_step. The text names what the oracle finds broken, and what is held at
// the end.
script::Course play(const script::Script& script);

}  // namespace tidegate::batch::scenario
