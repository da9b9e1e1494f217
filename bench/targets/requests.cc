#include "requests.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/totals.h"

namespace tidegate::bench {

using report::RequestRecord;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr units::Nanos kAtOnce = units::milliseconds(50);

double seconds_of(units::Nanos span) {
  return static_cast<double>(span.value()) / 1e9;
}

double ttft(const RequestRecord& record) {
  if (record.output.value() == 0) return kNever;
  return seconds_of(record.first_token - record.arrival);
}

template <class Value>
std::vector<double> values(const Runs& runs, const Choice& chosen, const Value& value) {
  std::vector<double> all;
  for (const Ended& each : runs.requests) {
    if (chosen(each)) all.push_back(value(each.request.record));
  }
  return all;
}

template <class Test>
double share(const Runs& runs, const Choice& chosen, const Test& test) {
  const auto all = values(runs, chosen, [&](const auto& r) { return test(r) ? 1.0 : 0.0; });
  double sum = 0;
  for (const double each : all) sum += each;
  return all.empty() ? 1 : sum / static_cast<double>(all.size());
}

// Refused, also by its deadline, without a token.
bool turned_away(const RequestRecord& record) {
  return !record.residue && record.output.value() == 0 &&
         (report::is_refusal(record.outcome) ||
          record.outcome == domain::Outcome::kDeadlineExceeded);
}

}  // namespace

Choice of_class(std::size_t service_class) {
  return [service_class](const Ended& e) { return e.request.service_class == service_class; };
}

Choice of_tenants_before(std::size_t tenants) {
  return [tenants](const Ended& e) { return e.request.tenant < tenants; };
}

Choice anybody() {
  return [](const Ended& /*request*/) { return true; };
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

std::vector<double> ttfts(const Runs& runs, const Choice& chosen) {
  return values(runs, chosen, ttft);
}

double p99_ttft(const Runs& runs, const Choice& chosen) {
  return quantile(ttfts(runs, chosen), 0.99);
}

double p99_tpot(const Runs& runs, const Choice& chosen) {
  const auto streamed = [&](const Ended& e) {
    return chosen(e) && e.request.record.output.value() != 1;
  };
  return quantile(values(runs, streamed,
                         [](const RequestRecord& r) {
                           if (r.output.value() == 0) return kNever;
                           const auto gaps = static_cast<double>(r.output.value() - 1);
                           return seconds_of(r.last_token - r.first_token) / gaps;
                         }),
                  0.99);
}

double longest_ttft(const Runs& runs, const Choice& chosen) {
  const auto begun = [&](const Ended& e) {
    return chosen(e) && e.request.record.output.value() > 0;
  };
  return quantile(values(runs, begun, ttft), 1);
}

double share_kept(const Runs& runs, const Choice& chosen) {
  return share(runs, chosen, report::kept_promise);
}

double share_kept_of_admitted(const Runs& runs) {
  const auto admitted = [](const Ended& e) { return e.request.record.admitted; };
  return share(runs, admitted, report::kept_promise);
}

double share_refused(const Runs& runs, const Choice& chosen) {
  return share(runs, chosen, turned_away);
}

double share_refused_in_time(const Runs& runs) {
  double refused = 0;
  double in_time = 0;
  for (const Ended& each : runs.requests) {
    const RequestRecord& record = each.request.record;
    if (!turned_away(record)) continue;
    refused += 1;
    const bool soon = record.ended - record.arrival <= kAtOnce;
    const bool told = each.gives_up != units::Instant::never();
    in_time += soon || (told && record.ended <= each.gives_up + units::milliseconds(1)) ? 1 : 0;
  }
  return refused == 0 ? 1 : in_time / refused;
}

double p99_refusal(const Runs& runs) {
  const auto refused = [](const Ended& e) { return turned_away(e.request.record); };
  return quantile(
      values(runs, refused, [](const RequestRecord& r) { return seconds_of(r.ended - r.arrival); }),
      0.99);
}

}  // namespace tidegate::bench
