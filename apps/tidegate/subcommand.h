// A subcommand of `tidegate`: it declares its options on the command line's parser and gives back
// what to run when it was chosen. Wiring only; the work is done by the rooms.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace tidegate::app {

// Exit status: 0 done, 1 failed, 2 wrong usage or input.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongInput = 2;

using Run = std::function<int()>;

struct Subcommand {
  CLI::App* app = nullptr;
  Run run;
};

Subcommand add_serve(CLI::App& parent);
Subcommand add_check(CLI::App& parent);
Subcommand add_replay(CLI::App& parent);
Subcommand add_sim(CLI::App& parent);
Subcommand add_why(CLI::App& parent);

}  // namespace tidegate::app
