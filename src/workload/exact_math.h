// Elementary functions made of additions, multiplications, divisions and square roots alone, which
// IEEE 754 rounds exactly: the same bytes from every compiler and C library (the library's own log
// and exp differ in the last bit between versions, and compilers fold them). Accurate to a few
// units in the last place. Pure; any thread.
#pragma once

namespace tidegate::workload {

// Natural logarithm. REQUIRES: x positive, finite and normal.
double exact_log(double x);
// e to the x; 0 below -700, held at e^700 above.
double exact_exp(double x);
// base to the power. REQUIRES: as exact_log for base.
double exact_power(double base, double power);
// log(Gamma(x)) by Stirling's series after shifting x above 10. REQUIRES: x > 0.
double log_gamma(double x);
// Standard normal distribution function (Abramowitz and Stegun 26.2.17, error below 7.5e-8).
double normal_below(double z);
// Its inverse (Wichura, AS 241, PPND16, relative error about 1e-16). REQUIRES: 0 < u < 1.
double normal_quantile(double u);

}  // namespace tidegate::workload
