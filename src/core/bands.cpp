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
    for (int64_t b = 0; b < bands.count(); ++b) of_bands_.push_back(of_band(b, control));
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

arma::mat BandGrams::gram(const std::vector<double>& gammas, const Control& control) const {
  if (form_ == Form::primal) {
    return scale_features(whole_.is_empty() ? feature_gram(features_, control) : whole_, gammas);
  }
  arma::mat sum(features_.rows(), features_.rows(), arma::fill::zeros);
  for (int64_t b = 0; b < bands_.count(); ++b) {
    if (gammas[b] == 0) continue;
    if (of_bands_.empty()) {
      sum += gammas[b] * of_band(b, control);
    } else {
      sum += gammas[b] * of_bands_[b];
    }
  }
  return sum;
}

arma::mat BandGrams::of_band(int64_t b, const Control& control) const {
  return sample_gram(features_, bands_.start(b), bands_.start(b + 1) - bands_.start(b), control);
}

arma::mat BandGrams::held_out_gram(int64_t f, const std::vector<double>& gammas, const Control& control) const {
  const bool kept = !of_held_out_.empty();
  return scale_features(kept ? of_held_out_[f] : feature_gram(features_, folds_.folds[f].test, control), gammas);
}

}  // namespace voxridge
