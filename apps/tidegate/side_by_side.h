// Independent tasks on all cores, watched from the calling thread.
#pragma once

#include <cstddef>
#include <functional>

namespace tidegate::app {

// Calls perform(0) to perform(tasks - 1), taken in this order by as many threads as there are
// cores, and `watch` from this thread a few times a second and once at the end. Rethrows the first
// exception of a task when all are done.
void side_by_side(std::size_t tasks, const std::function<void(std::size_t)>& perform,
                  const std::function<void()>& watch);

}  // namespace tidegate::app
