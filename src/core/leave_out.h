// Held-out predictions of all folds from one inverse, in dual form with folds that partition the samples.
#pragma once

#include "control.h"
#include "factor.h"

namespace voxridge {

// G = (K + alpha I)^-1 of all rows, less its part in the constant direction where an intercept is fitted.
arma::mat inverse_gram(const Factor& full, double alpha, const Control& control);

// Held-out rows x training rows: the predictions of a fold's centred held-out targets from its centred training
// targets. By the inverse of a partitioned matrix K_vt (K_tt + alpha I)^-1 = -G_vv^-1 G_vt.
arma::mat leave_out_operator(const arma::mat& inverse, const Fold& fold, const Control& control);

}  // namespace voxridge
