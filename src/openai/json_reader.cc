#include "openai/json_reader.h"

#include <array>
#include <charconv>

namespace tidegate::openai::json {

namespace {

using simdjson::ondemand::json_type;

std::string text(double number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return {digits.data(), static_cast<std::size_t>(end - digits.data())};
}

bool has_type(Value& value, json_type wanted) {
  json_type type{};
  return value.type().get(type) == simdjson::SUCCESS && type == wanted;
}

Checked check_scalar(Value& value, json_type type) {
  simdjson::error_code code = simdjson::SUCCESS;
  if (type == json_type::number) {
    double number = 0;
    code = value.get_double().get(number);
  } else if (type == json_type::string) {
    std::string_view string;
    code = value.get_string().get(string);
  } else if (type == json_type::boolean) {
    bool boolean = false;
    code = value.get_bool().get(boolean);
  } else if (!is_null(value)) {
    code = simdjson::N_ATOM_ERROR;
  }
  if (code != simdjson::SUCCESS) return tl::unexpected(body_error(code));
  return {};
}

}  // namespace

units::Result<std::int64_t> read_integer(Value& value, std::string_view where, IntegerRange range) {
  std::int64_t number = 0;
  const auto code = value.get_int64().get(number);
  if (code != simdjson::SUCCESS || number < range.low || number > range.high) {
    return units::error(std::string(where), "must be an integer from " + std::to_string(range.low) +
                                                " to " + std::to_string(range.high));
  }
  return number;
}

units::Result<float> read_number(Value& value, std::string_view where, NumberRange range) {
  double number = 0;
  const auto code = value.get_double().get(number);
  const bool high_enough = range.above_low ? number > range.low : number >= range.low;
  if (code != simdjson::SUCCESS || !high_enough || number > range.high) {
    return units::error(std::string(where), std::string("must be a number ") +
                                                (range.above_low ? "above " : "from ") +
                                                text(range.low) + " to " + text(range.high));
  }
  return static_cast<float>(number);
}

units::Result<bool> read_bool(Value& value, std::string_view where) {
  bool boolean = false;
  if (value.get_bool().get(boolean) != simdjson::SUCCESS) {
    return units::error(std::string(where), "must be true or false");
  }
  return boolean;
}

units::Result<std::string> read_string(Value& value, std::string_view where,
                                       std::size_t max_bytes) {
  std::string_view string;
  const auto code = value.get_string().get(string);
  if (code == simdjson::STRING_ERROR) {
    return units::error(std::string(where),
                        "must be a valid JSON string: an escape is wrong or half of a surrogate "
                        "pair is missing");
  }
  if (code != simdjson::SUCCESS) return units::error(std::string(where), "must be a string");
  if (string.size() > max_bytes) {
    return units::error(std::string(where),
                        "must not be longer than " + std::to_string(max_bytes) + " bytes");
  }
  return std::string(string);
}

bool is_null(Value& value) {
  bool null = false;
  return value.is_null().get(null) == simdjson::SUCCESS && null;
}

bool is_array(Value& value) {
  return has_type(value, json_type::array);
}

bool is_string(Value& value) {
  return has_type(value, json_type::string);
}

bool is_object(Value& value) {
  return has_type(value, json_type::object);
}

Checked check_json(Value& value, std::int32_t depth) {
  json_type type{};
  if (const auto code = value.type().get(type)) return tl::unexpected(body_error(code));
  const bool nested = type == json_type::array || type == json_type::object;
  if (!nested) return check_scalar(value, type);
  if (depth <= 0) return tl::unexpected(body_error(simdjson::DEPTH_ERROR));
  if (type == json_type::array) {
    return each_element(
        value, "", [depth](Value& element, std::size_t) { return check_json(element, depth - 1); });
  }
  return each_field(
      value, "", [depth](std::string_view, Value& field) { return check_json(field, depth - 1); });
}

units::Error body_error(simdjson::error_code code) {
  switch (code) {
    case simdjson::EMPTY:
      return {"", "The request body is empty; it must be a JSON object."};
    case simdjson::UTF8_ERROR:
      return {"", "The request body is not valid UTF-8."};
    case simdjson::DEPTH_ERROR:
      return {"", "The JSON of the request body is nested too deeply."};
    case simdjson::NUMBER_ERROR:
      return {"", "The request body has a number that is malformed or out of range."};
    case simdjson::STRING_ERROR:
      return {"", "The request body has a string with a wrong escape or half of a surrogate pair."};
    case simdjson::INCORRECT_TYPE:
    case simdjson::SUCCESS:
    default:
      return {"", "The request body is not valid JSON; it must be one JSON object."};
  }
}

}  // namespace tidegate::openai::json
