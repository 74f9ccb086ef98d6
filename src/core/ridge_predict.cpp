// Out-of-fold predictions at penalties that are given. With one penalty for all targets a fold is one product with
// M_alpha (search.h); otherwise it is V'Y, one shrinkage per target, and the held-out side of the factor.
#include <algorithm>

#include "arma_view.h"
#include "budget.h"
#include "ridge.h"
#include "search.h"
#include "threads.h"

namespace voxridge {

namespace {

template <class T>
class PredictCv {
 public:
  PredictCv(RidgePreparation& preparation, const Targets& targets, const std::vector<double>& alphas, Score score,
            const UserScore& user, RidgePredictOutputs& out, const Control& control)
      : alphas_(alphas),
        score_(score),
        user_(user),
        out_(out),
        control_(control),
        device_(make_device<T>(control)),
        resident_(preparation.resident(*device_, control)),
        held_factors_(preparation.factors(*std::min_element(alphas.begin(), alphas.end()), control)),
        factors_(*held_factors_),
        source_(*device_, preparation.features(), preparation.folds(), targets, factors_.form(), control, resident_) {
    if (std::is_same_v<T, float> && factors_.form() == Form::primal) preparation.cache_single(control);
  }

  void run() {
    out_.constant.assign(source_.targets().y.cols, 0);
    if (source_.folds().count() == 0) {
      leave_one_out();
    } else {
      predict_all_folds();
    }
  }

 private:
  void predict_all_folds() {
    const int64_t n_folds = source_.folds().count();
    const bool shared = alphas_.size() == 1;
    const bool from_full = shared && factors_.folds_from_full();
    const bool keep = from_full || factors_.bytes_of_folds() <= kFactorShare * control_.memory_bytes;
    factors_.keep(from_full, keep && !from_full, control_);
    control_.expect(n_folds * tile_count(source_.targets()));
    const int64_t step = keep ? n_folds : 1;  // too large to keep: one fold at a time, reading Y again for each
    for (int64_t first = 0; first < n_folds; first += step) {
      shared ? predict_shared(first, first + step) : predict_local(first, first + step);
    }
  }

  // In closed form, from the factor of all rows.
  void leave_one_out() {
    std::vector<double> distinct = alphas_;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    const ClosedFormSearch<T> search(source_, factors_.full(control_), ClosedForm::loo, score_, user_, distinct);
    const RowList rows = row_range(0, source_.features().rows());
    const std::vector<int64_t> tiles = row_range(0, tile_count(source_.targets()));
    control_.expect(static_cast<int64_t>(tiles.size()));
    for_each_tile<T>(source_, tiles, batch(), [&](Tile<T>& tile) {
      std::vector<size_t> chosen;
      for (const double alpha : tile_alphas(alphas_, tile.first, tile.cols)) {
        chosen.push_back(std::lower_bound(distinct.begin(), distinct.end(), alpha) - distinct.begin());
      }
      const arma::mat prediction = search.loo_predictions(tile, chosen);
      arma::mat truth(rows.size(), tile.cols, arma::fill::none);
      device_->download(tile.y, span_of(truth));
      std::vector<double> sum_squares;
      write(tile, 0, 1, rows, truth, prediction, tile.mean, source_.constant_targets(tile, sum_squares));
      control_.advance(1);
    });
  }

  // A score of the caller's is called on this thread only: one tile at a time.
  int64_t batch() const { return score_ == Score::user ? 1 : 0; }

  struct FoldModel {
    std::shared_ptr<const FoldFactor> factor;
    Buffer<T> vectors_memory, left_memory, samples_memory;
    MatrixView<T> vectors, left, samples;
    std::vector<double> values;
  };

  FoldModel make_model(int64_t f) {
    FoldModel model;
    model.factor = factors_.fold(f, control_);
    model.vectors = device_->resident(view_of(model.factor->vectors), model.vectors_memory);
    if (!model.factor->samples.is_empty()) {
      model.samples = device_->resident(view_of(model.factor->samples), model.samples_memory);
    }
    model.left = device_->resident(view_of(model.factor->left), model.left_memory);
    model.values.assign(model.factor->values.begin(), model.factor->values.end());
    return model;
  }

  // predict(f, tile) for every fold and tile.
  void for_each_fold(int64_t first, int64_t last, const std::function<MatrixSpan<T>(int64_t, Tile<T>&)>& predict) {
    for_each_tile<T>(source_, row_range(0, tile_count(source_.targets())), batch(), [&](Tile<T>& tile) {
      for (int64_t f = first; f < last; ++f) {
        control_.check_stop();
        finish_fold(f, predict(f, tile), tile);
        control_.advance(1);
      }
    });
  }

  // One penalty for all targets.
  void predict_shared(int64_t first, int64_t last) {
    std::vector<OperatorPlan> plans;
    for (int64_t f = first; f < last; ++f) plans.push_back({f, 0, 1});
    const auto operators = make_operators(*device_, factors_, plans, Score::user, alphas_, HeldOutBases<T>(), control_);
    for_each_fold(first, last, [&](int64_t f, Tile<T>& tile) {
      const FoldOperator<T>& op = operators[f - first];
      const MatrixView<T> side = source_.train_side(tile, f, op.train_mean, op.direct, op.samples);
      const MatrixSpan<T> out = device_->reserve(tile.predictions_memory, op.block_rows, tile.cols);
      device_->gemm(Trans::no, Trans::no, T(1), op.stacked, side, T(0), out);
      return out;
    });
  }

  // One for each.
  void predict_local(int64_t first, int64_t last) {
    std::vector<FoldModel> models(last - first);
    for (int64_t f = first; f < last; ++f) models[f - first] = make_model(f);
    for_each_fold(first, last, [&](int64_t f, Tile<T>& tile) {
      const FoldModel& model = models[f - first];
      const MatrixView<T> side =
          source_.train_side(tile, f, model.factor->train_mean, model.factor->direct, model.samples);
      const MatrixSpan<T> rotated = device_->reserve(tile.work_memory, model.vectors.cols, tile.cols);
      MatrixView<T> unshrunk = side;
      if (model.samples.data == nullptr) {
        device_->gemm(Trans::yes, Trans::no, T(1), model.vectors, side, T(0), rotated);
        unshrunk = rotated;
      }
      device_->shrink(unshrunk, model.values, tile_alphas(alphas_, tile.first, tile.cols), rotated);
      const MatrixSpan<T> out = device_->reserve(tile.predictions_memory, model.left.rows, tile.cols);
      device_->gemm(Trans::no, Trans::no, T(1), model.left, rotated, T(0), out);
      return out;
    });
  }

  void finish_fold(int64_t f, MatrixView<T> predicted, Tile<T>& tile) {
    const HeldOut<T> held = source_.held_out(tile, f);
    const RowList& rows = source_.folds().folds[f].test;
    arma::mat truth(rows.size(), tile.cols, arma::fill::none), prediction(rows.size(), tile.cols, arma::fill::none);
    device_->download(held.y, span_of(truth));
    device_->download(predicted, span_of(prediction));
    std::vector<double> shift = tile.mean;
    for (size_t j = 0; j < held.train_mean.size(); ++j) shift[j] += held.train_mean[j];
    write(tile, f, source_.folds().count(), rows, truth, prediction, shift, held.constant);
  }

  // Predictions (less `shift`) and scores of some rows of a tile into the outputs.
  void write(const Tile<T>& tile, int64_t f, int64_t n_folds, const RowList& rows, const arma::mat& truth,
             const arma::mat& prediction, const std::vector<double>& shift, const std::vector<char>& constant) {
    std::vector<double> scores(tile.cols);
    score_columns(score_, user_, truth, prediction, shift, constant, scores.data());
    const double missing = source_.targets().missing;
    for (int64_t j = 0; j < tile.cols; ++j) {
      const int64_t target = tile.first + j;
      const bool skip = skipped(source_.targets(), target);
      double* to = out_.predictions.col(target);
      for (size_t i = 0; i < rows.size(); ++i) {
        to[source_.folds().order[rows[i]]] = skip ? missing : prediction(i, j) + shift[j];
      }
      out_.scores[f + target * n_folds] = skip ? missing : scores[j];
      if (constant[j] && !skip) out_.constant[target] = 1;
    }
  }

  const std::vector<double>& alphas_;
  Score score_;
  const UserScore& user_;
  RidgePredictOutputs& out_;
  const Control& control_;
  std::unique_ptr<Device<T>> device_;
  const MatrixView<T> resident_;
  const std::shared_ptr<Factors> held_factors_;
  Factors& factors_;
  TileSource<T> source_;
};

}  // namespace

template <class T>
void ridge_predict_cv(RidgePreparation& preparation, const Targets& targets, const std::vector<double>& alphas,
                      Score score, const UserScore& user, RidgePredictOutputs& out, const Control& control) {
  preparation.serve([&] { PredictCv<T>(preparation, targets, alphas, score, user, out, control).run(); });
}

template void ridge_predict_cv<float>(RidgePreparation&, const Targets&, const std::vector<double>&, Score,
                                      const UserScore&, RidgePredictOutputs&, const Control&);
template void ridge_predict_cv<double>(RidgePreparation&, const Targets&, const std::vector<double>&, Score,
                                       const UserScore&, RidgePredictOutputs&, const Control&);

}  // namespace voxridge
