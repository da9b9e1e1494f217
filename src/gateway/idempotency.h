// Calls that are the same call sent again: by the caller's Idempotency-Key, for each tenant, within
// a window after its end. While the first one runs, a second is told to wait; once it has its whole
// answer, that is given again and nothing is charged; when the first failed or was given up, the
// second is done afresh. Lives as long as the process and holds a bounded amount.
//
// Thread-safe; one lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "units/ids.h"
#include "units/quantity.h"

namespace tidegate::gateway {

class Idempotency {
 public:
  static constexpr units::Nanos kWindow = units::seconds(600);
  static constexpr std::size_t kKeysMax = 16'384;
  static constexpr std::size_t kAnswerBytesMax = std::size_t{32} << 20U;

  using Key = std::pair<units::TenantId, std::string>;
  using Fingerprint = std::pair<std::uint64_t, std::uint64_t>;  // of path and body
  using Answer = std::shared_ptr<const std::string>;

  enum class Verdict : std::uint8_t {
    kNew,       // the caller's to do, and to settle()
    kRunning,   // the first one is not answered yet
    kAnswered,  // `answer` is what the first one got
    kNotKept,   // the first one was answered, by a stream or by more than is kept
    kOther,     // the key was used for something else
  };
  struct Found {
    Verdict verdict = Verdict::kNew;
    Answer answer;
  };

  static Fingerprint fingerprint(const std::string& path, const std::string& body);

  // O(log keys). When as many keys run as are kept, the new one is done without being remembered.
  Found claim(const Key& key, const Fingerprint& print, units::Instant now);
  // The call that claimed the key has ended: with a whole answer (null: not kept), or, with
  // `answered` false, in a way that makes it worth doing again.
  void settle(const Key& key, bool answered, Answer answer, units::Instant now);

  std::size_t size() const;

 private:
  struct Entry {
    Fingerprint print;
    bool answered = false;
    Answer answer;
  };
  void forget_oldest();

  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
  std::deque<std::pair<units::Instant, Key>> settled_;  // answered ones, oldest first
  std::size_t answer_bytes_ = 0;
};

}  // namespace tidegate::gateway
