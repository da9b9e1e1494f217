// The rows of the table of targets (docs/benchmarks.md says what each asks for). A row runs its
// situations under Tidegate and under baselines and adds its findings.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "findings.h"
#include "situation.h"

namespace tidegate::bench {

struct Bench {
  std::string folder;  // of the situations
  std::string trace;   // Azure's code trace of 2023; empty: rows that need it are left out
  int seeds = 5;
  std::function<void(Finding finding)> add;

  std::string file(const std::string& name) const { return folder + "/" + name + ".yaml"; }
};

struct Row {
  const char* name;
  void (*measure)(const Bench& bench);
};

const std::vector<Row>& rows();

// load.cc
void underload(const Bench& bench);
void overload(const Bench& bench);
// published.cc
void published(const Bench& bench);
// tenants.cc
void long_prompts(const Bench& bench);
void flood(const Bench& bench);
void guarantee(const Bench& bench);
void fairness(const Bench& bench);
// disturbance.cc
void swing(const Bench& bench);
void memory(const Bench& bench);
void retry_storm(const Bench& bench);
void wrong_lengths(const Bench& bench);
void wrong_step_times(const Bench& bench);

// The run with the best value of `figure`, of which more is better; nullptr of none.
template <class Figures>
const Runs* best_of(const std::vector<Runs>& all, const Figures& figure) {
  const Runs* best = nullptr;
  for (const Runs& each : all) {
    if (best == nullptr || figure(each) > figure(*best)) best = &each;
  }
  return best;
}

}  // namespace tidegate::bench
