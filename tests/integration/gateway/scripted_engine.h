// An engine that does nothing by itself: it remembers what it was given, and the test says what it
// answers, also what no sound engine would.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "engines/engine.h"

namespace tidegate::gateway {

// One byte is one token.
class ByteTokenizer final : public engines::Tokenizer {
 public:
  std::vector<engines::Token> tokenize(std::string_view text) const override {
    return {text.begin(), text.end()};
  }
  units::Result<std::vector<engines::Token>> tokenize_chat(
      const std::vector<engines::ChatMessage>& messages) const override {
    std::string text;
    for (const auto& message : messages) text += message.role + ": " + message.content + "\n";
    return tokenize(text);
  }
  units::Result<std::string> apply_chat_template(
      const std::vector<engines::ChatMessage>&) const override {
    return std::string();
  }
  std::string_view chat_template_note() const override { return "one byte is one token"; }
  bool chat_template_is_fallback() const override { return false; }
  std::string piece(engines::Token token) const override {
    return std::string(1, static_cast<char>(token));
  }
  std::int32_t vocabulary() const override { return 256; }
};

class ScriptedEngine final : public engines::Engine {
 public:
  ScriptedEngine(std::uint64_t id, std::int64_t max_sequences) {
    spec_.id = units::EngineId(id);
    spec_.epoch = units::Epoch(1);
    spec_.model = units::ModelId(0);
    spec_.limits = {units::Blocks(10'000), max_sequences, units::Tokens(4'096),
                    units::Tokens(8'000)};
    spec_.law.base_fs = 1'000'000'000;
    spec_.calibrated = true;
    info_.vocabulary = 256;
  }

  domain::EngineSpec spec() const override { return spec_; }
  const engines::ModelInfo& model() const override { return info_; }
  const engines::Tokenizer& tokenizer() const override { return tokenizer_; }
  void start(engines::Sink& sink) override {
    sink_ = &sink;
    sink.on_event(domain::EngineJoined{spec_});
  }
  void submit(domain::Assign assign, std::shared_ptr<const engines::Generation>) override {
    const std::lock_guard lock(mutex_);
    assigned_.push_back(std::move(assign));
    changed_.notify_all();
  }
  void abort(domain::Abort abort) override {
    say(domain::Finished{abort.ref, domain::Outcome::kCancelled, {}});
  }
  void embed(std::vector<engines::Token>, engines::EmbedCallback done) override {
    done(units::error("", "this engine embeds nothing"));
  }
  void drain() override {}
  void stop() override {}

  // The n-th assignment (from 0), once it is there.
  domain::Assign assignment(std::size_t n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return assigned_.size() > n; });
    return assigned_[n];
  }
  std::size_t assignments() {
    const std::lock_guard lock(mutex_);
    return assigned_.size();
  }
  void say(const domain::Event& event) { sink_->on_event(event); }
  // One token with this text.
  void write(const domain::AttemptRef& ref, const std::string& text) {
    sink_->on_text(ref, {text, {}, std::nullopt});
    say(domain::TokensProduced{ref, units::Tokens(1)});
  }
  void complete(const domain::AttemptRef& ref, const domain::Usage& usage) {
    sink_->on_text(ref, {"", {}, engines::FinishReason::kStop});
    say(domain::Finished{ref, domain::Outcome::kCompleted, usage});
  }

 private:
  domain::EngineSpec spec_;
  engines::ModelInfo info_;
  ByteTokenizer tokenizer_;
  engines::Sink* sink_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<domain::Assign> assigned_;
};

}  // namespace tidegate::gateway
