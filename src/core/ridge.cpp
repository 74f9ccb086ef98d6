#include "ridge.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "budget.h"
#include "threads.h"

namespace voxridge {

RidgePreparation::RidgePreparation(MatrixView<double> x, Folds folds, bool intercept, const Control& control)
    : folds_(std::move(folds)), features_(x, folds_, intercept, kCopyShare * control.memory_bytes, control) {}

std::shared_ptr<Factors> RidgePreparation::factors(double smallest_alpha, const Control& control) {
  if (gram_factors_ != nullptr && gram_factors_->serves(smallest_alpha)) return gram_factors_;
  if (svd_factors_ != nullptr) return svd_factors_;
  const BlasThreads blas(1);
  const auto made = std::make_shared<Factors>(features_, folds_, smallest_alpha, control);
  (made->route() == Route::svd ? svd_factors_ : gram_factors_) = made;
  return made;
}

void RidgePreparation::cache_single(const Control& control) {
  features_.cache_single(kCopyShare * control.memory_bytes, control);
}

void RidgePreparation::keep_factors(const Control& control) {
  keep_ = true;
  // Which penalties will come is not known: large ones are expected, others bring their own factors.
  const std::shared_ptr<Factors> made = factors(std::numeric_limits<double>::infinity(), control);
  made->keep(true, !made->folds_from_full(), control);
}

void RidgePreparation::finish() {
  if (keep_) return;
  for (const std::shared_ptr<Factors>& factors : {gram_factors_, svd_factors_}) {
    if (factors != nullptr) factors->release_folds();
  }
}

template <class T>
MatrixView<T> RidgePreparation::resident(Device<T>& device, const Control& control) {
  if (!keep_ || device.in_place()) return {};
  Resident<T>* kept;
  if constexpr (std::is_same_v<T, float>) {
    kept = &single_;
  } else {
    kept = &double_;
  }
  if (kept->view.data == nullptr) kept->view = put_features(device, features_, kept->memory, control);
  return kept->view;
}

template MatrixView<float> RidgePreparation::resident(Device<float>&, const Control&);
template MatrixView<double> RidgePreparation::resident(Device<double>&, const Control&);

template <class T>
void ridge_fit(RidgePreparation& preparation, const Targets& targets, const std::vector<double>& alphas,
               CoefOutputs& out, const Control& control) {
  const std::unique_ptr<Device<T>> device = make_device<T>(control);
  const auto factors = preparation.factors(*std::min_element(alphas.begin(), alphas.end()), control);
  if (std::is_same_v<T, float> && out.kind != Coefs::none) preparation.cache_single(control);
  const TileSource<T> source(*device, preparation.features(), preparation.folds(), targets, factors->form(), control);
  const Refit<T> refit(source, factors->full(control), out.kind);
  control.expect(tile_count(targets));
  for_each_tile<T>(source, row_range(0, tile_count(targets)), 0, [&](Tile<T>& tile) {
    const CoefOutputs columns = out.columns(tile.first, tile.cols);
    refit.run(tile, tile_alphas(alphas, tile.first, tile.cols), columns);
    write_missing(targets, tile.first, tile.cols, columns);
    control.advance(1);
  });
}

template void ridge_fit<float>(RidgePreparation&, const Targets&, const std::vector<double>&, CoefOutputs&,
                               const Control&);
template void ridge_fit<double>(RidgePreparation&, const Targets&, const std::vector<double>&, CoefOutputs&,
                                const Control&);

}  // namespace voxridge
