// Banded ridge: weights of bands and a penalty, chosen by cross-validation among given candidates.
//
// For weights gamma (one per band) the model is ordinary ridge on Z_b = sqrt(gamma_b) X_b, with penalties alpha; the
// coefficients are for X_b itself. A target takes (gamma, alpha) when its mean score beats the best one so far by more
// than machine epsilon (of 1, or of the score where it has units), so among equals the first candidate wins (random
// search: Bergstra and Bengio 2012; for bands Dupre la Tour, Eickenberg, Nunez-Elizalde, Gallant 2022,
// doi:10.1016/j.neuroimage.2022.119728).
//
// Order of the work: Gram matrices per band are made once. As many candidates as fit the memory for operators form a
// group; a group's factors and operators are made side by side, and the tiles of targets go through the whole group:
// group > tile > fold > candidate. Usually there is one group, and then Y and X'Y are read once for all candidates. A
// candidate too large for one pass is a group of its own, searched in several passes (fold_search.h). Coefficients come
// last: one factorisation of all rows per candidate that has won a target, then tile > winner.
#pragma once

#include <vector>

#include "bands.h"
#include "fold_search.h"
#include "ridge.h"

namespace voxridge {

// Without local_alpha all targets share the candidate, too.
struct BandedCvOptions : RidgeCvOptions {
  std::vector<std::vector<double>> gammas;  // candidates x bands, >= 0, not all zero
  std::vector<double> alpha_factors;        // per candidate: its penalties are these times `alphas`
  // Threads of the BLAS in a factorisation; 0: one where there are at least as many candidates as threads, else all. It
  // is given where these are some candidates of more.
  int factor_threads = 0;

  std::vector<double> candidate_alphas(int64_t candidate) const;
};

struct BandedCvOutputs {
  int* alpha_index = nullptr;        // t, 0-based; -1 for skipped targets
  int* gamma_index = nullptr;        // t, the same
  double* scores = nullptr;          // candidates x t: mean score over folds at the candidate's alpha; or nullptr
  int* candidate_alphas = nullptr;   // candidates x t: that alpha, 0-based, -1 for none; or nullptr. With it, the
                                     // indices above are those of the best so far, and nobody needs to have a choice
  std::vector<double> shared_means;  // per candidate, without local_alpha: its mean score over targets at one alpha
  CoefOutputs coefs;                 // features in the order of the bands
  std::vector<char> constant;        // t: constant over the held-out rows of some fold
  // What was done:
  Form form = Form::dual;
  Route route = Route::eigen;  // svd if any candidate needed it
  int64_t n_nodes = 0;         // most of any candidate
  int64_t passes = 0;          // how often Y was read in the search
};

// T: precision of the target loop.
template <class T>
void banded_cv(const Features& features, const Bands& bands, const Folds& folds, const Targets& targets,
               const BandedCvOptions& options, BandedCvOutputs& out, const Control& control);

}  // namespace voxridge
