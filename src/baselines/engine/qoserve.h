// QoServe (Goel et al., ASPLOS 2026; before that Niyama, arXiv 2503.22562), as published; there is
// no public code to follow in detail.
//
// Due times: a token of an interactive request is due at arrival + TTFT + j x TPOT, a batch request
// as a whole at its deadline. Three decisions follow from them:
//
//   hybrid order   Prompts are served by due time + alpha x (prompt tokens to compute, and for a
//                  batch request output tokens to come, too): between earliest deadline first
//                  (alpha = 0) and shortest job first. Output lengths are guessed as the mean plus
//                  two standard deviations of the forecast, as there.
//   dynamic chunk  The step takes every stream and as much of the prompts as the tightest slack of
//                  a stream has time for, at most 2,500 tokens, where an A100 gains no more. The
//                  slack of a batch stream is its share of the time that is left for each token.
//   relegation     A prompt that would miss even if it ran at once goes behind all others, and is
//                  served when nobody else wants to be. It is looked at when its turn comes,
//                  alone: which other requests its service makes late is not asked.
//
// A stream that is late already would give no time to anybody: it asks for its pace, and leaves
// prompts the 256 tokens that Sarathi would. Left out: hints which tenants are relegated first.
#pragma once

#include <vector>

#include "baselines/engine/queue_policy.h"

namespace tidegate::baselines {

class QoServe final : public QueuePolicy {
 public:
  static constexpr units::Tokens kLargestChunk{2'500};
  static constexpr units::Tokens kLateChunk{256};
  static constexpr units::Nanos kAlpha = units::milliseconds(1);

  explicit QoServe(batch::Core& core, units::Nanos alpha = kAlpha)
      : QueuePolicy(core), alpha_(alpha) {}

  batch::StartKey start_key(const domain::Assign& assign) override;
  void compose(units::Instant now) override;

 private:
  void limit_step(units::Instant now);
  units::Nanos slack(Index index, units::Instant now, units::Nanos decode_time) const;
  units::Tokens chunk(units::Tokens context) const;
  void plan_prompts(units::Instant now);
  // The prompts that have begun, by key; relegates those that cannot make it.
  std::vector<Index> begun(units::Instant now);
  bool hopeless(const batch::Sequence& sequence, units::Instant now) const;
  batch::StartKey key_now(const batch::Sequence& sequence) const;
  bool give(Index index);

  units::Nanos alpha_;
  units::Nanos step_time_{0};  // of the step being composed: what streams can bear
  units::Nanos decode_time_{0};
  bool late_ = false;  // a stream that is late is in it
};

}  // namespace tidegate::baselines
