// Least squares with coefficients >= 0. A negative step-time coefficient is always an artefact of a
// fit and would let a scheduler believe that more work takes less time.
// Source: Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23 (active set), run on
// the normal equations with unit diagonal. Pure; any thread.
#pragma once

#include <Eigen/Dense>

namespace tidegate::fitting {

// x >= 0 that minimises |A x - b|^2. Columns of zeros get 0.
// REQUIRES: a.rows() == b.rows(), all entries finite. O(columns^4 + rows * columns^2).
Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

}  // namespace tidegate::fitting
