// mkmodel: writes small GGUF models where nothing can be downloaded.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "mkmodel/ngram_model.h"
#include "mkmodel/random_model.h"
#include "units/result.h"

namespace {

constexpr int kUsage = 2;

constexpr const char* kExamples = R"(Examples:
  mkmodel random --shape 100M --type q4_0 --out bench-100m.gguf
  mkmodel random --shape 15M --type q8_0 --seed 7 --out small.gguf
  mkmodel ngram --corpus builtin --out demo.gguf
  mkmodel ngram --corpus my_lines.txt --out mine.gguf)";

tidegate::units::Result<std::string> read_corpus(const std::string& name) {
  if (name == "builtin") return std::string(tidegate::mkmodel::builtin_corpus());
  std::ifstream file(name, std::ios::binary);
  if (!file) return tidegate::units::error(name, "cannot be read; name a text file or builtin");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

int report(const std::string& out, const tidegate::units::Result<void>& result) {
  if (result) {
    fmt::print("wrote {}\n", out);
    return 0;
  }
  fmt::print(stderr, "mkmodel: {}: {}\n", result.error().where, result.error().message);
  return kUsage;
}

int run(int argc, char** argv) {
  CLI::App app("Writes small GGUF models of the llama architecture.", "mkmodel");
  app.footer(kExamples);
  app.require_subcommand(1);

  tidegate::mkmodel::RandomOptions random;
  CLI::App* random_command = app.add_subcommand("random", "Random weights of a given shape");
  random_command->add_option("--shape", random.shape, "15M or 100M")->required();
  random_command->add_option("--type", random.type, "q4_0, q8_0, f16 or f32")->default_val("q4_0");
  random_command->add_option("--seed", random.seed, "Equal seeds give equal bytes")->default_val(1);
  random_command->add_option("--out", random.out, "File to write")->required();

  std::string corpus;
  std::string out;
  CLI::App* ngram_command = app.add_subcommand("ngram", "Bigram statistics of a corpus");
  ngram_command->add_option("--corpus", corpus, "Text file, one utterance a line, or builtin")
      ->default_val("builtin");
  ngram_command->add_option("--out", out, "File to write")->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (random_command->parsed()) {
    return report(random.out, tidegate::mkmodel::write_random_model(random));
  }
  const tidegate::units::Result<std::string> text = read_corpus(corpus);
  if (!text) return report(out, tl::unexpected(text.error()));
  return report(out, tidegate::mkmodel::write_ngram_model(*text, out));
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv);
}
