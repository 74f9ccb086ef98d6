#include "logistic_choice.h"

#include <cmath>
#include <limits>

namespace voxridge {

void summarise_folds(const double* scores, const std::vector<double>& fold_weights, int64_t n_lambdas, double* mean,
                     double* se) {
  const int64_t n_folds = static_cast<int64_t>(fold_weights.size());
  for (int64_t l = 0; l < n_lambdas; ++l, scores += n_folds) {
    double weight = 0, sum = 0, squares = 0, count = 0;
    for (int64_t k = 0; k < n_folds; ++k) {
      if (std::isnan(scores[k])) continue;
      weight += fold_weights[k];
      sum += fold_weights[k] * scores[k];
      ++count;
    }
    mean[l] = count > 0 ? sum / weight : std::numeric_limits<double>::quiet_NaN();
    for (int64_t k = 0; k < n_folds; ++k) {
      const double deviation = scores[k] - mean[l];
      if (!std::isnan(deviation)) squares += fold_weights[k] * deviation * deviation;
    }
    se[l] = count > 1 ? std::sqrt(squares / weight / (count - 1)) : std::numeric_limits<double>::quiet_NaN();
  }
}

ChosenLambda choose_lambda(BinaryScore criterion, const double* mean, const double* se, int64_t n_lambdas) {
  const double sign = criterion == BinaryScore::log_loss || criterion == BinaryScore::brier ? 1 : -1;
  ChosenLambda out;
  for (int l = 0; l < n_lambdas; ++l) {
    if (std::isnan(mean[l])) continue;
    if (out.min < 0 || sign * mean[l] < sign * mean[out.min]) out.min = l;
  }
  out.one_se = out.min;
  if (out.min < 0 || std::isnan(se[out.min])) return out;
  const double limit = sign * mean[out.min] + se[out.min];
  for (int l = out.min; l >= 0; --l) {
    if (sign * mean[l] <= limit) out.one_se = l;
  }
  return out;
}

}  // namespace voxridge
