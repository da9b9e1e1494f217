#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "net/server.h"
#include "socket_client.h"

namespace tidegate::net {
namespace {

// A key and a certificate that it signs itself, in two PEM files that last as long as this.
class SelfSigned {
 public:
  SelfSigned() {
    std::string curve = "P-256";
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
        EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", curve.data()), EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    X509_sign(certificate.get(), key.get(), EVP_sha256());
    write("certificate.pem", [&](FILE* file) { PEM_write_X509(file, certificate.get()); });
    write("key.pem", [&](FILE* file) {
      PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
  }
  ~SelfSigned() { std::filesystem::remove_all(folder_); }
  SelfSigned(const SelfSigned&) = delete;
  SelfSigned& operator=(const SelfSigned&) = delete;

  std::unique_ptr<TlsFiles> files() const {
    return std::make_unique<TlsFiles>(TlsFiles{folder_ / "certificate.pem", folder_ / "key.pem"});
  }

 private:
  template <class Write>
  void write(const std::string& name, Write write_to) {
    std::filesystem::create_directories(folder_);
    FILE* const file = std::fopen((folder_ / name).c_str(), "w");
    ASSERT_NE(file, nullptr);
    write_to(file);
    std::fclose(file);
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("tidegate_tls_" + std::to_string(getpid()));
};

// One TLS connection of at most the given version; 0: the newest there is.
class TlsClient {
 public:
  TlsClient(std::uint16_t port, int newest_version) : socket_(port) {
    SSL_CTX_set_security_level(context_.get(), 0);
    SSL_CTX_set_max_proto_version(context_.get(), newest_version);
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), socket_.descriptor());
    connected_ = SSL_connect(ssl_.get()) == 1;
  }

  bool connected() const { return connected_; }
  bool send(const std::string& bytes) {
    return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0;
  }
  std::string read_until(const std::string& mark) {
    std::string got;
    char byte = 0;
    while (got.find(mark) == std::string::npos && SSL_read(ssl_.get(), &byte, 1) == 1) got += byte;
    return got;
  }
  void close() { socket_.close(); }

 private:
  testing::SocketClient socket_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{SSL_CTX_new(TLS_client_method()),
                                                             SSL_CTX_free};
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, SSL_free};
  bool connected_ = false;
};

std::unique_ptr<Server> tls_server(const SelfSigned& identity, Handler handler) {
  ServerOptions options;
  options.tls = identity.files();
  auto server = Server::listen(std::move(options), std::move(handler));
  EXPECT_TRUE(server.has_value());
  (*server)->start();
  return std::move(*server);
}

// Over TLS everything is as without: answers, keep-alive, streams, and callers that leave.
TEST(Tls, ServesAndNoticesLeaving) {
  const SelfSigned identity;
  testing::Arrivals<std::shared_ptr<Exchange>> exchanges;
  const auto server = tls_server(
      identity, [&](std::shared_ptr<Exchange> exchange) { exchanges.put(std::move(exchange)); });
  TlsClient client(server->port(), 0);
  ASSERT_TRUE(client.connected());
  ASSERT_TRUE(client.send(testing::get("/one")));
  exchanges.next().value()->respond(200, {}, "first.");
  EXPECT_TRUE(client.read_until("first.").ends_with("first."));
  ASSERT_TRUE(client.send(testing::post(std::string(200'000, 'x'))));
  const auto exchange = exchanges.next().value();
  EXPECT_EQ(exchange->request().body.size(), 200'000U);
  exchange->begin_stream(200, {});
  exchange->write("event");
  EXPECT_TRUE(client.read_until("event").ends_with("event"));
  const auto ends = testing::watch(*exchange);
  client.close();
  EXPECT_EQ(ends->next(), CloseReason::kPeerGone);
}

// TLS 1.2 is spoken, 1.1 and older are not, and plain HTTP on a TLS port gets no answer.
TEST(Tls, RefusesOldVersionsAndPlainText) {
  const SelfSigned identity;
  const auto server = tls_server(
      identity, [](const std::shared_ptr<Exchange>& exchange) { exchange->respond(200, {}, ""); });
  EXPECT_TRUE(TlsClient(server->port(), TLS1_2_VERSION).connected());
  EXPECT_FALSE(TlsClient(server->port(), TLS1_1_VERSION).connected());
  testing::SocketClient plain(server->port());
  plain.send(testing::get());
  const auto answer = plain.read_all();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->find("HTTP"), std::string::npos);
}

// Files that are no certificate and key are an error at the start, named by their path.
TEST(Tls, BadFilesAreNamed) {
  const SelfSigned identity;
  for (const bool bad_key : {false, true}) {
    ServerOptions options;
    options.tls = identity.files();
    const std::string missing = options.tls->private_key + ".missing";
    (bad_key ? options.tls->private_key : options.tls->certificate_chain) = missing;
    const auto server = Server::listen(std::move(options), nullptr);
    ASSERT_FALSE(server.has_value());
    EXPECT_EQ(server.error().where, missing);
  }
}

}  // namespace
}  // namespace tidegate::net
