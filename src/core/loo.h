// Leave-one-out and generalised cross-validation in closed form, from the factor of all rows.
//
// With fitted values H y, H = H(alpha) including the mean where an intercept is fitted:
//   leave-one-out residual  (y_i - (Hy)_i) / (1 - H_ii)          (Allen 1974, doi:10.1080/00401706.1974.10489157)
//   GCV                     n ||y - Hy||^2 / (n - trace H)^2     (Golub, Heath, Wahba 1979,
//   doi:10.1080/00401706.1979.10489751)
// In dual form both parts of the residual are taken from G = (K + alpha I)^-1, y - Hy = alpha G y and 1 - H_ii = alpha
// G_ii, so nothing cancels. Scores: neg_mse is minus the mean squared leave-one-out residual (minus GCV), r2 one minus
// its ratio to the variance, correlation that of y with the leave-one-out predictions.
#pragma once

#include <memory>

#include "score.h"
#include "tiles.h"

namespace voxridge {

enum class ClosedForm { loo, gcv };

template <class T>
class ClosedFormSearch {
 public:
  ClosedFormSearch(const TileSource<T>& source, std::shared_ptr<const Factor> factor, ClosedForm kind, Score score,
                   const UserScore& user, const std::vector<double>& alphas);

  // alphas x columns; `constant` (per column) is set where the target is constant.
  arma::mat scores(Tile<T>& tile, std::vector<char>& constant) const;

  // Leave-one-out predictions less the tile's means, n x columns; `chosen` is each column's place in the alphas.
  arma::mat loo_predictions(Tile<T>& tile, const std::vector<size_t>& chosen) const;

 private:
  MatrixView<T> rotate(Tile<T>& tile) const;
  void prepare_loo();
  void prepare_gcv();
  MatrixSpan<T> residuals(Tile<T>& tile, MatrixView<T> rotated, size_t a) const;
  arma::mat loo_scores(Tile<T>& tile, MatrixView<T> rotated, const HeldOutSums& whole) const;
  arma::mat gcv_scores(Tile<T>& tile, MatrixView<T> rotated, const HeldOutSums& whole) const;

  const TileSource<T>& source_;
  std::shared_ptr<const Factor> factor_;
  ClosedForm kind_;
  Score score_;
  const UserScore& user_;
  std::vector<double> alphas_;
  arma::mat left_;      // n x r: rows of H are left diag(.) V'
  arma::mat divisors_;  // loo, n x alphas: 1 / (1 - H_ii), or 1 / G_ii
  arma::mat shares_;    // gcv, alphas x r: what is left of each direction, (alpha / (lambda + alpha))^2
  arma::vec freedom_;   // gcv, alphas: n - trace H
  Buffer<T> vectors_memory_, samples_memory_, left_memory_;
  MatrixView<T> vectors_, samples_, left_view_;
};

}  // namespace voxridge
