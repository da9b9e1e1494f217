// A trace: who asked for how much and when, as recorded or generated. Plain values, sorted by
// arrival; names are numbers into one table so that millions of rows stay small.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "units/quantity.h"

namespace tidegate::workload {

// Index into Trace::names; 0 is "not given".
using Name = std::uint32_t;

struct TraceRow {
  units::Nanos arrival{0};  // since the trace's own zero
  units::Tokens input{0};
  units::Tokens output{0};
  Name model = 0;
  Name tenant = 0;
  Name session = 0;
  Name service_class = 0;
  // Content of the prompt by blocks of Trace::hash_block_tokens, as a range of Trace::hash_ids:
  // equal ids mean equal content and an equal prefix before it.
  std::uint32_t hash_begin = 0;
  std::uint32_t hash_count = 0;
};

struct Trace {
  std::vector<TraceRow> rows;
  std::vector<std::uint64_t> hash_ids;
  units::Tokens hash_block_tokens{512};
  std::vector<std::string> names{""};

  // The number of a name, added when new. "" is 0.
  Name intern(std::string_view name);

 private:
  std::unordered_map<std::string, Name> index_;
};

}  // namespace tidegate::workload
