// What a scenario gave: its course in text, and the figures that expectations are about. One owner.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "units/quantity.h"

namespace tidegate::script {

class Course {
 public:
  std::string text;

  // One value of a measure: of a request (its id and its group) or of the whole (id 0).
  void measure(const std::string& name, std::int64_t value, std::int64_t id = 0,
               const std::string& group = "");
  // Of one id (7), of ids (1-20), of a group, or all (empty), in the order measured.
  std::vector<std::int64_t> values(const std::string& measure, const std::string& subject) const;

 private:
  struct Value {
    std::int64_t id = 0;
    std::string group;
    std::int64_t value = 0;
  };
  std::map<std::string, std::vector<Value>> measures_;
};

// "12.345ms"; whole microseconds, rounded down.
std::string in_ms(units::Nanos span);
// The same since the start; "never".
std::string in_ms(units::Instant at);

}  // namespace tidegate::script
