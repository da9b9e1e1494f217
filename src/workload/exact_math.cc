#include "workload/exact_math.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "units/check.h"

namespace tidegate::workload {

namespace {

// ln 2 in two parts; the first ends in zeros, so that whole multiples of it are exact (fdlibm).
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kOneOverLn2 = 0x1.71547652b82fep+0;
constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;
constexpr double kHalfLogTwoPi = 0.91893853320467274178;

// c[0] + c[1] x + ... by Horner's rule.
template <std::size_t N>
double polynomial(const std::array<double, N>& c, double x) {
  double sum = 0;
  for (std::size_t i = N; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

double two_to_the(int power) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
}

}  // namespace

double exact_log(double x) {
  TIDEGATE_CHECK(x >= 0x1p-1022);
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int power = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL);
  if (m > kSqrt2) {
    m /= 2;
    ++power;
  }
  // log m = 2 atanh s, |s| < 0.172, so twelve terms reach the last place.
  const double s = (m - 1) / (m + 1);
  const double q = s * s;
  double sum = 0;
  for (int n = 23; n >= 3; n -= 2) sum = (sum + 1.0 / n) * q;
  const double log_m = 2 * s + 2 * s * sum;
  return power * kLn2High + (log_m + power * kLn2Low);
}

double exact_exp(double x) {
  if (!(x > -700)) return 0;
  if (x > 700) x = 700;
  const double scaled = x * kOneOverLn2;
  const int power = static_cast<int>(scaled + (scaled < 0 ? -0.5 : 0.5));
  const double r = (x - power * kLn2High) - power * kLn2Low;
  // Taylor; |r| < 0.35, so fourteen terms reach the last place.
  double sum = 1;
  for (int n = 14; n >= 1; --n) sum = 1 + sum * r / n;
  return sum * two_to_the(power);
}

double exact_power(double base, double power) {
  return exact_exp(power * exact_log(base));
}

double log_gamma(double x) {
  TIDEGATE_CHECK(x > 0);
  double shift = 0;
  for (; x < 10; x += 1) shift += exact_log(x);
  const double q = 1 / (x * x);
  constexpr std::array<double, 5> kStirling{1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680,
                                            1.0 / 1188};
  return (x - 0.5) * exact_log(x) - x + kHalfLogTwoPi + polynomial(kStirling, q) / x - shift;
}

double normal_below(double z) {
  const double x = z < 0 ? -z : z;
  if (x > 37) return z < 0 ? 0 : 1;
  const double t = 1 / (1 + 0.2316419 * x);
  constexpr std::array<double, 6> kTail{0,           0.319381530,  -0.356563782,
                                        1.781477937, -1.821255978, 1.330274429};
  const double tail = exact_exp(-x * x / 2 - kHalfLogTwoPi) * polynomial(kTail, t);
  return z < 0 ? tail : 1 - tail;
}

double normal_quantile(double u) {
  TIDEGATE_CHECK(u > 0 && u < 1);
  const double q = u - 0.5;
  if (q >= -0.425 && q <= 0.425) {
    constexpr std::array<double, 8> kA{3.3871328727963666080e0, 1.3314166789178437745e2,
                                       1.9715909503065514427e3, 1.3731693765509461125e4,
                                       4.5921953931549871457e4, 6.7265770927008700853e4,
                                       3.3430575583588128105e4, 2.5090809287301226727e3};
    constexpr std::array<double, 8> kB{1.0,
                                       4.2313330701600911252e1,
                                       6.8718700749205790830e2,
                                       5.3941960214247511077e3,
                                       2.1213794301586595867e4,
                                       3.9307895800092710610e4,
                                       2.8729085735721942674e4,
                                       5.2264952788528545610e3};
    const double r = 0.180625 - q * q;
    return q * polynomial(kA, r) / polynomial(kB, r);
  }
  const double root = std::sqrt(-exact_log(q < 0 ? u : 1 - u));
  constexpr std::array<double, 8> kC{1.42343711074968357734e0,  4.63033784615654529590e0,
                                     5.76949722146069140550e0,  3.64784832476320460504e0,
                                     1.27045825245236838258e0,  2.41780725177450611770e-1,
                                     2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr std::array<double, 8> kD{1.0,
                                     2.05319162663775882187e0,
                                     1.67638483018380384940e0,
                                     6.89767334985100004550e-1,
                                     1.48103976427480074590e-1,
                                     1.51986665636164571966e-2,
                                     5.47593808499534494600e-4,
                                     1.05075007164441684324e-9};
  constexpr std::array<double, 8> kE{6.65790464350110377720e0,  5.46378491116411436990e0,
                                     1.78482653991729133580e0,  2.96560571828504891230e-1,
                                     2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                     2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr std::array<double, 8> kF{1.0,
                                     5.99832206555887937690e-1,
                                     1.36929880922735805310e-1,
                                     1.48753612908506148525e-2,
                                     7.86869131145613259100e-4,
                                     1.84631831751005468180e-5,
                                     1.42151175831644588870e-7,
                                     2.04426310338993978564e-15};
  const double z = root <= 5 ? polynomial(kC, root - 1.6) / polynomial(kD, root - 1.6)
                             : polynomial(kE, root - 5) / polynomial(kF, root - 5);
  return q < 0 ? -z : z;
}

}  // namespace tidegate::workload
