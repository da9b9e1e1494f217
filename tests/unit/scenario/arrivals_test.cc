#include "scenario/arrivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "files.h"

namespace tidegate::scenario {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kPool =
    "pool: [{gpu: H100-SXM-80GB, count: 1}]\n"
    "models: [{name: a, catalogue: Llama-3.1-8B}, {name: b, catalogue: Qwen2.5-7B}]\n"
    "classes: [{name: chat, ttft: 1s, tpot: 50ms}, {name: nightly, deadline: 30min}]\n"
    "tenants: [{name: acme, class: chat, classes: [nightly]}, {name: team, count: 2}]\n";

class Arrivals : public ::testing::Test {
 protected:
  void SetUp() override { folder_ = test_folder("arrivals"); }
  void trace(const std::string& name, const std::string& rows) const {
    std::ofstream(folder_ + "/" + name) << rows;
  }
  // All requests of a workload.
  std::vector<sim::WorldRequest> requests(const std::string& workload) {
    config_ = scenario_in(folder_, kPool + workload);
    const auto sources = Sources::open(config_);
    if (!sources) throw std::runtime_error(sources.error().message);
    std::vector<sim::WorldRequest> all;
    auto stream = sources->arrivals(1);
    for (auto next = stream(); next; next = stream()) all.push_back(*next);
    return all;
  }
  // "where: message" of a workload that cannot be opened.
  std::string problem(const std::string& workload) {
    config_ = scenario_in(folder_, kPool + workload);
    const auto sources = Sources::open(config_);
    return sources ? "" : sources.error().where + ": " + sources.error().message;
  }
  std::string folder_;
  config::ScenarioConfig config_;
};

// Twice the rate is half the time between two arrivals; the window's start becomes the zero.
TEST_F(Arrivals, RateAndWindow) {
  trace("t.csv", "arrival_seconds,input_tokens,output_tokens\n1,10,5\n2,20,6\n4,30,7\n9,40,8\n");
  const auto all = requests(
      "workload: [{trace: t.csv, tenant: acme, model: a, rate_scale: 2, start: 2s, length: 5s}]\n");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].request.arrival, units::Instant(0));
  EXPECT_EQ(all[1].request.arrival, units::Instant(1'000'000'000));
  EXPECT_EQ(all[1].request.footprint.prompt, units::Tokens(30));
  EXPECT_EQ(all[1].output, units::Tokens(7));
}

// At twice the load a trace takes half the time and a generator makes twice the requests, within
// four standard deviations of a Poisson count.
TEST_F(Arrivals, LoadMultipliesEveryRate) {
  trace("t.csv", "arrival_seconds,input_tokens,output_tokens\n0,1,1\n40,1,1\n");
  const auto config = scenario_in(
      folder_, std::string(kPool) +
                   "workload: [{trace: t.csv, tenant: acme, model: a},\n"
                   "           {generator: servegen, tenant: 'team-*', model: a, clients: 20, "
                   "requests_per_s: 20, profile: azure-conv, gap_cv: 1, rate_drift: 0}]\n"
                   "run: {seconds: 100}\n");
  const auto sources = Sources::open(config);
  ASSERT_TRUE(sources.has_value());
  for (const double load : {0.5, 1.0, 2.0}) {
    double generated = 0;
    std::vector<std::int64_t> played;
    auto stream = sources->arrivals(1, load);
    for (auto next = stream(); next; next = stream()) {
      if (next->request.tenant != units::TenantId(0))
        generated += 1;
      else
        played.push_back(next->request.arrival.ns() / 1'000'000'000);
    }
    EXPECT_THAT(played, ElementsAre(0, static_cast<std::int64_t>(40 / load)));
    const double expected = 20 * 100 * load;
    EXPECT_NEAR(generated, expected, 4 * std::sqrt(expected)) << load;
  }
}

// A trace that covers the run at the scenario's own load must cover it at a higher one too; one
// that never did may end earlier.
TEST_F(Arrivals, TraceLastsForTheRun) {
  trace("t.csv", "arrival_seconds,input_tokens,output_tokens\n0,1,1\n40,1,1\n");
  const auto lasts = [&](const std::string& run, double load) {
    config_ = scenario_in(
        folder_, std::string(kPool) + "workload: [{trace: t.csv, tenant: acme, model: a}]\nrun: {" +
                     run + "}\n");
    return Sources::open(config_)->last_for_the_run(load);
  };
  EXPECT_TRUE(lasts("seconds: 30", 1.25).has_value());
  EXPECT_TRUE(lasts("seconds: 50", 2).has_value());
  const auto refused = lasts("seconds: 30", 2);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().where, HasSubstr("s.yaml:5"));
  EXPECT_THAT(refused.error().message, HasSubstr("lasts for 20 s of the run's 30 s"));
}

// Several sources come out in order of arrival with ids from 1 on; equal times keep the order of
// the file.
TEST_F(Arrivals, SourcesAreMerged) {
  trace("t.csv", "arrival_seconds,input_tokens,output_tokens\n0,1,1\n2,2,1\n");
  trace("u.csv", "arrival_seconds,input_tokens,output_tokens\n0,3,1\n1,4,1\n");
  std::vector<std::int64_t> prompts;
  std::uint64_t id = 0;
  for (const auto& each : requests("workload: [{trace: t.csv, tenant: acme, model: a},\n"
                                   "           {trace: u.csv, tenant: team-2, model: b}]\n")) {
    EXPECT_EQ(each.request.id.value(), ++id);
    prompts.push_back(each.request.footprint.prompt.value());
  }
  EXPECT_THAT(prompts, ElementsAre(1, 3, 4, 2));
}

// Names in the rows decide where the entry is silent; a class of the row that the tenant may not
// use becomes the tenant's own.
TEST_F(Arrivals, RowsNameTenantModelAndClass) {
  trace("t.csv",
        "arrival_seconds,input_tokens,output_tokens,model,tenant,class\n"
        "0,10,5,b,acme,nightly\n1,10,5,a,team-1,nightly\n");
  const auto all = requests("workload: [{trace: t.csv}]\n");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].request.model, units::ModelId(1));
  EXPECT_EQ(all[0].request.tenant, units::TenantId(0));
  EXPECT_EQ(all[0].request.service_class, units::ClassId(1));
  EXPECT_EQ(all[0].request.promise.total_due, units::Instant(0) + units::seconds(1'800));
  EXPECT_EQ(all[1].request.tenant, units::TenantId(1));
  EXPECT_EQ(all[1].request.service_class, units::ClassId(0));
  EXPECT_EQ(all[1].request.promise.token_pace, units::milliseconds(50));
}

// A caller asks for no more output than the model's context leaves room for: 32,768 tokens here.
TEST_F(Arrivals, OutputStaysWithinTheContext) {
  trace("t.csv", "arrival_seconds,input_tokens,output_tokens\n0,32000,5000\n");
  const auto all = requests("workload: [{trace: t.csv, tenant: acme, model: b}]\n");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].request.footprint.max_output, units::Tokens(768));
  EXPECT_EQ(all[0].output, units::Tokens(768));
}

// Equal content gives equal prefix chains within a tenant and different ones between tenants.
TEST_F(Arrivals, PrefixesAreSharedWithinATenant) {
  trace("t.csv",
        "arrival_seconds,input_tokens,output_tokens,tenant,hash_ids\n"
        "0,600,5,acme,7 8\n1,1000,5,acme,7 9\n2,600,5,team-1,7 8\n");
  const auto all = requests("workload: [{trace: t.csv, model: a}]\n");
  ASSERT_EQ(all.size(), 3u);
  const auto& first = *all[0].request.prefix;
  const auto& second = *all[1].request.prefix;
  const auto& foreign = *all[2].request.prefix;
  ASSERT_EQ(first.size(), 37u);  // full blocks of 16 in 600 tokens
  ASSERT_EQ(second.size(), 62u);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(first[i], second[i]);  // one id is 512 tokens
  for (std::size_t i = 32; i < 37; ++i) EXPECT_NE(first[i], second[i]);
  for (std::size_t i = 0; i < 37; ++i) EXPECT_NE(first[i], foreign[i]);
}

// A source that leaves a choice, or names what is not there, says so at its line.
TEST_F(Arrivals, UnclearRows) {
  trace("t.csv", "arrival_seconds,input_tokens,output_tokens\n0,1,1\n");
  trace("n.csv", "arrival_seconds,input_tokens,output_tokens,tenant,model\n0,1,1,who,a\n");
  trace("m.csv", "arrival_seconds,input_tokens,output_tokens,tenant,model\n0,1,1,acme,what\n");
  trace("c.csv", "arrival_seconds,input_tokens,output_tokens,tenant,model,class\n0,1,1,acme,a,x\n");
  EXPECT_THAT(problem("workload: [{trace: t.csv, model: a}]\n"),
              HasSubstr("s.yaml:5: the trace does not say whose its requests are"));
  EXPECT_THAT(problem("workload: [{trace: t.csv, tenant: acme}]\n"),
              HasSubstr("s.yaml:5: the trace does not say which model"));
  EXPECT_THAT(problem("workload: [{trace: n.csv}]\n"), HasSubstr("the tenant 'who'"));
  EXPECT_THAT(problem("workload: [{trace: m.csv}]\n"), HasSubstr("the model 'what'"));
  EXPECT_THAT(problem("workload: [{trace: c.csv}]\n"), HasSubstr("the class 'x'"));
  EXPECT_EQ(problem("workload: [{trace: c.csv, class: chat}]\n"), "");
}

// A bad row is an error with the trace's own file and line.
TEST_F(Arrivals, BadRow) {
  trace("t.csv", "arrival_seconds,input_tokens,output_tokens\n0,1,1\n1,x,1\n");
  EXPECT_THAT(problem("workload: [{trace: t.csv, tenant: acme, model: a}]\n"),
              HasSubstr("t.csv:3"));
}

// A generated source gives a seed's requests every time, others to another seed, within the run and
// dealt to all tenants that the entry names.
TEST_F(Arrivals, GeneratedSourceIsItsSeed) {
  const auto config = scenario_in(
      folder_, std::string(kPool) +
                   "workload: [{generator: servegen, tenant: 'team-*', model: a, clients: 20, "
                   "requests_per_s: 10}]\nrun: {seconds: 30}\n");
  const auto sources = Sources::open(config);
  ASSERT_TRUE(sources.has_value());
  const auto times = [&](std::uint64_t seed) {
    std::vector<units::Instant> all;
    auto stream = sources->arrivals(seed);
    for (auto next = stream(); next; next = stream()) all.push_back(next->request.arrival);
    return all;
  };
  EXPECT_EQ(times(1), times(1));
  EXPECT_NE(times(1), times(2));
  EXPECT_LT(times(1).back(), units::Instant(0) + units::seconds(30));
  std::set<std::uint64_t> tenants;
  auto stream = sources->arrivals(1);
  for (auto next = stream(); next; next = stream()) tenants.insert(next->request.tenant.value());
  EXPECT_EQ(tenants, (std::set<std::uint64_t>{1, 2}));
}

}  // namespace
}  // namespace tidegate::scenario
