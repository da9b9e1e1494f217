// Strict reading of one JSON value at a time, over simdjson's on-demand parser: every function
// names the place in its Error and says what would be right. Internal to this room. Pure; one
// document, one owner.
//
// On-demand parsing looks only at what is asked for, so that a large prompt costs one pass; what
// nobody asks for goes through check_json(), so that nothing malformed or too deep slips by.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "units/result.h"

namespace tidegate::openai::json {

using Value = simdjson::ondemand::value;
using Checked = units::Result<void>;

struct IntegerRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

struct NumberRange {
  double low = 0;
  double high = 0;
  bool above_low = false;  // low itself is not allowed
};

units::Result<std::int64_t> read_integer(Value& value, std::string_view where, IntegerRange range);
units::Result<float> read_number(Value& value, std::string_view where, NumberRange range);
units::Result<bool> read_bool(Value& value, std::string_view where);
// Of at most `max_bytes` bytes.
units::Result<std::string> read_string(Value& value, std::string_view where, std::size_t max_bytes);

bool is_null(Value& value);
bool is_array(Value& value);
bool is_string(Value& value);
bool is_object(Value& value);

// Walks over any value: JSON, and at most `depth` more arrays and objects inside each other.
Checked check_json(Value& value, std::int32_t depth);

// What the body as a whole suffers from, in words for the caller.
units::Error body_error(simdjson::error_code code);

// Calls visit(element, index) for each; its first error ends the walk. Error when not an array.
template <class Visit>
Checked each_element(Value& value, std::string_view where, Visit visit) {
  simdjson::ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) {
    return units::error(std::string(where), "must be an array");
  }
  std::size_t index = 0;
  for (auto item : array) {
    Value element;
    if (const auto code = item.get(element)) return tl::unexpected(body_error(code));
    if (Checked checked = visit(element, index++); !checked) return checked;
  }
  return {};
}

// Calls visit(key, value) for each field of an object that was opened already.
template <class Visit>
Checked each_field_of(simdjson::ondemand::object& object, Visit visit) {
  for (auto item : object) {
    if (item.error()) return tl::unexpected(body_error(item.error()));
    std::string_view key;
    if (const auto code = item.unescaped_key().get(key)) return tl::unexpected(body_error(code));
    Value value = item.value_unsafe().value();
    if (Checked checked = visit(key, value); !checked) return checked;
  }
  return {};
}

// The same for a value that must be an object.
template <class Visit>
Checked each_field(Value& value, std::string_view where, Visit visit) {
  simdjson::ondemand::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) {
    return units::error(std::string(where), "must be an object");
  }
  return each_field_of(object, visit);
}

}  // namespace tidegate::openai::json
