#include "bands.h"

#include <algorithm>
#include <cmath>

#include "gram.h"

namespace voxridge {

Bands::Bands(const std::vector<int64_t>& sizes) : starts_{0} {
  for (const int64_t size : sizes) starts_.push_back(starts_.back() + size);
}

std::vector<double> Bands::column_factors(const std::vector<double>& gammas) const {
  std::vector<double> factors(cols());
  for (int64_t b = 0; b < count(); ++b) {
    std::fill(factors.begin() + start(b), factors.begin() + start(b + 1), std::sqrt(gammas[b]));
  }
  return factors;
}

BandGrams::BandGrams(const Features& features, const Bands& bands, const Folds& folds, double room,
                     const Control& control)
    : features_(features), bands_(bands), folds_(folds), form_(choose_form(features, folds)) {
  const double n = static_cast<double>(features.rows()), p = static_cast<double>(features.cols());
  if (form_ == Form::dual) {
    if (8 * n * n * static_cast<double>(bands.count()) > room) return;
    for (int64_t b = 0; b < bands.count(); ++b) {
      of_bands_.push_back(sample_gram(features, bands.start(b), bands.start(b + 1) - bands.start(b), control));
    }
    return;
  }
  if (8 * p * p > room) return;
  whole_ = feature_gram(features, control);
  if (!folds.partition || 8 * p * p * static_cast<double>(1 + folds.count()) > room) return;
  for (const Fold& fold : folds.folds) of_held_out_.push_back(feature_gram(features, fold.test, control));
}

arma::mat BandGrams::scale_features(arma::mat gram, const std::vector<double>& gammas) const {
  const std::vector<double> factors = bands_.column_factors(gammas);
  for (arma::uword j = 0; j < gram.n_cols; ++j) {
    for (arma::uword i = 0; i < gram.n_rows; ++i) gram(i, j) *= factors[i] * factors[j];
  }
  return gram;
}

arma::mat BandGrams::gram(const std::vector<double>& gammas, const Features& scaled, const Control& control) const {
  if (form_ == Form::primal) return whole_.is_empty() ? feature_gram(scaled, control) : scale_features(whole_, gammas);
  if (of_bands_.empty()) return sample_gram(scaled, control);
  arma::mat sum(features_.rows(), features_.rows(), arma::fill::zeros);
  for (int64_t b = 0; b < bands_.count(); ++b) {
    if (gammas[b] > 0) sum += gammas[b] * of_bands_[b];
  }
  return sum;
}

arma::mat BandGrams::held_out_gram(int64_t f, const std::vector<double>& gammas, const Features& scaled,
                                   const Control& control) const {
  if (of_held_out_.empty()) return feature_gram(scaled, folds_.folds[f].test, control);
  return scale_features(of_held_out_[f], gammas);
}

}  // namespace voxridge
