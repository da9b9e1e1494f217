// fit: fits the step-time law to measured profiles, and reports the error on points that the fit
// did not see. With --out it writes one CSV row of coefficients for each (GPU, model, dtype, tp).

#include <fmt/format.h>
#include <fmt/os.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "profiles.h"
#include "units/prng.h"

namespace {

using tidegate::fit::Profile;
using tidegate::fit::Profiles;
using tidegate::fit::Subject;
using tidegate::fitting::Sample;

struct Options {
  std::vector<std::string> profiles;
  std::vector<std::string> parts;    // files of which mixed steps are left out
  std::vector<std::string> renames;  // FROM=TO
  std::string out;
  std::int64_t folds = 5;
  std::uint64_t seed = 1;
  int most_knees = 2;
};

double relative_error(const tidegate::domain::StepCoefficients& law, const Sample& sample) {
  return tidegate::fitting::error_of(law, std::span(&sample, 1)).median;
}

// Cross-validation: each point is predicted by a fit that did not see it.
void unseen_errors(const Profile& profile, const Options& options, std::vector<double>& errors) {
  std::vector<std::size_t> fold_of(profile.samples.size());
  tidegate::units::Prng prng(options.seed);
  for (auto& fold : fold_of) fold = prng.below(static_cast<std::uint64_t>(options.folds));
  for (std::size_t fold = 0; fold < static_cast<std::size_t>(options.folds); ++fold) {
    std::vector<Sample> seen;
    for (std::size_t i = 0; i < fold_of.size(); ++i) {
      if (fold_of[i] != fold) seen.push_back(profile.samples[i]);
    }
    const auto fit = tidegate::fitting::fit_step_law(seen, {.most_knees = options.most_knees});
    if (!fit) continue;
    for (std::size_t i = 0; i < fold_of.size(); ++i) {
      if (fold_of[i] == fold) errors.push_back(relative_error(fit->law, profile.samples[i]));
    }
  }
}

void print_errors(const char* kind, std::vector<double> errors) {
  if (errors.empty()) return;
  std::sort(errors.begin(), errors.end());
  const auto at = [&](double q) {
    return 100 * errors[static_cast<std::size_t>(q * static_cast<double>(errors.size() - 1))];
  };
  fmt::print("{:5} {:7} unseen points: median {:.2f} %, p90 {:.2f} %, p99 {:.2f} %\n", kind,
             errors.size(), at(0.5), at(0.9), at(0.99));
}

// The name that the GPU goes by in the catalogue.
std::string renamed(const std::string& gpu, const Options& options) {
  for (const std::string& each : options.renames) {
    const std::size_t equals = each.find('=');
    if (each.substr(0, equals) == gpu) return each.substr(equals + 1);
  }
  return gpu;
}

bool is_mixed(const Sample& sample) {
  return sample.shape.prefill_tokens > 0 && sample.shape.decodes > 0;
}

// Adds what is in the file; a subject that is there already stays as it is.
tidegate::units::Result<void> add_file(const std::string& path, bool only_parts,
                                       const Options& options, Profiles& all) {
  auto profiles = tidegate::fit::read_profiles(path);
  if (!profiles) return tl::unexpected(profiles.error());
  for (auto& [subject, profile] : *profiles) {
    Subject own = subject;
    own.gpu = renamed(subject.gpu, options);
    if (only_parts) std::erase_if(profile.samples, is_mixed);
    all.try_emplace(own, std::move(profile));
  }
  return {};
}

tidegate::units::Result<Profiles> read_all(const Options& options) {
  Profiles all;
  for (const std::string& path : options.profiles) {
    if (const auto added = add_file(path, false, options, all); !added) {
      return tl::unexpected(added.error());
    }
  }
  for (const std::string& path : options.parts) {
    if (const auto added = add_file(path, true, options, all); !added) {
      return tl::unexpected(added.error());
    }
  }
  return all;
}

bool write_laws(const Profiles& profiles, const Options& options) {
  auto out = fmt::output_file(options.out);
  out.print(
      "gpu,model,dtype,tp,base_fs,knee_1,knee_2,per_token_1_fs,per_token_2_fs,per_token_3_fs,"
      "prefill_fs,per_decode_fs,per_kv_token_fs,per_attention_fs\n");
  for (const auto& [subject, profile] : profiles) {
    const auto fit =
        tidegate::fitting::fit_step_law(profile.samples, {.most_knees = options.most_knees});
    if (!fit) {
      fmt::print(stderr, "fit: {} {}: {}\n", subject.gpu, subject.model, fit.error().message);
      return false;
    }
    const auto& law = fit->law;
    out.print("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", subject.gpu, subject.model,
              subject.dtype, subject.tensor_parallel, law.base_fs, law.knees[0].value(),
              law.knees[1].value(), law.per_token_fs[0], law.per_token_fs[1], law.per_token_fs[2],
              law.prefill_fs, law.per_decode_fs, law.per_kv_token_fs, law.per_attention_fs);
  }
  return true;
}

void report(const Profiles& profiles, const Options& options) {
  std::vector<double> dense;
  std::vector<double> experts;
  for (const auto& [subject, profile] : profiles) {
    unseen_errors(profile, options, profile.mixture_of_experts ? experts : dense);
  }
  fmt::print("{} laws, {}-fold cross-validation\n", profiles.size(), options.folds);
  print_errors("dense", std::move(dense));
  print_errors("moe", std::move(experts));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Fit the step-time law to measured profiles and report the error on unseen points.\n"
      "Example: fit iteration_time.csv.gz --out catalogue/step_laws.csv"};
  app.add_option("profiles", options.profiles,
                 "CSVs of measured steps, plain, .gz or .zst; what several have is taken from the "
                 "first")
      ->required();
  app.add_option("--parts", options.parts,
                 "More of them, of which steps with both prompts and decodes are left out");
  app.add_option("--rename", options.renames, "FROM=TO: another name for a GPU")
      ->check([](const std::string& given) {
        return given.find('=') == std::string::npos ? "write FROM=TO" : std::string();
      });
  app.add_option("--out", options.out, "write the coefficients to this CSV");
  app.add_option("--folds", options.folds, "folds of the cross-validation")
      ->check(CLI::Range(2, 100));
  app.add_option("--knees", options.most_knees, "knees of the law at most, to compare forms")
      ->check(CLI::Range(0, 2));
  app.add_option("--seed", options.seed, "seed of the fold assignment");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const auto profiles = read_all(options);
  if (!profiles) {
    fmt::print(stderr, "fit: {}: {}\n", profiles.error().where, profiles.error().message);
    return 2;
  }
  report(*profiles, options);
  return options.out.empty() || write_laws(*profiles, options) ? 0 : 1;
}
