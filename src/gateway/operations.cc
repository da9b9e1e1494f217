#include "gateway/operations.h"

#include <algorithm>

#include "gateway/admin_view.h"
#include "gateway/auth.h"
#include "gateway/decision_loop.h"
#include "gateway/edge.h"
#include "openai/refusal.h"

namespace tidegate::gateway {
namespace {

constexpr std::string_view kAdmin = "/admin/v1/";

void json(const Operations::ExchangePtr& exchange, int status, std::string body) {
  exchange->respond(status, {{"content-type", "application/json"}}, std::move(body));
}

void plain(const Operations::ExchangePtr& exchange, int status, std::string body) {
  exchange->respond(status, {{"content-type", "text/plain; charset=utf-8"}}, std::move(body));
}

void refuse(const Operations::ExchangePtr& exchange, openai::EdgeError error, const char* message) {
  const openai::Refusal refusal = openai::refusal(error, message);
  net::Headers headers = openai::refusal_headers(refusal);
  if (refusal.status == 405) headers.emplace_back("allow", "GET, HEAD, POST");
  exchange->respond(refusal.status, std::move(headers), openai::error_body(refusal));
}

bool reads(const net::Request& request) {
  return request.method == "GET" || request.method == "HEAD";
}

bool wants_text(const net::Headers& headers) {
  return std::any_of(headers.begin(), headers.end(), [](const net::Header& header) {
    return header.first == "accept" && header.second.rfind("text/plain", 0) == 0;
  });
}

}  // namespace

bool Operations::handle(const ExchangePtr& exchange, std::string_view path, bool open) {
  const bool health = path == "/healthz" || path == "/livez";
  const bool readiness = path == "/readyz";
  const bool figures = path == "/metrics";
  const bool administration = path.substr(0, kAdmin.size()) == kAdmin;
  if (!health && !readiness && !figures && !administration) return false;
  const net::Request& request = exchange->request();
  if (!administration && !reads(request)) {
    refuse(exchange, openai::EdgeError::kMethodNotAllowed, "use GET here");
  } else if (health) {
    plain(exchange, 200, "ok\n");
  } else if (readiness) {
    ready(exchange);
  } else if (!permitted(request, open)) {
    refuse(exchange, openai::EdgeError::kUnknownKey,
           "this needs an admin key; send authorization: Bearer KEY");
  } else if (figures) {
    metrics(exchange);
  } else {
    admin(exchange, path.substr(kAdmin.size()));
  }
  return true;
}

bool Operations::permitted(const net::Request& request, bool open) const {
  const SettingsPtr settings = parts_.settings.get();
  const auto& keys = settings->config.server.admin.keys;
  return keys.empty() ? open : one_of(keys, bearer_key(request.headers));
}

void Operations::ready(const ExchangePtr& exchange) {
  parts_.mailbox.post_urgent(Visit([exchange](DecisionLoop& loop) {
    if (loop.draining()) return plain(exchange, 503, "draining\n");
    if (!loop.ready()) return plain(exchange, 503, "engines are starting\n");
    plain(exchange, 200, "ready\n");
  }));
}

void Operations::metrics(const ExchangePtr& exchange) {
  parts_.mailbox.post_urgent(Visit([this, exchange](DecisionLoop& loop) {
    loop.set_gauges();
    exchange->respond(200, {{"content-type", "text/plain; version=0.0.4; charset=utf-8"}},
                      parts_.metrics.text());
  }));
}

void Operations::visit(const ExchangePtr& exchange,
                       std::function<std::string(DecisionLoop&)> look) {
  parts_.mailbox.post_urgent(Visit(
      [exchange, look = std::move(look)](DecisionLoop& loop) { json(exchange, 200, look(loop)); }));
}

void Operations::reload(const ExchangePtr& exchange) {
  parts_.reload([exchange](const ReloadResult& result) {
    json(exchange, result.problems.empty() ? 200 : 422, reload_json(result));
  });
}

void Operations::decision(const ExchangePtr& exchange, std::string_view text) {
  const auto id = parse_request_id(text);
  if (!id) {
    refuse(exchange, openai::EdgeError::kInvalidRequest, "name a request as in x-request-id");
    return;
  }
  const bool words = wants_text(exchange->request().headers);
  parts_.mailbox.post_urgent(Visit([exchange, id, words](DecisionLoop& loop) {
    const DecisionHistory* history = loop.log().find(units::RequestId(*id));
    if (history == nullptr) {
      refuse(exchange, openai::EdgeError::kUnknownRoute,
             "no decision about this request is remembered: the edge refused it, or too many came "
             "after it");
    } else if (words) {
      plain(exchange, 200, decisions_text(loop, *history));
    } else {
      json(exchange, 200, decisions_json(loop, *history));
    }
  }));
}

void Operations::admin(const ExchangePtr& exchange, std::string_view path) {
  constexpr std::string_view kDecisions = "decisions/";
  const bool read = reads(exchange->request());
  const bool post = exchange->request().method == "POST";
  if (path == "drain" && post) {
    parts_.stop_admitting();
    visit(exchange, state_json);
  } else if (path == "reload" && post) {
    reload(exchange);
  } else if (path == "state" && read) {
    visit(exchange, state_json);
  } else if (path == "engines" && read) {
    visit(exchange, engines_json);
  } else if (path == "tenants" && read) {
    visit(exchange, tenants_json);
  } else if (path.substr(0, kDecisions.size()) == kDecisions && read) {
    decision(exchange, path.substr(kDecisions.size()));
  } else if (path == "drain" || path == "reload" || path == "state" || path == "engines" ||
             path == "tenants") {
    refuse(exchange, openai::EdgeError::kMethodNotAllowed,
           "GET reads state, engines and tenants; POST does reload and drain");
  } else {
    refuse(exchange, openai::EdgeError::kUnknownRoute,
           "there are state, engines, tenants, decisions/ID, reload and drain under /admin/v1/");
  }
}

}  // namespace tidegate::gateway
