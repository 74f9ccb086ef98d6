// Scores of held-out predictions, per target.
//   r2           1 - SSE / SST, SST about the held-out mean
//   neg_mse      - SSE / rows
//   correlation  Pearson
// A constant target scores 0 for r2 and correlation, and so does a constant prediction for correlation.
#pragma once

#include <functional>
#include <vector>

#include "alpha_grid.h"
#include "arma.h"
#include "control.h"
#include "view.h"

namespace voxridge {

// A target is constant where its sum of squares about its mean is nothing but rounding.
bool is_constant(double sum_squares, double mean, int64_t rows);

enum class Score { r2, neg_mse, correlation, user };

// Fills one score per column; truth and prediction are rows x columns in the units of the caller's Y.
using UserScore = std::function<void(MatrixView<double> truth, MatrixView<double> prediction, double* out)>;

// What is known of the held-out targets of a tile.
struct HeldOutSums {
  int64_t rows = 0;
  std::vector<double> null_error;  // per target: sum of squares of y - training mean, the error of predicting that mean
  std::vector<double> outside;     // part of it no prediction can reach (held-out rows outnumber the features)
  std::vector<double> sum_squares;  // about the held-out mean
  std::vector<char> constant;
};

// Squared errors at the nodes (nodes x targets; reachable part only) -> scores of the whole grid (alphas x targets).
arma::mat scores_from_errors(Score score, const AlphaNodes& nodes, const arma::mat& errors, const HeldOutSums& held);

// Rows 2r, 2r + 1: y'p and p'p at node r -> correlations of the whole grid (alphas x targets).
arma::mat scores_from_products(const AlphaNodes& nodes, const std::vector<double>& alphas, const arma::mat& products,
                               const HeldOutSums& held);

// Scores of predictions that are at hand, per column; both are given less `shift` (per column), which only a score of
// the caller's gets back.
void score_columns(Score score, const UserScore& user, const arma::mat& truth, const arma::mat& prediction,
                   const std::vector<double>& shift, const std::vector<char>& constant, double* out);

// Scores of predictions in the units of the targets, per target; targets flagged in `skip` (empty: none) get `missing`.
void score_predictions(Score score, const UserScore& user, MatrixView<double> truth, MatrixView<double> prediction,
                       const std::vector<char>& skip, double missing, double* out, const Control& control);

}  // namespace voxridge
