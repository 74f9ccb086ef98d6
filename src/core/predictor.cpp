#include "predictor.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>

#include "sigmoid.h"
#include "threads.h"

#if defined(__GNUC__) && !defined(__clang__)
#define VOXRIDGE_ONE_COPY __attribute__((noinline, noclone))
#elif defined(__clang__)
#define VOXRIDGE_ONE_COPY __attribute__((noinline))
#else
#define VOXRIDGE_ONE_COPY
#endif

namespace voxridge {

namespace {

constexpr int64_t kLine = 8;                // doubles in 64 bytes
constexpr int64_t kRows = 64;               // gathered at a time ...
constexpr int64_t kGathered = 1 << 22;      // ... but not more than so many numbers
constexpr double kProductsPerThread = 1e6;  // about half a millisecond: what a thread is worth

const double* aligned(const double* memory) {
  const size_t bytes = kLine * sizeof(double);
  const size_t past = reinterpret_cast<uintptr_t>(memory) % bytes;
  return past == 0 ? memory : memory + (bytes - past) / sizeof(double);
}

}  // namespace

VOXRIDGE_ONE_COPY double forecast(const double* x, const double* beta, int64_t p, double intercept, double offset) {
  // eight variables: an array would pass through memory
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
  const int64_t whole = p - p % kLine;
  for (int64_t j = 0; j < whole; j += kLine) {
    s0 += x[j] * beta[j];
    s1 += x[j + 1] * beta[j + 1];
    s2 += x[j + 2] * beta[j + 2];
    s3 += x[j + 3] * beta[j + 3];
    s4 += x[j + 4] * beta[j + 4];
    s5 += x[j + 5] * beta[j + 5];
    s6 += x[j + 6] * beta[j + 6];
    s7 += x[j + 7] * beta[j + 7];
  }
  double z = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
  for (int64_t j = whole; j < p; ++j) z += x[j] * beta[j];
  z += intercept;
  return z + offset;
}

Predictor::Predictor(const MatrixView<double>& coefs, const double* intercepts)
    : p_(coefs.rows),
      stride_((coefs.rows + kLine - 1) / kLine * kLine),
      memory_(static_cast<size_t>(stride_ * coefs.cols + kLine), 0.0),
      coefs_(aligned(memory_.data())),
      intercepts_(static_cast<size_t>(coefs.cols), 0.0),
      has_forecasts_(static_cast<size_t>(coefs.cols), 1) {
  double* const to = memory_.data() + (coefs_ - memory_.data());
  for (int64_t t = 0; t < coefs.cols; ++t) {
    std::copy_n(coefs.col(t), p_, to + t * stride_);
    if (intercepts != nullptr) intercepts_[t] = intercepts[t];
    const bool finite = std::isfinite(intercepts_[t]) &&
                        std::all_of(coefs.col(t), coefs.col(t) + p_, [](double value) { return std::isfinite(value); });
    has_forecasts_[t] = finite ? 1 : 0;
    if (!finite) intercepts_[t] = std::numeric_limits<double>::quiet_NaN();
  }
}

void Predictor::score_rows(const double* rows, int64_t n, double* out) const noexcept {
  const int64_t t = n_targets();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t target = 0; target < t; ++target) out[i * t + target] = score(rows + i * p_, target);
  }
}

PredictorWorkspace::PredictorWorkspace(int64_t n_features) : p_(n_features) {
  const int64_t size = std::min(kRows, std::max<int64_t>(1, kGathered / std::max<int64_t>(1, p_)));
  rows_.resize(static_cast<size_t>(size * p_));
  finite_.resize(static_cast<size_t>(size));
}

// In squares of 8 columns, so that each line of memory is written at once.
void PredictorWorkspace::gather(const MatrixView<double>& x, int64_t first, int64_t n) {
  std::fill_n(finite_.begin(), n, 0.0);
  for (int64_t from = 0; from < p_; from += kLine) {
    const int64_t to = std::min(from + kLine, p_);
    for (int64_t i = 0; i < n; ++i) {
      double* const row = rows_.data() + i * p_;
      double zero = finite_[i];
      for (int64_t j = from; j < to; ++j) {
        row[j] = x.data[first + i + j * x.ld];
        zero += row[j] * 0;  // NaN times 0 and Inf times 0 are NaN
      }
      finite_[i] = zero;
    }
  }
}

int threads_worth(int64_t n, int64_t p, int64_t t, int n_threads) {
  const double products = static_cast<double>(n) * static_cast<double>(p) * static_cast<double>(t);
  return static_cast<int>(std::max(1.0, std::min<double>(n_threads, products / kProductsPerThread)));
}

namespace {

// One block of gathered rows; returns how many of them have NaN or Inf.
int64_t score_block(const Predictor& model, const MatrixView<double>& x, const MatrixView<double>& offset,
                    ForecastScale scale, double missing, const MatrixSpan<double>& out, int64_t first, int64_t n,
                    PredictorWorkspace& rows) {
  rows.gather(x, first, n);
  for (int64_t target = 0; target < model.n_targets(); ++target) {
    const double* const shifts = offset.data == nullptr ? nullptr : offset.col(target) + first;
    double* const to = out.col(target) + first;
    for (int64_t i = 0; i < n; ++i) {
      if (!rows.is_finite(i) || !model.has_forecasts(target)) {
        to[i] = missing;
        continue;
      }
      const double z = model.score(rows.row(i), target, shifts == nullptr ? 0 : shifts[i]);
      to[i] = scale == ForecastScale::probability ? sigmoid(z) : z;
    }
  }
  int64_t incomplete = 0;
  for (int64_t i = 0; i < n; ++i) incomplete += rows.is_finite(i) ? 0 : 1;
  return incomplete;
}

}  // namespace

int64_t score_columns(const Predictor& model, const MatrixView<double>& x, const MatrixView<double>& offset,
                      ForecastScale scale, double missing, const MatrixSpan<double>& out,
                      std::vector<PredictorWorkspace>& workspaces, const Control& control) {
  if (workspaces.empty()) workspaces.emplace_back(model.n_features());
  const int64_t size = workspaces.front().size();
  const int64_t n_blocks = (x.rows + size - 1) / size;
  const int wanted = threads_worth(x.rows, x.cols, model.n_targets(), control.n_threads);
  const int n_threads = static_cast<int>(std::min<int64_t>(wanted, n_blocks));
  const auto score = [&](int64_t block, PredictorWorkspace& rows) {
    control.check_stop();
    const int64_t first = block * size;
    return score_block(model, x, offset, scale, missing, out, first, std::min(size, x.rows - first), rows);
  };
  int64_t incomplete = 0;
  if (n_threads <= 1) {
    for (int64_t block = 0; block < n_blocks; ++block) incomplete += score(block, workspaces.front());
    return incomplete;
  }
  while (static_cast<int>(workspaces.size()) < n_threads) workspaces.emplace_back(model.n_features());
  std::atomic<int64_t> total{0};
  parallel_for(n_blocks, n_threads, [&](int64_t block, int worker) { total += score(block, workspaces[worker]); });
  return total;
}

}  // namespace voxridge
