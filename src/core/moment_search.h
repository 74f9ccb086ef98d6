// Cross-validated ridge regression from moments alone, for files of features with more samples than memory holds.
//
// Of a fold's training rows V, lambda diagonalise the Gram matrix S_t, so B = V diag(1 / (lambda + alpha)) V'C_t as in
// factor.h. With S_h = U L U' of its held-out rows, R = L^1/2 U' and z = L^-1/2 U'C_h stand for these rows, and the
// squared error is ||z - R b||^2 + (y'y - z'z): the part in brackets is no matter of the penalty, and the other one is
// a difference of numbers, not of their squares. Eigenvalues of S_h below eps times the largest are not known, and
// count as that. With an intercept all sums are about means, and one more row, sqrt(rows) times the held-out mean less
// the training mean, is predicted too.
#pragma once

#include "cv_results.h"
#include "moments.h"

namespace voxridge {

// As ridge_cv(): folds (`options.cv` kfold; those of the cells) or generalised cross-validation; scores r2 and neg_mse;
// primal coefficients or none. Penalties too small for Gram matrices are refused (ErrorCode::alphas), and so is what
// cannot be done in the memory of the control (ErrorCode::memory).
void ridge_cv_from_moments(const MomentInput& input, const RidgeCvOptions& options, RidgeCvOutputs& out,
                           const Control& control);

}  // namespace voxridge
