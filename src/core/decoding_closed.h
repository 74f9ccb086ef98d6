// Held-out decisions of all folds from one factorisation, where every training set is the complement of its held-out
// rows and voxels are not scaled within folds.
//
// Z is the location's data less its column means over all n rows, K = Z Z', J = 1 1'. A symmetric n x n matrix N with
// N 1 = 0 gives the slopes (decisions less the training mean of the codes) of a held-out block B with training rows T:
//   slope_B = M^-1 (N_BT (y_T - mean(y_T))) = M^-1 ((N y)_B - N_BB (y_B - mean(y_T)))
//   features fewer than rows:  N = F F', F = Z L'^-1, L L' = Z'Z + alpha I;      M = I - J / n - N_BB
//   otherwise:                 N = -(F F' - J / (n (n c + alpha))), F = L'^-1, L L' = K + c J + alpha I;   M = -N_BB
// where c J moves the constant direction, which K leaves empty, to the mean eigenvalue. N is the hat matrix of the
// centred data, or minus the part of alpha^-1 (I - hat matrix) beside the constant; I - hat matrix of a block is M up
// to that factor. (Leave-one-out: Hoerl and Kennard 1970; blocks: Treder 2018, doi:10.48550/arXiv.1802.10406.) All is
// relative to the slope, not to the codes, so that decisions keep their digits at very large penalties.
#pragma once

#include <vector>

#include "arma.h"
#include "decoding_design.h"

namespace voxridge {

struct LeaveOutFactor {
  arma::mat f;           // n x r
  bool inverse = false;  // the second form
  double constant = 0;   // then 1 / (n (n c + alpha))
};

// Rows of the factor are in the order of the blocks. `means[b]`: of y over the rows not in block b. `slopes` (n x c) is
// filled, and, where it is wanted, `on` (at least n rows, n columns): the matrix from y to the slopes, with zeros
// within blocks and row sums 0. False where some block holds too few digits: then nothing of it may be used.
bool leave_blocks_out(const LeaveOutFactor& factor, const std::vector<int64_t>& starts, const arma::mat& y,
                      const std::vector<const arma::rowvec*>& means, arma::mat& slopes, arma::mat* on);

// The factor of Z (destroyed), features fewer than rows; of K otherwise. False where it would hold too few digits.
bool factor_features(arma::mat& z, double alpha, LeaveOutFactor& out);
bool factor_samples(const arma::mat& k, double alpha, LeaveOutFactor& out);

}  // namespace voxridge
