// Follows each request of a simulation from arrival to end and adds it to the report when it ends.
// Memory is that of the requests alive. One owner.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "domain/decision.h"
#include "domain/request.h"
#include "domain/seam.h"
#include "report/report.h"
#include "sim/world.h"

namespace tidegate::sim {

class RequestLog {
 public:
  // A request that ended, or that the end of the run cut off.
  struct Ended {
    units::RequestId id;
    std::size_t service_class = 0;
    std::size_t tenant = 0;
    report::RequestRecord record;
  };
  using Recorder = std::function<void(const Ended& ended)>;

  RequestLog(const World& world, std::vector<std::string> model_names);

  void arrived(const WorldRequest& arrival);
  void admitted(units::RequestId id);
  void downgraded(units::RequestId id);
  // Sent to the engine with this index.
  void assigned(units::RequestId id, std::size_t engine, units::Instant now);
  void tokens(units::RequestId id, units::Tokens count, units::Instant now);
  void ended(const domain::End& end, units::Instant now);
  // Called with each request that is added to the report.
  void record(Recorder recorder) { recorder_ = std::move(recorder); }
  // The run is over: everything still alive is residue.
  void close();

  // What the request will really produce. REQUIRES: it is alive.
  units::Tokens true_output(units::RequestId id) const { return alive_.at(id).true_output; }
  // And the most that it may. REQUIRES: it is alive.
  units::Tokens max_output(units::RequestId id) const { return alive_.at(id).max_output; }
  // REQUIRES: it is alive.
  units::ClassId service_class(units::RequestId id) const {
    return units::ClassId(alive_.at(id).service_class);
  }
  units::ModelId model(units::RequestId id) const { return units::ModelId(alive_.at(id).model); }
  bool alive(units::RequestId id) const { return alive_.contains(id); }

  // Writes totals and groups.
  void fill(report::Run& run) const;

 private:
  struct Entry {
    report::RequestRecord record;
    units::Tokens true_output{0};
    units::Tokens max_output{0};
    std::size_t service_class = 0;
    std::size_t tenant = 0;
    std::size_t model = 0;
    std::size_t gpu = 0;  // index into gpus_, gpus_.size() when never assigned
    bool counted = true;
  };
  void add(units::RequestId id, const Entry& entry);

  Recorder recorder_;
  units::Instant warm_;
  std::map<units::RequestId, Entry> alive_;
  report::Totals totals_;
  std::vector<report::Group> classes_, tenants_, models_, gpus_;
  std::vector<std::size_t> gpu_of_engine_;
};

}  // namespace tidegate::sim
