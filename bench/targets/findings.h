// The table of targets: what each row asks for, what was measured, and whether it was met. Plain
// values, and their two forms of output.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tidegate::bench {

struct Figure {
  double value = 0;
  std::string text;
};

// A share in percent, a difference of shares, a ratio, a span of time, a count.
Figure share(double value);
Figure points(double value);
Figure ratio(double value);
Figure milliseconds(double value);
Figure seconds(double value);
Figure count(double value);
// The same with something beside it.
Figure with(Figure figure, const std::string& remark);

struct Finding {
  std::string situation;
  std::string target;
  Figure tidegate;
  bool met = false;
  std::optional<Figure> baseline{};  // the best of them, with its name
  std::optional<Figure> bound{};
};

// Lines of a table in Markdown; the head is a line of its own.
std::string table_head();
std::string table_row(const Finding& finding);
// One object a finding, as a JSON array.
std::string json(const std::vector<Finding>& findings);

}  // namespace tidegate::bench
