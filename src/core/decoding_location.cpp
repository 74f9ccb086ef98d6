#include "decoding_location.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "decoding_metrics.h"

namespace voxridge {

bool LocationSolver::run_closed(double alpha, arma::mat* on) {
  if (voxels_.size() < design_.n()) {
    voxels_.gather(0, voxels_.size(), rows_);
    if (!factor_features(rows_, alpha, factor_)) return false;
  } else if (!factor_samples(forms_.kernel(), alpha, factor_)) {
    return false;
  }
  return leave_blocks_out(factor_, design_.test_start, design_.y, means_, slopes_, on);
}

void LocationSolver::run_fold(int64_t f, double alpha, arma::mat* on) {
  const DesignFold& fold = design_.folds[f];
  const int64_t first = design_.test_start[f], count = static_cast<int64_t>(fold.test.size());
  if (on != nullptr) on_.set_size(count, design_.n());
  forms_.fit(fold, alpha, some_, on != nullptr ? &on_ : nullptr);
  slopes_.rows(first, first + count - 1) = some_;
  if (on != nullptr) on->rows(first, first + count - 1) = on_;
}

void LocationSolver::run(const std::vector<int>& columns, int64_t padded, LocationFit& out) {
  const int64_t k = design_.n_folds(), n_test = design_.test_start.back(), c = design_.y.n_cols;
  voxels_.set(columns);
  forms_.restart();
  out.failed.assign(k, DecodingFailure::none);
  out.alpha.assign(k, options_.alphas[0]);
  slopes_.set_size(n_test, c);
  if (padded > 0) out.on.zeros(padded, design_.n());
  arma::mat* on = padded > 0 ? &out.on : nullptr;
  for (int64_t f = 0; f < k; ++f) {
    if (design_.folds[f].one_class) out.failed[f] = DecodingFailure::one_class;
    if (voxels_.constant_in(design_.folds[f].train)) out.failed[f] = DecodingFailure::constant;
  }
  const bool tuned = options_.alphas.size() > 1;
  const bool closed = !tuned && design_.partition && options_.scale != VoxelScale::fold;
  if (!closed || !run_closed(options_.alphas[0], on)) {
    slopes_.set_size(n_test, c);
    for (int64_t f = 0; f < k; ++f) {
      if (out.failed[f] != DecodingFailure::none) continue;
      if (tuned) {
        out.alpha[f] = run_tuned(f);
      } else {
        run_fold(f, options_.alphas[0], on);
      }
    }
  }
  out.decision = slopes_;
  for (int64_t f = 0; f < k; ++f) {
    const int64_t first = design_.test_start[f], last = design_.test_start[f + 1] - 1;
    out.decision.rows(first, last).each_row() += design_.folds[f].mean;
    if (out.failed[f] == DecodingFailure::none && !out.decision.rows(first, last).is_finite()) {
      out.failed[f] = DecodingFailure::singular;
    }
    if (out.failed[f] == DecodingFailure::none) continue;
    out.decision.rows(first, last).fill(std::numeric_limits<double>::quiet_NaN());
    if (on != nullptr) on->rows(first, last).zeros();
  }
  if (!design_.classifies()) {
    out.decision += design_.shift;
    return;
  }
  complete_decisions(design_.n_classes, out.decision);
  for (int64_t f = 0; f < k && design_.n_classes > 2; ++f) {
    if (out.failed[f] != DecodingFailure::none) continue;
    for (int missing = 0; missing < design_.n_classes; ++missing) {
      if (!design_.folds[f].missing[missing]) continue;
      out.decision.submat(design_.test_start[f], missing, design_.test_start[f + 1] - 1, missing)
          .fill(-std::numeric_limits<double>::infinity());
    }
  }
}

double LocationSolver::overall_alpha(const LocationFit& fit) const {
  std::vector<double> logs;
  for (size_t f = 0; f < fit.alpha.size(); ++f) {
    if (fit.failed[f] == DecodingFailure::none) logs.push_back(std::log(fit.alpha[f]));
  }
  if (logs.empty() || options_.alphas.size() == 1) return options_.alphas[0];
  std::sort(logs.begin(), logs.end());
  const size_t half = logs.size() / 2;
  return std::exp(logs.size() % 2 == 1 ? logs[half] : (logs[half - 1] + logs[half]) / 2);
}

}  // namespace voxridge
