// One GET to an HTTP or HTTPS server, for the command line: asks, waits, and has the whole answer.
// Blocking; any thread; nothing is shared between calls.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "net/exchange.h"
#include "units/result.h"

namespace tidegate::net {

struct FetchOptions {
  std::string server;  // "http://127.0.0.1:8080" or "https://name"; a path after it is an error
  std::string target;  // "/v1/models"
  Headers headers;
  std::string ca_file;  // PEM; empty: the certificate authorities of the system
  std::chrono::milliseconds timeout{10'000};  // of the whole
  std::size_t body_bytes_max = std::size_t{16} << 20U;
};

struct Fetched {
  int status = 0;
  std::string body;
};

// Any status is a result. Error (where = the server): not such a URL, nobody there, a certificate
// that cannot be trusted, no answer in time, or none that is HTTP.
units::Result<Fetched> fetch(const FetchOptions& options);

}  // namespace tidegate::net
