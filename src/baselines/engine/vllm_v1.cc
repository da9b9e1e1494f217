#include "baselines/engine/vllm_v1.h"

namespace tidegate::baselines {

using units::Tokens;

VllmV1::VllmV1(batch::Core& core, units::Ppm watermark)
    : QueuePolicy(core), kept_free_(units::scaled(core.kv.total(), watermark)) {}

void VllmV1::compose(units::Instant now) {
  draft_.begin(core_.config.spec.limits.max_step_tokens, now);
  plan_running();
  if (!draft_.preempted()) plan_waiting();
  draft_.commit();
}

bool VllmV1::add(Index index) {
  if (core_.sequences[index].decoding()) return draft_.add_decode(index);
  return draft_.add_chunk(index, Tokens::max());
}

void VllmV1::plan_running() {
  const auto& running = core_.sequences.running();
  for (std::size_t i = 0; i < running.size() && draft_.tokens_left() > Tokens(0); ++i) {
    const Index index = running[i];
    while (!add(index)) {
      const Index last = running.back();
      draft_.preempt(last);
      if (last == index) return;
    }
  }
}

void VllmV1::plan_waiting() {
  const auto& waiting = core_.sequences.waiting();
  while (!waiting.empty() && draft_.tokens_left() > Tokens(0)) {
    const auto started = draft_.start(waiting.front(), start_rule());
    if (started != StepDraft::Start::kStarted) return;
  }
}

}  // namespace tidegate::baselines
