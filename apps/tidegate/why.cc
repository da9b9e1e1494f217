// tidegate why REQUEST_ID: what was decided about one request, in order, with times; from a journal
// or from a running gateway.
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "gateway/decision_log.h"
#include "gateway/edge.h"
#include "journal/file.h"
#include "journal/text.h"
#include "net/fetch.h"
#include "subcommand.h"

namespace tidegate::app {
namespace {

struct WhyOptions {
  std::string request;
  std::string journal;
  std::string server;
  std::string key;
  std::string ca_file;
  bool json = false;
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

int ask_server(const WhyOptions& options, std::uint64_t id) {
  net::FetchOptions fetch;
  fetch.server = options.server;
  fetch.target = "/admin/v1/decisions/" + gateway::request_id_text(id);
  fetch.headers.emplace_back("accept", options.json ? "application/json" : "text/plain");
  if (!options.key.empty()) fetch.headers.emplace_back("authorization", "Bearer " + options.key);
  fetch.ca_file = options.ca_file;
  const auto fetched = net::fetch(fetch);
  if (!fetched) {
    complain(fetched.error().where, fetched.error().message);
    return kFailed;
  }
  if (fetched->status == 200) {
    std::cout << fetched->body << (options.json ? "\n" : "");
    return kDone;
  }
  std::cerr << "tidegate why: " << options.server << " answers " << fetched->status << ": "
            << fetched->body << "\n";
  return kFailed;
}

int why(const WhyOptions& options) {
  const auto id = gateway::parse_request_id(options.request);
  if (!id) {
    return complain(options.request, "is no request id; give it as in the header x-request-id");
  }
  if (!options.server.empty()) return ask_server(options, *id);
  auto reader = journal::Reader::open(options.journal);
  if (!reader) return complain(reader.error().where, reader.error().message);
  bool found = false;
  journal::Record record;
  while (true) {
    const auto read = reader->next(record);
    if (!read) return complain(read.error().where, read.error().message);
    if (*read != journal::ReadEnd::kRecord) break;
    const auto* refused = std::get_if<journal::Refused>(&record);
    if (refused != nullptr && refused->request == units::RequestId(*id)) {
      std::cout << journal::to_text(refused->at) << "  " << journal::to_text(*refused) << "\n";
      found = true;
    }
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
  auto* from = app->add_option_group("from", "Where to look");
  from->add_option("--journal", options->journal, "The journal that `serve` wrote");
  from->add_option("--server", options->server, "A running gateway, http://HOST:PORT");
  from->require_option(1);
  app->add_option("--key", options->key, "The gateway's admin key; better in the environment")
      ->envname("TIDEGATE_ADMIN_KEY");
  app->add_option("--ca", options->ca_file, "PEM file to trust instead of the system's");
  app->add_flag("--json", options->json, "With --server: print JSON");
  app->footer(
      "A running gateway remembers the last 4,096 requests; a journal has all of them.\n\n"
      "Examples:\n"
      "  tidegate why req-0000006a2f000001 --journal serve.journal\n"
      "  tidegate why req-0000006a2f000001 --server http://127.0.0.1:8080");
  return {app, [options] { return why(*options); }};
}

}  // namespace tidegate::app
