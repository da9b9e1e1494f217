// The shape of a header list, the same as net's, so that the one can be handed to the other without
// either room knowing the other.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tidegate::openai {

using Header = std::pair<std::string, std::string>;
using Headers = std::vector<Header>;

}  // namespace tidegate::openai
