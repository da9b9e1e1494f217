// The configuration of `tidegate serve`, read and validated: every name in it exists, every number
// is in range, ids are dense and usable as indices. Plain values; how the file is written is
// described in docs/operator.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/address.h"
#include "domain/service_class.h"
#include "domain/tenant.h"
#include "units/ids.h"
#include "units/quantity.h"

namespace tidegate::config {

// SHA-256 of an API key. The keys themselves are never stored.
using KeyDigest = std::array<std::uint8_t, 32>;

// An in-process llama.cpp engine. Zero means: as the engine chooses.
struct EngineConfig {
  units::EngineId id;
  std::string name;
  units::ModelId model;
  std::string gguf;  // path of the model file, relative ones made so to the config's folder
  std::int64_t threads = 0;
  std::int64_t gpu_layers = -1;
  std::int64_t max_sequences = 0;
  units::Tokens kv_tokens{0};
  units::Tokens max_context{0};
  units::Tokens cached_tokens{-1};  // -1: as the engine chooses; zero: none
  units::Tokens max_step_tokens{512};
  std::optional<bool> kv_unified;  // none: as the engine chooses
  units::Nanos calibration{units::seconds(3)};

  friend bool operator==(const EngineConfig&, const EngineConfig&) = default;
};

struct ModelConfig {
  units::ModelId id;
  std::string name;

  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

// How tight a caller may make its own promise by hints; nullopt: no tighter than its class.
// Loosening is always allowed.
struct HintFloor {
  std::optional<units::Nanos> ttft;
  std::optional<units::Nanos> tpot;
  std::optional<units::Nanos> deadline;
};

struct TenantConfig {
  domain::Tenant values;
  std::vector<KeyDigest> keys;          // empty: requests without a key belong to this tenant
  std::vector<units::ClassId> classes;  // that it may ask for
  HintFloor tightest;
  bool removed = false;  // by a reload: keeps its id for what is still inside, takes no calls
};

// PEM files of a listener that speaks TLS; relative paths made so to the config's folder.
struct TlsConfig {
  std::string certificate;  // the chain
  std::string key;
};

struct AdminConfig {
  std::optional<Address> listen;  // nullopt: on the main address
  std::optional<TlsConfig> tls;   // nullopt: plain
  std::vector<KeyDigest> keys;    // empty: open, and only where the address is a loopback one
};

// Bounds of the edge. Whatever passes one is refused before it costs memory.
struct EdgeLimits {
  units::Bytes body{4 << 20};
  units::Bytes headers{32 << 10};
  std::int64_t connections = 2'048;
  std::int64_t requests = 4'096;  // inside the gateway at once, waiting and running
  std::int64_t choices = 8;       // n
  units::Nanos header_timeout{units::seconds(10)};
  units::Nanos body_timeout{units::seconds(30)};
  units::Nanos idle_timeout{units::seconds(75)};
  units::Nanos stall_timeout{units::seconds(20)};  // a client that takes nothing off its stream

  friend bool operator==(const EdgeLimits&, const EdgeLimits&) = default;
};

struct JournalConfig {
  std::string path;       // empty: no journal
  bool required = false;  // refuse to start when it cannot be opened

  friend bool operator==(const JournalConfig&, const JournalConfig&) = default;
};

// The name of a policy, and where it was written.
struct PolicyName {
  std::string name;
  std::string where;
};

struct ServerSettings {
  Address listen{"127.0.0.1", 8080};
  std::optional<TlsConfig> tls;  // nullopt: plain HTTP
  AdminConfig admin;
  EdgeLimits limits;
  units::Nanos drain{units::seconds(30)};  // SIGTERM: how long running requests may still take
  std::int64_t net_threads = 1;
  JournalConfig journal;
  PolicyName policy{"tidegate", ""};  // that decides, in the pool and in the engines
  std::string log_file;               // empty: stderr
  std::string log_level = "info";
};

struct ServerConfig {
  std::string file;  // empty: built in
  ServerSettings server;
  std::vector<EngineConfig> engines;
  std::vector<ModelConfig> models;
  std::vector<domain::ServiceClass> classes;
  std::vector<TenantConfig> tenants;
  // The classes are the built-in ones, whose promise is loosened to what a slow engine can do.
  bool builtin_classes = false;
};

}  // namespace tidegate::config
