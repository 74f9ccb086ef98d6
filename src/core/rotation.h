// Products of samples as features: K = U D U' gives U D^1/2, whose products are those of the samples, without the
// directions of D = 0.
#pragma once

#include "arma.h"
#include "control.h"

namespace voxridge {

struct Rotation {
  arma::mat features;  // U D^1/2: samples x rank
  arma::mat back;      // U D^-1/2: takes coefficients of the features to weights a of the samples, gamma = Z'a
};

Rotation rotate(arma::mat kernel, const Control& control);

}  // namespace voxridge
