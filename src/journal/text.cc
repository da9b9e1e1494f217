#include "journal/text.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string_view>

#include "journal/fields.h"

namespace tidegate::journal {
namespace {

using units::Id;
using units::Quantity;

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string_view label(const domain::Event& event) {
  return std::visit(Overloaded{
                        [](const domain::Arrived&) { return "arrived"; },
                        [](const domain::CallerLeft&) { return "caller_left"; },
                        [](const domain::EngineJoined&) { return "engine_joined"; },
                        [](const domain::EngineDraining&) { return "engine_draining"; },
                        [](const domain::EngineLost&) { return "engine_lost"; },
                        [](const domain::Accepted&) { return "accepted"; },
                        [](const domain::TokensProduced&) { return "tokens"; },
                        [](const domain::Finished&) { return "finished"; },
                        [](const domain::Failed&) { return "failed"; },
                        [](const domain::StateReport&) { return "state"; },
                        [](const domain::Tick&) { return "tick"; },
                        [](const domain::DrainRequested&) { return "drain_requested"; },
                    },
                    event);
}

std::string_view label(const domain::Decision& decision) {
  return std::visit(Overloaded{
                        [](const domain::Admit&) { return "admit"; },
                        [](const domain::Hold&) { return "hold"; },
                        [](const domain::End&) { return "end"; },
                        [](const domain::Downgrade&) { return "downgrade"; },
                        [](const domain::Assign&) { return "assign"; },
                        [](const domain::Abort&) { return "abort"; },
                        [](const domain::WakeAt&) { return "wake_at"; },
                    },
                    decision);
}

char letter(units::RequestId /*id*/) {
  return 'r';
}
char letter(units::TenantId /*id*/) {
  return 't';
}
char letter(units::ClassId /*id*/) {
  return 'c';
}
char letter(units::ModelId /*id*/) {
  return 'm';
}
char letter(units::EngineId /*id*/) {
  return 'e';
}

std::string span_text(std::int64_t ns) {
  if (ns == 0) return "0";
  if (ns % 1'000'000'000 == 0) return fmt::format("{}s", ns / 1'000'000'000);
  if (ns % 1'000'000 == 0) return fmt::format("{}ms", ns / 1'000'000);
  if (ns % 1'000 == 0) return fmt::format("{}us", ns / 1'000);
  return fmt::format("{}ns", ns);
}

std::int64_t bare(std::int64_t v) {
  return v;
}
std::int64_t bare(units::Tokens v) {
  return v.value();
}

// Appends " name=value" for each member; values without a short form of their own are flattened.
class TextWriter {
 public:
  explicit TextWriter(std::string& out) : out_(out) {}

  template <class T>
  void operator()(std::string_view name, const T& member) {
    put(name, member);
  }

 private:
  template <class... Args>
  void append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void put(std::string_view name, bool v) { append(" {}={}", name, v ? "yes" : "no"); }
  void put(std::string_view name, std::uint8_t v) { append(" {}={}", name, unsigned{v}); }
  void put(std::string_view name, std::int32_t v) { append(" {}={}", name, v); }
  void put(std::string_view name, std::int64_t v) { append(" {}={}", name, v); }
  void put(std::string_view name, units::Instant v) { append(" {}={}", name, to_text(v)); }
  void put(std::string_view name, units::Nanos v) { append(" {}={}", name, to_text(v)); }
  void put(std::string_view name, units::Ppm v) { append(" {}={}ppm", name, v.value()); }
  template <class Tag>
  void put(std::string_view name, Quantity<Tag> v) {
    append(" {}={}", name, v.value());
  }
  void put(std::string_view name, units::Epoch v) { append(" {}={}", name, v.value()); }
  void put(std::string_view name, units::Attempt v) { append(" {}={}", name, v.value()); }
  template <class Tag>
  void put(std::string_view name, Id<Tag> v) {
    append(" {}={}{}", name, letter(v), v.value());
  }
  void put(std::string_view name, const domain::AttemptRef& v) {
    append(" {}=r{}.{}@e{}.{}", name, v.request.value(), v.attempt.value(), v.engine.value(),
           v.epoch.value());
  }
  template <class T, std::size_t N>
  void put(std::string_view name, const std::array<T, N>& list) {
    append(" {}=", name);
    for (std::size_t i = 0; i < N; ++i) append("{}{}", i == 0 ? "" : ",", bare(list[i]));
  }
  void put(std::string_view name, const domain::PrefixChain& chain) {
    if (chain) append(" {}={}", name, chain->size());
  }
  template <class T>
  void put(std::string_view name, const std::vector<T>& list) {
    for (const T& entry : list) {
      append(" [{}", name);
      fields(*this, entry);
      append("]");
    }
  }
  template <class T>
  void put(std::string_view name, const T& v) {
    if constexpr (std::is_enum_v<T>) {
      append(" {}={}", name, domain::name(v));
    } else {
      fields(*this, v);
    }
  }

  std::string& out_;
};

template <class Variant>
std::string line(const Variant& v) {
  std::string out(label(v));
  TextWriter writer(out);
  std::visit([&](const auto& alternative) { fields(writer, alternative); }, v);
  return out;
}

}  // namespace

std::string to_text(const domain::Event& event) {
  return line(event);
}

std::string to_text(const domain::Decision& decision) {
  return line(decision);
}

std::string to_text(const Refused& refused) {
  return "refused r" + std::to_string(refused.request.value()) + " by the edge: status " +
         std::to_string(refused.status) + ", " + refused.reason;
}

std::string to_text(const batch::StepPlan& plan) {
  std::string out = "plan";
  TextWriter writer(out);
  fields(writer, plan);
  return out;
}

std::string to_text(units::Instant at) {
  return at == units::Instant::never() ? "never" : span_text(at.ns());
}

std::string to_text(units::Nanos span) {
  return span_text(span.value());
}

std::string to_text(const Step& step) {
  std::string out = to_text(step.now) + " " + to_text(step.event) + "\n";
  for (const auto& decision : step.decisions) out += "  -> " + to_text(decision) + "\n";
  return out;
}

}  // namespace tidegate::journal
