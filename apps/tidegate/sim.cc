// tidegate sim SCENARIO.yaml: runs a scenario under the production schedulers and reports what
// every caller would have seen.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baselines/registry.h"
#include "config/scenario_load.h"
#include "data_folders.h"
#include "parallel_runs.h"
#include "policy_names.h"
#include "report/html.h"
#include "report/text.h"
#include "scenario/prepare.h"
#include "subcommand.h"

namespace tidegate::app {
namespace {

constexpr int kBarWidth = 40;

struct SimOptions {
  std::string scenario;
  std::vector<std::string> policies;
  std::uint64_t seed = 1;
  std::optional<std::int64_t> seeds;
  std::vector<double> loads = {1};
  std::vector<std::string> oracles;
  bool speed_augmentation = false;
  std::string report;
  std::string html;
  bool json = false;
};

int complain(const config::LoadErrors& errors) {
  for (const units::Error& each : errors) {
    std::fputs(fmt::format("{}: {}\n", each.where, each.message).c_str(), stderr);
  }
  return kWrongInput;
}

// Those of the command line, else the scenario's.
std::vector<config::PolicyName> wanted_policies(const SimOptions& options,
                                                const config::RunSettings& run) {
  if (options.policies.empty()) return run.policies;
  std::vector<config::PolicyName> wanted;
  for (const std::string& name : options.policies) wanted.push_back({name, "--policy"});
  return wanted;
}

void draw_bar(double share) {
  const int full = static_cast<int>(share * kBarWidth);
  const std::string bar(static_cast<std::size_t>(full), '#');
  std::fputs(fmt::format("\r[{:<{}}] {:3.0f} %{}", bar, kBarWidth, share * 100,
                         share >= 1 ? "\r\033[K" : "")
                 .c_str(),
             stderr);
}

Oracles wanted_oracles(const SimOptions& options) {
  const auto asked = [&](const char* name) {
    return std::find(options.oracles.begin(), options.oracles.end(), name) != options.oracles.end();
  };
  return {asked("lengths"), asked("times")};
}

// Every policy at every load with every seed; where an oracle is asked for, once without it and
// once with it.
std::vector<Job> jobs_for(const std::vector<std::string>& policies, const SimOptions& options,
                          std::int64_t seeds) {
  std::vector<Oracles> knowing = {{}};
  if (const Oracles asked = wanted_oracles(options); asked.any()) knowing.push_back(asked);
  std::vector<Job> jobs;
  const auto add_seeds = [&](Job job) {
    for (std::int64_t i = 0; i < seeds; ++i) {
      job.seed = options.seed + static_cast<std::uint64_t>(i);
      jobs.push_back(job);
    }
  };
  for (const std::string& policy : policies) {
    for (const Oracles& oracles : knowing) {
      for (const double load : options.loads) add_seeds({policy, 0, load, oracles});
    }
  }
  return jobs;
}

// The loads in their order, each once.
std::vector<double> sorted(std::vector<double> loads) {
  std::sort(loads.begin(), loads.end());
  loads.erase(std::unique(loads.begin(), loads.end()), loads.end());
  return loads;
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return true;
  std::fputs(fmt::format("tidegate sim: cannot write {}\n", path).c_str(), stderr);
  return false;
}

int sim(const SimOptions& options) {
  auto config = config::load_scenario(options.scenario, data_folders());
  if (!config) return complain(config.error());
  const auto policies = known_policies(wanted_policies(options, config->run));
  if (!policies) return complain(policies.error());
  const std::int64_t seeds = options.seeds.value_or(config->run.seeds);
  const auto prepared = scenario::prepare(std::move(*config));
  if (!prepared) return complain(prepared.error());
  for (const double load : options.loads) {
    if (const auto lasts = prepared->sources.last_for_the_run(load); !lasts) {
      return complain({lasts.error()});
    }
  }
  report::Report report;
  report.tidegate_version = TIDEGATE_VERSION;
  report.scenario = std::filesystem::path(options.scenario).stem().string();
  for (const domain::ServiceClass& each : prepared->config->classes) {
    report.promises.push_back({each.name, each.ttft, each.tpot, each.deadline});
  }
  RunOptions run_options{.speed_factor = options.speed_augmentation};
  if (isatty(STDERR_FILENO) != 0) run_options.progress = draw_bar;
  report.runs = run_all(*prepared, jobs_for(*policies, options, seeds), run_options);
  std::fputs((options.json ? report::json(report) : report::text(report)).c_str(), stdout);
  const bool written =
      (options.report.empty() || write_file(options.report, report::json(report))) &&
      (options.html.empty() || write_file(options.html, report::html(report)));
  return written ? kDone : kFailed;
}

std::string footer() {
  return fmt::format(
      "Engine policies: {}.\nPlacements: {}.\n"
      "An engine policy comes with the placement that its project ships; ENGINE/PLACEMENT chooses "
      "another, and a placement alone stands in front of vllm-v1.\n\n"
      "The same scenario, policy and seed give the same decisions, byte for byte: compare "
      "digests.\n"
      "Traces are looked for beside the scenario, in TIDEGATE_DATA and in ../shared/data.\n\n"
      "Examples:\n"
      "  tidegate sim scenarios/underload.yaml\n"
      "  tidegate sim scenarios/overload2x.yaml --seeds 5 --report out.json --html out.html\n"
      "  tidegate sim scenarios/square_wave.yaml --policy tidegate,vllm-v1,edf/least-requests\n"
      "  tidegate sim scenarios/overload2x.yaml --sweep-load 0.25,0.5,0.75,1 --html out.html\n"
      "  tidegate sim scenarios/overload2x.yaml --oracle lengths --speed-augmentation",
      fmt::join(baselines::engine_names(), ", "), fmt::join(baselines::placement_names(), ", "));
}

}  // namespace

Subcommand add_sim(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("sim", "Simulate a pool with the production schedulers");
  const auto options = std::make_shared<SimOptions>();
  app->add_option("SCENARIO", options->scenario, "The YAML file of the scenario")->required();
  app->add_option("--policy", options->policies,
                  "A policy to run, ENGINE or ENGINE/PLACEMENT; several, separated by commas or "
                  "each with its own --policy, give a comparison")
      ->delimiter(',')
      ->take_all();
  app->add_option("--seed", options->seed, "First seed (1)");
  app->add_option("--seeds", options->seeds, "How many seeds, one run each")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000}));
  app->add_option("--sweep-load", options->loads,
                  "Loads to run at, as multiples of the scenario's rate: 0.5,1,2. The pool stays "
                  "what it is at 1")
      ->delimiter(',')
      ->check(CLI::Range(0.01, 100.0));
  app->add_option("--oracle", options->oracles,
                  "Run each policy once more with perfect knowledge: lengths (of every output, at "
                  "arrival), times (steps take what the law says), or both")
      ->delimiter(',')
      ->check(CLI::IsMember({"lengths", "times"}));
  app->add_flag("--speed-augmentation", options->speed_augmentation,
                "Also search how much faster the engines would have to be for each policy to "
                "attain the lowest bound; about a dozen further runs each");
  app->add_option("--report", options->report, "Write the report as JSON to this file");
  app->add_option("--html", options->html, "Write the report as a page with plots to this file");
  app->add_flag("--json", options->json, "Print the report as JSON instead of a table");
  app->footer(footer());
  return {app, [options] {
            options->loads = sorted(options->loads);
            return sim(*options);
          }};
}

}  // namespace tidegate::app
