// Armadillo matrices as views.
#pragma once

#include "arma.h"
#include "view.h"

namespace voxridge {

inline MatrixView<double> view_of(const arma::mat& m) {
  return {m.memptr(), static_cast<int64_t>(m.n_rows), static_cast<int64_t>(m.n_cols), static_cast<int64_t>(m.n_rows)};
}

inline MatrixSpan<double> span_of(arma::mat& m) {
  return {m.memptr(), static_cast<int64_t>(m.n_rows), static_cast<int64_t>(m.n_cols), static_cast<int64_t>(m.n_rows)};
}

inline arma::mat copy_of(MatrixView<double> view) {
  arma::mat out(view.rows, view.cols, arma::fill::none);
  for (int64_t j = 0; j < view.cols; ++j) std::copy_n(view.col(j), view.rows, out.colptr(j));
  return out;
}

}  // namespace voxridge
