#include "engines/llama/llama_tokenizer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "units/check.h"

namespace tidegate::engines::llama {
namespace {

constexpr const char* kFallbackTemplate = "chatml";

// The text of a conversation by one of llama.cpp's built-in templates; none if it knows none.
std::optional<std::string> render(const std::string& tmpl,
                                  const std::vector<ChatMessage>& messages) {
  std::vector<llama_chat_message> chat;
  chat.reserve(messages.size());
  std::size_t size = 256;
  for (const ChatMessage& m : messages) {
    chat.push_back({m.role.c_str(), m.content.c_str()});
    size += 2 * (m.role.size() + m.content.size());
  }
  std::string text(size, '\0');
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto length = llama_chat_apply_template(tmpl.c_str(), chat.data(), chat.size(), true,
                                                  text.data(), static_cast<int>(text.size()));
    if (length < 0) return std::nullopt;
    const bool fits = static_cast<std::size_t>(length) <= text.size();
    text.resize(static_cast<std::size_t>(length));
    if (fits) return text;
  }
  return std::nullopt;
}

bool plain_role(std::string_view role) {
  const auto ok = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return !role.empty() && std::all_of(role.begin(), role.end(), ok);
}

// Some models mark their turn tokens as user defined, a kind that others use for runs of spaces.
bool is_special(unsigned attributes, std::string_view text) {
  if (text.size() < 2) return false;
  if ((attributes & (LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN)) != 0) return true;
  const bool user_defined = (attributes & LLAMA_TOKEN_ATTR_USER_DEFINED) != 0;
  return user_defined && text.front() == '<' && text.back() == '>';
}

// Bytes of the UTF-8 character that starts with `lead`.
std::size_t character_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1U : byte < 0xE0 ? 2U : byte < 0xF0 ? 3U : 4U;
}

// A marker that no message contains.
std::string unused_marker(const std::vector<ChatMessage>& messages) {
  std::string marker(3, '\x1F');
  const auto contains = [&](const ChatMessage& m) {
    return m.content.find(marker) != std::string::npos;
  };
  while (std::any_of(messages.begin(), messages.end(), contains)) marker += '\x1F';
  return marker;
}

}  // namespace

LlamaTokenizer::LlamaTokenizer(const llama_model* model) : vocab_(llama_model_get_vocab(model)) {
  for (Token token = 0; token < vocabulary(); ++token) {
    std::string text = llama_vocab_get_text(vocab_, token);
    const auto attributes = static_cast<unsigned>(llama_vocab_get_attr(vocab_, token));
    if (is_special(attributes, text)) control_texts_.push_back(std::move(text));
  }
  for (const std::string& text : control_texts_) {
    if (control_leads_.find(text[0]) == std::string::npos) control_leads_ += text[0];
  }
  const Token bos = llama_vocab_bos(vocab_);
  if (bos >= 0 && llama_vocab_get_add_bos(vocab_)) bos_text_ = llama_vocab_get_text(vocab_, bos);
  choose_template(model);
}

void LlamaTokenizer::choose_template(const llama_model* model) {
  const std::vector<ChatMessage> probe = {{"user", "hello"}};
  const char* own = llama_model_chat_template(model, nullptr);
  if (own != nullptr && render(own, probe)) {
    template_ = own;
    note_ = "the model's own chat template";
    return;
  }
  template_ = kFallbackTemplate;
  fallback_ = true;
  note_ = own == nullptr ? "the model brings no chat template; ChatML is used instead"
                         : "the model's chat template is not one that llama.cpp knows; ChatML is "
                           "used instead";
}

void LlamaTokenizer::append_tokens(std::string_view text, bool first, Special special,
                                   std::vector<Token>& out) const {
  const std::size_t before = out.size();
  // A token covers at least a byte, but for BOS, EOS and the space that some models put in front.
  out.resize(before + text.size() + 8);
  const auto room = static_cast<std::int32_t>(out.size() - before);
  const bool parse = special == Special::kParsed;
  const auto size = static_cast<std::int32_t>(text.size());
  std::int32_t count =
      llama_tokenize(vocab_, text.data(), size, out.data() + before, room, first, parse);
  if (count < 0) {
    out.resize(before + static_cast<std::size_t>(-count));
    count = llama_tokenize(vocab_, text.data(), size, out.data() + before, -count, first, parse);
    TIDEGATE_CHECK(count >= 0);
  }
  out.resize(before + static_cast<std::size_t>(count));
}

std::vector<Token> LlamaTokenizer::tokenize(std::string_view text) const {
  std::vector<Token> tokens;
  append_tokens(text, true, Special::kPlain, tokens);
  return tokens;
}

// `content` with `cut` put inside each text that would be read as a special token.
std::string LlamaTokenizer::defused(std::string_view content, std::string_view cut) const {
  std::string result;
  std::size_t from = 0;
  for (auto at = content.find_first_of(control_leads_); at != std::string_view::npos;
       at = content.find_first_of(control_leads_, at + 1)) {
    const std::string_view rest = content.substr(at);
    const auto opens = [&](const std::string& text) { return rest.starts_with(text); };
    if (std::none_of(control_texts_.begin(), control_texts_.end(), opens)) continue;
    const std::size_t inside = at + character_length(content[at]);
    result += content.substr(from, inside - from);
    result += cut;
    from = inside;
  }
  result += content.substr(from);
  return result;
}

units::Result<std::string> LlamaTokenizer::apply_chat_template(
    const std::vector<ChatMessage>& messages) const {
  if (messages.empty()) return units::error("messages", "is empty; give at least one message");
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string where = "messages[" + std::to_string(i) + "]";
    if (!plain_role(messages[i].role)) {
      return units::error(where + ".role", "must be a word such as system, user or assistant");
    }
    if (messages[i].content.find('\0') != std::string::npos) {
      return units::error(where + ".content", "contains a NUL character, which has no token");
    }
  }
  std::optional<std::string> text = render(template_, messages);
  if (!text) return units::error("messages", "the model's chat template cannot render them");
  return std::move(*text);
}

units::Result<std::vector<Token>> LlamaTokenizer::tokenize_chat(
    const std::vector<ChatMessage>& messages) const {
  const std::string cut = unused_marker(messages);
  std::vector<ChatMessage> safe = messages;
  for (ChatMessage& m : safe) m.content = defused(m.content, cut);
  units::Result<std::string> text = apply_chat_template(safe);
  if (!text) return tl::unexpected(text.error());

  // Some templates spell the BOS token themselves; it must not come twice.
  bool first = bos_text_.empty() || !text->starts_with(bos_text_);
  std::vector<Token> tokens;
  std::string_view rest = *text;
  while (true) {
    const std::size_t at = rest.find(cut);
    append_tokens(rest.substr(0, at), std::exchange(first, false), Special::kParsed, tokens);
    if (at == std::string_view::npos) return tokens;
    rest.remove_prefix(at + cut.size());
  }
}

std::string LlamaTokenizer::piece(Token token) const {
  std::array<char, 64> small{};
  const auto length = llama_token_to_piece(vocab_, token, small.data(),
                                           static_cast<std::int32_t>(small.size()), 0, false);
  if (length >= 0) return {small.data(), static_cast<std::size_t>(length)};
  std::string large(static_cast<std::size_t>(-length), '\0');
  llama_token_to_piece(vocab_, token, large.data(), -length, 0, false);
  return large;
}

std::int32_t LlamaTokenizer::vocabulary() const {
  return llama_vocab_n_tokens(vocab_);
}

bool LlamaTokenizer::ends_generation(Token token) const {
  return llama_vocab_is_eog(vocab_, token);
}

}  // namespace tidegate::engines::llama
