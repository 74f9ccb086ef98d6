#include "common.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace voxridge_test {

arma::mat normal_matrix(int64_t rows, int64_t cols, uint64_t seed) {
  const Philox random(seed, 7);
  arma::mat out(rows, cols, arma::fill::none);
  for (int64_t i = 0; i < rows * cols; i += 2) {
    const std::array<double, 2> pair = random.normal_pair(i / 2);
    out[i] = pair[0];
    if (i + 1 < rows * cols) out[i + 1] = pair[1];
  }
  return out;
}

arma::mat with_singular_values(int64_t rows, int64_t cols, const std::vector<double>& singular, uint64_t seed) {
  const int64_t r = static_cast<int64_t>(singular.size());
  arma::mat u, v, upper;
  arma::qr_econ(u, upper, normal_matrix(rows, r, seed));
  arma::qr_econ(v, upper, normal_matrix(cols, r, seed + 1));
  for (int64_t j = 0; j < r; ++j) u.col(j) *= singular[j];
  return u * v.t();
}

std::vector<double> log_grid(double low, double high, int64_t n) {
  std::vector<double> grid(n);
  for (int64_t i = 0; i < n; ++i) {
    grid[i] = n == 1 ? low : low * std::exp(std::log(high / low) * static_cast<double>(i) / static_cast<double>(n - 1));
  }
  return grid;
}

double largest_difference(const arma::mat& a, const arma::mat& b) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (a.n_rows != b.n_rows || a.n_cols != b.n_cols) return infinity;
  double largest = 0;
  for (arma::uword i = 0; i < a.n_elem; ++i) {
    if (std::isnan(a[i]) != std::isnan(b[i])) return infinity;
    if (!std::isnan(a[i])) largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

bool same_bits(const arma::mat& a, const arma::mat& b) {
  if (a.n_rows != b.n_rows || a.n_cols != b.n_cols) return false;
  return a.is_empty() || std::memcmp(a.memptr(), b.memptr(), a.n_elem * sizeof(double)) == 0;
}

// ---- folds -----------------------------------------------------------------------------------

namespace {

std::vector<Fold> folds_by_label(const std::vector<int64_t>& label, int64_t k) {
  std::vector<Fold> folds(k);
  for (int64_t f = 0; f < k; ++f) {
    for (size_t i = 0; i < label.size(); ++i) {
      (label[i] == f ? folds[f].test : folds[f].train).push_back(static_cast<int64_t>(i));
    }
  }
  return folds;
}

}  // namespace

std::vector<Fold> contiguous_folds(int64_t n, int64_t k) {
  std::vector<int64_t> label;
  for (int64_t f = 0; f < k; ++f) label.insert(label.end(), n / k + (f < n % k ? 1 : 0), f);
  return folds_by_label(label, k);
}

std::vector<Fold> scattered_folds(int64_t n, int64_t k) {
  std::vector<int64_t> label(n);
  for (int64_t i = 0; i < n; ++i) label[i] = i % k;
  return folds_by_label(label, k);
}

std::vector<Fold> bootstrap_folds(int64_t n, int64_t k, uint64_t seed) {
  const Philox random(seed, 8);
  std::vector<Fold> folds(k);
  for (int64_t f = 0; f < k; ++f) {
    std::vector<char> drawn(n, 0);
    for (int64_t i = 0; i < n - 3; ++i) {
      const int64_t row = random.block(f * n + i)[0] % n;
      folds[f].train.push_back(row);
      drawn[row] = 1;
    }
    for (int64_t i = 1; i < n; ++i) {
      if (!drawn[i]) folds[f].test.push_back(i);  // row 0 is never held out
    }
  }
  return folds;
}

// ---- long double -----------------------------------------------------------------------------

arma::mat LongMat::rounded() const {
  arma::mat out(rows, cols, arma::fill::none);
  for (size_t i = 0; i < data.size(); ++i) out[i] = static_cast<double>(data[i]);
  return out;
}

LongMat multiply(const LongMat& a, bool transpose_a, const LongMat& b) {
  LongMat c(transpose_a ? a.cols : a.rows, b.cols);
  for (int64_t j = 0; j < c.cols; ++j) {
    if (transpose_a) {
      for (int64_t i = 0; i < c.rows; ++i) {
        long double sum = 0;
        for (int64_t k = 0; k < a.rows; ++k) sum += a(k, i) * b(k, j);
        c(i, j) = sum;
      }
    } else {
      for (int64_t k = 0; k < a.cols; ++k) {
        const long double factor = b(k, j);
        for (int64_t i = 0; i < c.rows; ++i) c(i, j) += a(i, k) * factor;
      }
    }
  }
  return c;
}

LongMat take_rows(const LongMat& from, const RowList& rows) {
  LongMat out(static_cast<int64_t>(rows.size()), from.cols);
  for (int64_t j = 0; j < out.cols; ++j) {
    for (int64_t i = 0; i < out.rows; ++i) out(i, j) = from(rows[i], j);
  }
  return out;
}

std::vector<long double> column_means(const LongMat& from) {
  std::vector<long double> means(from.cols, 0.0L);
  for (int64_t j = 0; j < from.cols; ++j) {
    for (int64_t i = 0; i < from.rows; ++i) means[j] += from(i, j);
    means[j] /= static_cast<long double>(from.rows);
  }
  return means;
}

void subtract_rows(LongMat& from, const std::vector<long double>& row) {
  for (int64_t j = 0; j < from.cols; ++j) {
    for (int64_t i = 0; i < from.rows; ++i) from(i, j) -= row[j];
  }
}

namespace {

LongMat transposed(const LongMat& a) {
  LongMat out(a.cols, a.rows);
  for (int64_t j = 0; j < a.cols; ++j) {
    for (int64_t i = 0; i < a.rows; ++i) out(j, i) = a(i, j);
  }
  return out;
}

// Turns columns p and q of a (and v) until they are orthogonal; false if they are.
bool rotate_pair(LongMat& a, LongMat& v, int64_t p, int64_t q) {
  long double app = 0, aqq = 0, apq = 0;
  for (int64_t i = 0; i < a.rows; ++i) {
    app += a(i, p) * a(i, p);
    aqq += a(i, q) * a(i, q);
    apq += a(i, p) * a(i, q);
  }
  if (apq == 0 || std::abs(apq) <= 1e-19L * std::sqrt(app) * std::sqrt(aqq)) return false;
  const long double zeta = (aqq - app) / (2 * apq);
  const long double t = (zeta >= 0 ? 1 : -1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
  const long double c = 1 / std::sqrt(1 + t * t), s = c * t;
  for (LongMat* m : {&a, &v}) {
    for (int64_t i = 0; i < m->rows; ++i) {
      const long double x = (*m)(i, p), y = (*m)(i, q);
      (*m)(i, p) = c * x - s * y;
      (*m)(i, q) = s * x + c * y;
    }
  }
  return true;
}

}  // namespace

LongSvd jacobi_svd(const LongMat& x) {
  if (x.cols > x.rows) {
    LongSvd flipped = jacobi_svd(transposed(x));
    std::swap(flipped.u, flipped.v);
    return flipped;
  }
  LongSvd out;
  out.u = x;
  out.v = LongMat(x.cols, x.cols);
  for (int64_t j = 0; j < x.cols; ++j) out.v(j, j) = 1;
  for (int sweep = 0; sweep < 40; ++sweep) {
    bool turned = false;
    for (int64_t p = 0; p < x.cols; ++p) {
      for (int64_t q = p + 1; q < x.cols; ++q) turned = rotate_pair(out.u, out.v, p, q) || turned;
    }
    if (!turned) break;
  }
  for (int64_t j = 0; j < x.cols; ++j) {
    long double square = 0;
    for (int64_t i = 0; i < x.rows; ++i) square += out.u(i, j) * out.u(i, j);
    out.s.push_back(std::sqrt(square));
    for (int64_t i = 0; i < x.rows && square > 0; ++i) out.u(i, j) /= out.s.back();
  }
  return out;
}

LongMat svd_ridge(const LongSvd& svd, const LongMat& y, double alpha) {
  LongMat rotated = multiply(svd.u, true, y);
  long double top = 0;
  for (const long double s : svd.s) top = std::max(top, s);
  const long double cutoff = static_cast<long double>(std::max(svd.u.rows, svd.v.rows)) * 2.220446049250313e-16L * top;
  for (int64_t i = 0; i < rotated.rows; ++i) {
    const long double s = svd.s[i];
    const long double weight = s > cutoff ? s / (s * s + alpha) : 0;  // below it, no direction at all
    for (int64_t j = 0; j < rotated.cols; ++j) rotated(i, j) *= weight;
  }
  return multiply(svd.v, false, rotated);
}

LongMat plain_ridge(const LongMat& x, const LongMat& y, double alpha) {
  if (alpha == 0) return svd_ridge(jacobi_svd(x), y, 0);
  const bool primal = x.cols <= x.rows;
  LongMat a = primal ? multiply(x, true, x) : multiply(transposed(x), true, transposed(x));
  LongMat b = primal ? multiply(x, true, y) : y;
  const int64_t n = a.rows;
  for (int64_t i = 0; i < n; ++i) a(i, i) += alpha;
  for (int64_t j = 0; j < n; ++j) {  // Cholesky: a = L L', L in the lower triangle
    for (int64_t k = 0; k < j; ++k) {
      for (int64_t i = j; i < n; ++i) a(i, j) -= a(i, k) * a(j, k);
    }
    const long double root = std::sqrt(a(j, j));
    for (int64_t i = j; i < n; ++i) a(i, j) /= root;
  }
  for (int64_t col = 0; col < b.cols; ++col) {
    for (int64_t j = 0; j < n; ++j) {
      b(j, col) /= a(j, j);
      for (int64_t i = j + 1; i < n; ++i) b(i, col) -= a(i, j) * b(j, col);
    }
    for (int64_t j = n - 1; j >= 0; --j) {
      for (int64_t i = j + 1; i < n; ++i) b(j, col) -= a(i, j) * b(i, col);
      b(j, col) /= a(j, j);
    }
  }
  return primal ? b : multiply(x, true, b);
}

}  // namespace voxridge_test
