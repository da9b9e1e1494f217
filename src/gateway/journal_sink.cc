#include "gateway/journal_sink.h"

#include <utility>

namespace tidegate::gateway {

units::Result<void> JournalSink::open(const std::string& path, journal::Configuration configuration,
                                      Alarm alarm) {
  auto writer = journal::Writer::create(path);
  if (!writer) return tl::unexpected(writer.error());
  writer_.emplace(std::move(*writer));
  alarm_ = std::move(alarm);
  queue_.emplace_back(std::move(configuration));
  thread_ = std::thread([this] { run(); });
  return {};
}

JournalSink::~JournalSink() {
  close();
}

void JournalSink::record(units::Instant now, const domain::Event& event,
                         std::span<const domain::Decision> decisions) {
  if (!writer_) return;
  put(journal::Step{now, event, {decisions.begin(), decisions.end()}});
}

void JournalSink::configured(journal::Configuration configuration) {
  if (writer_) put(std::move(configuration));
}

void JournalSink::refused(journal::Refused refused) {
  if (!writer_) return;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= kQueueMax / 2) return;
  }
  put(std::move(refused));
}

void JournalSink::put(journal::Record record) {
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    if (failed_ || closing_) return;
    full = queue_.size() >= kQueueMax;
    if (!full) queue_.push_back(std::move(record));
  }
  if (full) {
    fail("the disk is slower than the decisions");
  } else {
    filled_.notify_one();
  }
}

void JournalSink::run() {
  std::vector<journal::Record> records;
  std::unique_lock lock(mutex_);
  while (true) {
    filled_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (queue_.empty()) return;
    records.swap(queue_);
    lock.unlock();
    units::Result<void> written;
    for (const journal::Record& record : records) {
      if (written) written = writer_->append(record);
    }
    if (written) written = writer_->flush();
    if (!written) fail(written.error().message);
    records.clear();
    lock.lock();
  }
}

void JournalSink::fail(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(failed_, true)) return;
  }
  alarm_(why);
}

void JournalSink::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  filled_.notify_one();
  if (thread_.joinable()) thread_.join();
}

}  // namespace tidegate::gateway
