// Port `Tokenizer`: text to tokens and back, and a conversation to the text of a prompt, the way
// one model wants it. Immutable: every function may be called from any thread at any time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "units/result.h"

namespace tidegate::engines {

using Token = std::int32_t;

struct ChatMessage {
  std::string role;
  std::string content;
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Tokens of plain text: the model's own prefix (such as BOS) is added, and names of special
  // tokens inside the text stay plain text, so that a caller cannot forge a turn. Linear in the
  // text for all practical vocabularies.
  virtual std::vector<Token> tokenize(std::string_view text) const = 0;

  // Tokens of a conversation, ready to be continued by the assistant: the model's chat template,
  // with its special tokens recognised in the template's own parts only, never in what the messages
  // say. Error when a role is empty or the template cannot render the conversation.
  virtual units::Result<std::vector<Token>> tokenize_chat(
      const std::vector<ChatMessage>& messages) const = 0;

  // The text that tokenize_chat() works on, for people to look at.
  virtual units::Result<std::string> apply_chat_template(
      const std::vector<ChatMessage>& messages) const = 0;

  // Which template is in use, in words; says so when the model brings none or an unknown one and
  // ChatML stands in for it.
  virtual std::string_view chat_template_note() const = 0;
  // True when ChatML stands in.
  virtual bool chat_template_is_fallback() const = 0;

  // The bytes of one token; may be part of a UTF-8 character, empty for a control token.
  // REQUIRES: 0 <= token < vocabulary().
  virtual std::string piece(Token token) const = 0;
  virtual std::int32_t vocabulary() const = 0;
};

}  // namespace tidegate::engines
