#include "net/server.h"

#include <netinet/tcp.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "net/connection.h"
#include "net/stream.h"

namespace tidegate::net {

namespace {

using asio::ip::tcp;

// Connections past the cap that may be open at once to be told so; the rest are closed unheard.
constexpr std::size_t kToldConnections = 256;
// Bytes the kernel may hold unsent per connection: what is beyond waits with us, where it is
// counted.
constexpr int kUnsentKernelBytes = 128 * 1024;

std::size_t half_of_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return std::max<std::size_t>(limit.rlim_cur / 2, 1);
}

std::string describe(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  const std::string host = endpoint.address().is_v6() ? "[" + address + "]" : address;
  return host + ":" + std::to_string(endpoint.port());
}

void tune(tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentKernelBytes,
             sizeof kUnsentKernelBytes);
}

}  // namespace

class Server::Impl : public std::enable_shared_from_this<Server::Impl> {
 public:
  Impl(ServerOptions options, Handler handler)
      : options_(std::move(options)),
        context_(std::make_shared<asio::io_context>(options_.threads)),
        strand_(context_->get_executor()),
        acceptor_(strand_),
        retry_timer_(strand_),
        shared_(std::make_shared<Shared>()) {
    shared_->context = context_;
    shared_->limits = options_.limits;
    shared_->refusal_body = options_.refusal_body;
    shared_->handler = std::move(handler);
    capacity_ = std::min(options_.limits.connections, half_of_descriptors());
  }

  units::Result<void> open();
  void start();
  void stop_accepting();
  void shutdown();
  void use_tls(std::shared_ptr<TlsContext> tls) {
    asio::post(strand_, [self = shared_from_this(), tls = std::move(tls)]() mutable {
      self->tls_ = std::move(tls);
    });
  }
  std::uint16_t port() const { return port_; }
  const Shared& shared() const { return *shared_; }

 private:
  asio::awaitable<void> accept_loop();
  void admit(tcp::socket socket, const Connection::Strand& strand);
  bool remember(const std::shared_ptr<Connection>& connection);
  std::vector<std::shared_ptr<Connection>> connections();

  ServerOptions options_;
  std::shared_ptr<asio::io_context> context_;
  Connection::Strand strand_;
  tcp::acceptor acceptor_;
  asio::steady_timer retry_timer_;
  std::shared_ptr<TlsContext> tls_;
  std::shared_ptr<Shared> shared_;
  std::size_t capacity_ = 0;
  std::uint16_t port_ = 0;
  std::vector<std::thread> threads_;
  std::once_flag drain_once_;
  std::once_flag shutdown_once_;

  std::mutex mutex_;
  std::set<std::weak_ptr<Connection>, std::owner_less<>> connections_;
  bool shut_down_ = false;
};

units::Result<void> Server::Impl::open() {
  const std::string where = options_.address + ":" + std::to_string(options_.port);
  boost::system::error_code error;
  const auto address = asio::ip::make_address(options_.address, error);
  if (error) return units::error(where, "the address to listen on must be an IP address");
  if (options_.tls) {
    auto loaded = load_tls(*options_.tls);
    if (!loaded) return tl::unexpected(loaded.error());
    tls_ = *loaded;
  }
  const tcp::endpoint endpoint(address, options_.port);
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) port_ = acceptor_.local_endpoint(error).port();
  if (error) return units::error(where, "cannot listen there: " + error.message());
  return {};
}

void Server::Impl::start() {
  asio::co_spawn(
      strand_,
      [self = shared_from_this()]() -> asio::awaitable<void> { co_await self->accept_loop(); },
      asio::detached);
  for (int i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([context = context_] { context->run(); });
  }
}

// An error to accept is most often a lack of descriptors: wait for some to be freed.
asio::awaitable<void> Server::Impl::accept_loop() {
  while (acceptor_.is_open()) {
    const Connection::Strand strand(context_->get_executor());
    tcp::socket socket(strand);
    const auto [error] =
        co_await acceptor_.async_accept(socket, asio::as_tuple(asio::use_awaitable));
    if (!acceptor_.is_open()) break;
    if (!error) {
      admit(std::move(socket), strand);
      continue;
    }
    retry_timer_.expires_after(std::chrono::milliseconds(50));
    co_await retry_timer_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

void Server::Impl::admit(tcp::socket socket, const Connection::Strand& strand) {
  const std::size_t open = shared_->open.load();
  if (open >= capacity_ + kToldConnections) return;
  ++shared_->accepted;
  boost::system::error_code error;
  const tcp::endpoint peer = socket.remote_endpoint(error);
  if (error) return;
  tune(socket);
  Connection::Options options;
  options.shared = shared_;
  options.peer = describe(peer);
  options.over_capacity = open >= capacity_;
  options.stream = tls_ ? tls_->wrap(std::move(socket)) : make_plain_stream(std::move(socket));
  const auto connection = std::make_shared<Connection>(std::move(options), strand);
  if (remember(connection)) connection->start();
}

// False when the server is shut down already. Forgets closed connections now and then, so that a
// connection costs a constant on average.
bool Server::Impl::remember(const std::shared_ptr<Connection>& connection) {
  const std::lock_guard lock(mutex_);
  if (connections_.size() > 2 * shared_->open.load() + 64) {
    std::erase_if(connections_, [](const auto& weak) { return weak.expired(); });
  }
  if (!shut_down_) connections_.insert(connection);
  return !shut_down_;
}

std::vector<std::shared_ptr<Connection>> Server::Impl::connections() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Connection>> alive;
  for (const auto& weak : connections_) {
    if (auto connection = weak.lock()) alive.push_back(std::move(connection));
  }
  return alive;
}

void Server::Impl::stop_accepting() {
  std::call_once(drain_once_, [this] {
    *shared_->draining = true;
    asio::post(strand_, [self = shared_from_this()] {
      boost::system::error_code ignored;
      self->acceptor_.close(ignored);
      self->retry_timer_.cancel();
    });
    for (const auto& connection : connections()) connection->drain();
  });
}

void Server::Impl::shutdown() {
  std::call_once(shutdown_once_, [this] {
    {
      const std::lock_guard lock(mutex_);
      shut_down_ = true;
    }
    stop_accepting();
    for (const auto& connection : connections()) connection->shut_down();
    if (threads_.empty()) context_->run();
    for (auto& thread : threads_) thread.join();
  });
}

units::Result<std::unique_ptr<Server>> Server::listen(ServerOptions options, Handler handler) {
  auto impl = std::make_shared<Impl>(std::move(options), std::move(handler));
  auto opened = impl->open();
  if (!opened) return tl::unexpected(opened.error());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  impl_->shutdown();
}

void Server::start() {
  impl_->start();
}

std::uint16_t Server::port() const {
  return impl_->port();
}

void Server::stop_accepting() {
  impl_->stop_accepting();
}

void Server::shutdown() {
  impl_->shutdown();
}

void Server::use_tls(std::shared_ptr<TlsContext> tls) {
  impl_->use_tls(std::move(tls));
}

ServerStats Server::stats() const {
  const Shared& shared = impl_->shared();
  ServerStats stats;
  stats.accepted = shared.accepted;
  stats.over_capacity = shared.over_capacity;
  stats.refused = shared.refused;
  stats.timed_out = shared.timed_out;
  stats.open = shared.open;
  return stats;
}

}  // namespace tidegate::net
