// Coefficients of targets that have chosen among candidate weights: one factorisation of all rows per candidate that
// has won a target, in groups that fit the memory, and within a group tile by tile.
#pragma once

#include <functional>
#include <memory>

#include "banded_cv.h"

namespace voxridge {

// `factor`: that of all rows under a candidate.
template <class T>
void banded_refit(const TileSource<T>& source, const Bands& bands, const BandedCvOptions& options,
                  const std::function<std::shared_ptr<const Factor>(int64_t candidate, const Control&)>& factor,
                  BandedCvOutputs& out, const Control& control);

// Row k of every column goes to row order[k]: from the order of the bands to the caller's.
void reorder_rows(MatrixSpan<double> coefs, const RowList& order, const Control& control);

}  // namespace voxridge
