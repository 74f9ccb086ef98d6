// Weights and patterns of a location, in the units of the unscaled data: of the fit on all rows and of every fold.
//
// With many voxels the weights are Z'R / sd^2 for an n x columns matrix R per training set: all of them come from one
// pass over the voxels. Patterns (Haufe et al. 2014, doi:10.1016/j.neuroimage.2013.10.067): with centred data X and
// S = X W, A = X'S (S'S)^+, which is Cov(X) W Cov(S)^-1 without a voxels x voxels matrix.
#pragma once

#include "decoding_location.h"

namespace voxridge {

struct LocationWeights {
  arma::mat weights;   // voxels x decision columns
  arma::cube folds;    // voxels x decision columns x folds, NaN where a fold failed
  arma::mat patterns;  // voxels x decision columns
};

struct WeightsWanted {
  bool weights = false, folds = false, patterns = false;
};

void location_weights(LocationSolver& solver, const DecodingDesign& design, const LocationFit& fit,
                      const WeightsWanted& wanted, LocationWeights& out, const Control& control);

}  // namespace voxridge
