// The history of one request in words.
#include <fmt/format.h>

#include <string>

#include "gateway/admin_view.h"
#include "gateway/edge.h"

namespace tidegate::gateway {
namespace {

using domain::Reason;
using domain::Resource;

double milliseconds_of(units::Nanos span) {
  return static_cast<double>(span.value()) / 1e6;
}

std::string words(const DecisionLoop& /*loop*/, units::Instant /*at*/, const domain::Admit& admit) {
  return fmt::format("admitted, {}", domain::name(admit.tier));
}

std::string words(const DecisionLoop& /*loop*/, units::Instant at, const domain::Hold& hold) {
  std::string text =
      fmt::format("held: {}; {} before it", domain::name(hold.reason), hold.position);
  if (hold.eta != units::Instant::never()) {
    text += fmt::format("; expected to start in {:.1f} ms", milliseconds_of(hold.eta - at));
  }
  return text;
}

std::string words(const DecisionLoop& /*loop*/, units::Instant /*at*/, const domain::End& end) {
  std::string text = fmt::format("ended: {}", domain::name(end.outcome));
  if (end.reason != Reason::kNone) text += fmt::format(", because: {}", domain::name(end.reason));
  if (end.full != Resource::kNone) text += fmt::format("; full: {}", domain::name(end.full));
  if (end.retry_after > units::Nanos(0)) {
    text += fmt::format("; worth trying again in {:.0f} ms", milliseconds_of(end.retry_after));
  }
  return text;
}

std::string words(const DecisionLoop& /*loop*/, units::Instant /*at*/, const domain::Downgrade&) {
  return "downgraded: the promise could not be kept, and its tenant prefers late to never";
}

std::string words(const DecisionLoop& loop, units::Instant /*at*/, const domain::Assign& assign) {
  return fmt::format("sent to engine {}, try {}, {}", loop.engine_name(assign.ref.engine),
                     assign.ref.attempt.value(), domain::name(assign.tier));
}

std::string words(const DecisionLoop& loop, units::Instant /*at*/, const domain::Abort& abort) {
  return fmt::format("engine {} told to stop", loop.engine_name(abort.ref.engine));
}

std::string words(const DecisionLoop& /*loop*/, units::Instant /*at*/, const domain::WakeAt&) {
  return "";
}

std::string promised(const domain::Request& request) {
  const domain::Promise& promise = request.promise;
  if (promise.best_effort()) return "nothing: best effort";
  std::string text;
  if (promise.first_token_due != units::Instant::never()) {
    text = fmt::format("the first token within {:.0f} ms",
                       milliseconds_of(promise.first_token_due - request.arrival));
  }
  if (promise.token_pace > units::Nanos(0)) {
    text += fmt::format(", then one each {:.1f} ms", milliseconds_of(promise.token_pace));
  }
  if (promise.total_due != units::Instant::never()) {
    text += fmt::format("{}all of it within {:.0f} ms", text.empty() ? "" : ", ",
                        milliseconds_of(promise.total_due - request.arrival));
  }
  return text;
}

}  // namespace

std::string decisions_text(DecisionLoop& loop, const DecisionHistory& history) {
  const domain::Request& request = history.request;
  const auto& lengths = request.footprint.output.lengths;
  std::string text = fmt::format(
      "{}: tenant {}, class {}, model {}\n"
      "  size: {} prompt tokens and at most {} more; half of the answers like this end by {}, "
      "nearly all by {}\n"
      "  promised: {}\n",
      request_id_text(request.id.value()),
      loop.config().tenants[request.tenant.value()].values.name,
      loop.config().classes[request.service_class.value()].name,
      loop.config().models[request.model.value()].name, request.footprint.prompt.value(),
      request.footprint.max_output.value(), lengths[lengths.size() / 2].value(),
      lengths.back().value(), promised(request));
  for (const DecisionEntry& entry : history.entries) {
    const std::string decided = std::visit(
        [&](const auto& decision) { return words(loop, entry.at, decision); }, entry.decision);
    text += fmt::format("  {:+.1f} ms  {}\n", milliseconds_of(entry.at - request.arrival), decided);
  }
  return text;
}

}  // namespace tidegate::gateway
