// The tokenizer of a model loaded by llama.cpp. Its vocabulary is immutable, so every function may
// be called from any thread while the model lives.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engines/llama/handles.h"
#include "engines/tokenizer.h"
#include "units/result.h"

namespace tidegate::engines::llama {

class LlamaTokenizer final : public Tokenizer {
 public:
  // REQUIRES: `model` outlives this.
  explicit LlamaTokenizer(const llama_model* model);

  std::vector<Token> tokenize(std::string_view text) const override;
  units::Result<std::vector<Token>> tokenize_chat(
      const std::vector<ChatMessage>& messages) const override;
  units::Result<std::string> apply_chat_template(
      const std::vector<ChatMessage>& messages) const override;
  std::string_view chat_template_note() const override { return note_; }
  bool chat_template_is_fallback() const override { return fallback_; }
  std::string piece(Token token) const override;
  std::int32_t vocabulary() const override;

  bool ends_generation(Token token) const;

 private:
  enum class Special : bool { kPlain, kParsed };

  void choose_template(const llama_model* model);
  void append_tokens(std::string_view text, bool first, Special special,
                     std::vector<Token>& out) const;
  std::string defused(std::string_view content, std::string_view cut) const;

  const llama_vocab* vocab_;
  std::vector<std::string> control_texts_;  // texts that llama.cpp would read as special tokens
  std::string control_leads_;               // their first bytes, each once
  std::string bos_text_;                    // empty when the model does not open with one
  std::string template_;
  std::string note_;
  bool fallback_ = false;
};

}  // namespace tidegate::engines::llama
