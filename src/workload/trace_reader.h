// Reads traces in their published formats, plain, .gz or .zst; the format is told by the columns:
//
//   own arrival_seconds,input_tokens,output_tokens[,model][,tenant][,session][,class][,hash_ids]
//              (CSV, or JSONL with the same names; hash_ids are separated by spaces, or a JSON
//              array)
//   Azure      TIMESTAMP,ContextTokens,GeneratedTokens          (Azure LLM inference traces 2023,
//   2024) BurstGPT   Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type Mooncake
//   JSONL {"timestamp": ms, "input_length", "output_length", "hash_ids"}
//
// A bad row is an error with file:line, the column and what would be right. Blocking I/O.
#pragma once

#include <string>

#include "units/result.h"
#include "workload/trace.h"

namespace tidegate::workload {

// The whole trace, sorted by arrival (stable). Fails on an unknown format, a bad row, or more rows
// than kMostRows.
units::Result<Trace> read_trace(const std::string& path);

inline constexpr std::size_t kMostRows = 50'000'000;

}  // namespace tidegate::workload
