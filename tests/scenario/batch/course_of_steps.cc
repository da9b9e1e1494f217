#include "course_of_steps.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace tidegate::batch::scenario {

using script::in_ms;
using units::Instant;
using units::Nanos;

void CourseOfSteps::say(Instant now, const std::string& text) {
  if (events_shown_) out_ << in_ms(now) << " " << text << "\n";
}

void CourseOfSteps::broken(const std::string& what, Instant now) {
  out_ << in_ms(now) << " BROKEN " << what << "\n";
}

void CourseOfSteps::arrived(const domain::Request& request, const std::string& group, Instant now) {
  Story story;
  story.group = group;
  story.request = request;
  stories_[request.id.value()] = std::move(story);
  say(now, "arrive " + std::to_string(request.id.value()));
}

void CourseOfSteps::asked_to_abort(std::uint64_t id, Instant now) {
  Story& story = stories_.at(id);
  if (story.end.empty()) story.aborted_after = steps_;
  say(now, "abort " + std::to_string(id));
}

void CourseOfSteps::composed(const std::vector<SequenceView>& sequences, Instant now) {
  for (const SequenceView& view : sequences) {
    const std::uint64_t id = view.ref.request.value();
    Story& story = stories_.at(id);
    const bool has_sequence = view.slot >= 0;
    const std::string at = std::to_string(id) + " output=" + std::to_string(story.produced);
    if (view.preemptions > story.preempted) say(now, "preempt " + at);
    if (has_sequence && !story.started) say(now, "start " + std::to_string(id));
    if (has_sequence && story.started && !story.has_sequence) say(now, "return " + at);
    story.preempted = view.preemptions;
    story.has_sequence = has_sequence;
    if (has_sequence && !story.started) story.started = now;
  }
}

void CourseOfSteps::step_ended(Nanos took) {
  steps_ += 1;
  longest_step_ = std::max(longest_step_, took);
}

void CourseOfSteps::heard(const EngineEvent& event, Instant now) {
  if (const auto* tokens = std::get_if<domain::TokensProduced>(&event)) {
    produced(stories_.at(tokens->ref.request.value()), tokens->count.value(), now);
  } else if (const auto* finished = std::get_if<domain::Finished>(&event)) {
    ended(finished->ref.request.value(), name(finished->outcome), now);
  } else if (const auto* failed = std::get_if<domain::Failed>(&event)) {
    ended(failed->ref.request.value(), name(failed->reason), now);
  }
}

void CourseOfSteps::produced(Story& story, std::int64_t count, Instant now) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (now > story.request.promise.token_due(story.produced)) story.late += 1;
    if (story.produced == 0) {
      story.first = now;
      say(now, "first " + std::to_string(story.request.id.value()));
    } else {
      story.gap = std::max(story.gap, now - story.last);
    }
    story.last = now;
    story.produced += 1;
  }
}

void CourseOfSteps::ended(std::uint64_t id, std::string_view how, Instant now) {
  Story& story = stories_.at(id);
  story.end = how;
  say(now, "end " + std::to_string(id) + " " + story.end +
               " output=" + std::to_string(story.produced) + " longest_gap=" + in_ms(story.gap));
  const auto measure = [&](const std::string& what, std::int64_t value) {
    course_.measure(what, value, static_cast<std::int64_t>(id), story.group);
  };
  const Instant arrival = story.request.arrival;
  if (story.produced > 0) measure("ttft", (story.first - arrival).value());
  if (story.produced > 1) measure("gap", story.gap.value());
  if (story.started) measure("start", (*story.started - arrival).value());
  if (story.aborted_after) measure("freed", steps_ - *story.aborted_after);
  measure("late", story.late);
  measure("preempted", story.preempted);
  measure("took", (now - arrival).value());
  measure("output", story.produced);
  measure(story.end, 1);
}

void CourseOfSteps::looked(std::int64_t number, const BatchScheduler& scheduler, Instant now) {
  std::string text = "look " + std::to_string(number);
  const auto figure = [&](const std::string& what, std::int64_t value) {
    course_.measure(what, value, number);
    text += " " + what + "=" + std::to_string(value);
  };
  const domain::StateReport report = scheduler.report(now);
  figure("running", report.running);
  figure("waiting", report.waiting);
  figure("blocks", report.kv_used.value());
  figure("prefilled", scheduler.counters().prefill_tokens.value());
  out_ << in_ms(now) << " " << text << "\n";
}

void CourseOfSteps::check_ends() {
  for (const auto& [id, story] : stories_) {
    if (story.end.empty()) out_ << "LOST: " << id << "\n";
  }
}

void CourseOfSteps::summarise() {
  std::map<std::string, std::map<std::string, std::int64_t>> ends;
  for (const auto& [id, story] : stories_) ends[story.group][story.end] += 1;
  const auto largest = [this](const std::string& measure, const std::string& group) {
    const auto values = course_.values(measure, group);
    return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  };
  for (const auto& [group, counts] : ends) {
    out_ << group << ":";
    for (const auto& [end, count] : counts) out_ << " " << end << "=" << count;
    out_ << " longest_ttft=" << in_ms(Nanos(largest("ttft", group)))
         << " longest_gap=" << in_ms(Nanos(largest("gap", group)))
         << " late_tokens=" << largest("late", group)
         << " most_preempted=" << largest("preempted", group) << "\n";
  }
}

script::Course CourseOfSteps::close(const BatchCounters& counters) {
  check_ends();
  if (!events_shown_) summarise();
  const auto whole = [this](const std::string& what, std::int64_t value) {
    course_.measure(what, value);
    out_ << what << "=" << value << " ";
  };
  whole("steps", steps_);
  whole("preemptions", counters.preemptions);
  whole("recomputed", counters.recomputed_tokens.value());
  whole("shared", counters.shared_tokens.value());
  whole("prefill", counters.prefill_tokens.value());
  course_.measure("longest_step", longest_step_.value());
  out_ << "longest_step=" << in_ms(longest_step_) << "\n";
  course_.text = out_.str();
  return std::move(course_);
}

}  // namespace tidegate::batch::scenario
