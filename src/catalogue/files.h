// The text of the catalogue's files, compiled in by cmake/Embed.cmake. Constants.
#pragma once

#include <string_view>

namespace tidegate::catalogue {

extern const std::string_view kGpus;
extern const std::string_view kModels;
extern const std::string_view kStepLaws;

}  // namespace tidegate::catalogue
