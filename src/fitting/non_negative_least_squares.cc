#include "fitting/non_negative_least_squares.h"

#include <algorithm>
#include <vector>

namespace tidegate::fitting {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

struct NormalEquations {
  MatrixXd q;  // A^T A with unit diagonal
  VectorXd c;  // A^T b, scaled alike
  VectorXd scale;
};

NormalEquations normal_equations(const MatrixXd& a, const VectorXd& b) {
  NormalEquations n{a.transpose() * a, a.transpose() * b, {}};
  n.scale = n.q.diagonal().cwiseSqrt().unaryExpr([](double s) { return s > 0 ? s : 1.0; });
  const VectorXd inverse = n.scale.cwiseInverse();
  n.q = inverse.asDiagonal() * n.q * inverse.asDiagonal();
  n.c = n.c.cwiseProduct(inverse);
  return n;
}

// The unconstrained solution over the passive columns, 0 elsewhere.
VectorXd solve_passive(const NormalEquations& n, const std::vector<Index>& passive) {
  VectorXd x = VectorXd::Zero(n.c.size());
  if (passive.empty()) return x;
  const MatrixXd q = n.q(passive, passive);
  const VectorXd c = n.c(passive);
  const VectorXd solution = q.completeOrthogonalDecomposition().solve(c);
  x(passive) = solution;
  return x;
}

// The first column outside `passive` along which the error falls fastest, or -1.
Index steepest(const VectorXd& gradient, const std::vector<Index>& passive) {
  const double threshold = 1e-10;
  Index best = -1;
  for (Index i = 0; i < gradient.size(); ++i) {
    if (std::find(passive.begin(), passive.end(), i) != passive.end()) continue;
    if (gradient[i] > threshold && (best < 0 || gradient[i] > gradient[best])) best = i;
  }
  return best;
}

// Walks from x towards `target` until the first passive column reaches 0, and drops it.
void step_to_boundary(VectorXd& x, const VectorXd& target, std::vector<Index>& passive) {
  double alpha = 1.0;
  for (const Index i : passive) {
    if (target[i] <= 0) alpha = std::min(alpha, x[i] / (x[i] - target[i]));
  }
  x += alpha * (target - x);
  std::erase_if(passive, [&](Index i) { return target[i] <= 0 && x[i] <= 1e-14; });
  for (Index i = 0; i < x.size(); ++i) x[i] = std::max(x[i], 0.0);
}

}  // namespace

VectorXd non_negative_least_squares(const MatrixXd& a, const VectorXd& b) {
  const NormalEquations n = normal_equations(a, b);
  std::vector<Index> passive;
  VectorXd x = VectorXd::Zero(n.c.size());
  for (Index round = 0; round < 3 * n.c.size(); ++round) {
    const Index next = steepest(n.c - n.q * x, passive);
    if (next < 0) break;
    passive.push_back(next);
    VectorXd target = solve_passive(n, passive);
    for (Index inner = 0; inner < n.c.size() && target.minCoeff() < 0; ++inner) {
      step_to_boundary(x, target, passive);
      target = solve_passive(n, passive);
    }
    x = target.cwiseMax(0.0);
  }
  return x.cwiseQuotient(n.scale);
}

}  // namespace tidegate::fitting
