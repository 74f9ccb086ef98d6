#include "moment_factors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "arma_view.h"
#include "blas.h"
#include "eigen.h"
#include "factor.h"
#include "threads.h"

namespace voxridge {

namespace {

void decompose(arma::mat gram, arma::vec& values, arma::mat& vectors, const Control& control) {
  symmetric_eigen(gram, values, vectors, control);
  values.clamp(0, std::numeric_limits<double>::infinity());
}

MomentFactor make_factor(const FeatureMoments& from, std::vector<double> weights, bool center, const Control& control) {
  MomentFactor out;
  out.weights = std::move(weights);
  out.features = merge_features(from, out.weights, center, true);
  decompose(std::move(out.features.gram), out.values, out.vectors, control);
  out.features.gram.reset();
  return out;
}

MomentFold make_fold(const RowCells& cells, const FeatureMoments& from, int64_t f, bool center,
                     const Control& control) {
  MomentFold out;
  out.train = make_factor(from, cells.training(f), center, control);
  out.held_out = cells.held_out(f);
  out.features = merge_features(from, out.held_out, center, true);
  arma::vec values;
  arma::mat vectors;
  decompose(std::move(out.features.gram), values, vectors, control);
  out.features.gram.reset();
  const double least = std::numeric_limits<double>::epsilon() * values.max();
  const arma::vec roots = arma::sqrt(arma::clamp(values, least, std::numeric_limits<double>::infinity()));
  const arma::uword p = values.n_elem;
  out.map.set_size(p + (center ? 1 : 0), p);
  const MatrixSpan<double> map = span_of(out.map);
  gemm(Trans::yes, Trans::no, 1.0, view_of(vectors), view_of(out.train.vectors), 0.0,
       map.block(0, 0, map.cols, map.cols));
  out.turn = vectors.t();
  for (arma::uword i = 0; i < p; ++i) {
    for (arma::uword j = 0; j < p; ++j) out.map(i, j) *= roots[i];
    out.turn.row(i) *= roots[i] > 0 ? 1 / roots[i] : 0;
  }
  if (center) {
    const arma::rowvec step = std::sqrt(out.features.rows) * (out.features.mean - out.train.features.mean);
    out.map.row(p) = step * out.train.vectors;
  }
  return out;
}

// Coefficients err by about 2 eps top / (smallest eigenvalue + alpha), as in factor.h.
void check_penalty(const MomentFactors& factors, double smallest_alpha) {
  double limit = 0;
  const auto take_in = [&](const arma::vec& values) {
    limit = std::max(limit, kSvdBelow * values.max() - values.min());
  };
  take_in(factors.all.values);
  for (const MomentFold& fold : factors.folds) take_in(fold.train.values);
  if (limit == 0 || smallest_alpha > limit) return;
  std::ostringstream text, found;
  text.precision(3);
  text << "`alphas` must be greater than " << limit << " for these features in a file, not " << smallest_alpha
       << ". Their Gram matrix is too ill-conditioned for smaller penalties, which need a singular value decomposition "
          "of as.matrix(X), in memory.";
  found << smallest_alpha;
  throw Error(ErrorCode::alphas, text.str(), "alphas", found.str());
}

double squared(int64_t p) {
  return 8 * static_cast<double>(p) * static_cast<double>(p);
}

}  // namespace

double moment_factor_bytes(const RowCells& cells, int64_t n_features) {
  return squared(n_features) * static_cast<double>(cells.count() + 3 * cells.folds() + 1);
}

double moment_factor_scratch(int64_t n_features) {
  return 5 * squared(n_features);
}

MomentFactors make_moment_factors(const RowCells& cells, FeatureMoments& features, bool center, double smallest_alpha,
                                  int n_threads, const Control& control) {
  for (const arma::mat& gram : features.grams) {
    if (std::isfinite(arma::trace(gram))) continue;
    throw Error(ErrorCode::invalid_argument, "The squares of `X` overflow. Rescale its columns.");
  }
  MomentFactors out;
  out.folds.resize(cells.folds());
  Control inside = control;
  inside.n_threads = 1;
  const BlasThreads blas(1);
  control.expect(cells.folds() + 1);
  parallel_for(cells.folds() + 1, n_threads, [&](int64_t f, int) {
    control.check_stop();
    if (f == cells.folds()) {
      out.all = make_factor(features, cells.all(), center, inside);
    } else {
      out.folds[f] = make_fold(cells, features, f, center, inside);
    }
    control.advance(1);
  });
  features.grams.clear();
  check_penalty(out, smallest_alpha);
  return out;
}

}  // namespace voxridge
