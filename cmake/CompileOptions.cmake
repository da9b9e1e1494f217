# One interface target carries the flags of all our own code: warnings are errors on gcc 12 and
# clang 14, floating point is never contracted (the same bytes from both compilers), and asserts
# stay on in the pure rooms (see units/check.h).
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

set(TIDEGATE_SANITIZE "" CACHE STRING "Value for -fsanitize=, empty for none")
option(TIDEGATE_COVERAGE "Instrument for gcov" OFF)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
endif()

add_library(tidegate_flags INTERFACE)
target_compile_options(tidegate_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Woverloaded-virtual -Wcast-qual -Werror -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # A false alarm of gcc 12 on `"text" + std::string` when it optimises (gcc bug 105651).
  target_compile_options(tidegate_flags INTERFACE -Wno-restrict)
endif()
if(TIDEGATE_SANITIZE)
  target_compile_options(tidegate_flags INTERFACE "-fsanitize=${TIDEGATE_SANITIZE}"
    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(tidegate_flags INTERFACE "-fsanitize=${TIDEGATE_SANITIZE}")
  # clang 14 cannot emit the check of function pointers for coroutines.
  if(TIDEGATE_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(tidegate_flags INTERFACE -fno-sanitize=function)
  endif()
  # Asio has fences, which gcc's ThreadSanitizer does not follow; it says so where they are used.
  if(TIDEGATE_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(tidegate_flags INTERFACE -Wno-tsan)
  endif()
endif()
if(TIDEGATE_COVERAGE)
  target_compile_options(tidegate_flags INTERFACE --coverage -O0)
  target_link_options(tidegate_flags INTERFACE --coverage)
endif()
