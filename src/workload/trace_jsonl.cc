#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>
#include <string>

#include "tables/line_reader.h"
#include "workload/formats.h"
#include "workload/trace_reader.h"

namespace tidegate::workload {
namespace {

using simdjson::dom::element;
using tables::LineReader;
using units::Result;

struct Names {
  const char* own;
  const char* other;
};

// The first of two names that the row has, as a number in [0, most].
Result<double> number(const LineReader& lines, element row, const Names& names, double most) {
  const auto [own, other] = names;
  double value = 0;
  const char* name = row[own].error() == simdjson::SUCCESS ? own : other;
  if (row[name].get(value) == simdjson::SUCCESS && std::isfinite(value) && value >= 0 &&
      value <= most) {
    return value;
  }
  return units::error(lines.where(), fmt::format("'{}' (or '{}') should be a number from 0 to {}",
                                                 own, other, most));
}

Name name_of(element row, const char* key, Trace& trace) {
  std::string_view text;
  return row[key].get(text) == simdjson::SUCCESS ? trace.intern(text) : Name{0};
}

Result<bool> append_hashes(const LineReader& lines, element row, TraceRow& out, Trace& trace) {
  simdjson::dom::array ids;
  if (row["hash_ids"].get(ids) != simdjson::SUCCESS) return true;
  out.hash_begin = static_cast<std::uint32_t>(trace.hash_ids.size());
  for (const element id : ids) {
    std::uint64_t value = 0;
    if (id.get(value) != simdjson::SUCCESS) {
      return units::error(lines.where(), "'hash_ids' should be an array of numbers >= 0");
    }
    trace.hash_ids.push_back(value);
  }
  out.hash_count = static_cast<std::uint32_t>(trace.hash_ids.size()) - out.hash_begin;
  return true;
}

Result<bool> append_row(const LineReader& lines, element row, Trace& trace) {
  // Mooncake's "timestamp" is in milliseconds, our own "arrival_seconds" in seconds.
  const bool own = row["arrival_seconds"].error() == simdjson::SUCCESS;
  auto arrival = number(lines, row, {"arrival_seconds", "timestamp"}, own ? kMostSeconds : 4e12);
  if (!arrival) return tl::unexpected(arrival.error());
  auto input = number(lines, row, {"input_tokens", "input_length"}, double{kMostTokens});
  if (!input) return tl::unexpected(input.error());
  auto output = number(lines, row, {"output_tokens", "output_length"}, double{kMostTokens});
  if (!output) return tl::unexpected(output.error());
  TraceRow out;
  out.arrival = from_seconds(own ? *arrival : *arrival / 1e3);
  out.input = units::Tokens(std::llround(*input));
  out.output = units::Tokens(std::llround(*output));
  out.model = name_of(row, "model", trace);
  out.tenant = name_of(row, "tenant", trace);
  out.session = name_of(row, "session", trace);
  out.service_class = name_of(row, "class", trace);
  if (auto added = append_hashes(lines, row, out, trace); !added) return added;
  trace.rows.push_back(out);
  return true;
}

}  // namespace

Result<Trace> read_jsonl_trace(const std::string& path) {
  auto lines = LineReader::open(path);
  if (!lines) return tl::unexpected(lines.error());
  Trace trace;
  simdjson::dom::parser parser;
  std::string_view line;
  for (;;) {
    auto more = lines->next(line);
    if (!more) return tl::unexpected(more.error());
    if (!*more) return trace;
    if (line.empty()) continue;
    if (trace.rows.size() == kMostRows) return units::error(lines->where(), "too many rows");
    element row;
    if (const auto code = parser.parse(line.data(), line.size()).get(row);
        code != simdjson::SUCCESS) {
      return units::error(lines->where(),
                          fmt::format("this line is not JSON: {}", simdjson::error_message(code)));
    }
    if (auto added = append_row(*lines, row, trace); !added) return tl::unexpected(added.error());
  }
}

}  // namespace tidegate::workload
