#include "workload/trace_reader.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace tidegate::workload {
namespace {

using units::milliseconds;
using units::Nanos;
using units::Tokens;

std::string write(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(testing::TempDir()) / ("tidegate_trace_" + name);
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

// The folder of published data, or "" when it is not there.
std::string data_folder() {
  const char* folder = std::getenv("TIDEGATE_DATA");
  return folder != nullptr ? folder : TIDEGATE_SHARED_DATA;
}

// Our own columns are read by name in any order, names become numbers, and rows come out sorted.
TEST(TraceReader, ReadsItsOwnFormat) {
  const auto trace = read_trace(write("own.csv",
                                      "tenant,arrival_seconds,output_tokens,input_tokens,hash_ids\n"
                                      "a,2.5,10,100,7 8 9\nb,1,20,200,\na,3,30,300,7\n"));
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  ASSERT_EQ(trace->rows.size(), 3u);
  EXPECT_EQ(trace->rows[0].arrival, units::seconds(1));
  EXPECT_EQ(trace->names[trace->rows[0].tenant], "b");
  EXPECT_EQ(trace->rows[1].arrival, milliseconds(2500));
  EXPECT_EQ(trace->rows[1].tenant, trace->rows[2].tenant);
  ASSERT_EQ(trace->rows[1].hash_count, 3u);
  EXPECT_EQ(trace->hash_ids[trace->rows[1].hash_begin + 2], 9u);
  EXPECT_EQ(trace->rows[0].hash_count, 0u);
}

// Azure's dates become spans since the first row, to its 100 ns, also over midnight.
TEST(TraceReader, ReadsAzure) {
  const auto trace = read_trace(write("azure.csv",
                                      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
                                      "2023-11-16 23:59:59.9799600,4808,10\n"
                                      "2023-11-17 00:00:01.0319920,3180,8\n"));
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->rows[0].arrival, Nanos(0));
  EXPECT_EQ(trace->rows[1].arrival, Nanos(1'052'032'000));
  EXPECT_EQ(trace->rows[1].input, Tokens(3180));
}

// BurstGPT's columns with blanks in their names are recognised, with the model.
TEST(TraceReader, ReadsBurstGpt) {
  const auto trace =
      read_trace(write("burst.csv",
                       "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
                       "5,ChatGPT,472,18,490,Conversation log\n45,GPT-4,1087,230,1317,API log\n"));
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->names[trace->rows[1].model], "GPT-4");
  EXPECT_EQ(trace->rows[1].output, Tokens(230));
}

// Mooncake's JSONL counts in milliseconds and carries the blocks of each prompt.
TEST(TraceReader, ReadsMooncake) {
  const auto trace = read_trace(write(
      "mooncake.jsonl",
      "{\"timestamp\": 0, \"input_length\": 6955, \"output_length\": 52, \"hash_ids\": [46, 47]}\n"
      "{\"timestamp\": 3000, \"input_length\": 6472, \"output_length\": 26, \"hash_ids\": "
      "[46]}\n"));
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->rows[1].arrival, units::seconds(3));
  EXPECT_EQ(trace->hash_ids[trace->rows[1].hash_begin], 46u);
}

// A bad row of any format is refused with its line, whatever is wrong with it.
TEST(TraceReader, RefusesBadRowsWithTheirLine) {
  const std::string head = "arrival_seconds,input_tokens,output_tokens\n1,2,3\n";
  for (const std::string row : {"-1,2,3", "1,x,3", "1,2", "1,2,99999999999", "nan,1,1"}) {
    const auto trace = read_trace(write("bad.csv", head + row + "\n"));
    ASSERT_FALSE(trace.has_value()) << row;
    EXPECT_TRUE(trace.error().where.ends_with(":3")) << trace.error().where;
  }
  const auto json = read_trace(write("bad.jsonl", "{\"timestamp\": 0, \"input_length\": 1}\n"));
  ASSERT_FALSE(json.has_value());
  EXPECT_TRUE(json.error().where.ends_with(":1"));
  EXPECT_FALSE(read_trace(write("bad2.csv", "x,y\n1,2\n")).has_value());
  EXPECT_FALSE(read_trace(write("bad3.csv",
                                "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-02-30 0:0:0,1,1\n"))
                   .has_value());
}

// The public traces have the row counts and totals that their description states.
TEST(TraceReader, ReadsThePublicTraces) {
  const std::string folder = data_folder();
  if (!std::filesystem::exists(folder + "/traces")) GTEST_SKIP() << "no public traces here";
  const auto code = read_trace(folder + "/traces/azure_code_2023.csv.gz");
  ASSERT_TRUE(code.has_value()) << code.error().message;
  EXPECT_EQ(code->rows.size(), 7'491u);
  const auto mooncake = read_trace(folder + "/traces/mooncake_conversation.csv.gz");
  ASSERT_TRUE(mooncake.has_value()) << mooncake.error().message;
  EXPECT_EQ(mooncake->rows.size(), 8'125u);
}

}  // namespace
}  // namespace tidegate::workload
