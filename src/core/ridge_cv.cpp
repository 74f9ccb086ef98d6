// ridge_cv(): order of the work.
//
// The search (fold_search.h) hands over each tile with its mean scores while its targets are at hand, so with an alpha
// per target the tile goes on to its coefficients at once and Y is read once. One alpha for all targets is known at the
// end only: then the tiles are read a second time for the coefficients.
#include <algorithm>

#include "arma_view.h"
#include "budget.h"
#include "cv_results.h"
#include "fold_search.h"
#include "ridge.h"

namespace voxridge {

namespace {

template <class T>
class RidgeCv {
 public:
  RidgeCv(RidgePreparation& preparation, const Targets& targets, const RidgeCvOptions& options, RidgeCvOutputs& out,
          const Control& control)
      : preparation_(preparation),
        options_(options),
        out_(out),
        control_(control),
        device_(make_device<T>(control)),
        resident_(preparation.resident(*device_, control)),
        factors_(preparation.factors(*std::min_element(options.alphas.begin(), options.alphas.end()), control)),
        source_(*device_, preparation.features(), preparation.folds(), targets, factors_->form(), control, resident_),
        results_(targets, options, out) {
    const bool multiplies_features = factors_->form() == Form::primal || out.coefs.kind == Coefs::primal;
    if (std::is_same_v<T, float> && multiplies_features) preparation.cache_single(control);
  }

  void run() {
    out_.form = factors_->form();
    out_.route = factors_->route();
    options_.cv == CvKind::kfold ? search_folds() : search_closed_form();
    if (options_.local_alpha) return;
    results_.choose_shared();
    if (refit_ != nullptr) refit_tiles();
  }

 private:
  std::vector<int64_t> all_tiles() const { return row_range(0, tile_count(source_.targets())); }

  void make_refit() {
    if (out_.coefs.kind == Coefs::none) return;
    refit_ = std::make_unique<Refit<T>>(source_, preparation_.put_full(*device_, *factors_, out_.coefs.kind, control_),
                                        out_.coefs.kind);
  }

  SearchModel<T> make_model(const FoldSearch<T>& search);
  void search_folds();
  void search_closed_form();
  void finish_tile(Tile<T>& tile, const FoldMeans& means);
  void refit_tile(Tile<T>& tile);
  void refit_tiles();

  RidgePreparation& preparation_;
  const RidgeCvOptions& options_;
  RidgeCvOutputs& out_;
  const Control& control_;
  std::unique_ptr<Device<T>> device_;
  const MatrixView<T> resident_;
  const std::shared_ptr<Factors> factors_;
  TileSource<T> source_;
  CvResults results_;
  std::unique_ptr<Refit<T>> refit_;
};

// Operators that an earlier call has left on the device, or new ones, which take their place.
template <class T>
SearchModel<T> RidgeCv<T>::make_model(const FoldSearch<T>& search) {
  KeptSearch<T>* const kept = preparation_.kept_search(*device_);
  if (kept != nullptr) {
    const bool serves = kept->score == options_.score && kept->model.alphas == options_.alphas &&
                        kept->alphas_batch == options_.alphas_batch && kept->factors == factors_;
    if (serves && !kept->model.operators.empty()) return kept->model;
    *kept = {};
  }
  const auto factors = factors_;
  SearchModel<T> model = search.make_model(
      options_.alphas, [factors] { return factors; }, kOperatorShare * control_.memory_bytes, control_);
  if (kept != nullptr) *kept = {options_.score, search.bases(), model, options_.alphas_batch, factors_};
  return model;
}

template <class T>
void RidgeCv<T>::search_folds() {
  // All factors side by side, as far as they are needed.
  const bool from_full = leaves_folds_out(*factors_, options_.score);
  const bool keep_folds = !from_full && factors_->bytes_of_folds() <= kFactorShare * control_.memory_bytes;
  factors_->keep(from_full || out_.coefs.kind != Coefs::none, keep_folds, control_);

  const FoldSearchOptions search_options = options_.search();
  const KeptSearch<T>* const kept = preparation_.kept_search(*device_);
  const bool same_score = kept != nullptr && kept->score == options_.score;
  FoldSearch<T> search(source_, search_options, control_, same_score ? kept->bases : HeldOutBases<T>());
  const std::vector<SearchModel<T>> models(1, make_model(search));
  out_.n_nodes = static_cast<int64_t>(models[0].nodes.nodes.size());
  make_refit();
  const int64_t n_folds = source_.folds().count();
  search.run(
      models, all_tiles(),
      [&](size_t, int64_t fold, const Tile<T>& tile, const arma::mat& scores, const std::vector<char>& constant) {
        results_.add_fold({tile.first, tile.cols}, fold, n_folds, scores, constant);
      },
      [&](size_t, Tile<T>& tile, const FoldMeans& means) { finish_tile(tile, means); });
  out_.passes = search.passes();
}

template <class T>
void RidgeCv<T>::search_closed_form() {
  const ClosedForm kind = options_.cv == CvKind::loo ? ClosedForm::loo : ClosedForm::gcv;
  const ClosedFormSearch<T> search(source_, factors_->full(control_), kind, options_.score, options_.user,
                                   options_.alphas);
  make_refit();
  out_.n_nodes = static_cast<int64_t>(options_.alphas.size());
  out_.passes = 1;
  control_.expect(static_cast<int64_t>(all_tiles().size()));
  for_each_tile<T>(source_, all_tiles(), options_.targets_batch, [&](Tile<T>& tile) {
    std::vector<char> constant;
    FoldMeans means;
    means.add(search.scores(tile, constant));
    results_.add_fold({tile.first, tile.cols}, 0, 1, means.mean(), constant);
    finish_tile(tile, means);
    control_.advance(1);
  });
}

template <class T>
void RidgeCv<T>::finish_tile(Tile<T>& tile, const FoldMeans& means) {
  results_.choose({tile.first, tile.cols}, means);
  if (refit_ != nullptr && options_.local_alpha) refit_tile(tile);
}

template <class T>
void RidgeCv<T>::refit_tile(Tile<T>& tile) {
  StoreWriter* const store = out_.coefs.store;
  arma::mat kept(store != nullptr ? out_.coefs.coefs.rows : 0, store != nullptr ? tile.cols : 0, arma::fill::none);
  CoefOutputs columns = out_.coefs.columns(tile.first, tile.cols);
  if (store != nullptr) columns.coefs = span_of(kept);
  refit_->run(tile, results_.chosen_alphas({tile.first, tile.cols}), columns);
  write_missing(source_.targets(), tile.first, tile.cols, columns);
  if (store != nullptr) store->write(tile.first, view_of(kept));
}

template <class T>
void RidgeCv<T>::refit_tiles() {
  control_.expect(static_cast<int64_t>(all_tiles().size()));
  const int64_t batch = options_.targets_batch_refit > 0 ? options_.targets_batch_refit : options_.targets_batch;
  for_each_tile<T>(source_, all_tiles(), batch, [&](Tile<T>& tile) {
    refit_tile(tile);
    control_.advance(1);
  });
}

}  // namespace

template <class T>
void ridge_cv(RidgePreparation& preparation, const Targets& targets, const RidgeCvOptions& options, RidgeCvOutputs& out,
              const Control& control) {
  preparation.serve([&] { RidgeCv<T>(preparation, targets, options, out, control).run(); });
}

template void ridge_cv<float>(RidgePreparation&, const Targets&, const RidgeCvOptions&, RidgeCvOutputs&,
                              const Control&);
template void ridge_cv<double>(RidgePreparation&, const Targets&, const RidgeCvOptions&, RidgeCvOutputs&,
                               const Control&);

}  // namespace voxridge
