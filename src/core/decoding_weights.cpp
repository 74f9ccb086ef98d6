#include "decoding_weights.h"

#include <algorithm>
#include <limits>

#include "arma_view.h"
#include "blas.h"
#include "threads.h"

namespace voxridge {

namespace {

// Weights of all classes sum to 0.
void put_weights(const arma::mat& solved, int n_classes, arma::mat& to) {
  to.head_cols(solved.n_cols) = solved;
  if (n_classes > 2) to.tail_cols(1) = -arma::sum(solved, 1);
}

// (S'S)^+ of decisions whose sum may be 0.
arma::mat inverse_of_gram(const arma::mat& s) {
  arma::vec values;
  arma::mat vectors;
  if (!arma::eig_sym(values, vectors, s.t() * s)) return arma::mat(s.n_cols, s.n_cols, arma::fill::zeros);
  const double top = values.max();
  for (arma::uword k = 0; k < values.n_elem; ++k) values[k] = values[k] > 1e-10 * top ? 1 / values[k] : 0;
  return vectors * arma::diagmat(values) * vectors.t();
}

}  // namespace

void location_weights(LocationSolver& solver, const DecodingDesign& design, const LocationFit& fit,
                      const WeightsWanted& wanted, LocationWeights& out, const Control& control) {
  const LocationVoxels& voxels = solver.voxels();
  const int64_t p = voxels.size(), n = design.n(), c = static_cast<int64_t>(design.y.n_cols);
  const int64_t k = design.n_folds(), n_fits = wanted.folds ? k + 1 : 1, width = LocationVoxels::kPanel;
  const DesignFold all = design.make_fold(row_range(0, n), {});
  const double missing = std::numeric_limits<double>::quiet_NaN();
  out.weights.set_size(p, design.decisions());
  if (wanted.folds) {
    out.folds.set_size(p, design.decisions(), k);
    out.folds.fill(missing);
  }
  // The last is of all rows.
  const auto fold_of = [&](int64_t f) -> const DesignFold& { return f < n_fits - 1 ? design.folds[f] : all; };
  const auto target = [&](int64_t f) -> arma::mat& { return f < n_fits - 1 ? out.folds.slice(f) : out.weights; };
  std::vector<int64_t> dual;
  arma::mat solved, dual_rows(n, c * n_fits, arma::fill::zeros);
  for (int64_t f = 0; f < n_fits; ++f) {
    control.check_stop();
    if (f < n_fits - 1 && fit.failed[f] != DecodingFailure::none) continue;
    const double alpha = f < n_fits - 1 ? fit.alpha[f] : solver.overall_alpha(fit);
    if (solver.forms().weights(fold_of(f), alpha, solved)) {
      for (int64_t j = 0; j < p; ++j) solved.row(j) *= voxels.factor(j);
      put_weights(solved, design.n_classes, target(f));
      continue;
    }
    solver.forms().dual_weights(fold_of(f), alpha, solved);
    dual_rows.cols(c * static_cast<int64_t>(dual.size()), c * static_cast<int64_t>(dual.size() + 1) - 1) = solved;
    dual.push_back(f);
  }
  const int64_t n_panels = (p + width - 1) / width;
  const auto panels = [&](const std::function<void(int64_t first, int64_t last, const arma::mat& z)>& work) {
    parallel_for(n_panels, control.n_threads, [&](int64_t item, int) {
      control.check_stop();
      arma::mat z;
      const int64_t first = item * width, count = std::min(width, p - first);
      voxels.gather(first, count, z);
      work(first, first + count - 1, z);
    });
  };
  if (!dual.empty()) {
    const arma::mat used = dual_rows.head_cols(c * static_cast<int64_t>(dual.size()));
    panels([&](int64_t first, int64_t last, const arma::mat& z) {
      arma::mat product(z.n_cols, used.n_cols), part, whole(z.n_cols, design.decisions());
      gemm(Trans::yes, Trans::no, 1.0, view_of(z), view_of(used), 0.0, span_of(product));
      std::vector<double> sd;
      for (size_t d = 0; d < dual.size(); ++d) {
        part = product.cols(c * d, c * (d + 1) - 1);
        solver.forms().deviations(fold_of(dual[d]), z, sd);
        for (arma::uword j = 0; j < part.n_rows; ++j) {
          part.row(j) *= voxels.factor(first + static_cast<int64_t>(j)) / (sd[j] * sd[j]);
        }
        put_weights(part, design.n_classes, whole);
        target(dual[d]).rows(first, last) = whole;
      }
    });
  }
  if (!wanted.patterns) return;
  // Panel by panel apart, then summed in their order: the same bits for any number of threads.
  std::vector<arma::mat> parts(n_panels);
  panels([&](int64_t first, int64_t last, const arma::mat& z) {
    arma::mat w = out.weights.rows(first, last);
    for (arma::uword j = 0; j < w.n_rows; ++j) w.row(j) /= voxels.factor(first + static_cast<int64_t>(j));
    parts[first / width] = z * w;
  });
  arma::mat s = parts[0];
  for (int64_t i = 1; i < n_panels; ++i) s += parts[i];
  const arma::mat scaled = s * inverse_of_gram(s);
  out.patterns.set_size(p, design.decisions());
  panels([&](int64_t first, int64_t last, const arma::mat& z) {
    arma::mat part = z.t() * scaled;
    for (arma::uword j = 0; j < part.n_rows; ++j) part.row(j) /= voxels.factor(first + static_cast<int64_t>(j));
    out.patterns.rows(first, last) = part;
  });
}

}  // namespace voxridge
