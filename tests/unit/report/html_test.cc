#include "report/html.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <regex>
#include <string>

#include "report/summary.h"

namespace tidegate::report {
namespace {

namespace js = boost::json;

constexpr std::string_view kOpen = R"(<script type="application/json" id="data">)";
constexpr std::string_view kHostile = "</script><img src=x onerror=alert(1)>&\u2028\u2029<!--\"\\";

report::Run run_of(const std::string& policy, std::uint64_t seed, int late_of_ten) {
  report::Run run;
  run.policy = policy;
  run.seed = seed;
  run.simulated_seconds = 10;
  for (std::int64_t i = 0; i < 10; ++i) {
    RequestRecord record;
    record.admitted = true;
    record.arrival = units::Instant(1'000'000);
    record.first_token = record.arrival + units::milliseconds(10 * (i + 1));
    record.last_token = record.first_token + units::milliseconds(40);
    record.output = units::Tokens(5);
    record.late_tokens = i < late_of_ten ? 1 : 0;
    run.totals.add(record);
  }
  run.by_class.emplace_back("chat", run.totals);
  run.by_tenant.emplace_back("acme", run.totals);
  return run;
}

Report hostile() {
  const std::string name(kHostile);
  Report report{"1.2.3", name, {run_of(name, 1, 2)}, {{name, units::seconds(1), {}, {}}}};
  report.runs[0].by_class[0].first = name;
  report.runs[0].by_tenant[0].first = name;
  report.runs[0].timeline = Timeline({{name, 1, units::Blocks(10)}});
  report.runs[0].timeline.at(units::Instant(0)).arrivals += 1;
  return report;
}

// What stands between the tags of the data block.
std::string data_block(const std::string& page) {
  const std::size_t begin = page.find(kOpen) + kOpen.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

// Whatever a name contains, the data block has no character that HTML or script would obey, and
// reading it gives back the very name.
TEST(Html, KeepsHostileNamesInert) {
  const std::string page = html(hostile());
  EXPECT_EQ(page.find("<img"), std::string::npos);
  const std::string block = data_block(page);
  EXPECT_EQ(block.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(block.find("\u2028"), std::string::npos);
  EXPECT_EQ(block.find("\u2029"), std::string::npos);
  const js::value data = js::parse(block);
  EXPECT_EQ(data.at("report").at("scenario").as_string(), kHostile);
  EXPECT_EQ(data.at("policies").at(0).at("by_tenant").at(0).at("name").as_string(), kHostile);
  EXPECT_EQ(data.at("policies").at(0).at("policy").as_string(), kHostile);
}

// The page needs nothing but itself: no element or style loads anything, and its policy forbids it.
TEST(Html, RefersToNothingOutside) {
  const std::string page = html(hostile());
  const std::regex loads(R"re(<(?:link|iframe|img|object|embed|base|form)\b|<script[^>]+\bsrc=|)re"
                         R"re(@import|url\(|sourceMappingURL)re");
  EXPECT_FALSE(std::regex_search(page.substr(0, page.find("<body>")), loads));
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  // The only addresses are the names of XML namespaces, which nobody fetches.
  const std::regex address(R"re((?:https?:|wss?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s"'`)]*)re");
  for (std::sregex_iterator it(page.begin(), page.end(), address), end; it != end; ++it) {
    EXPECT_TRUE(it->str().starts_with("http://www.w3.org/")) << it->str();
  }
}

// There are two scripts and one data block, each closed once: nothing inside ends one early.
TEST(Html, IsWellFormed) {
  const std::string page = html(hostile());
  const auto count = [&page](std::string_view what) {
    int found = 0;
    for (std::size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count("<script"), 2);
  EXPECT_EQ(count("</script"), 2);
  EXPECT_EQ(count(kOpen), 1);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_EQ(html(hostile()), page);
}

// A distribution is that of all seeds together: with 10, 20 .. 100 ms in each of two seeds, half of
// the requests had their first token within 50 ms.
TEST(Html, PoolsSeedsForItsPlots) {
  const Report report{"1", "s", {run_of("p", 1, 0), run_of("p", 2, 10)}, {}};
  const js::value data = js::parse(data_block(html(report)));
  ASSERT_EQ(data.at("policies").as_array().size(), 1U);
  const js::value& policy = data.at("policies").at(0);
  EXPECT_EQ(policy.at("totals").at("offered").as_int64(), 20);
  EXPECT_DOUBLE_EQ(policy.at("attainment_offered").at("low").as_double(), 0);
  EXPECT_DOUBLE_EQ(policy.at("attainment_offered").at("high").as_double(), 1);
  const js::array& levels = data.at("cdf_levels").as_array();
  const js::array& ttft = policy.at("by_class").at(0).at("cdf").at("ttft_ms").as_array();
  ASSERT_EQ(levels.size(), ttft.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels[i].as_double() != 0.5) continue;
    EXPECT_NEAR(ttft[i].as_double(), 50, 0.5);
  }
  EXPECT_NEAR(ttft.back().as_double(), 100, 1);
}

}  // namespace
}  // namespace tidegate::report
