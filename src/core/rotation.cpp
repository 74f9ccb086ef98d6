#include "rotation.h"

#include <algorithm>

#include "eigen.h"

namespace voxridge {

Rotation rotate(arma::mat kernel, const Control& control) {
  arma::vec values;
  arma::mat vectors;
  symmetric_eigen(kernel, values, vectors, control);
  const double top = values.is_empty() ? 0 : values.max();
  const double cut = std::max(0.0, static_cast<double>(values.n_elem) * arma::datum::eps * top);
  const arma::uvec kept = arma::find(values > cut);
  if (kept.is_empty()) {  // features that are all constant: one of zeros, so that nothing has no columns
    const arma::mat zeros(vectors.n_rows, 1, arma::fill::zeros);
    return {zeros, zeros};
  }
  const arma::rowvec roots = arma::sqrt(values.elem(kept)).t();
  vectors = arma::mat(vectors.cols(kept));
  return {vectors.each_row() % roots, vectors.each_row() / roots};
}

}  // namespace voxridge
