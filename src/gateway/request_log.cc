#include "gateway/request_log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <boost/json.hpp>

namespace tidegate::gateway {
namespace {

std::int64_t microseconds_of(units::Nanos span) {
  return span.value() / 1'000;
}

std::string event_line(std::string_view event, std::string_view detail) {
  return boost::json::serialize(boost::json::object{{"event", event}, {"detail", detail}});
}

}  // namespace

std::string log_line(const CallSummary& summary) {
  boost::json::object line;
  line["event"] = "request";
  line["request_id"] = summary.request_id;
  line["route"] = summary.route;
  line["tenant"] = summary.tenant;
  line["class"] = summary.service_class;
  line["model"] = summary.model;
  line["engine"] = summary.engine;
  line["stream"] = summary.stream;
  line["choices"] = summary.choices;
  line["prompt_tokens"] = summary.usage.prompt.value();
  line["cached_tokens"] = summary.usage.cached_prompt.value();
  line["output_tokens"] = summary.usage.output.value();
  line["outcome"] = std::string(domain::name(summary.outcome));
  line["reason"] = summary.reason;
  line["status"] = summary.status;
  line["queued_us"] = microseconds_of(summary.queued);
  if (summary.first_token) line["first_token_us"] = microseconds_of(*summary.first_token);
  line["total_us"] = microseconds_of(summary.total);
  line["caller_retries"] = summary.caller_retries;
  return boost::json::serialize(line);
}

RequestLog::RequestLog(std::shared_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {}
RequestLog::~RequestLog() = default;

units::Result<std::unique_ptr<RequestLog>> RequestLog::open(const std::string& file,
                                                            const std::string& level) {
  try {
    spdlog::sink_ptr sink;
    if (file.empty()) {
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
    }
    auto logger = std::make_shared<spdlog::logger>("tidegate", std::move(sink));
    logger->set_level(spdlog::level::from_str(level));
    logger->flush_on(spdlog::level::info);
    logger->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","record":%v})");
    return std::unique_ptr<RequestLog>(new RequestLog(std::move(logger)));
  } catch (const spdlog::spdlog_ex& failure) {
    return units::error(file, std::string(failure.what()) + "; name a file that can be written");
  }
}

void RequestLog::call(const CallSummary& summary) {
  logger_->info(log_line(summary));
}

void RequestLog::info(std::string_view event, std::string_view detail) {
  logger_->info(event_line(event, detail));
}

void RequestLog::warning(std::string_view event, std::string_view detail) {
  logger_->warn(event_line(event, detail));
}

void RequestLog::set_level(const std::string& level) {
  logger_->set_level(spdlog::level::from_str(level));
}

void RequestLog::flush() {
  logger_->flush();
}

}  // namespace tidegate::gateway
