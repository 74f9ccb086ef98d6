// The columns of the data as a permutation test needs them: which can be tested at all, their observed statistics in
// double from the unrounded values, and what is left of them without the nuisance, at unit norm.
//
// With an orthonormal basis Q of the nuisance, E = y - Q Q'y, an orthonormal basis X of the tested part (within the
// complement of Q), b = X'E and s = |E - X b|^2 on df degrees of freedom: t = b / sqrt(s / df), r = b / |E|,
// F = (|b|^2 / r) / (s / df). One-sample, two-sample and correlation tests are cases of this.
//
// Eight columns are worked on side by side, a row of them a strip: the sums of a column are taken in the order of its
// samples, whatever the machine.
#pragma once

#include <cstdint>
#include <vector>

#include "column_strips.h"
#include "lanes.h"
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
  double estimate_scale = 1;       // what turns b, in the unit of the data, into the estimate
  std::vector<char> first;         // welch: the first group
  const int64_t* which = nullptr;  // the column of the data at each place, nullptr: all in their order
};

struct ColumnStatistic {
  double statistic = 0, estimate = 0, df = 0;
};

class PermutationColumns {
 public:
  PermutationColumns(MatrixView<double> y, const ColumnDesign& design, InstructionSet set = best_instruction_set())
      : y_(y), design_(design), set_(set), rest_(y.rows) {}

  // Columns j .. j + count - 1 (at most kDoubleLanes) without the nuisance and at unit norm. Lanes of columns that
  // cannot be used, and those beyond the last column, hold whatever.
  void load(int64_t j, int64_t count, DoubleStrip* e, ColumnState* state);

  // The same of the paired matrix.
  void load_paired(int64_t j, int64_t count, DoubleStrip* x, ColumnState* state);

  // Of the columns loaded last; `x`: as load_paired() made them, or nullptr.
  void statistics(const DoubleStrip* e, const DoubleStrip* x, ColumnStatistic* out);

 private:
  void read(MatrixView<double> from, int64_t j, int64_t count, DoubleStrip* to, StripSums& found);
  void standardize(double mu, StripSums& found, DoubleStrip* e, ColumnState* state, double* size);
  void rescale(const int* exponent, StripSums& found, DoubleStrip* e) const;
  ColumnStatistic statistic_of(double b, double h, double s, double size) const;
  void welch(const DoubleStrip* e, ColumnStatistic* out) const;

  MatrixView<double> y_;
  const ColumnDesign& design_;
  InstructionSet set_;
  std::vector<DoubleStrip> rest_;
  std::vector<double> ranks_;       // of eight columns
  double size_[kDoubleLanes] = {};  // norms of E, in the unit of the data
};

}  // namespace voxridge
