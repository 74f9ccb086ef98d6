// The singular value route to a ridge factor, for penalties too small for a Gram matrix.
#pragma once

#include "arma.h"

namespace voxridge {

// R of rows = Q R, for at least as many rows as columns.
arma::mat upper_triangle(arma::mat rows);

struct ThinSvd {
  arma::mat left, right;
  arma::vec singular;
};

ThinSvd thin_svd(const arma::mat& rows);

// Squares of singular values (largest first). Below the rank cut-off of a rows x cols matrix they are exact zeros, and
// of centred rows there are at most rows - 1, however large the rounding that a removed mean leaves behind.
arma::vec squared_with_cutoff(const arma::vec& singular, int64_t rows, int64_t cols, bool centered);

}  // namespace voxridge
