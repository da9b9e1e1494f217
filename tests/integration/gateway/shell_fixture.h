// A whole gateway with the bundled model on a free port, for one test.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "client.h"
#include "gateway/server_shell.h"

namespace tidegate::gateway {

class ShellTest : public ::testing::Test {
 protected:
  // Starts a gateway with this configuration, changed by `change`, and waits until it is ready.
  void start(const std::function<void(config::ServerConfig&)>& change = {});
  // The same with these engines; the configuration is taken as it is, but for port and log.
  void start_with_engines(config::ServerConfig config, std::vector<NamedEngine> engines);
  // The same by a configuration file, which every reload reads again.
  void start_from_file(const std::string& file);
  void TearDown() override { shell_.reset(); }

  // Where start() lets the gateway log.
  static std::string log_file() { return ::testing::TempDir() + "gateway_test.log"; }
  std::uint16_t port() const { return shell_->address().port; }
  Reply post(const std::string& path, const std::string& body,
             const std::vector<std::string>& headers = {}) const {
    return ask(port(), {"POST", path, body, headers});
  }
  Reply get(const std::string& path, const std::vector<std::string>& headers = {}) const {
    return ask(port(), {"GET", path, "", headers});
  }
  // Asks for the state again until `text` is in it.
  void until_state_has(const std::string& text) const;
  // Nothing is alive in the pool and nothing is promised on an engine.
  void until_empty() const;

  std::unique_ptr<ServerShell> shell_;
  bool tls_ = false;  // set before start(): the main address speaks TLS, readiness is not asked
  LoadConfig load_;   // set before start(): how a reload reads the configuration
};

// A chat body for the bundled model. `more` is JSON that follows, such as ",\"n\":2".
std::string chat(const std::string& more = "");
// Never the end of the text nor of a turn: an answer runs to its max_tokens.
inline const std::string kEndless = R"(,"logit_bias":{"2":-100,"6":-100})";

}  // namespace tidegate::gateway
