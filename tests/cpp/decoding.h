// What the tests of decoding share: problems with fixed seeds, all outputs of a call, and literal refits.
#pragma once

#include <memory>

#include "common.h"
#include "core/decoding.h"

namespace voxridge_test {

struct DecodingCase {
  arma::mat x;
  std::vector<int> classes;  // from 1; empty: regression
  int n_classes = 0;
  std::vector<double> values;
  std::vector<Fold> folds;
  bool partition = false;
  std::vector<std::vector<int>> lists;  // locations: columns from 0; empty: one of all voxels
  DecodingOptions options;

  DecodingProblem problem() const;
  int64_t n_test() const;
  int64_t decisions() const { return n_classes > 2 ? n_classes : 1; }
};

// Classes in turn with a signal in every voxel, or values with one; folds in `k` contiguous parts.
DecodingCase class_case(int64_t n, int64_t p, int n_classes, int64_t k, uint64_t seed);
DecodingCase value_case(int64_t n, int64_t p, int64_t k, uint64_t seed);

struct DecodingResult {
  arma::cube scores;  // folds x locations x metrics
  arma::mat pooled;
  std::vector<int> size, state;
  arma::Mat<int> classes;
  arma::mat values;
  arma::cube decision;  // held-out rows x decisions x locations
  arma::mat alpha, weights, patterns;
  arma::cube fold_weights;
  arma::Mat<int> counts, max_counts;
  arma::mat max_null, null_mean;
  std::vector<DecodingFailureRow> failures;

  bool same_bits_as(const DecodingResult& other) const;
};

DecodingResult run_decoding(const DecodingCase& c, int n_threads = 1, const Neighbourhoods* locations = nullptr);

// One training set: slope and intercept by the normal equations of the scaled rows (by the smaller side, of least norm
// at penalty 0), as predictions of the held-out rows; `weights`: in the units of the unscaled data.
arma::mat refit(const arma::mat& x, const arma::mat& y, const Fold& fold, double alpha, bool scale,
                arma::mat* weights = nullptr);

// Codes of the classes (all columns; one for two classes) or values.
arma::mat plain_targets(const DecodingCase& c);

// The decisions of all folds, by refits at one penalty or at one per fold.
arma::mat plain_decisions(const DecodingCase& c, const std::vector<double>& alphas);

double relative_difference(const arma::mat& a, const arma::mat& b);  // over the largest of b

}  // namespace voxridge_test
