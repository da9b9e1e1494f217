// What the gateway works by at one time: the configuration and what is made of it. A reload puts
// others in their place; who took them before goes on with what it has, so that one request meets
// one version of the rules (invariant S16).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "config/server_config.h"
#include "gateway/auth.h"

namespace tidegate::gateway {

// Immutable once shared.
struct Settings {
  explicit Settings(config::ServerConfig from)
      : config(std::move(from)), auth(config.tenants), classes(config.classes) {}

  config::ServerConfig config;
  Auth auth;
  // The classes that requests are taken in: built-in ones are loosened to what the engines can do.
  std::vector<domain::ServiceClass> classes;
  std::int64_t version = 1;  // counts reloads
};

using SettingsPtr = std::shared_ptr<const Settings>;

// Thread-safe; one short lock.
class CurrentSettings {
 public:
  explicit CurrentSettings(SettingsPtr first) : settings_(std::move(first)) {}

  SettingsPtr get() const {
    const std::lock_guard lock(mutex_);
    return settings_;
  }
  void set(SettingsPtr settings) {
    const std::lock_guard lock(mutex_);
    settings_ = std::move(settings);
  }

 private:
  mutable std::mutex mutex_;
  SettingsPtr settings_;
};

}  // namespace tidegate::gateway
