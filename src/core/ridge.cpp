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
  if (control.device == DeviceKind::cuda) resident(*make_device<double>(control), control);
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

template <>
RidgePreparation::Resident<float>& RidgePreparation::on_device<float>() {
  return single_;
}
template <>
RidgePreparation::Resident<double>& RidgePreparation::on_device<double>() {
  return double_;
}

template <class T>
MatrixView<T> RidgePreparation::resident(Device<T>& device, const Control& control) {
  if (device.in_place()) return {};
  Resident<T>& here = on_device<T>();
  if (here.view.data == nullptr) here.view = put_features(device, features_, here.memory, control);
  if constexpr (std::is_same_v<T, double>) features_.set_on_gpu(here.view);
  return here.view;
}

template <class T>
KeptSearch<T>* RidgePreparation::kept_search(const Device<T>& device) {
  return keep_search_ || (keep_ && !device.in_place()) ? &on_device<T>().search : nullptr;
}

template <class T>
std::shared_ptr<const FactorOnDevice<T>> RidgePreparation::put_full(Device<T>& device, Factors& factors, Coefs kind,
                                                                    const Control& control) {
  const std::shared_ptr<const Factor> factor = factors.full(control);
  if (!keep_ || device.in_place()) return put_factor(device, factor, kind);
  Resident<T>& here = on_device<T>();
  if (here.full == nullptr || here.full->factor != factor || here.kind != kind) {
    here.full = nullptr;
    here.full = put_factor(device, factor, kind);
    here.kind = kind;
  }
  return here.full;
}

void RidgePreparation::leave_gpu() {
  features_.set_on_gpu({});
  single_ = {};
  double_ = {};
}

#define VOXRIDGE_INSTANTIATE(T)                                                                                        \
  template MatrixView<T> RidgePreparation::resident(Device<T>&, const Control&);                                       \
  template KeptSearch<T>* RidgePreparation::kept_search(const Device<T>&);                                             \
  template std::shared_ptr<const FactorOnDevice<T>> RidgePreparation::put_full(Device<T>&, Factors&, Coefs,            \
                                                                               const Control&);
VOXRIDGE_INSTANTIATE(float)
VOXRIDGE_INSTANTIATE(double)

template <class T>
void ridge_fit(RidgePreparation& preparation, const Targets& targets, const std::vector<double>& alphas,
               CoefOutputs& out, const Control& control) {
  const std::unique_ptr<Device<T>> device = make_device<T>(control);
  const MatrixView<T> features = preparation.resident(*device, control);
  const auto factors = preparation.factors(*std::min_element(alphas.begin(), alphas.end()), control);
  if (std::is_same_v<T, float> && out.kind != Coefs::none) preparation.cache_single(control);
  const TileSource<T> source(*device, preparation.features(), preparation.folds(), targets, factors->form(), control,
                             features);
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
