#include <filesystem>
#include <fstream>

#include "config/schema.h"
#include "config/suggestion.h"

namespace tidegate::config {
namespace {

std::optional<Address> read_address(Section& section, const std::string& key) {
  const auto text = section.text(key);
  if (!text) return std::nullopt;
  const auto address = parse_address(*text);
  if (address) return *address;
  section.problems().add(section.take(key)->Mark(), address.error().message);
  return std::nullopt;
}

std::string readable_file(Section& section, const std::string& key, const std::string& folder) {
  section.require(key, "add " + key + ": FILE.pem");
  const auto text = section.text(key);
  if (!text) return "";
  std::string path = (std::filesystem::path(folder) / *text).string();
  if (!std::ifstream(path)) {
    section.problem(key, "the file '" + path + "' cannot be read",
                    "name a PEM file; a relative path counts from the configuration's folder");
  }
  return path;
}

std::optional<TlsConfig> read_tls(Section& parent, const std::string& folder) {
  const auto node = parent.take("tls");
  if (!node) return std::nullopt;
  Section section(*node, "tls", parent.problems());
  TlsConfig tls;
  tls.certificate = readable_file(section, "certificate", folder);
  tls.key = readable_file(section, "key", folder);
  section.finish();
  return tls;
}

void read_admin(Section& parent, const std::string& folder, AdminConfig& admin) {
  const auto node = parent.take("admin");
  if (!node) return;
  Section section(*node, "admin", parent.problems());
  admin.listen = read_address(section, "listen");
  admin.tls = read_tls(section, folder);
  if (admin.tls && !admin.listen) {
    section.problem("tls", "'tls' of admin without an address of its own",
                    "add listen: HOST:PORT beside it, or give server the tls");
  }
  admin.keys = read_digests(section, "keys_sha256");
  section.finish();
}

void read_edge_limits(Section& parent, EdgeLimits& limits) {
  const auto node = parent.take("limits");
  if (!node) return;
  Section section(*node, "limits", parent.problems());
  limits.body = section.size("body").value_or(limits.body);
  limits.headers = section.size("headers").value_or(limits.headers);
  limits.connections = section.integer("connections", 1, 1'000'000).value_or(limits.connections);
  limits.requests = section.integer("requests", 1, 1'000'000).value_or(limits.requests);
  limits.choices = section.integer("choices", 1, 64).value_or(limits.choices);
  limits.header_timeout = section.duration("header_timeout").value_or(limits.header_timeout);
  limits.body_timeout = section.duration("body_timeout").value_or(limits.body_timeout);
  limits.idle_timeout = section.duration("idle_timeout").value_or(limits.idle_timeout);
  limits.stall_timeout = section.duration("stall_timeout").value_or(limits.stall_timeout);
  section.finish();
}

void read_journal(Section& parent, JournalConfig& journal) {
  const auto node = parent.take("journal");
  if (!node) return;
  Section section(*node, "journal", parent.problems());
  section.require("path", "add path: FILE");
  journal.path = section.text("path").value_or("");
  journal.required = section.boolean("required").value_or(false);
  section.finish();
}

void read_log(Section& parent, ServerSettings& server) {
  const auto node = parent.take("log");
  if (!node) return;
  Section section(*node, "log", parent.problems());
  server.log_file = section.text("file").value_or("");
  const std::vector<std::string> levels = {"debug", "info", "warning", "error"};
  if (const auto level = section.text("level")) {
    server.log_level = *level;
    if (nearest(*level, levels) != *level) {
      section.problem("level", "the log level is '" + *level + "'", suggestion(*level, levels));
    }
  }
  section.finish();
}

void read_policy(Section& section, PolicyName& policy) {
  const auto name = section.text("policy");
  if (!name) return;
  policy = {*name, section.problems().place(section.take("policy")->Mark())};
}

}  // namespace

ServerSettings read_server(Section& root, const std::string& folder) {
  ServerSettings server;
  const auto node = root.take("server");
  if (!node) return server;
  Section section(*node, "server", root.problems());
  server.listen = read_address(section, "listen").value_or(server.listen);
  server.tls = read_tls(section, folder);
  read_admin(section, folder, server.admin);
  read_edge_limits(section, server.limits);
  server.drain = section.duration("drain").value_or(server.drain);
  server.net_threads = section.integer("net_threads", 1, 64).value_or(server.net_threads);
  read_journal(section, server.journal);
  read_policy(section, server.policy);
  read_log(section, server);
  section.finish();
  return server;
}

}  // namespace tidegate::config
