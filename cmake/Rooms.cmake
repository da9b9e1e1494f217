# tidegate_room(NAME [SOURCES ...] [DEPENDS rooms...] [LIBRARIES targets...])
#
# A room is a folder of src/, a CMake target tidegate_<name> (alias tidegate::<name>) and the
# namespace tidegate::<name>. DEPENDS names the rooms it may see; tests/house/ compares that and the
# include graph with the table of rooms in tests/house/rooms.txt.
function(tidegate_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  if(ROOM_SOURCES)
    add_library(tidegate_${name} STATIC ${ROOM_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(tidegate_${name} PRIVATE tidegate_flags)
  else()
    add_library(tidegate_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(tidegate::${name} ALIAS tidegate_${name})
  target_include_directories(tidegate_${name} ${scope} "${PROJECT_SOURCE_DIR}/src")
  foreach(dep IN LISTS ROOM_DEPENDS)
    target_link_libraries(tidegate_${name} ${scope} tidegate::${dep})
  endforeach()
  target_link_libraries(tidegate_${name} ${scope} ${ROOM_LIBRARIES})
endfunction()

# Under a sanitizer a test fails at its first finding.
set(TIDEGATE_SANITIZER_OPTIONS
  "ASAN_OPTIONS=detect_stack_use_after_return=1:check_initialization_order=1"
  "UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1"
  "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1")

# tidegate_test(NAME SOURCES ... [LINK targets...] [LABELS ...]): one GoogleTest program, registered
# with ctest.
function(tidegate_test name)
  cmake_parse_arguments(T "" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE tidegate_flags ${T_LINK}
    GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  if(TIDEGATE_SANITIZE)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${TIDEGATE_SANITIZER_OPTIONS}")
  endif()
  if(T_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}")
  endif()
endfunction()
