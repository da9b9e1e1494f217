// The command line: one binary, one file for each subcommand.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "subcommand.h"

namespace tidegate::app {
namespace {

int run(int argc, char** argv) {
  CLI::App app{"Tidegate places inference requests onto engines and keeps every promise it makes."};
  app.name("tidegate");
  app.set_version_flag("--version", std::string("tidegate ") + TIDEGATE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  tidegate serve\n"
      "  tidegate serve --model llama-3.1-8b-q4_k_m.gguf --listen 127.0.0.1:9000\n"
      "  tidegate check server.yaml\n"
      "  tidegate sim scenarios/underload.yaml\n\n"
      "Exit status: 0 done, 1 failed, 2 wrong usage or input.");
  const std::vector<Subcommand> subcommands = {add_serve(app), add_check(app), add_why(app),
                                               add_replay(app), add_sim(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongInput;
  }
  for (const Subcommand& each : subcommands) {
    if (each.app->parsed()) return each.run();
  }
  return kWrongInput;
}

}  // namespace
}  // namespace tidegate::app

int main(int argc, char** argv) {
  try {
    return tidegate::app::run(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "tidegate: %s\n", failure.what());
    return tidegate::app::kFailed;
  }
}
