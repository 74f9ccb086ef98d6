// The scoring engine: forecasts from coefficients, by one order of additions. A row gets the same bits whatever the
// batch it comes in, its place there and the number of threads.
//
//   z = sum_j x_j beta_j + b + offset
//
// Eight sums over j mod 8, added as ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)); then the last p mod 8 products in their
// order, then b, then the offset. No BLAS: its order depends on sizes.
#pragma once

#include <cstdint>
#include <vector>

#include "control.h"
#include "view.h"

namespace voxridge {

// The only code that makes a forecast: never inlined, so that nothing around it can change its arithmetic. `x` and
// `beta`: p numbers each, one after another.
double forecast(const double* x, const double* beta, int64_t p, double intercept, double offset);

class Predictor {
 public:
  // `coefs`: p x t; `intercepts`: t, or nullptr for none. Both are copied and never change. A target with a coefficient
  // that is not finite has no forecasts.
  Predictor(const MatrixView<double>& coefs, const double* intercepts);
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  int64_t n_features() const { return p_; }
  int64_t n_targets() const { return static_cast<int64_t>(intercepts_.size()); }
  const double* coefs(int64_t target) const { return coefs_ + target * stride_; }  // n_features()
  double intercept(int64_t target) const { return intercepts_[target]; }
  bool has_forecasts(int64_t target) const { return has_forecasts_[target] != 0; }

  // `row`: n_features() numbers, one after another. NaN where there are no forecasts, or NaN in the row.
  double score(const double* row, int64_t target, double offset = 0) const {
    return forecast(row, coefs(target), p_, intercepts_[target], offset);
  }

  // n rows, one after another, to n x n_targets() forecasts, one row after another. For any number of threads at once:
  // nothing is allocated, thrown or changed.
  void score_rows(const double* rows, int64_t n, double* out) const noexcept;

 private:
  int64_t p_;
  int64_t stride_;  // from one target's coefficients to the next: each begins at a multiple of 64 bytes
  std::vector<double> memory_;
  const double* coefs_;
  std::vector<double> intercepts_;
  std::vector<char> has_forecasts_;
};

// Where one thread gathers rows from columns.
class PredictorWorkspace {
 public:
  explicit PredictorWorkspace(int64_t n_features);

  // Rows first .. first + n - 1 of x, one after another: n <= size().
  void gather(const MatrixView<double>& x, int64_t first, int64_t n);

  int64_t size() const { return static_cast<int64_t>(finite_.size()); }
  const double* row(int64_t i) const { return rows_.data() + i * p_; }
  bool is_finite(int64_t i) const { return finite_[i] == 0; }

 private:
  int64_t p_;
  std::vector<double> rows_;
  std::vector<double> finite_;  // 0, or NaN for a row with NaN or Inf
};

enum class ForecastScale { logit, probability };  // `logit`: as they are, predictions of other models too

// Forecasts for the rows of `x` (n x p) into `out` (n x t). `offset`: n x t, or without data. `missing` is what rows
// with NaN or Inf and targets without forecasts get; the number of such rows is returned. There are control.n_threads
// threads at most, as many as the work is worth, each with a workspace; those that are missing are made, and once made
// a call on one thread allocates nothing.
int64_t score_columns(const Predictor& model, const MatrixView<double>& x, const MatrixView<double>& offset,
                      ForecastScale scale, double missing, const MatrixSpan<double>& out,
                      std::vector<PredictorWorkspace>& workspaces, const Control& control);

// How many threads are worth starting.
int threads_worth(int64_t n, int64_t p, int64_t t, int n_threads);

}  // namespace voxridge
