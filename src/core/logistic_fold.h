// The training and held-out rows of a logistic regression, in the form its route works on.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "logistic_path.h"
#include "rotation.h"
#include "scaled_features.h"

namespace voxridge {

struct LogisticData {
  MatrixView<double> x;
  MatrixView<double> y;               // n x t, in [0, 1]
  MatrixView<double> offset;          // n x t, or empty
  std::vector<double> weights;        // of the fit, >= 0; only their ratios matter; 0: the row is not there
  std::vector<double> score_weights;  // of the held-out scores
  std::vector<double> penalty;        // q, one per feature, or empty: 1
  std::vector<char> skip;             // per target, or empty
};

// The features of all rows under some scales.
struct LogisticView {
  std::vector<double> means, factors;  // means: empty without an intercept
  arma::mat kernel;                    // dual: ZZ'
  Rotation rotation;                   // rotate: of ZZ'
};

LogisticView make_logistic_view(const LogisticData& data, LogisticRoute route, const Scales& scales, bool fit_intercept,
                                const Control& control);

// The rows of `from` that have weight.
RowList rows_with_weight(const LogisticData& data, const RowList& from);
// Their weights, with sum 1.
arma::vec weights_of(const LogisticData& data, const RowList& rows);

class LogisticFold {
 public:
  // `train` has weight only; `data` and `view` must outlive this.
  LogisticFold(const LogisticData& data, const LogisticView& view, LogisticRoute route, RowList train, RowList test,
               std::vector<int64_t> targets, const Control& control);

  void solve(const std::vector<double>& lambdas, const LogisticOptions& options, const Control& control,
             const std::function<void(size_t index, const LogisticSolution&)>& on_lambda) const;

  // Logits of the held-out rows, offsets included: held-out rows x targets.
  arma::mat held_out_logits(const LogisticSolution& solution) const;

  const RowList& test() const { return test_; }

 private:
  const LogisticData& data_;
  const LogisticView& view_;
  const LogisticRoute route_;
  const RowList train_, test_;
  const std::vector<int64_t> targets_;
  arma::vec weights_;
  arma::mat y_, offset_;  // of the training rows
  // In the dual the products of samples, else the features; `test` for the held-out rows, where there are any.
  arma::mat kernel_, test_kernel_;
  std::unique_ptr<ScaledFeatures> features_, test_features_;
};

}  // namespace voxridge
