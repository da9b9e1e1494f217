#include "baselines/engine/sarathi.h"

#include <algorithm>
#include <vector>

namespace tidegate::baselines {

using units::Tokens;

void Sarathi::compose(units::Instant now) {
  draft_.begin(kChunk, now);
  plan_decodes();
  if (!draft_.preempted()) plan_prompts();
  // Prompts that have begun hold each other's blocks: the last one makes way.
  const auto& running = core_.sequences.running();
  while (draft_.shape().empty() && running.size() > 1) {
    draft_.preempt(running.back());
    plan_prompts();
  }
  draft_.commit();
}

// False when the step is full or this one has to wait for memory or a sequence.
bool Sarathi::give(Index index) {
  if (core_.sequences[index].running()) return draft_.add_chunk(index, Tokens::max());
  const auto started = draft_.start(index, {.whole_prompt = true});
  return started == StepDraft::Start::kStarted;
}

// Where the next one in line cannot start yet, those that have begun still go on: they hold what it
// waits for. Sarathi-Serve and vLLM schedule their running list before they look at the queue.
void Sarathi::plan_prompts() {
  std::vector<Index> begun;
  for (const Index index : core_.sequences.running()) {
    if (!core_.sequences[index].decoding()) begun.push_back(index);
  }
  const auto earlier = [&](Index a, Index b) {
    return core_.sequences[a].key < core_.sequences[b].key;
  };
  std::sort(begun.begin(), begun.end(), earlier);
  const auto& waiting = core_.sequences.waiting();
  std::size_t next = 0;
  bool room = !waiting.empty();
  while (draft_.tokens_left() > Tokens(0) && (next < begun.size() || room)) {
    const bool go_on = next < begun.size() && (!room || earlier(begun[next], waiting.front()));
    const bool given = give(go_on ? begun[next++] : waiting.front());
    if (go_on && !given) return;
    room = room && given && !waiting.empty();
  }
}

batch::StartKey SarathiEdf::start_key(const domain::Assign& assign) {
  return keyed(assign, assign.request.promise.token_due(0));
}

}  // namespace tidegate::baselines
