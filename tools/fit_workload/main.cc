// Fits the workload profiles that ship with the project to published traces and says how close what
// is generated comes to them. See catalogue/README.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "agentic.h"
#include "compare.h"
#include "servegen.h"
#include "trace_fit.h"
#include "workload/statistics.h"
#include "workload/trace_reader.h"
#include "write.h"

namespace {

using tidegate::tools::TraceFit;
using tidegate::units::Result;
using tidegate::workload::Profile;
using tidegate::workload::Trace;

constexpr double kHour = 3600;

struct Fitted {
  std::vector<Profile> profiles;
  std::string report = tidegate::tools::comparison_heading();
};

void add(Profile profile, const tidegate::workload::TraceStatistics& recorded, double length_s,
         Fitted& fitted) {
  fitted.report += tidegate::tools::comparison(
      profile.name, recorded, tidegate::tools::describe_generated(profile, length_s));
  fitted.profiles.push_back(std::move(profile));
}

Result<void> add_trace(const std::string& path, const TraceFit& how, Fitted& fitted) {
  const auto trace = tidegate::workload::read_trace(path);
  if (!trace) return tl::unexpected(trace.error());
  const auto length_s = static_cast<double>(trace->rows.back().arrival.value()) / 1e9;
  add(tidegate::tools::fit_trace(*trace, how), tidegate::workload::describe(*trace), length_s,
      fitted);
  return {};
}

// ServeGen's tables; the comparison is at a rate that keeps it short.
Result<void> add_servegen(const std::string& folder, Fitted& fitted) {
  for (const std::string model : {"m-large", "m-mid", "m-small", "deepseek-r1"}) {
    auto fit = tidegate::tools::fit_servegen(folder, model);
    if (!fit) return tl::unexpected(fit.error());
    Profile& profile = fit->profile;
    profile.name = "servegen-" + model;
    profile.source = "alibaba/ServeGen f891d11 (Apache-2.0): rates and lengths of its clients";
    const double rate = profile.requests_per_s;
    profile.requests_per_s = fit->published.requests_per_s = 10;
    add(profile, fit->published, 2 * kHour, fitted);
    fitted.profiles.back().requests_per_s = rate;
  }
  return {};
}

Result<Fitted> fit_all(const std::string& folder) {
  Fitted fitted;
  if (const auto done = add_servegen(folder, fitted); !done) return tl::unexpected(done.error());
  const auto clients = fitted.profiles.front().rank_load;  // m-large's, for traces without clients
  const std::string azure = "Azure/AzurePublicDataset b469a11 (CC-BY-4.0): ";
  const std::vector<std::pair<std::string, TraceFit>> traces{
      {"azure_conv_2023",
       {"azure-conv", azure + "AzureLLMInferenceTrace_conv.csv; clients as servegen-m-large", false,
        clients}},
      {"azure_code_2023",
       {"azure-code", azure + "AzureLLMInferenceTrace_code.csv; clients as servegen-m-large", false,
        clients}},
      {"mooncake_conversation",
       {"mooncake",
        "kvcache-ai/Mooncake 3b5a594 (Apache-2.0): conversation_trace.jsonl; clients as "
        "servegen-m-large",
        true, clients}}};
  for (const auto& [file, how] : traces) {
    const auto done = add_trace(folder + "/" + file + ".csv.gz", how, fitted);
    if (!done) return tl::unexpected(done.error());
  }
  auto agentic =
      tidegate::tools::fit_agentic(folder + "/agentic_claude_code_requests.csv.gz", clients);
  if (!agentic) return tl::unexpected(agentic.error());
  agentic->profile.source =
      "callanjfox/kv-cache-tester 94f6046 (Apache-2.0): Claude Code sessions; clients as "
      "servegen-m-large; session starts assumed Poisson";
  add(agentic->profile, tidegate::workload::describe(agentic->requests), 8 * kHour, fitted);
  return fitted;
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  return static_cast<bool>(out);
}

// Says whether the file holds exactly this text.
bool same_as(const std::string& path, const std::string& text) {
  std::ifstream in(path, std::ios::binary);
  const std::string there{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const bool same = in && there == text;
  fmt::print("{}: {}\n", path, same ? "the same, byte for byte" : "differs");
  return same;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Fits the shipped workload profiles to published traces."};
  std::string folder;
  std::string out;
  app.add_option("traces", folder, "Folder of the traces")->required();
  app.add_option("--out", out, "Folder to write workload_profiles.csv and workload_kinds.csv to");
  std::string check;
  app.add_option("--check", check, "Folder whose tables to compare with what the fit gives");
  CLI11_PARSE(app, argc, argv);
  const auto fitted = fit_all(folder);
  if (!fitted) {
    fmt::print(stderr, "{}: {}\n", fitted.error().where, fitted.error().message);
    return 1;
  }
  fmt::print("{}", fitted->report);
  const tidegate::tools::Mixed mixed{
      "azure-conv:0.35 azure-code:0.15 servegen-m-large:0.25 servegen-deepseek-r1:0.1 "
      "mooncake:0.15",
      10, fitted->profiles.front().rank_load};
  const auto profiles = tidegate::tools::profiles_csv(fitted->profiles, mixed);
  const auto kinds = tidegate::tools::kinds_csv(fitted->profiles);
  if (!check.empty()) {
    const bool same_profiles = same_as(check + "/workload_profiles.csv", profiles);
    return same_as(check + "/workload_kinds.csv", kinds) && same_profiles ? 0 : 1;
  }
  if (out.empty()) {
    fmt::print("\n{}\n{}", profiles, kinds);
    return 0;
  }
  if (write_file(out + "/workload_profiles.csv", profiles) &&
      write_file(out + "/workload_kinds.csv", kinds)) {
    return 0;
  }
  fmt::print(stderr, "{}: cannot be written\n", out);
  return 1;
}
