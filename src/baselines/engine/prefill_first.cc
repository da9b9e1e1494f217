#include "baselines/engine/prefill_first.h"

namespace tidegate::baselines {

using units::Tokens;

namespace {

constexpr units::Ppm kWatermark{10'000};

}  // namespace

PrefillFirst::PrefillFirst(batch::Core& core)
    : QueuePolicy(core), kept_free_(units::scaled(core.kv.total(), kWatermark)) {}

void PrefillFirst::compose(units::Instant now) {
  draft_.begin(core_.config.spec.limits.max_step_tokens, now);
  plan_begun();
  if (!draft_.preempted()) plan_waiting();
  if (draft_.shape().empty()) plan_decodes();
  draft_.commit();
}

// Prompts that one step could not hold.
void PrefillFirst::plan_begun() {
  const auto& running = core_.sequences.running();
  for (std::size_t i = 0; i < running.size() && draft_.tokens_left() > Tokens(0); ++i) {
    const Index index = running[i];
    if (core_.sequences[index].decoding()) continue;
    while (!draft_.add_chunk(index, Tokens::max())) {
      const Index last = running.back();
      draft_.preempt(last);
      if (last == index) return;
    }
  }
}

void PrefillFirst::plan_waiting() {
  const auto& waiting = core_.sequences.waiting();
  while (!waiting.empty() && draft_.tokens_left() > Tokens(0)) {
    // Only the first prompt of a step may be one that no step can hold.
    const StepDraft::StartRule rule{
        .whole_prompt = true, .unchunked = !draft_.shape().empty(), .kept_free = kept_free_};
    if (draft_.start(waiting.front(), rule) != StepDraft::Start::kStarted) return;
  }
}

}  // namespace tidegate::baselines
