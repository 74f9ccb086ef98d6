// Mean and sum of squared deviations, one value after the other: d = x - mean; mean += d / k; m2 += d (x - mean).
// Source: Welford (1962), Note on a method for calculating corrected sums of squares and products, Technometrics 4.
#pragma once

#include <cmath>

namespace voxridge {

// A value that is not finite makes the mean and the sum NaN, whenever it comes.
inline void add_value(double x, double k, double& mean) {
  const double d = (x - mean) + 0 * x;
  mean += d / k;
}

inline void add_value(double x, double k, double& mean, double& m2) {
  const double d = (x - mean) + 0 * x;
  mean += d / k;
  m2 += d * (x - mean);
}

// Of a sum of squared deviations from the mean of k values.
inline double variance_of(double m2, double k) { return k < 2 ? NAN : m2 / (k - 1); }

}  // namespace voxridge
