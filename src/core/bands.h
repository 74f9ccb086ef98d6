// Bands: feature spaces that are scaled against each other, and what all candidates for their scales share.
//
// With weights gamma_b >= 0 the features of band b become sqrt(gamma_b) X_b. Gram matrices follow without the features:
//   dual    K_gamma = sum_b gamma_b X_b X_b'       one n x n matrix per band
//   primal  G_gamma[i, j] = sqrt(gamma_i gamma_j) G[i, j]       one p x p matrix for all rows, one per held-out set
// (multiple-kernel form: Dupre la Tour, Eickenberg, Nunez-Elizalde, Gallant 2022,
// doi:10.1016/j.neuroimage.2022.119728). They are kept where they fit, and otherwise made again for every
// candidate, to the same bits.
#pragma once

#include <vector>

#include "arma.h"
#include "control.h"
#include "features.h"
#include "folds.h"

namespace voxridge {

class Bands {
 public:
  // `sizes`: columns of each band; bands are contiguous.
  explicit Bands(const std::vector<int64_t>& sizes);

  int64_t count() const { return static_cast<int64_t>(starts_.size()) - 1; }
  int64_t cols() const { return starts_.back(); }
  int64_t start(int64_t band) const { return starts_[band]; }

  // Per column the square root of its band's weight.
  std::vector<double> column_factors(const std::vector<double>& gammas) const;

 private:
  std::vector<int64_t> starts_;
};

class BandGrams {
 public:
  // Features, bands and folds must outlive it. Nothing is kept beyond `room` bytes.
  BandGrams(const Features& features, const Bands& bands, const Folds& folds, double room, const Control& control);

  const Features& features() const { return features_; }
  const Bands& bands() const { return bands_; }

  // The Gram matrix of all rows with these weights.
  arma::mat gram(const std::vector<double>& gammas, const Control& control) const;

  // Primal, partition: X_v'X_v of a fold's held-out rows.
  arma::mat held_out_gram(int64_t f, const std::vector<double>& gammas, const Control& control) const;

 private:
  arma::mat of_band(int64_t b, const Control& control) const;
  arma::mat scale_features(arma::mat gram, const std::vector<double>& gammas) const;

  const Features& features_;
  const Bands& bands_;
  const Folds& folds_;
  Form form_;
  std::vector<arma::mat> of_bands_;     // dual
  arma::mat whole_;                     // primal
  std::vector<arma::mat> of_held_out_;  // primal
};

}  // namespace voxridge
