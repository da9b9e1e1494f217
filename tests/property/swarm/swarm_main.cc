// swarm_test: lives many random worlds and prints the seed and the last steps of each one that
// breaks an invariant, or that does not repeat itself byte for byte (D1). Exit status 1 then.
//
//   swarm_test --seeds 2000            worlds 0 .. 1999
//   swarm_test --first 1234 --seeds 1 --trace   one world, every step of the pool in words
//   swarm_test --first 1234 --seeds 1 --journal FILE   one world, recorded
#include <CLI/CLI.hpp>
#include <cstdio>

#include "journal/file.h"
#include "journal/text.h"
#include "world.h"

namespace {

using tidegate::swarm::Outcome;
using tidegate::swarm::World;
using tidegate::swarm::WorldOptions;

struct Totals {
  std::int64_t worlds = 0;
  std::int64_t broken = 0;
  std::int64_t events = 0;
  std::int64_t engine_steps = 0;
  std::map<tidegate::domain::Outcome, std::int64_t> ends;
  std::uint64_t digest = 0;
};

void print_step(const tidegate::journal::Step& step) {
  std::printf("%s", tidegate::journal::to_text(step).c_str());
}

Outcome live(std::uint64_t seed, bool trace) {
  WorldOptions options;
  options.seed = seed;
  if (trace) options.watch = print_step;
  return World(std::move(options)).run();
}

void add(Totals& totals, const Outcome& outcome) {
  totals.worlds += 1;
  totals.events += outcome.events;
  totals.engine_steps += outcome.engine_steps;
  totals.digest = totals.digest * 0x9E3779B97F4A7C15ULL + outcome.digest;
  for (const auto& [end, count] : outcome.ends) totals.ends[end] += count;
}

// One world, and for one in `twice_every` the same again.
void run_seed(std::uint64_t seed, bool trace, std::uint64_t twice_every, Totals& totals) {
  const Outcome outcome = live(seed, trace);
  add(totals, outcome);
  if (!outcome.violations.empty()) {
    totals.broken += 1;
    std::printf("seed %llu\n%s%s\n", static_cast<unsigned long long>(seed), outcome.story.c_str(),
                tidegate::invariants::to_text(outcome.violations).c_str());
    return;
  }
  if (twice_every == 0 || seed % twice_every != 0) return;
  if (live(seed, false).digest == outcome.digest) return;
  totals.broken += 1;
  std::printf("seed %llu\nD1: the same seed gave other decisions\n",
              static_cast<unsigned long long>(seed));
}

// Records the world; 1 when the file cannot be written.
int record(std::uint64_t seed, const std::string& path) {
  auto writer = tidegate::journal::Writer::create(path);
  bool sound = writer.has_value();
  WorldOptions options;
  options.seed = seed;
  options.watch = [&](const tidegate::journal::Step& step) {
    sound = sound && writer->append(step).has_value();
  };
  World world(std::move(options));
  sound =
      sound &&
      writer->append(tidegate::journal::Configuration{"", "tidegate", world.config()}).has_value();
  world.run();
  sound = sound && writer->flush().has_value();
  if (!sound) std::printf("%s: cannot be written\n", path.c_str());
  return sound ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Random worlds under the invariants");
  std::uint64_t first = 0;
  std::uint64_t seeds = 1'000;
  std::uint64_t twice_every = 10;
  std::int64_t broken_max = 3;
  bool trace = false;
  app.add_option("--first", first, "The first seed");
  app.add_option("--seeds", seeds, "How many");
  app.add_option("--twice-every", twice_every, "Every so many seeds run twice (0 = none)");
  app.add_option("--broken-max", broken_max, "Stop after so many failures");
  std::string journal;
  app.add_option("--journal", journal, "Record the first world in this file, and do nothing else");
  app.add_flag("--trace", trace, "Print every step");
  CLI11_PARSE(app, argc, argv);
  if (!journal.empty()) return record(first, journal);
  Totals totals;
  for (std::uint64_t seed = first; seed < first + seeds && totals.broken < broken_max; ++seed) {
    run_seed(seed, trace, twice_every, totals);
  }
  std::printf("%lld worlds, %lld broken, %lld events, %lld engine steps, digest %016llx\n",
              static_cast<long long>(totals.worlds), static_cast<long long>(totals.broken),
              static_cast<long long>(totals.events), static_cast<long long>(totals.engine_steps),
              static_cast<unsigned long long>(totals.digest));
  for (const auto& [end, count] : totals.ends) {
    const auto text = tidegate::domain::name(end);
    std::printf("  %-20.*s %lld\n", static_cast<int>(text.size()), text.data(),
                static_cast<long long>(count));
  }
  return totals.broken == 0 ? 0 : 1;
}
