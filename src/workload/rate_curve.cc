#include "workload/rate_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "units/check.h"

namespace tidegate::workload {

namespace {

double nanoseconds(units::Nanos span) {
  return static_cast<double>(span.value());
}

double slope(const RateCurve::Piece& piece) {
  return (piece.to - piece.from) / (piece.end - piece.begin);
}

double area(const RateCurve::Piece& piece, double span) {
  return span * (piece.from + slope(piece) * span / 2);
}

// The span after which the piece has done `work`: the root of slope/2 x^2 + from x = work, in the
// form that loses nothing when the slope is near 0.
double span_of(const RateCurve::Piece& piece, double work) {
  const double root = std::sqrt(std::max(0.0, piece.from * piece.from + 2 * slope(piece) * work));
  return std::min(2 * work / (piece.from + root), piece.end - piece.begin);
}

}  // namespace

RateCurve::RateCurve(std::vector<Piece> pieces, units::Nanos length) : pieces_(std::move(pieces)) {
  TIDEGATE_CHECK(!pieces_.empty() && length > units::Nanos(0));
  const auto sum_up = [this] {
    done_.assign(1, 0);
    for (const Piece& p : pieces_) done_.push_back(done_.back() + area(p, p.end - p.begin));
  };
  sum_up();
  const double unscaled = work(nanoseconds(length));
  TIDEGATE_CHECK(unscaled > 0);
  const double factor = nanoseconds(length) / unscaled;
  for (Piece& p : pieces_) {
    p.from *= factor;
    p.to *= factor;
  }
  sum_up();
}

std::size_t RateCurve::piece_at(double t) const {
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), t,
                                      [](double at, const Piece& p) { return at < p.begin; });
  return static_cast<std::size_t>(after - pieces_.begin()) - 1;
}

double RateCurve::work(double t) const {
  const double periods = std::floor(t / period());
  const double rest = t - periods * period();
  const std::size_t i = piece_at(rest);
  return periods * done_.back() + done_[i] + area(pieces_[i], rest - pieces_[i].begin);
}

double RateCurve::time(double work) const {
  const double periods = std::floor(work / done_.back());
  const double rest = work - periods * done_.back();
  // The first piece that ends with more than `rest`; a piece without work is never the one.
  const auto after = std::upper_bound(done_.begin() + 1, done_.end() - 1, rest);
  const auto i = static_cast<std::size_t>(after - done_.begin()) - 1;
  const Piece& p = pieces_[i];
  const double span = rest > done_[i] ? span_of(p, rest - done_[i]) : 0;
  return periods * period() + p.begin + span;
}

double RateCurve::rate(double t) const {
  const double rest = t - std::floor(t / period()) * period();
  const Piece& p = pieces_[piece_at(rest)];
  return p.from + slope(p) * (rest - p.begin);
}

RateCurve steady_curve(units::Nanos length) {
  return RateCurve({{0, nanoseconds(length), 1, 1}}, length);
}

RateCurve square_curve(units::Nanos period, double ratio, units::Nanos length) {
  const double half = nanoseconds(period) / 2;
  return RateCurve({{0, half, 1, 1}, {half, 2 * half, ratio, ratio}}, length);
}

RateCurve diurnal_curve(units::Nanos period, double ratio, units::Nanos length) {
  // cos(k pi / 12), k = 0..6, and by symmetry for all others.
  constexpr std::array<double, 7> kCosine{
      1, 0.96592582628906829, 0.86602540378443865, 0.70710678118654752, 0.5, 0.25881904510252076,
      0};
  const auto cosine = [&](int k) {
    const int folded = k > 12 ? 24 - k : k;
    return folded > 6 ? -kCosine.at(static_cast<std::size_t>(12 - folded))
                      : kCosine.at(static_cast<std::size_t>(folded));
  };
  const double amplitude = (ratio - 1) / (ratio + 1);
  std::vector<RateCurve::Piece> pieces;
  for (int k = 0; k < 24; ++k) {
    pieces.push_back({nanoseconds(period) / 24 * k, nanoseconds(period) / 24 * (k + 1),
                      1 - amplitude * cosine(k), 1 - amplitude * cosine(k + 1)});
  }
  return RateCurve(std::move(pieces), length);
}

RateCurve window_curve(const Window& window, units::Nanos length) {
  const double begin = nanoseconds(window.begin);
  const double end = std::min(nanoseconds(window.begin + window.duration), nanoseconds(length));
  std::vector<RateCurve::Piece> pieces;
  if (begin > 0) pieces.push_back({0, begin, window.low, window.low});
  pieces.push_back({begin, end, window.high, window.high});
  if (end < nanoseconds(length)) {
    pieces.push_back({end, nanoseconds(length), window.low, window.low});
  }
  return RateCurve(std::move(pieces), length);
}

}  // namespace tidegate::workload
