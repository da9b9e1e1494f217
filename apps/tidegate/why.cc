// tidegate why REQUEST_ID --journal FILE: what was decided about one request, in order, with times.
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "gateway/decision_log.h"
#include "gateway/edge.h"
#include "journal/file.h"
#include "journal/text.h"
#include "subcommand.h"

namespace tidegate::app {
namespace {

struct WhyOptions {
  std::string request;
  std::string journal;
};

// The request that an event is about; nullopt for those about engines or nobody.
std::optional<units::RequestId> subject(const domain::Event& event) {
  return std::visit(
      [](const auto& each) -> std::optional<units::RequestId> {
        using Kind = std::decay_t<decltype(each)>;
        if constexpr (std::is_same_v<Kind, domain::Arrived>) {
          return each.request.id;
        } else if constexpr (std::is_same_v<Kind, domain::CallerLeft>) {
          return each.request;
        } else if constexpr (std::is_same_v<Kind, domain::Accepted> ||
                             std::is_same_v<Kind, domain::TokensProduced> ||
                             std::is_same_v<Kind, domain::Finished> ||
                             std::is_same_v<Kind, domain::Failed>) {
          return each.ref.request;
        } else {
          return std::nullopt;
        }
      },
      event);
}

// Prints what of this step is about the request; true when there was something.
bool print(const journal::Step& step, units::RequestId id) {
  bool found = false;
  // One line for each token would hide the rest.
  const bool tokens = std::holds_alternative<domain::TokensProduced>(step.event);
  if (subject(step.event) == id && !tokens) {
    std::cout << journal::to_text(step.now) << "  " << journal::to_text(step.event) << "\n";
    found = true;
  }
  for (const domain::Decision& decision : step.decisions) {
    if (gateway::subject(decision) != id) continue;
    std::cout << journal::to_text(step.now) << "    decided: " << journal::to_text(decision)
              << "\n";
    found = true;
  }
  return found;
}

int complain(const std::string& where, const std::string& message) {
  std::cerr << "tidegate why: " << where << ": " << message << "\n";
  return kWrongInput;
}

int why(const WhyOptions& options) {
  const auto id = gateway::parse_request_id(options.request);
  if (!id) {
    return complain(options.request, "is no request id; give it as in the header x-request-id");
  }
  auto reader = journal::Reader::open(options.journal);
  if (!reader) return complain(reader.error().where, reader.error().message);
  bool found = false;
  journal::Record record;
  while (true) {
    const auto read = reader->next(record);
    if (!read) return complain(read.error().where, read.error().message);
    if (*read != journal::ReadEnd::kRecord) break;
    const auto* step = std::get_if<journal::Step>(&record);
    if (step != nullptr && print(*step, units::RequestId(*id))) found = true;
  }
  if (found) return kDone;
  std::cerr << "tidegate why: this journal does not know " << options.request << "\n";
  return kFailed;
}

}  // namespace

Subcommand add_why(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("why", "Show what was decided about a request");
  const auto options = std::make_shared<WhyOptions>();
  app->add_option("REQUEST_ID", options->request, "As in the header x-request-id")->required();
  app->add_option("--journal", options->journal, "The journal that `serve` wrote")->required();
  app->footer(
      "A running gateway answers the same at /admin/v1/decisions/REQUEST_ID.\n\n"
      "Example:\n"
      "  tidegate why req-0000006a2f000001 --journal serve.journal");
  return {app, [options] { return why(*options); }};
}

}  // namespace tidegate::app
