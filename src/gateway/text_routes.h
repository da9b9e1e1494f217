// Where the text of a running try goes. The decision thread enters a try before it hands it to the
// engine and takes it out when the request has ended; text of any other try is dropped, however
// late it comes (invariant S5). Thread-safe; one short lock.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "domain/seam.h"
#include "engines/engine.h"
#include "gateway/call.h"

namespace tidegate::gateway {

class TextRoutes {
 public:
  void enter(const domain::AttemptRef& ref, std::shared_ptr<Call> call, std::size_t lane);
  void leave(units::RequestId request);
  void deliver(const domain::AttemptRef& ref, engines::TextDelta delta);

 private:
  struct Route {
    domain::AttemptRef ref;
    std::shared_ptr<Call> call;
    std::size_t lane = 0;
  };
  std::mutex mutex_;
  std::unordered_map<units::RequestId, Route> routes_;
};

}  // namespace tidegate::gateway
