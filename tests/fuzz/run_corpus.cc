// Runs a fuzz target without a fuzzer: over every file of a corpus, every prefix of the short ones,
// and a fixed number of seeded mutations of each.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "units/prng.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer gives the name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kPrefixesUpTo = 4096;
constexpr int kMutations = 300;

void run(const std::string& bytes) {
  const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

// One to four small changes: a byte replaced, doubled, removed, or a piece repeated.
std::string mutate(std::string bytes, tidegate::units::Prng& prng) {
  const std::int64_t changes = prng.between(1, 4);
  for (std::int64_t i = 0; i < changes && !bytes.empty(); ++i) {
    const std::size_t at = prng.below(bytes.size());
    switch (prng.below(4)) {
      case 0:
        bytes[at] = static_cast<char>(prng.below(256));
        break;
      case 1:
        bytes.insert(at, 1, bytes[at]);
        break;
      case 2:
        bytes.erase(at, 1);
        break;
      default:
        bytes.insert(at, bytes.substr(prng.below(bytes.size()), prng.below(32)));
        break;
    }
  }
  return bytes;
}

void run_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  run(bytes);
  for (std::size_t end = 0; end < std::min(bytes.size(), kPrefixesUpTo); ++end) {
    run(bytes.substr(0, end));
  }
  tidegate::units::Prng prng(bytes.size());
  for (int i = 0; i < kMutations; ++i) run(mutate(bytes, prng));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& path : files) run_file(path);
  std::printf("%zu files\n", files.size());
  return files.empty() ? 1 : 0;
}
