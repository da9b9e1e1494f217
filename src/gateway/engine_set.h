// The engines of this process and what the edge must know about the models they serve. Engines are
// given in the order of their ids; what they report goes into the mailbox, their text to the calls.
//
// Threading: immutable after start() but for the engines' own threads; every const function may be
// called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "gateway/mailbox.h"
#include "gateway/metrics.h"
#include "gateway/text_routes.h"

namespace tidegate::gateway {

struct NamedEngine {
  std::string name;
  units::ModelId model;
  std::unique_ptr<engines::Engine> engine;
};

// A model as the edge sees it. All engines of a model are taken to share its vocabulary.
struct ServedModel {
  units::ModelId id;
  std::string name;
  engines::Engine* first = nullptr;  // tokenizes for all of them; null: no engine
  units::Tokens max_context{0};      // of the roomiest engine
  units::Tokens block_tokens{16};
  std::int64_t max_piece_bytes = 1;  // longest token of the vocabulary
  bool generates = true;
  bool embeds = false;
};

class EngineSet final : public engines::Sink {
 public:
  EngineSet(std::vector<NamedEngine> engines, const std::vector<std::string>& model_names);
  ~EngineSet() override;

  // Starts every engine's thread. REQUIRES: called once; all of them outlive the engines' stop().
  void start(Mailbox& mailbox, TextRoutes& routes, Metrics& metrics);
  // Ends what still runs there and the threads. Idempotent.
  void stop();

  engines::Engine& engine(units::EngineId id) { return *engines_[id.value()].engine; }
  const std::vector<NamedEngine>& engines() const { return engines_; }
  const std::string& name(units::EngineId id) const { return engines_[id.value()].name; }
  const std::vector<ServedModel>& models() const { return models_; }
  // Null when there is no such model.
  const ServedModel* model(const std::string& name) const;

  void on_event(const domain::Event& event) override;
  void on_text(const domain::AttemptRef& ref, engines::TextDelta delta) override;
  void on_step(units::EngineId engine, units::Nanos took) override;

 private:
  std::vector<NamedEngine> engines_;
  std::vector<ServedModel> models_;
  Mailbox* mailbox_ = nullptr;
  TextRoutes* routes_ = nullptr;
  Metrics* metrics_ = nullptr;
};

}  // namespace tidegate::gateway
