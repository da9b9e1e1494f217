// The part of the edge for embeddings. They are computed between the steps of an engine and hold no
// KV memory, so the core does not see them; the bound on calls inside holds for them too.
#include <atomic>
#include <utility>

#include "gateway/clock.h"
#include "gateway/edge.h"
#include "openai/parse.h"
#include "openai/response.h"

namespace tidegate::gateway {
namespace {

// One embeddings call on its way: each vector arrives by itself, the last one answers.
struct Gathering {
  explicit Gathering(std::size_t inputs) : vectors(inputs), missing(inputs) {}

  // True with the last one: from then on nobody else touches what is here.
  bool put(std::size_t index, units::Result<std::vector<float>> vector) {
    const std::lock_guard lock(mutex);
    if (vector) {
      vectors[index] = std::move(*vector);
    } else {
      failure = vector.error().message;
    }
    return --missing == 0;
  }

  std::mutex mutex;
  std::vector<std::vector<float>> vectors;
  std::size_t missing;
  std::string failure;
};

}  // namespace

void Edge::embeddings(Passage& passage) {
  const auto asked = openai::parse_embeddings(passage.exchange->request().body);
  if (!asked) return refuse(passage, openai::refusal(asked.error()));
  if (const auto refusal = find_model(passage, asked->model)) return refuse(passage, *refusal);
  if (!passage.model->embeds) {
    return refuse(passage, openai::refusal(openai::EdgeError::kUnsupported,
                                           "this model gives no embeddings", "model"));
  }
  if (asked->dimensions && *asked->dimensions != passage.model->first->model().embedding_width) {
    return refuse(
        passage, openai::refusal(openai::EdgeError::kInvalidRequest,
                                 "this model's vectors have " +
                                     std::to_string(passage.model->first->model().embedding_width) +
                                     " dimensions; leave this out",
                                 "dimensions"));
  }
  if (const auto refusal = check_bytes(passage, longest_text(asked->inputs), "input")) {
    return refuse(passage, *refusal);
  }
  auto inputs = tokens_of_all(passage, asked->inputs, "input");
  if (!inputs) return refuse(passage, openai::refusal(inputs.error()));
  for (const auto& tokens : *inputs) {
    if (const auto refusal = check_tokens(passage, tokens, "input"))
      return refuse(passage, *refusal);
  }
  if (enter(passage)) embed(passage, *asked, std::move(*inputs));
}

void Edge::embed(Passage& passage, const openai::EmbeddingsRequest& asked, Prompts inputs) {
  auto gathering = std::make_shared<Gathering>(inputs.size());
  std::int64_t tokens = 0;
  for (const auto& input : inputs) tokens += static_cast<std::int64_t>(input.size());
  passage.summary.usage.prompt = units::Tokens(tokens);
  auto finish = [this, passage, asked, gathering, tokens]() mutable {
    inside_->fetch_sub(1, std::memory_order_relaxed);
    if (!gathering->failure.empty()) {
      return refuse(passage, openai::refusal(openai::EdgeError::kInternal, gathering->failure));
    }
    answer(passage, 200,
           openai::embeddings({asked.model, asked.encoding, gathering->vectors, tokens}));
  };
  engines::Engine& engine = *passage.model->first;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    engine.embed(std::move(inputs[i]),
                 [gathering, finish, i](units::Result<std::vector<float>> vector) mutable {
                   if (gathering->put(i, std::move(vector))) finish();
                 });
  }
}

}  // namespace tidegate::gateway
