#include "journal/replay.h"

namespace tidegate::journal {

std::optional<Divergence> Replay::feed(const Step& step) {
  const std::int64_t number = steps_++;
  if (step.now < pool_.now()) return Divergence{number, step, {}};
  const auto decided = pool_.step(step.event, step.now);
  const std::vector<domain::Decision> decisions(decided.begin(), decided.end());
  decisions_ += static_cast<std::int64_t>(decisions.size());
  digest_.add(decisions);
  recorded_.clear();
  decided_.clear();
  encode(step.decisions, recorded_);
  encode(decisions, decided_);
  if (recorded_ == decided_) return std::nullopt;
  return Divergence{number, step, decisions};
}

}  // namespace tidegate::journal
