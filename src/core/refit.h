// Coefficients with one penalty per target, in one pass: B = V diag(1 / (lambda + alpha_target)) V'X'Y, or the same
// with Gram vectors and B = X'A. Every target has its own column of diag, so nothing is grouped by penalty.
#pragma once

#include <memory>
#include <vector>

#include "tiles.h"

namespace voxridge {

enum class Coefs { primal, dual, none };

struct CoefOutputs {
  Coefs kind = Coefs::none;
  MatrixSpan<double> coefs;     // p x t (primal) or n x t (dual, the caller's rows)
  double* intercept = nullptr;  // t, or nullptr
};

template <class T>
class Refit {
 public:
  Refit(const TileSource<T>& source, std::shared_ptr<const Factor> factor, const CoefOutputs& out);

  // Writes the tile's columns of the outputs. `alphas`: one per column; skipped targets become NaN.
  void run(Tile<T>& tile, const std::vector<double>& alphas) const;

 private:
  MatrixSpan<T> solve(Tile<T>& tile, const std::vector<double>& alphas) const;
  void write_primal(Tile<T>& tile, MatrixView<T> weights) const;
  void write_dual(Tile<T>& tile, MatrixView<T> weights, const std::vector<double>& alphas) const;
  arma::mat multiply_features(Tile<T>& tile, MatrixView<T> coefs) const;
  void write_intercept(const Tile<T>& tile) const;

  const TileSource<T>& source_;
  std::shared_ptr<const Factor> factor_;
  CoefOutputs out_;
  std::vector<double> values_;
  Buffer<T> memory_, samples_memory_;
  MatrixView<T> vectors_, samples_;
  arma::vec projected_means_;  // X x_mean: gives x_mean'B = (X x_mean)'A without B
};

}  // namespace voxridge
