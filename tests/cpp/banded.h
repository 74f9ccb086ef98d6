// What the tests of banded ridge share: random problems, the whole search by plain normal equations, calls of the core.
#pragma once

#include "common.h"
#include "core/banded_cv.h"

namespace voxridge_test {

struct BandedProblem : Problem {  // columns of x: one band after the other
  std::vector<int64_t> sizes;
  std::vector<std::vector<double>> gammas;  // candidates x bands
  std::vector<double> alpha_factors;        // empty: 1
};

// As make_problem(), with weights between 0.05 and 2, a zero here and there after the first candidate, which is ones.
BandedProblem make_banded(int64_t n, const std::vector<int64_t>& sizes, int64_t t, int64_t n_candidates, uint64_t seed,
                          double noise = 1);
std::vector<double> candidate_alphas(const BandedProblem& problem, int64_t candidate);

// The score of the caller's that tests use: minus the mean absolute error.
void absolute_error(MatrixView<double> truth, MatrixView<double> prediction, double* out);

// ---- the plain search ------------------------------------------------------------------------

// How the oracle solves. `normal`: (X'X + diag(alpha / gamma)) B = X'Y in double, columns of weight 0 left out: good to
// 1e-16 times the condition number of that matrix. `exact`: weighted features in long double, also for penalty 0.
enum class Oracle { normal, exact };

// Per candidate: folds x alphas x targets; one "fold" for closed-form cross-validation.
std::vector<arma::cube> plain_banded_scores(const BandedProblem& problem, const BandedCvOptions& options,
                                            Oracle oracle);

struct BandedChoices {
  std::vector<int> gamma_index, alpha_index;
  arma::mat scores;  // candidates x targets
};
BandedChoices plain_banded_choice(const BandedProblem& problem, const BandedCvOptions& options,
                                  const std::vector<arma::cube>& scores);

// Coefficients on all rows at given choices.
PlainFit plain_banded_fit(const BandedProblem& problem, const std::vector<int>& gamma_index,
                          const std::vector<int>& alpha_index, Oracle oracle);

// ---- the core --------------------------------------------------------------------------------

struct BandedResult {
  std::vector<int> gamma_index, alpha_index;
  arma::mat scores;  // candidates x targets
  arma::mat coefs;
  arma::rowvec intercept;
  std::vector<char> constant;
  Form form = Form::dual;
  Route route = Route::eigen;
  int64_t n_nodes = 0, passes = 0;
};

// Each band is a matrix of its own.
template <class T>
BandedResult run_banded(const BandedProblem& problem, BandedCvOptions options, const Control& control = {},
                        Coefs coefs = Coefs::primal);

// Primal coefficients from dual ones, gamma_b X_b'A.
arma::mat primal_from_dual(const BandedProblem& problem, const BandedResult& result);

// Does the search agree with the plain one? As expect_plain(): scores, then choices but for ties, then coefficients.
void expect_banded(const BandedProblem& problem, const BandedResult& result, const BandedCvOptions& options,
                   double tolerance, Oracle oracle = Oracle::normal);

// The same choices, and numbers that differ by no more than a tolerance.
void expect_close(const BandedResult& a, const BandedResult& b, double tolerance);
void expect_same_bits(const BandedResult& a, const BandedResult& b);

}  // namespace voxridge_test
