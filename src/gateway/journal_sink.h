// Takes what the decision thread did to the journal file without letting the disk slow it: records
// go into a bounded queue and a thread of its own writes them. A journal with a hole would be worse
// than one that ends, so when the disk refuses a record or the queue is full, the journal ends
// there, the failure is reported once, and serving goes on.
//
// record() and configured() from the decision thread only; the rest from the owner.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "journal/file.h"
#include "journal/record.h"
#include "units/result.h"

namespace tidegate::gateway {

class JournalSink {
 public:
  using Alarm = std::function<void(const std::string& why)>;

  // Keeps nothing.
  JournalSink() = default;
  // Creates the file and writes the configuration first. `alarm` is called from any thread, at most
  // once. Error: the file cannot be created.
  units::Result<void> open(const std::string& path, journal::Configuration configuration,
                           Alarm alarm);
  ~JournalSink();

  // The configuration from here on.
  void configured(journal::Configuration configuration);
  // A call that the edge refused, from any thread. Left out while the disk is behind, so that a
  // flood of them does not end the journal.
  void refused(journal::Refused refused);
  void record(units::Instant now, const domain::Event& event,
              std::span<const domain::Decision> decisions);
  // Writes what is queued and closes the file. Idempotent.
  void close();

 private:
  static constexpr std::size_t kQueueMax = 65'536;

  void put(journal::Record record);
  void run();
  void fail(const std::string& why);

  std::optional<journal::Writer> writer_;
  Alarm alarm_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::vector<journal::Record> queue_;
  bool closing_ = false;
  bool failed_ = false;
  std::thread thread_;
};

}  // namespace tidegate::gateway
