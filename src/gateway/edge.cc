#include "gateway/edge.h"

#include <algorithm>
#include <charconv>
#include <random>
#include <utility>

#include "gateway/clock.h"
#include "openai/response.h"

namespace tidegate::gateway {
namespace {

constexpr std::string_view kIdPrefix = "req-";
// Bytes of a caller's own word that an answer repeats.
constexpr std::size_t kNameShown = 64;

// Ids grow with the time of the start, so that those of two lives of the process do not meet.
std::uint64_t first_id() {
  return static_cast<std::uint64_t>(wall_seconds()) << 24U;
}

std::uint64_t random_salt() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32U) | device();
}

// The beginning of a caller's word, cut between characters.
std::string shown(const std::string& word) {
  std::size_t end = std::min(word.size(), kNameShown);
  while (end > 0 && end < word.size() && (static_cast<unsigned char>(word[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return word.substr(0, end);
}

domain::Outcome outcome_of(int status) {
  if (status == 429 || status == 503) return domain::Outcome::kRejectedCapacity;
  return status == 500 ? domain::Outcome::kEngineFailed : domain::Outcome::kRejectedInvalid;
}

bool allowed(const domain::Tenant& tenant, units::ModelId model) {
  return tenant.models.empty() ||
         std::find(tenant.models.begin(), tenant.models.end(), model) != tenant.models.end();
}

}  // namespace

std::string request_id_text(std::uint64_t id) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(kIdPrefix);
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(id >> shift) & 15U];
  return text;
}

std::optional<std::uint64_t> parse_request_id(std::string_view text) {
  if (text.substr(0, kIdPrefix.size()) == kIdPrefix) text.remove_prefix(kIdPrefix.size());
  std::uint64_t id = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), id, 16);
  if (failure != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return id;
}

Edge::Edge(const EdgeParts& parts)
    : parts_(parts),
      started_s_(wall_seconds()),
      salt_(random_salt()),
      next_id_(first_id()),
      inside_(std::make_shared<std::atomic<std::int64_t>>(0)),
      idempotency_(std::make_shared<Idempotency>()) {}

void Edge::handle(const ExchangePtr& exchange) {
  Passage passage;
  passage.exchange = exchange;
  passage.received = now();
  passage.id = new_id();
  const std::string_view target = exchange->request().target;
  const std::string_view path = target.substr(0, target.find('?'));
  passage.summary.request_id = request_id_text(passage.id);
  passage.settings = parts_.settings.get();
  const auto tenant = passage.settings->auth.tenant(bearer_key(exchange->request().headers));
  if (!tenant) {
    refuse(passage, openai::refusal(openai::EdgeError::kUnknownKey,
                                    "this key is not known here; send authorization: Bearer KEY"));
    return;
  }
  passage.tenant = &passage.settings->config.tenants[*tenant];
  passage.summary.tenant = passage.tenant->values.name;
  route(passage, path);
}

void Edge::route(Passage& passage, std::string_view path) {
  const std::string& method = passage.exchange->request().method;
  const bool list = path == "/v1/models" || path.substr(0, 11) == "/v1/models/";
  const bool post = path == "/v1/chat/completions" || path == "/v1/completions" ||
                    path == "/v1/embeddings" || path == "/v1/responses";
  if (!list && !post) {
    refuse(passage, openai::refusal(openai::EdgeError::kUnknownRoute,
                                    "there is nothing here; the API is under /v1/"));
    return;
  }
  passage.summary.route = list ? "/v1/models" : std::string(path);
  const bool right = list ? method == "GET" || method == "HEAD" : method == "POST";
  if (!right) {
    refuse(passage, openai::refusal(openai::EdgeError::kMethodNotAllowed,
                                    list ? "use GET here" : "use POST here"));
    return;
  }
  if (list) return models(passage, path);
  if (path == "/v1/chat/completions") return chat(passage);
  if (path == "/v1/completions") return completion(passage);
  if (path == "/v1/embeddings") return embeddings(passage);
  refuse(passage, openai::refusal(openai::EdgeError::kUnsupported,
                                  "no engine here has the Responses API; send this to "
                                  "/v1/chat/completions as messages"));
}

void Edge::models(Passage& passage, std::string_view path) {
  std::vector<openai::ModelEntry> entries;
  for (const ServedModel& model : parts_.engines.models()) {
    if (!allowed(passage.tenant->values, model.id)) continue;
    entries.push_back({model.name, started_s_, "tidegate"});
  }
  if (path == "/v1/models") return answer(passage, 200, openai::model_list(entries));
  const std::string name(path.substr(11));
  if (const auto refusal = find_model(passage, name)) return refuse(passage, *refusal);
  answer(passage, 200, openai::model_object({name, started_s_, "tidegate"}));
}

Edge::MaybeRefusal Edge::find_model(Passage& passage, const std::string& name) const {
  passage.model = parts_.engines.model(name);
  if (passage.model == nullptr || passage.model->first == nullptr) {
    return openai::refusal(
        openai::EdgeError::kUnknownModel,
        "the model '" + shown(name) + "' does not exist; GET /v1/models lists those that do",
        "model");
  }
  passage.summary.model = passage.model->name;
  if (allowed(passage.tenant->values, passage.model->id)) return std::nullopt;
  return openai::refusal(openai::EdgeError::kModelNotAllowed,
                         "this model is not open to your key; GET /v1/models lists those that are",
                         "model");
}

void Edge::refuse(Passage& passage, const openai::Refusal& refusal) const {
  net::Headers headers = openai::refusal_headers(refusal);
  headers.emplace_back("x-request-id", passage.summary.request_id);
  if (refusal.status == 405) {
    headers.emplace_back("allow", passage.summary.route == "/v1/models" ? "GET, HEAD" : "POST");
  }
  std::string body = openai::error_body(refusal, passage.summary.request_id);
  passage.exchange->respond(refusal.status, std::move(headers), std::move(body));
  account(passage, refusal);
}

std::pair<net::Headers, std::string> Edge::refuse_unread(int status, std::string_view what) {
  Passage passage;
  passage.received = now();
  passage.id = new_id();
  passage.summary.request_id = request_id_text(passage.id);
  const openai::Refusal refusal = openai::refusal(openai::edge_error(status), std::string(what));
  net::Headers headers = openai::refusal_headers(refusal);
  headers.emplace_back("x-request-id", passage.summary.request_id);
  account(passage, refusal);
  return {std::move(headers), openai::error_body(refusal, passage.summary.request_id)};
}

void Edge::account(Passage& passage, const openai::Refusal& refusal) const {
  passage.summary.reason = refusal.reason;
  parts_.journal.refused(
      {passage.received, units::RequestId(passage.id), refusal.status, refusal.reason});
  conclude(passage, outcome_of(refusal.status), refusal.status);
}

void Edge::answer(Passage& passage, int status, std::string body, net::Headers headers) const {
  headers.emplace_back("content-type", "application/json");
  headers.emplace_back("x-request-id", passage.summary.request_id);
  passage.exchange->respond(status, std::move(headers), std::move(body));
  conclude(passage, domain::Outcome::kCompleted, status);
}

void Edge::conclude(Passage& passage, domain::Outcome outcome, int status) const {
  passage.summary.outcome = outcome;
  passage.summary.status = status;
  passage.summary.total = now() - passage.received;
  parts_.metrics.call_ended(passage.summary);
  parts_.log.call(passage.summary);
}

}  // namespace tidegate::gateway
