// CHECK: an assert that stays on in every build of the pure rooms.
//
// It states what the code itself guarantees; a failure is a bug of ours and stops the process.
// External input (bytes from a client, an engine or a file) must never reach one: it is validated
// into values first and refused with an Error. Thread-safe.
#pragma once

namespace tidegate::units {

// Prints the failed condition with its place on stderr and aborts. Never returns.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace tidegate::units

#define TIDEGATE_CHECK(condition)                      \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::tidegate::units::check_failed(#condition, __FILE__, __LINE__))
