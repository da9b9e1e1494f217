// A connected byte stream, plain or TLS, as the connection's coroutines use it. All calls on the
// connection's strand; one read and one write may be under way at a time.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "net/server.h"
#include "units/result.h"

namespace tidegate::net {

namespace asio = boost::asio;

// What a read or write came to: the error, and the bytes done before it.
struct Moved {
  boost::system::error_code error;
  std::size_t bytes = 0;
};

class Stream {
 public:
  virtual ~Stream() = default;
  // True when the stream can be used.
  virtual asio::awaitable<bool> handshake() = 0;
  virtual asio::awaitable<Moved> read_some(asio::mutable_buffer into) = 0;
  virtual asio::awaitable<Moved> write_some(asio::const_buffer from) = 0;
  // Says that nothing more will be sent; the other side may still be read.
  virtual void end_sending() = 0;
  // Ends everything that is under way. Idempotent.
  virtual void close() = 0;
};

std::unique_ptr<Stream> make_plain_stream(asio::ip::tcp::socket socket);

// The certificate and rules of a TLS listener.
class TlsContext {
 public:
  virtual ~TlsContext() = default;
  virtual std::unique_ptr<Stream> wrap(asio::ip::tcp::socket socket) = 0;
};

}  // namespace tidegate::net
