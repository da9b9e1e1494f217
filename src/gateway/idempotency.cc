#include "gateway/idempotency.h"

#include <xxhash.h>

namespace tidegate::gateway {

Idempotency::Fingerprint Idempotency::fingerprint(const std::string& path,
                                                  const std::string& body) {
  const XXH128_hash_t hash =
      XXH3_128bits_withSeed(body.data(), body.size(), XXH3_64bits(path.data(), path.size()));
  return {hash.high64, hash.low64};
}

Idempotency::Found Idempotency::claim(const Key& key, const Fingerprint& print,
                                      units::Instant now) {
  const std::lock_guard lock(mutex_);
  while (!settled_.empty() && settled_.front().first + kWindow <= now) forget_oldest();
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    if (entries_.size() >= kKeysMax && !settled_.empty()) forget_oldest();
    if (entries_.size() < kKeysMax) entries_[key].print = print;
    return {};
  }
  const Entry& entry = found->second;
  if (entry.print != print) return {Verdict::kOther, nullptr};
  if (!entry.answered) return {Verdict::kRunning, nullptr};
  return {entry.answer ? Verdict::kAnswered : Verdict::kNotKept, entry.answer};
}

void Idempotency::settle(const Key& key, bool answered, Answer answer, units::Instant now) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.answered) return;
  if (!answered) {
    entries_.erase(found);
    return;
  }
  if (answer && answer->size() > kAnswerBytesMax) answer.reset();
  answer_bytes_ += answer ? answer->size() : 0;
  found->second.answered = true;
  found->second.answer = std::move(answer);
  settled_.emplace_back(now, key);
  while (answer_bytes_ > kAnswerBytesMax) forget_oldest();
}

void Idempotency::forget_oldest() {
  const auto found = entries_.find(settled_.front().second);
  if (found->second.answer) answer_bytes_ -= found->second.answer->size();
  entries_.erase(found);
  settled_.pop_front();
}

std::size_t Idempotency::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace tidegate::gateway
