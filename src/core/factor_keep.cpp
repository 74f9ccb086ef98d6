// Which factors are at hand: made and kept here, or put here by others.
#include <algorithm>
#include <limits>

#include "factor.h"
#include "threads.h"

namespace voxridge {

namespace {

constexpr int64_t kThreadedFactor = 1500;

}  // namespace

Factors::Factors(const Features& features, const Folds& folds, const FactorKind& kind)
    : features_(features),
      folds_(folds),
      weighted_(features),
      form_(kind.form),
      route_(kind.route),
      top_(kind.top),
      made_here_(false),
      kept_(folds.count()) {}

void Factors::put(int64_t which, FoldFactor factor) {
  if (which == kAllRows) {
    kept_full_ = std::make_shared<const Factor>(std::move(factor));
  } else {
    kept_[which] = std::make_shared<const FoldFactor>(std::move(factor));
  }
}

void Factors::keep(bool of_all_rows, bool of_folds, const Control& control) {
  std::vector<int64_t> which;  // all rows first: that one takes longest
  if (of_all_rows && kept_full_ == nullptr) which.push_back(kAllRows);
  for (int64_t f = 0; f < folds_.count() && of_folds; ++f) {
    if (kept_[f] == nullptr) which.push_back(f);
  }
  if (which.empty()) return;
  control.expect(static_cast<int64_t>(which.size()));
  make(which, jobs_side_by_side(which.size(), control.n_threads), control, [&](int64_t f, FoldFactor factor) {
    put(f, std::move(factor));
    control.advance(1);
  });
}

void Factors::make(const std::vector<int64_t>& which, int side_by_side, const Control& control,
                   const std::function<void(int64_t, FoldFactor)>& take) const {
  const BlasThreads blas(side_by_side > 1 ? 1 : factor_threads(control));
  Control inside = control;
  if (side_by_side > 1) inside.n_threads = 1;
  parallel_for(static_cast<int64_t>(which.size()), side_by_side, [&](int64_t i, int) {
    FoldFactor factor;
    if (which[i] == kAllRows) {
      static_cast<Factor&>(factor) = make_full(inside);
    } else {
      factor = make_fold(which[i], inside);
    }
    take(which[i], std::move(factor));
  });
}

void Factors::release_folds() {
  std::fill(kept_.begin(), kept_.end(), nullptr);
}

// A threaded BLAS gains nothing on small factorisations, and its threads would go on spinning beside ours.
int Factors::factor_threads(const Control& control) const {
  return inner() < kThreadedFactor ? 1 : control.n_threads;
}

std::shared_ptr<const Factor> Factors::full(const Control& control) {
  if (kept_full_ == nullptr) {
    const BlasThreads blas(factor_threads(control));
    kept_full_ = std::make_shared<const Factor>(make_full(control));
  }
  return kept_full_;
}

std::shared_ptr<const FoldFactor> Factors::fold(int64_t f, const Control& control) const {
  if (kept_[f] != nullptr) return kept_[f];
  const BlasThreads blas(factor_threads(control));
  return std::make_shared<const FoldFactor>(make_fold(f, control));
}

namespace {

// Takes in the eigenvalues of a factor, small ones too: a direction of X far below the largest is still a direction.
// Exact zeros are known to be none.
void widen(Factors::Range& range, const Factor& factor) {
  for (const double value : factor.values) {
    if (value == 0) continue;
    range.smallest = std::min(range.smallest, value);
    range.largest = std::max(range.largest, value);
  }
}

}  // namespace

Factors::Range Factors::eigenvalue_range(bool of_all_rows) const {
  const Range any{0, std::numeric_limits<double>::infinity()};
  Range range{std::numeric_limits<double>::infinity(), 0};
  if (of_all_rows) {
    if (kept_full_ == nullptr) return any;
    // Eigenvalues of principal blocks interlace those of the whole: they reach down to its smallest, which is 0 where
    // it has null directions.
    widen(range, *kept_full_);
    if (arma::any(kept_full_->values == 0)) range.smallest = 0;
    return range;
  }
  for (const auto& fold : kept_) {
    if (fold == nullptr) return any;
    widen(range, *fold);
  }
  return range;
}

}  // namespace voxridge
