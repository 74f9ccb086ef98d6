#include "decoding_closed.h"

#include <algorithm>

#include "arma_view.h"
#include "blas.h"
#include "decoding_algebra.h"

namespace voxridge {

namespace {

// M may be this much smaller than 1 where it is made by subtracting from 1.
constexpr double kLeastRest = 1e-4;
// A penalty this much larger than the mean eigenvalue leaves too little of K in (K + alpha I)^-1.
constexpr double kLargestShare = 1e4;

// The block of N and M for rows first .. first + count - 1; false where M holds too few digits.
bool block_of(const LeaveOutFactor& factor, int64_t first, int64_t count, arma::mat& n_block, arma::mat& m) {
  const int64_t n = static_cast<int64_t>(factor.f.n_rows);
  n_block.set_size(count, count);
  const double sign = factor.inverse ? -1 : 1;
  syrk(Trans::no, sign, view_of(factor.f).block(first, 0, count, static_cast<int64_t>(factor.f.n_cols)), 0.0,
       span_of(n_block));
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t i = j; i < count; ++i) n_block(j, i) = n_block(i, j) += factor.constant;
  }
  m.set_size(count, count);
  const double share = factor.inverse ? 0 : 1 / static_cast<double>(n);
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t i = 0; i < count; ++i) m(i, j) = -n_block(i, j) - share;
    if (!factor.inverse) m(j, j) += 1;
    if (!factor.inverse && !(m(j, j) > kLeastRest)) return false;
  }
  return factor_lower(m, factor.inverse ? kLeastPivot : kLeastRest);
}

// Rows of `on`: N (less `constant`) in columns outside the block, less their mean, zeros inside. The mean comes from
// N 1 = 0.
void center_operator(const arma::mat& n_block, double constant, int64_t first, arma::mat& on) {
  const int64_t count = static_cast<int64_t>(n_block.n_rows), n = static_cast<int64_t>(on.n_cols);
  thread_local std::vector<double> mean;
  mean.assign(count, -constant);
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t i = 0; i < count; ++i) mean[i] -= n_block(i, j) / static_cast<double>(n - count);
  }
  for (int64_t j = 0; j < n; ++j) {
    double* to = on.colptr(j) + first;
    const bool inside = j >= first && j < first + count;
    for (int64_t i = 0; i < count; ++i) to[i] = inside ? 0 : to[i] - mean[i];
  }
}

}  // namespace

bool leave_blocks_out(const LeaveOutFactor& factor, const std::vector<int64_t>& starts, const arma::mat& y,
                      const std::vector<const arma::rowvec*>& means, arma::mat& slopes, arma::mat* on) {
  const int64_t n = static_cast<int64_t>(y.n_rows), c = static_cast<int64_t>(y.n_cols);
  const double sign = factor.inverse ? -1 : 1;
  thread_local arma::mat product, n_block, m, inverse, rows;
  product.set_size(factor.f.n_cols, c);
  gemm(Trans::yes, Trans::no, 1.0, view_of(factor.f), view_of(y), 0.0, span_of(product));
  slopes.set_size(n, c);
  gemm(Trans::no, Trans::no, sign, view_of(factor.f), view_of(product), 0.0, span_of(slopes));
  for (int64_t j = 0; j < c && factor.constant != 0; ++j) slopes.col(j) += factor.constant * arma::accu(y.col(j));
  if (on != nullptr) {
    gemm(Trans::no, Trans::yes, sign, view_of(factor.f), view_of(factor.f), 0.0, span_of(*on).block(0, 0, n, n));
  }
  for (size_t b = 0; b + 1 < starts.size(); ++b) {
    const int64_t first = starts[b], count = starts[b + 1] - first;
    if (!block_of(factor, first, count, n_block, m)) return false;
    for (int64_t j = 0; j < c; ++j) {
      double* slope = slopes.colptr(j) + first;
      const double* value = y.colptr(j) + first;
      for (int64_t k = 0; k < count; ++k) {
        const double rest = value[k] - (*means[b])[j];
        for (int64_t i = 0; i < count; ++i) slope[i] -= n_block(i, k) * rest;
      }
    }
    solve_lower(m.memptr(), count, count, slopes.memptr() + first, c, n);
    if (on == nullptr) continue;
    center_operator(n_block, factor.constant, first, *on);
    inverse.eye(count, count);
    solve_lower(m, inverse);
    rows = on->rows(first, first + count - 1);
    gemm(Trans::no, Trans::no, 1.0, view_of(inverse), view_of(rows), 0.0, span_of(*on).block(first, 0, count, n));
  }
  return true;
}

bool factor_features(arma::mat& z, double alpha, LeaveOutFactor& out) {
  thread_local arma::mat gram;
  gram.set_size(z.n_cols, z.n_cols);
  syrk(Trans::yes, 1.0, view_of(z), 0.0, span_of(gram));
  if (!factor_ridge(gram, alpha)) return false;
  divide_lower(gram, z);
  out.f.swap(z);
  out.inverse = false;
  out.constant = 0;
  return true;
}

bool factor_samples(const arma::mat& k, double alpha, LeaveOutFactor& out) {
  const double n = static_cast<double>(k.n_rows), level = arma::trace(k) / n;
  if (!(level > 0) || alpha > kLargestShare * level) return false;
  thread_local arma::mat gram;
  gram = k + level / n;
  if (!factor_ridge(gram, alpha)) return false;
  invert_lower(gram);
  out.f = gram.t();
  out.inverse = true;
  out.constant = 1 / (n * (level + alpha));
  return true;
}

}  // namespace voxridge
