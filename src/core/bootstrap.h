// The bootstrap of ridge weights and predictions: rows are drawn with replacement and ridge is fitted anew at fixed
// penalties. The targets enter linearly (bootstrap_factor.h), so a resample is a matrix on them, and one number of the
// answer can be had for all resamples at once: its percentiles are exact while n_boot numbers per cell of a tile are in
// memory, not n_boot x outputs x targets.
//
// Two ways. Stacked: the operators of all resamples, row by row of the answer, times a tile of targets. By factors:
// resample by resample, right factor times targets, penalties, left factor; for several penalties, or where it takes
// fewer operations. The shapes of all products depend on the problem alone, so the bits of the answer do not depend on
// threads or memory.
#pragma once

#include "bootstrap_draws.h"
#include "bootstrap_factor.h"
#include "bootstrap_summary.h"
#include "control.h"
#include "view.h"

namespace voxridge {

void bootstrap_ridge(const BootstrapModel& model, MatrixView<double> y, const ResamplePlan& plan,
                     const IntervalRule& rule, BootstrapOutputs& out, const Control& control);

}  // namespace voxridge
