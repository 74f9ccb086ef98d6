// Scores of forecasts of binary outcomes, from logits. Outcomes y lie in [0, 1], weights are non-negative; nothing is
// clipped, so a certain forecast that is wrong costs infinity.
#pragma once

#include <cstdint>

namespace voxridge {

enum class BinaryScore { log_loss, brier, auc, accuracy };

// The weighted mean over n rows (`weights` nullptr: equal weights), or for auc the share of pairs in order, ties
// counting a half; NaN where it is not defined: no weight, or for auc a single class. accuracy takes the class from
// logit >= 0, and counts outcomes that are proportions by their share.
double binary_score(BinaryScore score, const double* y, const double* logits, const double* weights, int64_t n);

}  // namespace voxridge
