#include "report/totals.h"

namespace tidegate::report {
namespace {

using domain::Outcome;

void count_outcome(Totals& totals, const RequestRecord& record) {
  if (record.residue) {
    totals.residue += 1;
  } else if (is_refusal(record.outcome)) {
    totals.rejected[static_cast<std::size_t>(record.reason)] += 1;
  } else if (record.outcome == Outcome::kCompleted) {
    totals.completed += 1;
  } else if (record.outcome == Outcome::kCancelled) {
    totals.cancelled += 1;
  } else {
    totals.failed += 1;
  }
}

void time_tokens(Totals& totals, const RequestRecord& record) {
  if (record.started >= record.arrival && record.started != units::Instant()) {
    totals.queue.add(record.started - record.arrival);
  }
  if (record.output.value() == 0) return;
  totals.ttft.add(record.first_token - record.arrival);
  totals.max_gap.add(record.largest_gap);
  if (record.output.value() > 1) {
    totals.tpot.add((record.last_token - record.first_token) / (record.output.value() - 1));
  }
  if (record.outcome == Outcome::kCompleted && !record.residue) {
    totals.e2e.add(record.last_token - record.arrival);
  }
}

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

bool is_refusal(Outcome outcome) {
  return outcome == Outcome::kRejectedInvalid || outcome == Outcome::kRejectedCapacity ||
         outcome == Outcome::kRejectedQuota;
}

bool kept_promise(const RequestRecord& record) {
  return record.outcome == Outcome::kCompleted && !record.residue && record.late_tokens == 0;
}

void Totals::add(const RequestRecord& record) {
  offered += 1;
  admitted += record.admitted ? 1 : 0;
  downgraded += record.downgraded ? 1 : 0;
  count_outcome(*this, record);
  if (kept_promise(record)) {
    kept += 1;
    kept_admitted += record.admitted ? 1 : 0;
  }
  time_tokens(*this, record);
  input_tokens += record.input;
  output_tokens += record.output;
  preemptions += record.preemptions;
  recomputed_tokens += record.recomputed;
}

void Totals::add(const Totals& other) {
  offered += other.offered;
  admitted += other.admitted;
  completed += other.completed;
  cancelled += other.cancelled;
  failed += other.failed;
  downgraded += other.downgraded;
  residue += other.residue;
  for (std::size_t i = 0; i < rejected.size(); ++i) rejected[i] += other.rejected[i];
  kept += other.kept;
  kept_admitted += other.kept_admitted;
  ttft.add(other.ttft);
  tpot.add(other.tpot);
  max_gap.add(other.max_gap);
  e2e.add(other.e2e);
  queue.add(other.queue);
  input_tokens += other.input_tokens;
  output_tokens += other.output_tokens;
  preemptions += other.preemptions;
  recomputed_tokens += other.recomputed_tokens;
}

double Totals::attainment_offered() const {
  return share(kept, offered);
}

double Totals::attainment_admitted() const {
  return share(kept_admitted, admitted);
}

}  // namespace tidegate::report
