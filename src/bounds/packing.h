// A linear programme of packing, grown row by row: choose 0 <= x <= upper with the largest total
// weight so that every row's sum of cost * x stays within its limit. Solved by the dual simplex of
// COIN-OR CLP, from where the last solution was. One owner.
#pragma once

#include <memory>
#include <span>
#include <vector>

class ClpSimplex;

namespace tidegate::bounds {

class Packing {
 public:
  struct Column {
    double weight = 0;
    double upper = 1;
  };
  struct Entry {
    int column = 0;
    double cost = 0;
  };

  explicit Packing(std::span<const Column> columns);
  ~Packing();

  // A row may hold a column once. REQUIRES: limit >= 0.
  void add_row(std::span<const Entry> entries, double limit);

  // REQUIRES: a row and a column (CLP crashes without). False when the solver gave up; then the
  // numbers below are those of where it stopped.
  bool solve();
  std::span<const double> x() const;
  // What one more unit of each row's limit is worth, >= 0, in the order of the rows.
  std::vector<double> prices() const;

 private:
  std::unique_ptr<ClpSimplex> lp_;
};

}  // namespace tidegate::bounds
