#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "net/stream.h"

namespace tidegate::net {

namespace {

class PlainStream final : public Stream {
 public:
  explicit PlainStream(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

  asio::awaitable<bool> handshake() override { co_return true; }

  asio::awaitable<Moved> read_some(asio::mutable_buffer into) override {
    const auto [error, bytes] =
        co_await socket_.async_read_some(into, asio::as_tuple(asio::use_awaitable));
    Moved moved;
    moved.error = error;
    moved.bytes = bytes;
    co_return moved;
  }

  asio::awaitable<Moved> write_some(asio::const_buffer from) override {
    const auto [error, bytes] =
        co_await socket_.async_write_some(from, asio::as_tuple(asio::use_awaitable));
    Moved moved;
    moved.error = error;
    moved.bytes = bytes;
    co_return moved;
  }

  void end_sending() override {
    boost::system::error_code ignored;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  }

  void close() override {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

 private:
  asio::ip::tcp::socket socket_;
};

}  // namespace

std::unique_ptr<Stream> make_plain_stream(asio::ip::tcp::socket socket) {
  return std::make_unique<PlainStream>(std::move(socket));
}

}  // namespace tidegate::net
