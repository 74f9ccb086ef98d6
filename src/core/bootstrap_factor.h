// Ridge on one resample as an operator on the targets.
//
// With counts d of the m distinct rows drawn, D = diag(d), n_b = sum d, xbar = X'd / n_b and S = D^1/2 (X - 1 xbar')
// the weights at penalty alpha are W = A Y with
//   primal, p <= m:  A = (S'S + alpha I)^-1 S' D^1/2
//   dual,   p > m:   A = S' (S S' + alpha I)^-1 D^1/2
// where Y needs no centring since S' D^1/2 1 = 0. Predictions of rows z are ybar + (z - xbar)' W, ybar = d'Y / n_b,
// again an operator on Y. Without an intercept xbar = 0 and ybar = 0. (Hoerl and Kennard 1970,
// doi:10.1080/00401706.1970.10488634.)
//
// The operator is kept as two factors, A = left' right'. For several penalties there is a diagonal matrix between them,
// 1 / (values + alpha), from the eigenvectors of S'S or S S'. Where a penalty is below kSvdBelow times the largest
// eigenvalue the singular vectors of S take their place, with a rank cut-off for alpha = 0: minimum norm.
#pragma once

#include <vector>

#include "arma.h"
#include "bootstrap_draws.h"
#include "control.h"
#include "features.h"
#include "view.h"

namespace voxridge {

struct BootstrapModel {
  MatrixView<double> x;      // n x p
  MatrixView<double> x_new;  // rows to predict, n_new x p; without data: weights are wanted
  bool intercept = false;
  std::vector<double> alphas;  // one, or one per target

  bool predicts() const { return x_new.data != nullptr; }
  int64_t outputs() const { return predicts() ? x_new.rows : x.cols; }  // rows of the answer
};

struct ResampleFactor {
  Resample resample;
  Form form = Form::primal;
  arma::mat right;    // m x inner; of several penalties less 1 / (values + alpha) for its first columns
  arma::vec values;   // eigenvalues, where there are several penalties
  arma::mat vectors;  // eigenvectors of S'S (p x r) or S S' (m x r); empty: none are needed
  bool has_left = true;
  bool deficient = false;  // alpha = 0, and the resample does not determine all weights
};

class BootstrapFactors {
 public:
  // `model` must outlive this. Looks at the data to choose between eigen- and singular vectors.
  BootstrapFactors(const BootstrapModel& model, const Control& control);

  ResampleFactor make(Resample resample, const Control& control) const;

  // inner x count: the left factor for outputs first .. first + count - 1. Without a left factor the operator is
  // `right`, a column per weight.
  arma::mat left(const ResampleFactor& factor, int64_t first, int64_t count) const;

  // At most, over all resamples of n rows: numbers that a factor holds, and that making one takes.
  double held() const;
  double scratch() const;
  double inner() const;

 private:
  arma::mat rows_of(const Resample& resample, int64_t first, int64_t count, std::vector<double>* means) const;
  arma::mat new_rows(const std::vector<double>& means, int64_t row, int64_t n_rows, int64_t first, int64_t count) const;
  arma::mat gram(const Resample& resample, Form form, const Control& control) const;
  void from_gram(ResampleFactor& factor, const Control& control) const;
  void from_svd(ResampleFactor& factor) const;
  arma::mat left_of_samples(const ResampleFactor& factor, int64_t first, int64_t count) const;
  arma::mat left_of_features(const ResampleFactor& factor, int64_t first, int64_t count) const;

  const BootstrapModel& model_;
  double smallest_alpha_;
  bool svd_ = false;
};

}  // namespace voxridge
