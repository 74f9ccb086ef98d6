// Permutation tests of small problems, run with memory of their own.
#pragma once

#include <cmath>

#include "common.h"
#include "core/permutation.h"

namespace voxridge_test {

struct Outcome {
  std::vector<double> statistic, estimate, df, maximum, null;
  std::vector<int> state, counts, maximum_counts;
  int64_t degenerate = 0;

  explicit Outcome(const PermutationTest& test, bool keep_null = false) {
    const int64_t v = test.y.cols, m = test.n_permutations;
    for (auto* to : {&statistic, &estimate, &df}) to->resize(v);
    for (auto* to : {&state, &counts, &maximum_counts}) to->resize(v);
    maximum.resize(m);
    if (keep_null) null.resize(m * v);
  }
  PermutationOutputs outputs() {
    PermutationOutputs to;
    to.statistic = statistic.data();
    to.estimate = estimate.data();
    to.df = df.data();
    to.state = state.data();
    to.counts = counts.data();
    to.maximum_counts = maximum_counts.data();
    to.maximum = maximum.data();
    to.null = null.empty() ? nullptr : null.data();
    return to;
  }
};

inline Control with_threads(int n_threads) {
  Control control;
  control.n_threads = n_threads;
  return control;
}

inline Outcome run(const PermutationTest& test, int n_threads = 1, bool keep_null = false) {
  Outcome out(test, keep_null);
  PermutationOutputs to = out.outputs();
  run_permutation_test(test, to, with_threads(n_threads));
  out.degenerate = to.degenerate;
  return out;
}

// `x`: unit_ones() of the rows of y; kept by the caller.
inline PermutationTest one_sample(const arma::mat& y, const arma::vec& x) {
  PermutationTest test;
  test.y = view_of(y);
  test.sums = true;
  test.rows.kind = Rearrangement::flips;
  test.rows.n = y.n_rows;
  test.design.x = {x.memptr(), static_cast<int64_t>(x.n_elem), 1, static_cast<int64_t>(x.n_elem)};
  test.design.df = static_cast<double>(y.n_rows) - 1;
  test.design.estimate_scale = 1 / std::sqrt(static_cast<double>(y.n_rows));
  return test;
}

inline arma::vec unit_ones(int64_t n) {
  return arma::vec(n, arma::fill::value(1 / std::sqrt(static_cast<double>(n))));
}

// r of the centred unit x with every column, by shuffles; `ones`: unit_ones().
inline PermutationTest correlation(const arma::mat& y, const arma::vec& x, const arma::vec& ones) {
  PermutationTest test = one_sample(y, x);
  test.sums = false;
  test.rows.kind = Rearrangement::orders;
  test.design.statistic = PermutationStatistic::correlation;
  test.design.nuisance = {ones.memptr(), static_cast<int64_t>(ones.n_elem), 1, static_cast<int64_t>(ones.n_elem)};
  test.n_fixed = 1;
  test.design.df = static_cast<double>(y.n_rows) - 2;
  return test;
}

// Centred, at unit norm.
inline arma::vec unit_variable(int64_t n, uint64_t seed) {
  arma::vec x = normal_matrix(n, 1, seed).col(0);
  x -= arma::mean(x);
  return x / arma::norm(x);
}

}  // namespace voxridge_test
