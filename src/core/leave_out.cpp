#include "leave_out.h"

#include <cmath>

#include "arma_view.h"
#include "blas.h"
#include "gpu_algebra.h"

namespace voxridge {

arma::mat inverse_gram(const Factor& full, double alpha, const Control& control) {
  arma::mat half = full.vectors;
  for (arma::uword i = 0; i < half.n_cols; ++i) half.col(i) *= std::sqrt(inverse(full.values[i], alpha));
  arma::mat g(half.n_rows, half.n_rows, arma::fill::none);
  const MatrixView<double> whole = view_of(half);
  if (const std::unique_ptr<GpuGram> gpu = GpuGram::start(Trans::no, whole.rows, whole.cols, control)) {
    gpu->add(whole);
    gpu->finish(span_of(g));
  } else {
    syrk(Trans::no, 1.0, whole, 0.0, span_of(g));
  }
  const double constant =
      full.constant_value < 0 ? 0 : inverse(full.constant_value, alpha) / static_cast<double>(g.n_rows);
  for (arma::uword j = 0; j < g.n_cols; ++j) {
    g(j, j) -= constant;
    for (arma::uword i = j + 1; i < g.n_rows; ++i) g(j, i) = g(i, j) -= constant;
  }
  return g;
}

arma::mat leave_out_operator(const arma::mat& inverse, const Fold& fold, const Control& control) {
  const RowList& test = fold.test;
  const int64_t first = test.front(), count = static_cast<int64_t>(test.size()), after = first + count;
  const int64_t n = static_cast<int64_t>(inverse.n_rows);
  arma::mat block;
  if (!arma::inv_sympd(block, inverse.submat(first, first, after - 1, after - 1))) {
    throw Error(ErrorCode::numerical, "a fold could not be left out: its block of the inverse is singular");
  }
  arma::mat out(count, n - count, arma::fill::none);
  const MatrixView<double> g = view_of(inverse);
  const auto columns = [&](int64_t from, int64_t n_cols, int64_t to) {
    const MatrixView<double> part = g.block(first, from, count, n_cols);
    const MatrixSpan<double> result = span_of(out).block(0, to, count, n_cols);
    if (gpu_gemm(Trans::no, Trans::no, -1.0, view_of(block), part, result, control)) return;
    gemm(Trans::no, Trans::no, -1.0, view_of(block), part, 0.0, result);
  };
  columns(0, first, 0);
  columns(after, n - after, first);
  return out;
}

}  // namespace voxridge
