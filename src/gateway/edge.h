// The public edge: from one HTTP request to a submission in the mailbox, or to an answer at once.
// Everything that can be said without the core is said here: who is calling, whether the request
// makes sense, whether the model exists and may be used, and the size of the work in tokens.
//
// Runs on network threads; immutable but for counters, thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/engine_set.h"
#include "gateway/idempotency.h"
#include "gateway/journal_sink.h"
#include "gateway/mailbox.h"
#include "gateway/metrics.h"
#include "gateway/request_log.h"
#include "gateway/settings.h"
#include "net/exchange.h"
#include "openai/refusal.h"
#include "openai/request.h"

namespace tidegate::gateway {

// What the edge works with; all of it outlives the edge.
struct EdgeParts {
  const CurrentSettings& settings;
  EngineSet& engines;
  Mailbox& mailbox;
  Metrics& metrics;
  RequestLog& log;
  JournalSink& journal;
};

class Edge {
 public:
  using ExchangePtr = std::shared_ptr<net::Exchange>;

  explicit Edge(const EdgeParts& parts);

  // Answers /v1/..., and 404 for the rest.
  void handle(const ExchangePtr& exchange);
  // The headers and body for what the server refuses before it is a request (net::RefusalBody);
  // accounted for like every other refusal.
  std::pair<net::Headers, std::string> refuse_unread(int status, std::string_view what);

 private:
  // One request on its way through the edge.
  struct Passage {
    ExchangePtr exchange;
    units::Instant received;
    std::uint64_t id = 0;
    SettingsPtr settings;  // of the moment it came in; the tenant is in there
    const config::TenantConfig* tenant = nullptr;
    const ServedModel* model = nullptr;
    CallSummary summary;
    std::optional<Idempotency::Key> key;  // claimed for this call
  };
  using Prompts = std::vector<std::vector<engines::Token>>;
  using MaybeRefusal = std::optional<openai::Refusal>;

  void route(Passage& passage, std::string_view path);
  void chat(Passage& passage);
  void completion(Passage& passage);
  void embeddings(Passage& passage);
  void models(Passage& passage, std::string_view path);

  MaybeRefusal find_model(Passage& passage, const std::string& name) const;
  // Refuses without tokenizing what is too long in any tokenization.
  MaybeRefusal check_bytes(const Passage& passage, std::size_t bytes, const char* param) const;
  MaybeRefusal check_tokens(const Passage& passage, const std::vector<engines::Token>& tokens,
                            const char* param) const;
  units::Result<std::vector<engines::Token>> tokens_of(const Passage& passage,
                                                       const openai::Prompt& prompt) const;
  static std::size_t longest_text(const std::vector<openai::Prompt>& prompts);
  // Tokens of every prompt, checked one by one.
  units::Result<Prompts> tokens_of_all(const Passage& passage,
                                       const std::vector<openai::Prompt>& prompts,
                                       const char* param) const;
  // Claims the caller's idempotency key, if it sent one. False when the call was made before, and
  // then it was answered by what is known of that.
  bool claim(Passage& passage, const std::string& key);
  // The claimed key is free again: the call comes to nothing.
  void release(const Passage& passage);
  // Counts the call in; false when the gateway is full, and then it was refused.
  bool enter(Passage& passage);
  // The prompts are known: agree on terms, build the lanes, and submit.
  void submit(Passage& passage, const openai::Generation& asked, openai::Api api,
              const Prompts& prompts);
  std::vector<Lane> lanes(const Passage& passage, const openai::Generation& asked,
                          units::ClassId service_class, const Prompts& prompts);
  std::shared_ptr<Call> make_call(const Passage& passage, const openai::Generation& asked,
                                  openai::Api api, const std::vector<Lane>& lanes);
  void embed(Passage& passage, const openai::EmbeddingsRequest& asked, Prompts inputs);

  void refuse(Passage& passage, const openai::Refusal& refusal) const;
  void answer(Passage& passage, int status, std::string body, net::Headers headers = {}) const;
  void conclude(Passage& passage, domain::Outcome outcome, int status) const;
  // The one account of a refusal by the edge: metrics, log and journal.
  void account(Passage& passage, const openai::Refusal& refusal) const;
  std::uint64_t new_id() { return next_id_.fetch_add(1, std::memory_order_relaxed); }

  EdgeParts parts_;
  std::int64_t started_s_;  // Unix time
  std::uint64_t salt_;      // of prefix chains; another one in each process
  std::atomic<std::uint64_t> next_id_;
  // Calls inside; shared with them, since they may outlive a moment of ours.
  std::shared_ptr<std::atomic<std::int64_t>> inside_;
  std::shared_ptr<Idempotency> idempotency_;  // (the same)
};

// "req-0123456789abcdef" and back.
std::string request_id_text(std::uint64_t id);
std::optional<std::uint64_t> parse_request_id(std::string_view text);

}  // namespace tidegate::gateway
