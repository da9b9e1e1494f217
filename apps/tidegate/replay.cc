// tidegate replay JOURNAL: feeds a recorded journal to the same code and says whether it decides
// the same, byte for byte; if not, prints the first step that differs.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "baselines/registry.h"
#include "journal/file.h"
#include "journal/replay.h"
#include "journal/text.h"
#include "subcommand.h"

namespace tidegate::app {
namespace {

struct ReplayOptions {
  std::string journal;
  bool json = false;
};

struct Replayed {
  std::string policy;
  std::optional<journal::Replay> replay;
  std::optional<journal::Divergence> divergence;
  bool torn = false;
};

int complain(const units::Error& error) {
  std::fputs(fmt::format("tidegate replay: {}: {}\n", error.where, error.message).c_str(), stderr);
  return kWrongInput;
}

// A configuration of the journal: the first one says who decides.
units::Result<void> follow(const journal::Configuration& configuration, const std::string& path,
                           Replayed& replayed) {
  if (!replayed.replay) {
    const auto policy = baselines::policy(configuration.policy);
    if (!policy) return units::error(path, policy.error().message);
    replayed.policy = configuration.policy;
    replayed.replay.emplace(configuration.pool, policy->pool);
    return {};
  }
  const bool same_policy = configuration.policy == replayed.policy;
  if (same_policy && replayed.replay->reconfigure(configuration.pool)) return {};
  return units::error(path,
                      "a later configuration has another policy, other models or other bounds than "
                      "the first; this file was not written by one run");
}

units::Result<void> take(const journal::Record& record, const std::string& path,
                         Replayed& replayed) {
  if (const auto* configuration = std::get_if<journal::Configuration>(&record)) {
    return follow(*configuration, path, replayed);
  }
  const auto* step = std::get_if<journal::Step>(&record);
  if (step == nullptr) return {};
  if (!replayed.replay) {
    return units::error(path, "no configuration comes before the first event");
  }
  replayed.divergence = replayed.replay->feed(*step);
  return {};
}

units::Result<Replayed> run(const std::string& path) {
  auto reader = journal::Reader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  Replayed replayed;
  journal::Record record;
  while (!replayed.divergence) {
    const auto read = reader->next(record);
    if (!read) return tl::unexpected(read.error());
    replayed.torn = *read == journal::ReadEnd::kTorn;
    if (*read != journal::ReadEnd::kRecord) break;
    const auto taken = take(record, path, replayed);
    if (!taken) return tl::unexpected(taken.error());
  }
  if (!replayed.replay) return units::error(path, "the journal is empty");
  return replayed;
}

void print_divergence(const journal::Divergence& divergence) {
  journal::Step decided = divergence.recorded;
  decided.decisions = divergence.decided;
  const std::string text =
      fmt::format("step {} differs; recorded:\n{}decided now:\n{}", divergence.step,
                  journal::to_text(divergence.recorded), journal::to_text(decided));
  std::fputs(text.c_str(), stdout);
}

int replay(const ReplayOptions& options) {
  const auto replayed = run(options.journal);
  if (!replayed) return complain(replayed.error());
  const journal::Replay& replay = *replayed->replay;
  const bool same = !replayed->divergence;
  if (options.json) {
    std::fputs(fmt::format("{{\"identical\":{},\"steps\":{},\"decisions\":{},"
                           "\"digest\":\"{:016x}\",\"torn\":{},\"policy\":\"{}\"}}\n",
                           same, replay.steps(), replay.decisions(), replay.digest(),
                           replayed->torn, replayed->policy)
                   .c_str(),
               stdout);
    return same ? kDone : kFailed;
  }
  if (!same) print_divergence(*replayed->divergence);
  std::fputs(fmt::format("{} steps, {} decisions by {}, digest {:016x}: {}{}\n", replay.steps(),
                         replay.decisions(), replayed->policy, replay.digest(),
                         same ? "identical to the journal" : "not what the journal says",
                         replayed->torn ? "; the last record is torn and was left out" : "")
                 .c_str(),
             stdout);
  return same ? kDone : kFailed;
}

}  // namespace

Subcommand add_replay(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("replay", "Feed a journal to the same code and compare");
  const auto options = std::make_shared<ReplayOptions>();
  app->add_option("JOURNAL", options->journal, "The journal that `serve` wrote")->required();
  app->add_flag("--json", options->json, "Print the result as one JSON object");
  app->footer(
      "Exit status: 0 identical, 1 different (the first difference is printed), 2 no journal.\n\n"
      "Example:\n"
      "  tidegate replay serve.journal");
  return {app, [options] { return replay(*options); }};
}

}  // namespace tidegate::app
