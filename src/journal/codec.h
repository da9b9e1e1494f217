// The bytes of a record: pure functions from values to bytes and back.
//
// Numbers are LEB128 (signed ones zigzagged), hashes eight bytes little-endian, lists a count and
// their entries, alternatives their index and their members in the order of fields.h. Each value
// has exactly one encoding and the decoder accepts no other, so equal bytes and equal values are
// the same thing. Decoding never reads past the span and takes memory in proportion to it.
// Thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "batch/step_plan.h"
#include "journal/record.h"
#include "units/result.h"

namespace tidegate::journal {

using Bytes = std::vector<std::byte>;

// Appends the encoding to `out`. Linear in the value.
void encode(const Record& record, Bytes& out);
void encode(const std::vector<domain::Decision>& decisions, Bytes& out);
void encode(const batch::StepPlan& plan, Bytes& out);

// The record that the whole span encodes. Error (where = "byte N") when it is cut short, carries
// something after the record, or holds a value that no encoder writes: an unknown alternative, a
// number in a longer form than needed, a request or an engine that breaks its own rules.
units::Result<Record> decode(std::span<const std::byte> bytes);

}  // namespace tidegate::journal
