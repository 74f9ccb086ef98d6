// The columns of the data as a permutation test needs them: which can be tested at all, their observed statistics in
// double from the unrounded values, and what is left of them without the nuisance, at unit norm.
//
// With an orthonormal basis Q of the nuisance, E = y - Q Q'y, an orthonormal basis X of the tested part (within the
// complement of Q), b = X'E and s = |E - X b|^2 on df degrees of freedom: t = b / sqrt(s / df), r = b / |E|,
// F = (|b|^2 / r) / (s / df). One-sample, two-sample and correlation tests are cases of this.
#pragma once

#include <cstdint>
#include <vector>

#include "view.h"

namespace voxridge {

enum class PermutationStatistic { t, welch, correlation, f };

enum class ColumnState : int { used = 0, constant = 1, zero = 2, nonfinite = 3, nuisance = 4 };

struct ColumnDesign {
  PermutationStatistic statistic = PermutationStatistic::t;
  double mu = 0;                // subtracted first
  bool ranks = false;           // average ranks take the place of the values
  MatrixView<double> nuisance;  // n x q, orthonormal
  MatrixView<double> x;         // n x r, orthonormal
  MatrixView<double> paired;    // n x v: column j goes with column j of the data, in the place of x
  double df = 1;
  double estimate_scale = 1;  // what turns b, in the unit of the data, into the estimate
  std::vector<char> first;    // welch: the first group
};

struct ColumnStatistic {
  double statistic = 0, estimate = 0, df = 0;
};

class PermutationColumns {
 public:
  PermutationColumns(MatrixView<double> y, const ColumnDesign& design)
      : y_(y), design_(design), work_(y.rows), rest_(y.rows) {}

  // Column j without the nuisance and at unit norm (nothing where it cannot be tested).
  ColumnState unit(int64_t j, double* e);

  // The same for column j of the paired matrix.
  ColumnState paired_unit(int64_t j, double* x);

  // Of the column that unit() made last; `x`: of paired_unit(), or nullptr.
  ColumnStatistic statistic(const double* e, const double* x);

 private:
  ColumnState standardize(const double* column, double mu, double* e);
  ColumnStatistic welch(const double* e) const;

  MatrixView<double> y_;
  const ColumnDesign& design_;
  std::vector<double> work_;
  std::vector<double> rest_;
  double size_ = 1;  // norm of E, in the unit of the data
};

}  // namespace voxridge
