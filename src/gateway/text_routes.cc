#include "gateway/text_routes.h"

#include <utility>

namespace tidegate::gateway {

void TextRoutes::enter(const domain::AttemptRef& ref, std::shared_ptr<Call> call,
                       std::size_t lane) {
  const std::lock_guard lock(mutex_);
  routes_[ref.request] = Route{ref, std::move(call), lane};
}

void TextRoutes::leave(units::RequestId request) {
  const std::lock_guard lock(mutex_);
  routes_.erase(request);
}

void TextRoutes::deliver(const domain::AttemptRef& ref, engines::TextDelta delta) {
  std::shared_ptr<Call> call;
  std::size_t lane = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = routes_.find(ref.request);
    if (found == routes_.end() || !(found->second.ref == ref)) return;
    call = found->second.call;
    lane = found->second.lane;
  }
  call->text(lane, std::move(delta));
}

}  // namespace tidegate::gateway
