#include "openai/sse.h"

#include <algorithm>

namespace tidegate::openai {

std::string sse_event(std::string_view json) {
  std::string out;
  out.reserve(json.size() + 8);
  out.append("data: ").append(json).append("\n\n");
  return out;
}

std::string sse_queued(std::int64_t position, units::Nanos eta) {
  std::string out = ": queued position=" + std::to_string(position);
  if (eta != units::Nanos::max()) {
    const std::int64_t eta_ms = std::max<std::int64_t>(eta / units::milliseconds(1), 0);
    out += " eta_ms=" + std::to_string(eta_ms);
  }
  return out + "\n\n";
}

std::string sse_keep_alive() {
  return ": keep-alive\n\n";
}

std::string sse_error(std::string_view error_body) {
  return "\n" + sse_event(error_body);
}

}  // namespace tidegate::openai
