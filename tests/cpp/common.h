// What the tests of the core share: random problems with fixed seeds, and a plain implementation in long double.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/arma_view.h"
#include "core/philox.h"
#include "core/ridge.h"

namespace voxridge_test {

using namespace voxridge;

// Standard normal numbers that depend on the seed alone.
arma::mat normal_matrix(int64_t rows, int64_t cols, uint64_t seed);

// U diag(singular) V' with random orthonormal U and V.
arma::mat with_singular_values(int64_t rows, int64_t cols, const std::vector<double>& singular, uint64_t seed);

// n values from low to high, evenly spaced in their logarithm.
std::vector<double> log_grid(double low, double high, int64_t n);

double largest_difference(const arma::mat& a, const arma::mat& b);  // infinite where a NaN meets a number
bool same_bits(const arma::mat& a, const arma::mat& b);

// ---- folds -----------------------------------------------------------------------------------

std::vector<Fold> contiguous_folds(int64_t n, int64_t k);
std::vector<Fold> scattered_folds(int64_t n, int64_t k);  // row i is held out in fold i mod k
std::vector<Fold> bootstrap_folds(int64_t n, int64_t k,
                                  uint64_t seed);  // training rows repeat; some rows are never held out

// ---- long double -----------------------------------------------------------------------------

struct LongMat {
  int64_t rows = 0, cols = 0;
  std::vector<long double> data;
  LongMat() = default;
  LongMat(int64_t r, int64_t c) : rows(r), cols(c), data(r * c, 0.0L) {}
  explicit LongMat(const arma::mat& from) : rows(from.n_rows), cols(from.n_cols), data(from.begin(), from.end()) {}
  long double& operator()(int64_t i, int64_t j) { return data[i + j * rows]; }
  long double operator()(int64_t i, int64_t j) const { return data[i + j * rows]; }
  arma::mat rounded() const;
};

LongMat multiply(const LongMat& a, bool transpose_a, const LongMat& b);
LongMat take_rows(const LongMat& from, const RowList& rows);
std::vector<long double> column_means(const LongMat& from);
void subtract_rows(LongMat& from, const std::vector<long double>& row);

struct LongSvd {
  LongMat u, v;
  std::vector<long double> s;
};
LongSvd jacobi_svd(const LongMat& x);  // one-sided Jacobi: small singular values to high relative accuracy

// Coefficients without an intercept: normal equations of the smaller side by Cholesky; alpha 0 through the singular
// values.
LongMat plain_ridge(const LongMat& x, const LongMat& y, double alpha);
LongMat svd_ridge(const LongSvd& svd, const LongMat& y, double alpha);

// ---- the plain loop --------------------------------------------------------------------------

struct Problem {
  arma::mat x, y;
  std::vector<Fold> folds;
  bool partition = true;
  bool intercept = false;
  std::vector<double> alphas;
  std::vector<char> skip;
};

// y = x b + noise.
Problem make_problem(int64_t n, int64_t p, int64_t t, uint64_t seed, double noise = 1);

double plain_score(Score score, const LongMat& y, const LongMat& prediction, int64_t col);

// Predictions for some rows at each penalty, trained on others.
LongMat plain_predictions(const Problem& problem, const Fold& fold, double alpha);

arma::cube plain_scores(const Problem& problem, Score score);  // folds x alphas x targets
arma::mat plain_means(const arma::cube& scores);               // alphas x targets
std::vector<int> plain_choice(const arma::cube& scores, const std::vector<double>& alphas, bool conservative);
int plain_shared_choice(const arma::cube& scores, const std::vector<double>& alphas);

struct PlainFit {
  arma::mat coefs;
  arma::rowvec intercept;
};
PlainFit plain_fit(const Problem& problem, const std::vector<double>& alphas);  // one, or one per target

// ---- the core, with outputs that belong to the caller ----------------------------------------

struct CvResult {
  std::vector<int> index;
  arma::cube scores;  // folds x alphas x targets
  arma::mat means;
  arma::mat coefs;
  arma::rowvec intercept;
  std::vector<char> constant;
  Form form = Form::dual;
  Route route = Route::eigen;
  int64_t n_nodes = 0, passes = 0;
};

Targets targets_of(const Problem& problem);
RidgePreparation prepare(const Problem& problem, const Control& control);

template <class T>
CvResult run_cv(const Problem& problem, RidgeCvOptions options, const Control& control = {},
                Coefs coefs = Coefs::primal);

template <class T>
PlainFit run_fit(const Problem& problem, const std::vector<double>& alphas, const Control& control = {},
                 Coefs coefs = Coefs::primal);

struct Predicted {
  arma::mat predictions, scores;
  std::vector<char> constant;
};
template <class T>
Predicted run_predict(const Problem& problem, const std::vector<double>& alphas, Score score,
                      const Control& control = {});

// Does the search agree with the plain loop? Scores to `tolerance` relative to 1 + |score|, coefficients relative to 1
// + the largest of them; choices exactly, but for penalties whose exact scores differ by less than 1e-13.
void expect_plain(const Problem& problem, const CvResult& result, const RidgeCvOptions& options, double tolerance);

}  // namespace voxridge_test
