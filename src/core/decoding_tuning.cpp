// The penalty of a fold, chosen within its training set: by the mean of the first metric over inner folds; ties by the
// smaller squared error of the inner decisions, then by the larger penalty. One decomposition of the training set
// serves the fold itself and, where inner folds partition it and voxels are not scaled within folds, all inner folds:
// N(alpha) = E diag(1 / (values + alpha)) E' takes the place of the factors of decoding_closed.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "decoding_location.h"
#include "decoding_metrics.h"
#include "factor.h"

namespace voxridge {

namespace {

constexpr double kTie = 1e-10;

struct InnerScore {
  double score = -std::numeric_limits<double>::infinity(), error = 0, alpha = 0;

  bool better_than(const InnerScore& other) const {
    if (std::fabs(score - other.score) > kTie) return score > other.score;
    const double slack = kTie * (1 + std::max(error, other.error));
    return std::fabs(error - other.error) > slack ? error < other.error : alpha > other.alpha;
  }
};

// Decisions of inner folds become a score, fold by fold.
class InnerScorer {
 public:
  InnerScorer(const DecodingDesign& design, DecodingMetric metric) : design_(design), metric_(metric) {}

  void add(const DesignFold& fold, const arma::mat& slopes) {
    const int64_t n = static_cast<int64_t>(fold.test.size());
    arma::mat decision = slopes;
    decision.each_row() += fold.mean;
    label_.clear();
    value_.clear();
    complete_decisions(design_.n_classes, decision);
    for (const int64_t i : fold.test) {
      if (design_.classifies()) {
        label_.push_back(design_.label[i]);
      } else {
        value_.push_back(design_.y(i, 0));
      }
    }
    for (arma::uword c = 0; c < decision.n_cols; ++c) {
      for (int64_t i = 0; i < n; ++i) {
        const bool is = design_.classifies() && label_[i] == (design_.n_classes > 2 ? static_cast<int>(c) : 1);
        const double truth = !design_.classifies() ? value_[i] : is ? 1 : -1;
        error_ += (decision(i, c) - truth) * (decision(i, c) - truth);
      }
    }
    if (fold.one_class) return;
    const double score =
        decoding_score(metric_, {n, design_.n_classes, label_.data(), value_.data(), decision.memptr(), n, nullptr});
    if (std::isnan(score)) return;
    sum_ += better_sign(metric_) * score;
    ++defined_;
  }

  InnerScore result(double alpha) const { return {defined_ > 0 ? sum_ / defined_ : 0, error_, alpha}; }

 private:
  const DecodingDesign& design_;
  const DecodingMetric metric_;
  std::vector<int> label_;
  std::vector<double> value_;
  double sum_ = 0, defined_ = 0, error_ = 0;
};

arma::mat targets(const DecodingDesign& design, const DesignFold& fold) {
  arma::mat out = design.y.rows(arma::conv_to<arma::uvec>::from(fold.train));
  out.each_row() -= fold.mean;
  return out;
}

arma::mat slopes_at(const FoldDecomposition& parts, const arma::mat& products, double alpha) {
  arma::mat left = parts.left;
  for (arma::uword k = 0; k < left.n_cols; ++k) left.col(k) *= inverse(parts.values[k], alpha);
  return left * products;
}

// Inner folds that partition a training set, from the decomposition of that set.
class InnerBlocks {
 public:
  InnerBlocks(const DecodingDesign& design, const DesignFold& outer, const std::vector<DesignFold>& inner,
              const FoldDecomposition& parts)
      : inner_(inner), values_(parts.values) {
    std::vector<int64_t> at(design.n());
    for (size_t i = 0; i < outer.train.size(); ++i) at[outer.train[i]] = static_cast<int64_t>(i);
    std::vector<arma::uword> columns, places;
    starts_.push_back(0);
    for (const DesignFold& fold : inner) {
      for (const int64_t i : fold.test) {
        columns.push_back(at[i]);
        places.push_back(i);
      }
      starts_.push_back(static_cast<int64_t>(columns.size()));
      means_.push_back(&fold.mean);
    }
    e_ = parts.rows.cols(arma::uvec(columns)).t();
    y_ = design.y.rows(arma::uvec(places));
    full_rank_ = e_.n_cols + 1 == e_.n_rows;
  }

  bool score(double alpha, InnerScorer& to) {
    // With values at every direction but the constant one the second form keeps digits at small penalties.
    factor_.inverse = full_rank_ && alpha < arma::mean(values_);
    factor_.constant = 0;
    factor_.f = e_;
    for (arma::uword k = 0; k < e_.n_cols; ++k) {
      const double weight = inverse(values_[k], alpha) / (factor_.inverse ? values_[k] : 1);
      factor_.f.col(k) *= std::sqrt(weight);
    }
    if (!leave_blocks_out(factor_, starts_, y_, means_, slopes_, nullptr)) return false;
    for (size_t f = 0; f < inner_.size(); ++f) to.add(inner_[f], slopes_.rows(starts_[f], starts_[f + 1] - 1));
    return true;
  }

 private:
  const std::vector<DesignFold>& inner_;
  const arma::vec& values_;
  std::vector<int64_t> starts_;
  std::vector<const arma::rowvec*> means_;
  arma::mat e_, y_, slopes_;
  LeaveOutFactor factor_;
  bool full_rank_ = false;
};

}  // namespace

double LocationSolver::run_tuned(int64_t f) {
  const DesignFold& fold = design_.folds[f];
  const std::vector<DesignFold>& inner = design_.inner[f];
  const double smallest = *std::min_element(options_.alphas.begin(), options_.alphas.end());
  const FoldDecomposition parts = forms_.decompose(fold, smallest);
  std::vector<FoldDecomposition> of_inner;
  std::vector<arma::mat> products;
  std::unique_ptr<InnerBlocks> blocks;
  if (design_.inner_partition[f] && options_.scale != VoxelScale::fold) {
    blocks = std::make_unique<InnerBlocks>(design_, fold, inner, parts);
  }
  InnerScore best;
  bool first = true;
  for (const double alpha : options_.alphas) {
    InnerScorer scorer(design_, options_.metrics[0]);
    if (blocks == nullptr || !blocks->score(alpha, scorer)) {
      for (size_t i = 0; i < inner.size(); ++i) {
        if (of_inner.size() <= i) {
          of_inner.push_back(forms_.decompose(inner[i], smallest));
          products.push_back(of_inner[i].rows * targets(design_, inner[i]));
        }
        scorer.add(inner[i], slopes_at(of_inner[i], products[i], alpha));
      }
    }
    const InnerScore here = scorer.result(alpha);
    if (first || here.better_than(best)) best = here;
    first = false;
  }
  slopes_.rows(design_.test_start[f], design_.test_start[f + 1] - 1) =
      slopes_at(parts, parts.rows * targets(design_, fold), best.alpha);
  return best.alpha;
}

}  // namespace voxridge
