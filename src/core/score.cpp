#include "score.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "arma_view.h"
#include "features.h"
#include "threads.h"

namespace voxridge {

bool is_constant(double sum_squares, double mean, int64_t rows) {
  const double n = static_cast<double>(rows), eps = std::numeric_limits<double>::epsilon();
  return sum_squares <= n * n * eps * eps * (sum_squares + n * mean * mean);
}

arma::mat scores_from_errors(Score score, const AlphaNodes& nodes, const arma::mat& errors, const HeldOutSums& held) {
  arma::mat sse = errors;
  if (!nodes.all()) {
    // Differences from the null error: a target that no penalty predicts keeps exact ties.
    arma::mat gain = errors;
    for (arma::uword j = 0; j < gain.n_cols; ++j) gain.col(j) -= held.null_error[j] - held.outside[j];
    sse = nodes.weights * gain;
    for (arma::uword j = 0; j < sse.n_cols; ++j) sse.col(j) += held.null_error[j] - held.outside[j];
    for (size_t r = 0; r < nodes.nodes.size(); ++r) sse.row(nodes.nodes[r]) = errors.row(r);
  }
  const double rows = static_cast<double>(held.rows);
  for (arma::uword j = 0; j < sse.n_cols; ++j) {
    for (double& value : sse.col(j)) {
      const double error = std::max(0.0, value + held.outside[j]);
      if (score == Score::neg_mse) {
        value = -error / rows;
      } else {
        value = held.constant[j] ? 0 : 1 - error / held.sum_squares[j];
      }
    }
  }
  return sse;
}

arma::mat scores_from_products(const AlphaNodes& nodes, const std::vector<double>& alphas, const arma::mat& products,
                               const HeldOutSums& held) {
  const size_t n_nodes = nodes.nodes.size();
  arma::mat cross(n_nodes, products.n_cols), own(n_nodes, products.n_cols);
  // Predictions vanish like 1 / alpha: scaled by (alpha + anchor) their sums keep their digits at large alphas.
  for (size_t r = 0; r < n_nodes; ++r) {
    const double scale = nodes.all() ? 1 : alphas[nodes.nodes[r]] + nodes.anchor;
    cross.row(r) = scale * products.row(2 * r);
    own.row(r) = scale * scale * products.row(2 * r + 1);
  }
  if (!nodes.all()) {
    cross = arma::mat(nodes.weights * cross);
    own = arma::mat(nodes.weights * own);
  }
  arma::mat out(cross.n_rows, cross.n_cols);
  for (arma::uword j = 0; j < out.n_cols; ++j) {
    for (arma::uword a = 0; a < out.n_rows; ++a) {
      const bool constant = held.constant[j] || !(own(a, j) > 0);
      out(a, j) = constant ? 0 : std::clamp(cross(a, j) / std::sqrt(own(a, j) * held.sum_squares[j]), -1.0, 1.0);
    }
  }
  return out;
}

namespace {

double correlation(const arma::vec& truth, const arma::vec& prediction) {
  const double n = static_cast<double>(truth.n_elem), eps = std::numeric_limits<double>::epsilon();
  const arma::vec t = truth - arma::mean(truth), p = prediction - arma::mean(prediction);
  const double own = arma::dot(p, p);
  if (own <= n * n * eps * eps * arma::dot(prediction, prediction)) return 0;
  return std::clamp(arma::dot(t, p) / std::sqrt(own * arma::dot(t, t)), -1.0, 1.0);
}

}  // namespace

void score_columns(Score score, const UserScore& user, const arma::mat& truth, const arma::mat& prediction,
                   const std::vector<double>& shift, const std::vector<char>& constant, double* out) {
  if (score == Score::user) {
    const arma::rowvec back(shift);
    arma::mat full_truth = truth, full_prediction = prediction;
    full_truth.each_row() += back;
    full_prediction.each_row() += back;
    user(view_of(full_truth), view_of(full_prediction), out);
    return;
  }
  for (arma::uword j = 0; j < truth.n_cols; ++j) {
    const arma::vec t = truth.col(j), p = prediction.col(j);
    const double error = arma::accu(arma::square(t - p));
    if (score == Score::neg_mse) {
      out[j] = -error / static_cast<double>(t.n_elem);
    } else if (constant[j]) {
      out[j] = 0;
    } else if (score == Score::r2) {
      out[j] = 1 - error / arma::accu(arma::square(t - arma::mean(t)));
    } else {
      out[j] = correlation(t, p);
    }
  }
}

void score_predictions(Score score, const UserScore& user, MatrixView<double> truth, MatrixView<double> prediction,
                       const std::vector<char>& skip, double missing, double* out, const Control& control) {
  constexpr int64_t block_cols = 256;
  const int64_t blocks = (truth.cols + block_cols - 1) / block_cols;
  control.expect(blocks);
  parallel_for(blocks, score == Score::user ? 1 : control.n_threads, [&](int64_t block, int) {
    control.check_stop();
    const int64_t first = block * block_cols, cols = std::min(block_cols, truth.cols - first);
    arma::mat y = copy_of(truth.block(0, first, truth.rows, cols));
    arma::mat p = copy_of(prediction.block(0, first, truth.rows, cols));
    std::vector<double> shift(cols, 0.0);
    std::vector<char> constant(cols, 0);
    for (int64_t j = 0; j < cols; ++j) {
      if (!skip.empty() && skip[first + j]) {
        y.col(j).zeros();
        p.col(j).zeros();
      }
      if (score == Score::user) continue;
      shift[j] = column_mean(y.colptr(j), truth.rows);
      y.col(j) -= shift[j];
      p.col(j) -= shift[j];
      constant[j] = is_constant(arma::dot(y.col(j), y.col(j)), shift[j], truth.rows);
    }
    score_columns(score, user, y, p, shift, constant, out + first);
    for (int64_t j = 0; j < cols; ++j) {
      if (!skip.empty() && skip[first + j]) out[first + j] = missing;
    }
    control.advance(1);
  });
}

}  // namespace voxridge
