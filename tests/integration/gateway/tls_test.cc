#include <gmock/gmock.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <future>

#include "net/fetch.h"
#include "shell_fixture.h"

namespace tidegate::gateway {
namespace {

using ::testing::HasSubstr;

// A key and a certificate for 127.0.0.1 that it signs itself, as PEM files.
config::TlsConfig self_signed(const std::string& name) {
  std::string curve = "P-256";
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", curve.data()), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  const auto* common = reinterpret_cast<const unsigned char*>(name.c_str());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, common, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), subject);
  const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> address(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1"),
      X509_EXTENSION_free);
  X509_add_ext(certificate.get(), address.get(), -1);
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  config::TlsConfig files{::testing::TempDir() + name + ".pem",
                          ::testing::TempDir() + name + ".key"};
  FILE* file = std::fopen(files.certificate.c_str(), "w");
  PEM_write_X509(file, certificate.get());
  std::fclose(file);
  file = std::fopen(files.key.c_str(), "w");
  PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(file);
  return files;
}

class Tls : public ShellTest {
 protected:
  void start_with(const config::TlsConfig& files) {
    tls_ = true;
    current_ = files;
    load_ = [this]() -> tl::expected<LoadedConfig, config::LoadErrors> {
      config::ServerConfig config = shell_->settings()->config;
      config.server.tls = current_;
      return LoadedConfig{config, ""};
    };
    start([&](config::ServerConfig& config) {
      config.server.tls = files;
      config.server.admin.keys.clear();
    });
  }
  units::Result<net::Fetched> fetch(const std::string& path, const std::string& trusted) const {
    net::FetchOptions options;
    options.server = "https://127.0.0.1:" + std::to_string(port());
    options.target = path;
    options.ca_file = trusted;
    return net::fetch(options);
  }
  bool reload() {
    std::promise<bool> taken;
    shell_->reload([&](const ReloadResult& result) { taken.set_value(result.problems.empty()); });
    return taken.get_future().get();
  }
  config::TlsConfig current_;
};

// With a certificate the API speaks TLS and nothing else.
TEST_F(Tls, ServesOverTls) {
  const config::TlsConfig files = self_signed("one");
  start_with(files);
  const auto health = fetch("/healthz", files.certificate);
  ASSERT_TRUE(health) << health.error().message;
  EXPECT_EQ(health->status, 200);
  EXPECT_EQ(get("/healthz").status, 0);
  const auto models = fetch("/v1/models", files.certificate);
  ASSERT_TRUE(models) << models.error().message;
  EXPECT_THAT(models->body, HasSubstr("tidegate-tiny"));
  EXPECT_FALSE(fetch("/healthz", self_signed("stranger").certificate));
}

// A reload brings a new certificate to new connections; one that cannot be used changes nothing.
TEST_F(Tls, ReloadsItsCertificate) {
  const config::TlsConfig first = self_signed("one");
  start_with(first);
  ASSERT_TRUE(fetch("/healthz", first.certificate));
  current_ = self_signed("two");
  ASSERT_TRUE(reload());
  EXPECT_TRUE(fetch("/healthz", current_.certificate));
  EXPECT_FALSE(fetch("/healthz", first.certificate));
  const config::TlsConfig second = current_;
  current_ = {second.certificate, first.key};
  EXPECT_FALSE(reload());
  EXPECT_TRUE(fetch("/healthz", second.certificate));
}

// What is no server, or nobody there, is an error that says so.
TEST(Fetch, SaysWhatIsWrong) {
  net::FetchOptions options;
  options.target = "/";
  for (const char* server :
       {"", "ftp://x", "http://", "http://x:y", "http://u@x", "http://x/path"}) {
    options.server = server;
    const auto fetched = net::fetch(options);
    ASSERT_FALSE(fetched) << server;
    EXPECT_THAT(fetched.error().message, HasSubstr("http://HOST:PORT")) << server;
  }
  options.server = "http://127.0.0.1:1";
  const auto nobody = net::fetch(options);
  ASSERT_FALSE(nobody);
  EXPECT_THAT(nobody.error().message, HasSubstr("connecting"));
}

}  // namespace
}  // namespace tidegate::gateway
