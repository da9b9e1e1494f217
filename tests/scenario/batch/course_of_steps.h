// Writes down what became of each try of a batch scenario: the lines of its course, the figures of
// its groups, and the measures for expectations. One owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "batch/batch_scheduler.h"
#include "course.h"
#include "domain/request.h"
#include "units/quantity.h"

namespace tidegate::batch::scenario {

class CourseOfSteps {
 public:
  explicit CourseOfSteps(bool events_shown) : events_shown_(events_shown) {}

  void arrived(const domain::Request& request, const std::string& group, units::Instant now);
  void asked_to_abort(std::uint64_t id, units::Instant now);
  // After a plan was composed: who has a sequence now, and who no longer.
  void composed(const std::vector<SequenceView>& sequences, units::Instant now);
  void step_ended(units::Nanos took);
  void heard(const EngineEvent& event, units::Instant now);
  void looked(std::int64_t number, const BatchScheduler& scheduler, units::Instant now);
  void broken(const std::string& what, units::Instant now);

  script::Course close(const BatchCounters& counters);

 private:
  struct Story {
    std::string group;
    domain::Request request;
    std::optional<units::Instant> started{};
    bool has_sequence = false;
    std::int64_t preempted = 0;
    std::optional<std::int64_t> aborted_after{};  // steps
    std::int64_t produced = 0;
    units::Instant first{};
    units::Instant last{};
    units::Nanos gap{0};
    std::int64_t late = 0;
    std::string end{};
  };

  void produced(Story& story, std::int64_t count, units::Instant now);
  void ended(std::uint64_t id, std::string_view how, units::Instant now);
  void check_ends();
  void summarise();
  void say(units::Instant now, const std::string& text);

  bool events_shown_;
  std::map<std::uint64_t, Story> stories_;
  std::int64_t steps_ = 0;
  units::Nanos longest_step_{0};
  script::Course course_;
  std::ostringstream out_;
};

}  // namespace tidegate::batch::scenario
