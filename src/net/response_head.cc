#include "net/response_head.h"

#include <algorithm>

namespace tidegate::net {

namespace {

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Status";
  }
}

bool is_token(std::string_view name) {
  static constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
  });
}

bool is_framing(std::string_view name) {
  return name == "connection" || name == "content-length" || name == "transfer-encoding" ||
         name == "date";
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ");
  const std::size_t begin = out.size();
  out.append(value);
  std::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(),
      [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
  out.append("\r\n");
}

}  // namespace

std::string response_head(const ResponseHead& head, const Headers& headers) {
  std::string out = "HTTP/1.1 " + std::to_string(head.status) + " ";
  out.append(reason_phrase(head.status)).append("\r\n");
  if (!head.date.empty()) append_header(out, "date", head.date);
  for (const auto& [name, value] : headers) {
    if (is_token(name) && !is_framing(name)) append_header(out, name, value);
  }
  if (head.content_length) {
    append_header(out, "content-length", std::to_string(*head.content_length));
  } else if (head.version == 11) {
    append_header(out, "transfer-encoding", "chunked");
  }
  const bool stays = head.keep_alive && (head.content_length || head.version == 11);
  if (!stays) append_header(out, "connection", "close");
  if (stays && head.version == 10) append_header(out, "connection", "keep-alive");
  out.append("\r\n");
  return out;
}

bool asks_to_close(const Headers& headers) {
  return std::any_of(headers.begin(), headers.end(), [](const Header& header) {
    return header.first == "connection" && header.second == "close";
  });
}

}  // namespace tidegate::net
