#include "workload/trace_reader.h"

#include <algorithm>

#include "tables/line_reader.h"
#include "workload/formats.h"

namespace tidegate::workload {
namespace {

// Rows of JSON begin with a brace; a header of column names never does.
units::Result<bool> is_jsonl(const std::string& path) {
  auto lines = tables::LineReader::open(path);
  if (!lines) return tl::unexpected(lines.error());
  std::string_view line;
  auto first = lines->next(line);
  if (!first) return first;
  return *first && line.starts_with('{');
}

// Times count from the first arrival when the trace carries dates.
void rebase(Trace& trace) {
  constexpr units::Nanos kYear = units::seconds(365LL * 86'400);
  if (trace.rows.empty() || trace.rows.front().arrival < kYear) return;
  const units::Nanos zero = trace.rows.front().arrival;
  for (TraceRow& row : trace.rows) row.arrival -= zero;
}

}  // namespace

Name Trace::intern(std::string_view name) {
  if (name.empty()) return 0;
  const auto [place, added] = index_.try_emplace(std::string(name), Name(names.size()));
  if (added) names.emplace_back(name);
  return place->second;
}

units::Result<Trace> read_trace(const std::string& path) {
  auto jsonl = is_jsonl(path);
  if (!jsonl) return tl::unexpected(jsonl.error());
  auto trace = *jsonl ? read_jsonl_trace(path) : read_csv_trace(path);
  if (!trace) return trace;
  std::stable_sort(trace->rows.begin(), trace->rows.end(),
                   [](const TraceRow& a, const TraceRow& b) { return a.arrival < b.arrival; });
  rebase(*trace);
  return trace;
}

}  // namespace tidegate::workload
