// What operators ask: health, readiness, metrics and the admin API. The paths are the same on the
// main and on the admin address; what needs the admin key is refused without it.
//
// Runs on network threads, thread-safe. Questions about the core's state travel through the mailbox
// and are answered from the decision thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "gateway/mailbox.h"
#include "gateway/metrics.h"
#include "gateway/reload.h"
#include "gateway/settings.h"
#include "net/exchange.h"

namespace tidegate::gateway {

struct OperationsParts {
  const CurrentSettings& settings;
  Mailbox& mailbox;
  Metrics& metrics;
  // No new admissions from now on; answers go on, and so does the process.
  std::function<void()> stop_admitting;
  // Reads the configuration again; tells what came of it, from any thread.
  std::function<void(ReloadDone)> reload;
};

class Operations {
 public:
  using ExchangePtr = std::shared_ptr<net::Exchange>;

  explicit Operations(OperationsParts parts) : parts_(std::move(parts)) {}

  // Answers when `path` is one of its own; false and nothing done otherwise. `open` says that the
  // address is one where admin paths may be answered without a key when none is configured.
  bool handle(const ExchangePtr& exchange, std::string_view path, bool open);

 private:
  bool permitted(const net::Request& request, bool open) const;
  void admin(const ExchangePtr& exchange, std::string_view path);
  void ready(const ExchangePtr& exchange);
  void metrics(const ExchangePtr& exchange);
  void visit(const ExchangePtr& exchange, std::function<std::string(DecisionLoop&)> look);
  void reload(const ExchangePtr& exchange);
  void decision(const ExchangePtr& exchange, std::string_view text);

  OperationsParts parts_;
};

}  // namespace tidegate::gateway
