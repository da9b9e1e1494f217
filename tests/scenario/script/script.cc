#include "script.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace tidegate::script {
namespace {

std::int64_t to_nanos(const std::string& text) {
  std::size_t used = 0;
  const std::int64_t amount = std::stoll(text, &used);
  const std::string unit = text.substr(used);
  if (unit == "ns") return amount;
  if (unit == "us") return amount * 1'000;
  if (unit == "ms") return amount * 1'000'000;
  if (unit == "s") return amount * 1'000'000'000;
  throw std::runtime_error("a duration needs ns, us, ms or s: " + text);
}

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Line parse_rest(std::istringstream& words, std::string word) {
  Line line;
  line.word = std::move(word);
  for (std::string next; words >> next;) {
    const std::size_t equals = next.find('=');
    if (equals != std::string::npos) {
      line.values[next.substr(0, equals)] = next.substr(equals + 1);
    } else if (is_number(next)) {
      line.id = std::stoll(next);
    } else {
      line.flags.push_back(next);
    }
  }
  return line;
}

// at T [every D xN] WORD ...: the id, if there is one, counts up.
void add_happenings(Script& script, std::istringstream& words) {
  std::string word;
  words >> word;
  const std::int64_t start = to_nanos(word);
  std::int64_t every = 0;
  std::int64_t times = 1;
  words >> word;
  if (word == "every") {
    std::string count;
    words >> word >> count;
    every = to_nanos(word);
    times = std::stoll(count.substr(1));
    words >> word;
  }
  const Line first = parse_rest(words, word);
  for (std::int64_t i = 0; i < times; ++i) {
    Line line = first;
    line.at_ns = start + i * every;
    line.id += line.id == 0 ? 0 : i;
    script.happenings.push_back(line);
  }
}

}  // namespace

std::int64_t to_number(const std::string& text) {
  const bool negative = text[0] == '-';
  return is_number(text.substr(negative ? 1 : 0)) ? std::stoll(text) : to_nanos(text);
}

std::int64_t Line::number(const std::string& key, std::int64_t otherwise) const {
  const auto found = values.find(key);
  return found == values.end() ? otherwise : std::stoll(found->second);
}

std::int64_t Line::nanos(const std::string& key, std::int64_t otherwise) const {
  const auto found = values.find(key);
  return found == values.end() ? otherwise : to_nanos(found->second);
}

std::string Line::text(const std::string& key, const std::string& otherwise) const {
  const auto found = values.find(key);
  return found == values.end() ? otherwise : found->second;
}

bool Line::has(const std::string& flag) const {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

Script parse(const std::string& text) {
  Script script;
  std::istringstream lines(text);
  std::string raw;
  bool golden = false;
  while (std::getline(lines, raw)) {
    if (golden) {
      script.golden += raw + "\n";
      continue;
    }
    golden = raw == "----";
    if (golden || raw.empty() || raw[0] == '#') continue;
    std::istringstream words(raw);
    std::string word;
    words >> word;
    if (word == "at") {
      add_happenings(script, words);
    } else if (word == "expect") {
      script.expectations.push_back(parse_expectation(raw));
    } else {
      script.given += raw + "\n";
      script.settings.push_back(parse_rest(words, word));
    }
  }
  if (!golden) throw std::runtime_error("no line of dashes before the golden text");
  std::stable_sort(script.happenings.begin(), script.happenings.end(),
                   [](const Line& a, const Line& b) { return a.at_ns < b.at_ns; });
  return script;
}

}  // namespace tidegate::script
