#include "config/scenario_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tidegate::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A folder with a trace in it, since a workload names one.
class LoadScenario : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "load_scenario";
    std::filesystem::create_directories(folder_ + "/data/traces");
    std::ofstream(folder_ + "/t.csv") << "arrival_seconds,input_tokens,output_tokens\n0,1,1\n";
    std::ofstream(folder_ + "/data/traces/far.csv") << "";
  }
  tl::expected<ScenarioConfig, LoadErrors> parse(const std::string& text) const {
    return parse_scenario(text, folder_ + "/s.yaml", {folder_ + "/data"});
  }
  // "line: message" of every problem.
  std::vector<std::string> problems(const std::string& text) const {
    std::vector<std::string> lines;
    const auto config = parse(text);
    if (config) return lines;
    for (const auto& error : config.error()) {
      lines.push_back(error.where.substr(error.where.rfind(':') + 1) + ": " + error.message);
    }
    return lines;
  }
  std::string folder_;
};

// Three lines that make a whole scenario; what a test adds stands from line 4 on.
constexpr const char* kWhole =
    "pool: [{gpu: H100-SXM-80GB, count: 2}]\n"
    "models: [{name: small, catalogue: Llama-3.1-8B}]\n"
    "workload: [{trace: t.csv}]\n";

std::string whole_and(const std::string& more) {
  return kWhole + more;
}

// What the file says is what the values say.
TEST_F(LoadScenario, ReadsEverySection) {
  const auto config = parse(
      "gpus: {new: {catalogue: H100-SXM-80GB, price_per_hour: 3.5}, old: {catalogue: "
      "A100-SXM-80GB}}\n"
      "pool: [{gpu: new, count: 32}, {gpu: old, count: 8}]\n"
      "models: [{name: big, catalogue: Llama-3.1-70B, tensor_parallel: 4, min_replicas: 2,\n"
      "          dtype: fp8, max_sequences: 64, max_step_tokens: 1024}]\n"
      "classes: [{name: chat, ttft: 500ms, tpot: 50ms}, {name: batch, best_effort: true}]\n"
      "tenants: [{name: team, count: 3, class: chat}, {name: solo, class: batch}]\n"
      "workload: [{trace: t.csv, tenant: team-*, model: big, class: chat, rate_scale: 2.5,\n"
      "            start: 10s, length: 1min, max_output: 512, retries: {most: 2, wait: 3s}}]\n"
      "faults: [{gpu: old, count: 2, at: 10s, for: 5s}, {engine: 1, at: 1s, kind: slow, factor: "
      "1.5}]\n"
      "run: {seconds: 100, warmup: 10, seeds: 3, policies: [tidegate], step_noise: 0.05,\n"
      "      telemetry_lag: 200ms, engine_start: 1s, load_gb_per_s: 8, lengths: known,\n"
      "      length_bias: 3, step_time_bias: 0.8}\n");
  ASSERT_TRUE(config) << config.error().front().where << config.error().front().message;
  ASSERT_EQ(config->gpus.size(), 2u);
  EXPECT_EQ(config->gpus[0].catalogue, "H100-SXM-80GB");
  EXPECT_EQ(config->gpus[0].price_per_hour, 3.5);
  ASSERT_EQ(config->pool.size(), 2u);
  EXPECT_EQ(config->pool[1].gpu, 1u);
  EXPECT_EQ(config->pool[1].count, 8);
  const ScenarioModel& model = config->models.at(0);
  EXPECT_TRUE(model.fp8);
  EXPECT_EQ(model.tensor_parallel, 4);
  EXPECT_EQ(model.min_replicas, 2);
  EXPECT_EQ(model.max_sequences, 64);
  EXPECT_EQ(model.max_step_tokens, units::Tokens(1'024));
  ASSERT_EQ(config->tenants.size(), 4u);
  EXPECT_EQ(config->tenants[2].values.name, "team-3");
  EXPECT_EQ(config->tenants[3].values.id, units::TenantId(3));
  const WorkloadItem& item = config->workload.at(0);
  EXPECT_EQ(item.tenants.size(), 3u);
  EXPECT_EQ(item.model, units::ModelId(0));
  EXPECT_EQ(item.service_class, units::ClassId(0));
  EXPECT_EQ(item.rate_scale, 2.5);
  EXPECT_EQ(item.start, units::seconds(10));
  EXPECT_EQ(item.length, units::seconds(60));
  EXPECT_EQ(item.max_output, units::Tokens(512));
  EXPECT_EQ(item.retries, 2);
  EXPECT_EQ(item.retry_wait, units::seconds(3));
  ASSERT_EQ(config->faults.size(), 2u);
  EXPECT_EQ(config->faults[0].gpu, 1u);
  EXPECT_EQ(config->faults[0].lasts, units::seconds(5));
  EXPECT_EQ(config->faults[1].kind, FaultKind::kSlow);
  EXPECT_EQ(config->faults[1].factor, units::Ppm(1'500'000));
  EXPECT_EQ(config->run.length, units::seconds(100));
  EXPECT_EQ(config->run.warmup, units::seconds(10));
  EXPECT_EQ(config->run.seeds, 3);
  EXPECT_EQ(config->run.policies.at(0).name, "tidegate");
  EXPECT_EQ(config->run.step_noise, units::Ppm(50'000));
  EXPECT_EQ(config->run.telemetry_lag, units::milliseconds(200));
  EXPECT_EQ(config->run.load_gb_per_s, 8);
  EXPECT_TRUE(config->run.known_lengths);
  EXPECT_EQ(config->run.length_bias, units::Ppm(3'000'000));
  EXPECT_EQ(config->run.step_time_bias, units::Ppm(800'000));
}

// A pool may name GPUs of the catalogue without a `gpus` section, and classes and tenants have the
// defaults of a server.
TEST_F(LoadScenario, ThreeLinesAreEnough) {
  const auto config = parse(kWhole);
  ASSERT_TRUE(config) << config.error().front().message;
  EXPECT_EQ(config->gpus.at(0).name, "H100-SXM-80GB");
  EXPECT_EQ(config->classes.size(), 2u);
  EXPECT_EQ(config->tenants.size(), 1u);
}

// A trace is found in the data folders, too, when the scenario's own folder does not have it.
TEST_F(LoadScenario, FindsTracesInTheDataFolder) {
  std::string text(kWhole);
  text.replace(text.find("t.csv"), 5, "far.csv");
  const auto config = parse(text);
  ASSERT_TRUE(config) << config.error().front().message;
  EXPECT_EQ(config->workload.at(0).trace, folder_ + "/data/traces/far.csv");
}

// An unknown key says where it stands and what it was meant to be.
TEST_F(LoadScenario, UnknownKeys) {
  EXPECT_THAT(problems(whole_and("wrokload: []\n")),
              ElementsAre("4: unknown key 'wrokload' in the scenario; did you mean 'workload'?"));
  EXPECT_THAT(problems(whole_and("run: {second: 5}\n")),
              ElementsAre("4: unknown key 'second' in run; did you mean 'seconds'?"));
  EXPECT_THAT(problems(whole_and("faults: [{engine: 1, at: 1s, fro: 2s}]\n")),
              ElementsAre("4: unknown key 'fro' in fault; did you mean 'for'?"));
}

// Keys of a server have no place in a scenario.
TEST_F(LoadScenario, ServerKeys) {
  EXPECT_THAT(problems(whole_and("engines: []\n")),
              ElementsAre(HasSubstr("4: 'engines' belongs to a server; a scenario is")));
}

// Every name that is referred to must exist, and the nearest one is suggested.
TEST_F(LoadScenario, UnknownNames) {
  EXPECT_THAT(problems("pool: [{gpu: H100-SXM-80, count: 2}]\nmodels: [{name: Llama-3.1-8B}]\n"
                       "workload: [{trace: t.csv}]\n"),
              ElementsAre("1: pool entry names the unknown GPU 'H100-SXM-80'; did you mean "
                          "'H100-SXM-80GB'?",
                          HasSubstr("1: 'pool' has no GPU")));
  EXPECT_THAT(problems("pool: [{gpu: H100-SXM-80GB, count: 2}]\nmodels: [{name: Llama-3.1-8}]\n"
                       "workload: [{trace: t.csv}]\n"),
              ElementsAre(HasSubstr("2: the catalogue has no model 'Llama-3.1-8'; did you mean")));
  EXPECT_THAT(problems("pool: [{gpu: H100-SXM-80GB, count: 2}]\n"
                       "models: [{name: small, catalogue: Llama-3.1-8B}]\n"
                       "workload: [{trace: t.csv, model: smal},\n"
                       "           {trace: t.csv, tenant: acme},\n"
                       "           {trace: t.csv, class: chat}]\n"),
              ElementsAre("3: the workload names the unknown model 'smal'; did you mean 'small'?",
                          "4: the workload names the unknown tenant 'acme'; known: default",
                          "5: the workload names the unknown class 'chat'; known: interactive, "
                          "batch"));
  EXPECT_THAT(problems(whole_and("faults: [{gpu: H100, count: 1, at: 1s}]\n")),
              ElementsAre("4: the fault names the unknown GPU 'H100'; known: H100-SXM-80GB"));
}

// A tenant's workload stays within the classes that the tenant may ask for.
TEST_F(LoadScenario, ForeignClass) {
  EXPECT_THAT(
      problems("pool: [{gpu: H100-SXM-80GB, count: 2}]\n"
               "models: [{name: small, catalogue: Llama-3.1-8B}]\n"
               "classes: [{name: chat, ttft: 1s}, {name: batch, best_effort: true}]\n"
               "tenants: [{name: acme, class: chat}]\n"
               "workload: [{trace: t.csv, tenant: acme, class: batch}]\n"),
      ElementsAre("5: tenant 'acme' may not ask for this class; add it to the tenant's classes"));
}

// A trace that is nowhere is an error of its line.
TEST_F(LoadScenario, MissingTrace) {
  std::string text(kWhole);
  text.replace(text.find("t.csv"), 5, "u.csv");
  EXPECT_THAT(problems(text), ElementsAre(HasSubstr("3: there is no trace 'u.csv'; name a file")));
}

// Numbers out of range, and spans of time without a unit, say what would be right.
TEST_F(LoadScenario, Values) {
  EXPECT_THAT(problems(whole_and("run: {seconds: -1}\n")),
              ElementsAre(HasSubstr("4: 'seconds' is '-1'; write a number from")));
  EXPECT_THAT(problems(whole_and("run: {seconds: 10, warmup: 10}\n")),
              ElementsAre("4: the warm-up takes the whole run; make it shorter than 'seconds'"));
  EXPECT_THAT(problems(whole_and("run: {telemetry_lag: 5}\n")),
              ElementsAre(HasSubstr("4: 'telemetry_lag' of run:")));
  EXPECT_THAT(problems(whole_and("run: {step_time_bias: 0}\n")),
              ElementsAre(HasSubstr("4: 'step_time_bias' is '0'; write a number from")));
  EXPECT_THAT(problems("pool: [{gpu: H100-SXM-80GB, count: 2}]\n"
                       "models: [{name: small, catalogue: Llama-3.1-8B}]\n"
                       "workload: [{trace: t.csv, retries: {wait: 0s}}]\n"),
              ElementsAre(HasSubstr("3: retries has no 'most'; add how often"),
                          HasSubstr("3: callers ask again with hardly a wait; write at least 1")));
  EXPECT_THAT(problems(whole_and("run: {lengths: guessed}\n")),
              ElementsAre(HasSubstr("4: lengths is 'guessed'")));
  EXPECT_THAT(problems(whole_and("faults: [{engine: 0, gpu: H100-SXM-80GB, at: 1s}]\n")),
              ElementsAre(HasSubstr("4: a fault needs either an engine or a GPU")));
  EXPECT_THAT(problems(whole_and("faults: [{engine: 0}]\n")),
              ElementsAre(HasSubstr("4: fault has no 'at'")));
}

// What must be there is asked for; several problems come together, in the order of their lines.
TEST_F(LoadScenario, MissingSections) {
  EXPECT_THAT(problems("run: {seconds: 1}\n"),
              ElementsAre(HasSubstr("the scenario has no 'pool'"),
                          HasSubstr("the scenario has no 'models'"),
                          HasSubstr("the scenario has no 'workload'")));
}

// A scenario is told from a server's configuration by its sections.
TEST(IsScenario, TellsByTheSections) {
  EXPECT_TRUE(is_scenario("pool: []\n"));
  EXPECT_TRUE(is_scenario("workload: []\n"));
  EXPECT_FALSE(is_scenario("engines: []\n"));
  EXPECT_FALSE(is_scenario("{{{"));
}

// Text that is no YAML says so with its line.
TEST_F(LoadScenario, NoYaml) {
  EXPECT_THAT(problems("pool: [\n"), ElementsAre(HasSubstr("not YAML")));
  EXPECT_THAT(problems(kWhole), IsEmpty());
}

// Each thing wrong with a generator is told with its line and what would be right.
TEST_F(LoadScenario, TellsWhatIsWrongWithAGenerator) {
  const std::string start =
      "pool: [{gpu: H100-SXM-80GB, count: 2}]\n"
      "models: [{name: small, catalogue: Llama-3.1-8B}]\n"
      "workload: [{generator: servegen, ";
  EXPECT_THAT(problems(start + "shape: squar}]\n"),
              ElementsAre("3: shape is 'squar'; did you mean 'square'?"));
  EXPECT_THAT(problems(start + "input: {p50: 100, p90: 50}}]\n"),
              ElementsAre("3: p90 is not above p50; write the larger number as p90"));
  EXPECT_THAT(problems(start + "trace: t.csv}]\n"), ElementsAre(::testing::HasSubstr("trace")));
}

}  // namespace
}  // namespace tidegate::config
