// The language of the scenarios. A file is a few lines of comment that state the law, settings,
// timed happenings, what is expected of the course, and after a line of dashes the golden text:
//
//   # law: ...
//   tenant 0 on_overload=queue in_flight=2 weight=4
//   engine 1 sequences=2 blocks=1000 step=10ms token=100us
//   at 0ms arrive 1 tenant=0 prompt=100 output=10 ttft=500ms pace=50ms
//   at 5ms every 10ms x20 arrive 100 tenant=1 prompt=50 output=10
//   at 40ms lose engine=1
//   show summary
//   expect p99 ttft 100-119 <= 50ms
//   ----
//
// Durations carry ns, us, ms or s. The words are those of the world that plays the script (world.h
// beside the files); expectation.h has the grammar of `expect`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "expectation.h"

namespace tidegate::script {

struct Line {
  std::string word;                           // tenant, engine, policy, show, or the happening
  std::int64_t id = 0;                        // the number after it, if any
  std::int64_t at_ns = 0;                     // happenings only
  std::map<std::string, std::string> values;  // key=value
  std::vector<std::string> flags;             // bare words

  std::int64_t number(const std::string& key, std::int64_t otherwise) const;
  std::int64_t nanos(const std::string& key, std::int64_t otherwise) const;
  std::string text(const std::string& key, const std::string& otherwise) const;
  bool has(const std::string& flag) const;
};

struct Script {
  std::vector<Line> settings;
  std::vector<Line> happenings;  // repeats unrolled, by time
  std::vector<Expectation> expectations;
  std::string given;  // the settings as they stand there
  std::string golden;
};

// Throws std::runtime_error with the line when it does not understand.
Script parse(const std::string& text);
// A number, or a duration in nanoseconds.
std::int64_t to_number(const std::string& text);

}  // namespace tidegate::script
