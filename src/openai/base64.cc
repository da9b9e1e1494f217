#include "openai/base64.h"

#include <openssl/evp.h>

#include <bit>
#include <cstdint>
#include <cstring>

namespace tidegate::openai {

std::string base64_of_floats(const std::vector<float>& numbers) {
  static_assert(std::endian::native == std::endian::little, "the bytes are copied as they lie");
  static_assert(sizeof(float) == 4, "the API's numbers have 32 bits");
  std::vector<unsigned char> bytes(numbers.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  std::vector<unsigned char> text(4 * (bytes.size() / 3 + 1) + 1);
  const int length = EVP_EncodeBlock(text.data(), bytes.data(), static_cast<int>(bytes.size()));
  return {text.begin(), text.begin() + length};
}

}  // namespace tidegate::openai
