#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "tables/csv.h"
#include "workload/formats.h"
#include "workload/trace_reader.h"

namespace tidegate::workload {
namespace {

using tables::Csv;
using units::Result;

struct Columns {
  std::size_t arrival = 0;
  bool wall_clock = false;  // Azure writes dates, the others seconds
  std::size_t input = 0;
  std::size_t output = 0;
  std::optional<std::size_t> model, tenant, session, service_class, hash_ids;
};

// The columns of the first format whose arrival, input and output columns are all there.
Result<Columns> recognise(const Csv& csv) {
  struct Format {
    const char* arrival;
    const char* input;
    const char* output;
    bool wall_clock;
  };
  constexpr Format kFormats[] = {
      {"arrival_seconds", "input_tokens", "output_tokens", false},
      {"TIMESTAMP", "ContextTokens", "GeneratedTokens", true},
      {"Timestamp", "Request tokens", "Response tokens", false},
  };
  for (const Format& format : kFormats) {
    const auto arrival = csv.column(format.arrival);
    const auto input = csv.column(format.input);
    const auto output = csv.column(format.output);
    if (!arrival || !input || !output) continue;
    Columns c{*arrival, format.wall_clock, *input, *output, {}, {}, {}, {}, {}};
    c.model = csv.column("model") ? csv.column("model") : csv.column("Model");
    c.tenant = csv.column("tenant");
    c.session = csv.column("session") ? csv.column("session") : csv.column("Session ID");
    c.service_class = csv.column("class");
    c.hash_ids = csv.column("hash_ids");
    return c;
  }
  return units::error(csv.where(),
                      "these are not the columns of a trace; it should have arrival_seconds, "
                      "input_tokens and output_tokens (or those of Azure or BurstGPT)");
}

Result<units::Nanos> arrival_of(const Csv& csv, const Columns& c) {
  if (!c.wall_clock) {
    auto seconds = csv.number(c.arrival, 0, kMostSeconds);
    if (!seconds) return tl::unexpected(seconds.error());
    return from_seconds(*seconds);
  }
  auto time = parse_timestamp(csv.text(c.arrival));
  if (time) return time;
  return units::error(csv.where(), fmt::format("{} is '{}'; {}", csv.columns()[c.arrival],
                                               csv.text(c.arrival), time.error().message));
}

Result<bool> append_hashes(const Csv& csv, std::size_t column, TraceRow& row, Trace& trace) {
  std::string_view text = csv.text(column);
  row.hash_begin = static_cast<std::uint32_t>(trace.hash_ids.size());
  while (!text.empty()) {
    std::uint64_t id = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (code != std::errc() || (end != text.data() + text.size() && *end != ' ')) {
      return units::error(csv.where(), "hash_ids should be numbers separated by single spaces");
    }
    trace.hash_ids.push_back(id);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty()) text.remove_prefix(1);
  }
  row.hash_count = static_cast<std::uint32_t>(trace.hash_ids.size()) - row.hash_begin;
  return true;
}

Result<bool> append_row(const Csv& csv, const Columns& c, Trace& trace) {
  TraceRow row;
  auto arrival = arrival_of(csv, c);
  if (!arrival) return tl::unexpected(arrival.error());
  auto input = csv.integer(c.input, 0, kMostTokens);
  if (!input) return tl::unexpected(input.error());
  auto output = csv.integer(c.output, 0, kMostTokens);
  if (!output) return tl::unexpected(output.error());
  row.arrival = *arrival;
  row.input = units::Tokens(*input);
  row.output = units::Tokens(*output);
  const auto name = [&](std::optional<std::size_t> column) {
    return column ? trace.intern(csv.text(*column)) : Name{0};
  };
  row.model = name(c.model);
  row.tenant = name(c.tenant);
  row.session = name(c.session);
  row.service_class = name(c.service_class);
  if (c.hash_ids) {
    if (auto added = append_hashes(csv, *c.hash_ids, row, trace); !added) return added;
  }
  trace.rows.push_back(row);
  return true;
}

}  // namespace

Result<Trace> read_csv_trace(const std::string& path) {
  auto csv = Csv::open(path);
  if (!csv) return tl::unexpected(csv.error());
  auto columns = recognise(*csv);
  if (!columns) return tl::unexpected(columns.error());
  Trace trace;
  for (;;) {
    auto more = csv->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return trace;
    if (trace.rows.size() == kMostRows) return units::error(csv->where(), "too many rows");
    if (auto added = append_row(*csv, *columns, trace); !added) {
      return tl::unexpected(added.error());
    }
  }
}

}  // namespace tidegate::workload
