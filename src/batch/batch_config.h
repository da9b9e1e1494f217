// What one engine's batch tier is told at start: the engine's facts and the policy numbers. Plain
// values; every number has a default that suits an in-process engine.
#pragma once

#include <cstdint>

#include "domain/engine_spec.h"
#include "units/quantity.h"

namespace tidegate::batch {

struct BatchConfig {
  domain::EngineSpec spec;

  // --- bounds ---
  // Finished sequences whose prompt blocks stay cached. The engine needs
  // spec.limits.max_sequences + retained_slots sequence numbers.
  std::int64_t retained_slots = 16;
  // And at most this many blocks in all of them, one that two of them hold counted twice: an engine
  // may keep them beside the memory that sequences run in, each with a copy of its own.
  units::Blocks max_retained = units::Blocks::max();
  // Waiting tries beyond this are refused (Failed{kQueueFull}).
  std::int64_t max_waiting = 4'096;

  // --- memory (scheduling, 6) ---
  units::Ppm kv_watermark{30'000};       // part of the blocks kept free of promises
  std::int64_t z_thousandths = 1'650;    // safety margin on the predicted peak, in deviations
  std::int64_t forecast_refresh = 50;    // tokens between two looks at the survival function
  std::int64_t max_bypasses = 16;        // how often a head that does not fit may be passed
  std::int64_t max_admissions = 8;       // new sequences in one step
  std::int64_t max_sharing_wait = 64;    // steps to wait for a prefix that is being computed
  units::Ppm believed_shrink{20'000};    // capacity given up when the engine could not run a plan
  std::int64_t believed_recovery = 256;  // good steps until as much is believed in again

  // --- the step (scheduling, 7) ---
  // Rows of one prompt that the engine's kernels take at once: chunks are multiples of it, except a
  // prompt's last and where the engine's own limit is less.
  units::Tokens chunk_tile{16};
  units::Tokens min_chunk{16};  // the oldest unfinished prompt gets up to this much in every step
  // A chunk leaves no less than this of a prompt, unless it is a single tile beside streams: where
  // a shorter last chunk takes the engine disproportionately long. At most a tile.
  units::Tokens least_rest{1};
  // Prompts computed side by side, beyond those that are due before one of them.
  std::int64_t max_partial_prefills = 4;
  // Of a step's prefill time, for one prompt when others wait: without a promise, and with one.
  units::Ppm long_prompt_share{700'000};
  units::Ppm promised_prompt_share{1'000'000};
  // The part of what a promised stream is ahead by that is spent evenly over its forecast rest.
  units::Ppm slack_spent{500'000};
  // The part of its pace in which a stream that is less than a pace ahead wants its tokens.
  units::Ppm recovery_pace{900'000};
  // Without a promise a stream's next token comes after at most pace_factor pure decode steps,
  // held between these two; the upper one also bounds the stutter of a promised stream that has
  // built up slack and whose own pace is tighter.
  std::int64_t pace_factor = 3;
  units::Nanos pace_min = units::milliseconds(50);
  units::Nanos pace_max = units::milliseconds(150);
  // A stream without a promise sits out no step for prompts of tenants with a guarantee after which
  // a step of pace_max would bring its next token later than this after the last.
  units::Nanos best_effort_pause = units::milliseconds(500);
  // Step time when nothing decodes: bounds the wait of a prompt that arrives meanwhile.
  units::Nanos default_step_budget = units::milliseconds(100);
  // A prompt without a promise is ordered as if its first token were due after
  // grace + stretch x its own prefill time: short ones first, and no one waits for ever.
  units::Nanos best_effort_grace = units::milliseconds(200);
  std::int64_t best_effort_stretch = 8;
  // Every so many steps the oldest waiting try goes first, whatever its tier.
  std::int64_t drip_interval = 32;

  // --- preemption (scheduling, 8) ---
  std::int64_t max_preemptions = 3;       // of one try; then it is left alone
  std::int64_t preemption_cooldown = 32;  // steps between two preemptions of one try
};

}  // namespace tidegate::batch
