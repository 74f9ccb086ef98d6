#include "blas_test.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "blas.h"
#include "philox.h"
#include "threads.h"

namespace voxridge {

namespace {

template <class T>
struct Operand {
  int64_t rows, cols;
  std::vector<T> values;

  Operand(int64_t rows, int64_t cols, uint64_t stream) : rows(rows), cols(cols), values(rows * cols) {
    const Philox numbers(20, stream);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(numbers.normal_pair(i)[0]);
  }
  MatrixView<T> view() const { return {values.data(), rows, cols, rows}; }
  MatrixSpan<T> span() { return {values.data(), rows, cols, rows}; }
  T at(Trans trans, int64_t i, int64_t j) const {
    return trans == Trans::no ? values[i + j * rows] : values[j + i * rows];
  }
};

// Of element (i, j) of op(A) op(B).
template <class T>
double error_of(T found, const Operand<T>& a, Trans trans_a, const Operand<T>& b, Trans trans_b, int64_t i, int64_t j,
                int64_t inner) {
  long double sum = 0, size = 0;
  for (int64_t k = 0; k < inner; ++k) {
    const long double term = static_cast<long double>(a.at(trans_a, i, k)) * b.at(trans_b, k, j);
    sum += term;
    size += std::abs(term);
  }
  const double error = static_cast<double>(std::abs(found - sum) / (std::numeric_limits<T>::epsilon() * size));
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

template <class T>
double gemm_error(Trans trans_a, Trans trans_b, int64_t m, int64_t n, int64_t inner) {
  const bool plain_a = trans_a == Trans::no, plain_b = trans_b == Trans::no;
  const Operand<T> a(plain_a ? m : inner, plain_a ? inner : m, 1), b(plain_b ? inner : n, plain_b ? n : inner, 2);
  Operand<T> c(m, n, 3);
  gemm(trans_a, trans_b, T(1), a.view(), b.view(), T(0), c.span());
  double worst = 0;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      worst = std::max(worst, error_of(c.at(Trans::no, i, j), a, trans_a, b, trans_b, i, j, inner));
    }
  }
  return worst;
}

double syrk_error(Trans trans, int64_t m, int64_t inner) {
  const bool plain = trans == Trans::no;
  const Operand<double> a(plain ? m : inner, plain ? inner : m, 4);
  Operand<double> c(m, m, 5);
  syrk(trans, 1, a.view(), 0, c.span());
  const Trans other = plain ? Trans::yes : Trans::no;
  double worst = 0;
  for (int64_t j = 0; j < m; ++j) {
    for (int64_t i = j; i < m; ++i) {
      worst = std::max(worst, error_of(c.at(Trans::no, i, j), a, trans, a, other, i, j, inner));
    }
  }
  return worst;
}

template <class T>
double every_transposition(int64_t m, int64_t n, int64_t inner) {
  double worst = 0;
  for (const Trans trans_a : {Trans::no, Trans::yes}) {
    for (const Trans trans_b : {Trans::no, Trans::yes}) {
      worst = std::max(worst, gemm_error<T>(trans_a, trans_b, m, n, inner));
    }
  }
  return worst;
}

}  // namespace

BlasVerdict test_blas(int n_threads) {
  BlasVerdict out;
  {
    const BlasThreads blas(1);
    out.plain = std::max({every_transposition<double>(67, 41, 93), syrk_error(Trans::no, 67, 93),
                          syrk_error(Trans::yes, 67, 93), gemm_error<double>(Trans::no, Trans::no, 131, 1, 67)});
    if (single_blas_available()) out.plain = std::max(out.plain, every_transposition<float>(67, 41, 93));
  }
  const BlasThreads blas(n_threads);
  for (int again = 0; again < 3; ++again) {
    out.threaded = std::max(out.threaded, gemm_error<double>(Trans::yes, Trans::no, 129, 131, 65));
  }
  return out;
}

}  // namespace voxridge
