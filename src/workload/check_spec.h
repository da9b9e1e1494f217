// What a GeneratorSpec may say. Pure.
#pragma once

#include "units/result.h"
#include "workload/generator.h"

namespace tidegate::workload {

// Fails with the field's name and what would be right. Whether the profile exists is not looked at.
units::Result<void> check(const GeneratorSpec& spec);

}  // namespace tidegate::workload
