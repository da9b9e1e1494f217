#include "gateway/engine_set.h"

#include <algorithm>
#include <utility>

namespace tidegate::gateway {
namespace {

std::int64_t longest_piece(const engines::Tokenizer& tokenizer) {
  std::size_t longest = 1;
  for (engines::Token token = 0; token < tokenizer.vocabulary(); ++token) {
    longest = std::max(longest, tokenizer.piece(token).size());
  }
  return static_cast<std::int64_t>(longest);
}

void describe(engines::Engine& engine, ServedModel& model) {
  const domain::EngineSpec spec = engine.spec();
  model.max_context = std::max(model.max_context, spec.limits.max_context);
  if (model.first != nullptr) return;
  model.first = &engine;
  model.block_tokens = spec.kv.block_tokens;
  model.max_piece_bytes = longest_piece(engine.tokenizer());
  model.generates = engine.model().generates;
  model.embeds = engine.model().embedding_width > 0;
}

}  // namespace

EngineSet::EngineSet(std::vector<NamedEngine> engines, const std::vector<std::string>& model_names)
    : engines_(std::move(engines)) {
  for (const std::string& name : model_names) {
    ServedModel model;
    model.id = units::ModelId(models_.size());
    model.name = name;
    for (const NamedEngine& each : engines_) {
      if (each.model == model.id) describe(*each.engine, model);
    }
    models_.push_back(std::move(model));
  }
}

EngineSet::~EngineSet() {
  stop();
}

void EngineSet::start(Mailbox& mailbox, TextRoutes& routes, Metrics& metrics) {
  metrics_ = &metrics;
  mailbox_ = &mailbox;
  routes_ = &routes;
  for (NamedEngine& each : engines_) each.engine->start(*this);
}

void EngineSet::stop() {
  for (NamedEngine& each : engines_) each.engine->stop();
}

const ServedModel* EngineSet::model(const std::string& name) const {
  const auto found = std::find_if(models_.begin(), models_.end(),
                                  [&name](const ServedModel& each) { return each.name == name; });
  return found == models_.end() ? nullptr : &*found;
}

void EngineSet::on_event(const domain::Event& event) {
  mailbox_->post(event);
}

void EngineSet::on_text(const domain::AttemptRef& ref, engines::TextDelta delta) {
  routes_->deliver(ref, std::move(delta));
}

void EngineSet::on_step(units::EngineId engine, units::Nanos took) {
  metrics_->step(engine, took);
}

}  // namespace tidegate::gateway
