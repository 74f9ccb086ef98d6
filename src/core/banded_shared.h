// The second half of a banded search that several processes share: the factors of the candidates that have won targets
// lie in files, each made once, and batches of targets get their coefficients from them.
#pragma once

#include <string>
#include <vector>

#include "banded_cv.h"

namespace voxridge {

// The factors of all rows of these candidates, into files of `folder`.
void write_banded_factors(const Features& features, const Bands& bands, const Folds& folds,
                          const BandedCvOptions& options, const std::vector<int64_t>& candidates,
                          const std::string& folder, const Control& control);

// Coefficients of targets whose choice is in `out` already. T: precision of the target loop.
template <class T>
void refit_banded_from_files(const Features& features, const Bands& bands, const Folds& folds, const Targets& targets,
                             const BandedCvOptions& options, const std::string& folder, BandedCvOutputs& out,
                             const Control& control);

}  // namespace voxridge
