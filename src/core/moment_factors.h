// What folds and the refit need of the features, from their moments.
#pragma once

#include <vector>

#include "moments.h"

namespace voxridge {

// Eigenvectors and eigenvalues of the Gram matrix of some rows.
struct MomentFactor {
  std::vector<double> weights;  // per cell
  MergedFeatures features;      // without their Gram matrix
  arma::mat vectors;            // p x p
  arma::vec values;             // p, >= 0
};

struct MomentFold {
  MomentFactor train;
  std::vector<double> held_out;  // weights per cell
  MergedFeatures features;       // of the held-out rows
  arma::mat turn;                // L^-1/2 U': gives z, p x p
  arma::mat map;                 // R V, with an intercept and one more row: what predicts z and the mean
};

// The factor of all rows, and those of the folds; a few at a time, each on one thread. The Gram matrices of the cells
// are used up. Throws (ErrorCode::alphas) where the smallest penalty is too small for Gram
// matrices.
struct MomentFactors {
  MomentFactor all;
  std::vector<MomentFold> folds;
};
MomentFactors make_moment_factors(const RowCells& cells, FeatureMoments& features, bool center, double smallest_alpha,
                                  int n_threads, const Control& control);

// Bytes of the factors and of the Gram matrices that they are made of, and those that a thread works in meanwhile.
double moment_factor_bytes(const RowCells& cells, int64_t n_features);
double moment_factor_scratch(int64_t n_features);

}  // namespace voxridge
