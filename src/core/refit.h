// Coefficients with one penalty per target, in one pass: B = V diag(1 / (lambda + alpha_target)) V'X'Y, or the same
// with Gram vectors and B = X'A. Every target has its own column of diag, so nothing is grouped by penalty. Where bands
// are weighted, targets are grouped by their weights only: a group has a factor, and B_b = gamma_b X_b'A in dual form.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "store.h"
#include "tiles.h"

namespace voxridge {

enum class Coefs { primal, dual, none };

struct CoefOutputs {
  Coefs kind = Coefs::none;
  MatrixSpan<double> coefs;      // p x t (primal) or n x t (dual, the caller's rows)
  double* intercept = nullptr;   // t, or nullptr
  StoreWriter* store = nullptr;  // takes the coefficients, tile by tile, in place of `coefs` (whose data is not used)

  CoefOutputs columns(int64_t first, int64_t count) const {
    return {kind, coefs.block(0, first, coefs.rows, count), intercept == nullptr ? nullptr : intercept + first};
  }
};

// The matrices of a factor on a device, as far as coefficients of this kind need them.
template <class T>
struct FactorOnDevice {
  std::shared_ptr<const Factor> factor;
  std::vector<double> values;
  Buffer<T> memory, samples_memory, right_memory;
  MatrixView<T> vectors, samples, right;
};
template <class T>
std::shared_ptr<const FactorOnDevice<T>> put_factor(Device<T>& device, std::shared_ptr<const Factor> factor,
                                                    Coefs kind);

template <class T>
class Refit {
 public:
  Refit(const TileSource<T>& source, std::shared_ptr<const FactorOnDevice<T>> factor, Coefs kind);
  Refit(const TileSource<T>& source, std::shared_ptr<const Factor> factor, Coefs kind)
      : Refit(source, put_factor(source.device(), std::move(factor), kind), kind) {}

  // Factors of differently weighted features; `weights[k]` are those of factor k, per band.
  Refit(const TileSource<T>& source, const std::vector<std::shared_ptr<const Factor>>& factors, const Bands& bands,
        std::vector<std::vector<double>> weights, Coefs kind);

  // The coefficients of a tile's targets. `alphas`: one per column; `which`: each column's factor. Skipped targets are
  // to be overwritten.
  void run(Tile<T>& tile, const std::vector<double>& alphas, const std::vector<int64_t>& which,
           const CoefOutputs& out) const;
  void run(Tile<T>& tile, const std::vector<double>& alphas, const CoefOutputs& out) const {
    run(tile, alphas, std::vector<int64_t>(tile.cols, 0), out);
  }

 private:
  using Model = FactorOnDevice<T>;
  // Weights of a tile's columns: what the coefficients are made of, and where no penalty stands (X'X)^+ times them.
  struct Solution {
    MatrixSpan<T> weights, twice;
  };

  template <class Work>
  void for_each_model(const Tile<T>& tile, const std::vector<double>& alphas, const std::vector<int64_t>& which,
                      const Work& work) const;
  bool needs_means() const {
    return kind_ == Coefs::dual && source_.form() == Form::dual && source_.features().centered();
  }
  void project_means();
  Solution solve(Tile<T>& tile, const std::vector<double>& alphas, const std::vector<int64_t>& which) const;
  void write_right(const Model& model, Tile<T>& part, const std::vector<double>& alphas, const RowList& columns,
                   const CoefOutputs& out) const;
  void write_intercept(const Tile<T>& tile, const CoefOutputs& out) const;
  void write_primal(Tile<T>& tile, MatrixView<T> weights, const std::vector<int64_t>& which,
                    const CoefOutputs& out) const;
  void weigh_bands(MatrixSpan<double> rows, int64_t first_feature, const std::vector<int64_t>& which) const;
  void write_dual(Tile<T>& tile, const Solution& solution, const std::vector<double>& alphas,
                  const std::vector<int64_t>& which, const CoefOutputs& out) const;
  arma::mat multiply_features(Tile<T>& tile, MatrixView<T> coefs) const;

  const TileSource<T>& source_;
  Coefs kind_;
  Bands bands_;
  std::vector<std::shared_ptr<const Model>> models_;
  std::vector<std::vector<double>> weights_;  // of the bands, per model; empty: 1
  arma::mat projected_means_;  // X_b x_mean_b per band: gives x_mean'B = sum_b gamma_b (X_b x_mean_b)'A without B
};

// Fills the outputs of skipped targets among the columns first .. first + count - 1.
void write_missing(const Targets& targets, int64_t first, int64_t count, const CoefOutputs& out);

}  // namespace voxridge
