// Reading one map of a YAML file: each key is taken by name and type, whatever nobody took is an
// unknown key, and everything wrong is collected with its file and line instead of stopping at the
// first. The sections of the schema (engine_section.h and the others) are written with it.
//
// Single-threaded; a Section must not outlive its Problems.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "units/quantity.h"
#include "units/result.h"

namespace tidegate::config {

// What is wrong in one file: `where` is file:line, `message` says what is wrong and what would be
// right, with a semicolon between.
class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}

  void add(const YAML::Mark& mark, const std::string& wrong, const std::string& right);
  // The same with both parts in one text already.
  void add(const YAML::Mark& mark, std::string message);
  // The place of a node as file:line.
  std::string place(const YAML::Mark& mark) const;
  bool empty() const { return list_.empty(); }
  // In the order of their lines.
  std::vector<units::Error> sorted() const;

 private:
  struct Entry {
    int line = 0;
    units::Error error;
  };
  std::string file_;
  std::vector<Entry> list_;
};

class Section {
 public:
  // `title` names the map in messages, for example "tenant". Reports a node that is not a map, and
  // keys that stand there twice.
  Section(const YAML::Node& node, std::string title, Problems& problems);

  // The value at `key`, or nullopt when it is not there; the key is known from then on.
  std::optional<YAML::Node> take(const std::string& key);
  // The same with a type; a value of the wrong type is reported and read as absent.
  std::optional<std::string> text(const std::string& key);
  std::optional<std::int64_t> integer(const std::string& key, std::int64_t low, std::int64_t high);
  std::optional<double> number(const std::string& key, double low, double high);
  std::optional<bool> boolean(const std::string& key);
  std::optional<units::Nanos> duration(const std::string& key);
  std::optional<units::Bytes> size(const std::string& key);
  // The entries of a list; empty when absent. A single value where a list belongs is reported.
  std::vector<YAML::Node> list(const std::string& key);
  std::vector<std::string> texts(const std::string& key);

  // Report that `key` is missing. For keys that have no default.
  void require(const std::string& key, const std::string& right);
  // Report about the value at `key`, or about the whole map when it is absent.
  void problem(const std::string& key, const std::string& wrong, const std::string& right);
  // Report every key that was never taken, with the nearest known one. Call it last.
  void finish();

  // False: the node was something else than a map or nothing, and that was reported.
  bool readable() const { return readable_; }
  bool has(const std::string& key) const { return find(key).has_value(); }
  const std::string& title() const { return title_; }
  // The place of the map, as file:line.
  std::string where() const { return problems_.place(mark_); }
  Problems& problems() { return problems_; }

 private:
  std::optional<YAML::Node> find(const std::string& key) const;
  std::optional<std::string> scalar(const std::string& key, const std::string& right);

  YAML::Node node_;
  YAML::Mark mark_;  // of the whole map
  std::string title_;
  Problems& problems_;
  std::vector<std::string> known_;
  bool readable_ = true;
};

}  // namespace tidegate::config
