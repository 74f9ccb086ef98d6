#include "device.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "error.h"
#include "factor.h"
#include "memory.h"

namespace voxridge {

namespace {

// Independent partial sums let the compiler use vector registers without reordering a single chain.
constexpr int64_t kLanes = 16;

// Sum over i < n of term(i).
template <class T, class Term>
double lane_sum(int64_t n, const Term& term) {
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) lanes[k] += term(i + k);
  }
  double sum = 0;
  for (const T lane : lanes) sum += static_cast<double>(lane);
  for (; i < n; ++i) sum += static_cast<double>(term(i));
  return sum;
}

template <class T>
double squared_error(const T* y, const T* p, int64_t n) {
  return lane_sum<T>(n, [y, p](int64_t i) {
    const T d = y[i] - p[i];
    return d * d;
  });
}

template <class T>
double product(const T* y, const T* p, int64_t n) {
  return lane_sum<T>(n, [y, p](int64_t i) { return y[i] * p[i]; });
}

template <class T>
class CpuDevice final : public Device<T> {
 public:
  std::string name() const override { return "armadillo"; }

  MatrixSpan<T> reserve(Buffer<T>& buffer, int64_t rows, int64_t cols) override {
    if (buffer.capacity < rows * cols) {
      buffer.data.reset();
      buffer.capacity = 0;
      buffer.data = std::shared_ptr<T>(static_cast<T*>(allocate_buffer(sizeof(T) * rows * cols)), std::free);
      buffer.capacity = rows * cols;
    }
    return {buffer.data.get(), rows, cols, rows};
  }

  void load(MatrixView<double> from, const RowList& rows, const std::vector<double>& shift, MatrixSpan<T> to) override {
    const int64_t n = static_cast<int64_t>(rows.size());
    for (int64_t j = 0; j < from.cols; ++j) {
      const double* source = from.col(j);
      T* out = to.col(j);
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(source[rows[i]] - shift[j]);
    }
  }

  void upload(MatrixView<double> from, MatrixSpan<T> to) override {
    for (int64_t j = 0; j < from.cols; ++j) {
      std::transform(from.col(j), from.col(j) + from.rows, to.col(j), [](double x) { return static_cast<T>(x); });
    }
  }

  void download(MatrixView<T> from, MatrixSpan<double> to) override {
    for (int64_t j = 0; j < from.cols; ++j) std::copy_n(from.col(j), from.rows, to.col(j));
  }

  MatrixView<T> resident(MatrixView<double> host, Buffer<T>& memory) override {
    if constexpr (std::is_same_v<T, double>) {
      return host;
    } else {
      const MatrixSpan<T> copy = reserve(memory, host.rows, host.cols);
      upload(host, copy);
      return copy;
    }
  }

  bool in_place() const override { return true; }

  MatrixView<T> borrow(MatrixView<T> host, Buffer<T>&) override { return host; }

  void gemm_to_host(Trans trans_a, Trans trans_b, MatrixView<T> a, MatrixView<T> b, Buffer<T>& scratch,
                    MatrixSpan<double> to) override {
    if constexpr (std::is_same_v<T, double>) {
      voxridge::gemm(trans_a, trans_b, 1.0, a, b, 0.0, to);
    } else {
      const MatrixSpan<T> c = reserve(scratch, to.rows, to.cols);
      voxridge::gemm(trans_a, trans_b, T(1), a, b, T(0), c);
      download(c, to);
    }
  }

  void gemm(Trans trans_a, Trans trans_b, T alpha, MatrixView<T> a, MatrixView<T> b, T beta, MatrixSpan<T> c) override {
    voxridge::gemm(trans_a, trans_b, alpha, a, b, beta, c);
  }

  void gather(MatrixView<T> from, const RowList& rows, const std::vector<double>& shift, MatrixSpan<T> to) override {
    const int64_t n = static_cast<int64_t>(rows.size());
    for (int64_t j = 0; j < from.cols; ++j) {
      const T* source = from.col(j);
      T* out = to.col(j);
      const T move = shift.empty() ? T(0) : static_cast<T>(shift[j]);
      for (int64_t i = 0; i < n; ++i) out[i] = source[rows[i]] - move;
    }
  }

  void take_columns(MatrixView<T> from, const RowList& columns, MatrixSpan<T> to) override {
    for (size_t j = 0; j < columns.size(); ++j) std::copy_n(from.col(columns[j]), from.rows, to.col(j));
  }

  void put_columns(MatrixView<T> from, const RowList& columns, MatrixSpan<T> to) override {
    for (size_t j = 0; j < columns.size(); ++j) std::copy_n(from.col(j), from.rows, to.col(columns[j]));
  }

  std::vector<double> means(MatrixView<T> from, const RowList& rows) override {
    std::vector<double> out(from.cols);
    for (int64_t j = 0; j < from.cols; ++j) out[j] = column_mean(from.col(j), rows);
    return out;
  }

  std::vector<double> squares(MatrixView<T> from, const std::vector<double>& center) override {
    std::vector<double> out(from.cols);
    for (int64_t j = 0; j < from.cols; ++j) {
      const T* column = from.col(j);
      const double c = center.empty() ? 0 : center[j];
      const double sum = lane_sum<double>(from.rows, [column, c](int64_t i) {
        const double d = static_cast<double>(column[i]) - c;
        return d * d;
      });
      out[j] = sum;
    }
    return out;
  }

  void add(const std::vector<MatrixSpan<T>>& parts, MatrixSpan<T> to) override {
    for (int64_t j = 0; j < to.cols; ++j) {
      T* out = to.col(j);
      std::copy_n(parts[0].col(j), to.rows, out);
      for (size_t k = 1; k < parts.size(); ++k) {
        for (int64_t i = 0; i < to.rows; ++i) out[i] += parts[k].col(j)[i];
      }
    }
  }

  void leave_out(MatrixView<T> total, MatrixView<T> part, double weight, const std::vector<double>& x,
                 const std::vector<double>& y, MatrixSpan<T> to) override {
    for (int64_t j = 0; j < total.cols; ++j) {
      const double scale = weight * (y.empty() ? 0 : y[j]);
      const T *whole = total.col(j), *held = part.col(j);
      T* out = to.col(j);
      if (scale == 0) {
        for (int64_t i = 0; i < total.rows; ++i) out[i] = whole[i] - held[i];
      } else {
        for (int64_t i = 0; i < total.rows; ++i) out[i] = whole[i] - held[i] - static_cast<T>(scale * x[i]);
      }
    }
  }

  void shrink(MatrixView<T> from, const std::vector<double>& lambda, const std::vector<double>& alpha,
              MatrixSpan<T> to) override {
    for (int64_t j = 0; j < from.cols; ++j) {
      for (int64_t i = 0; i < from.rows; ++i) {
        to.col(j)[i] = from.col(j)[i] * static_cast<T>(inverse(lambda[i], alpha[j]));
      }
    }
  }

  void scale_rows(MatrixView<T> from, const std::vector<double>& weights, MatrixSpan<T> to) override {
    for (int64_t j = 0; j < from.cols; ++j) {
      for (int64_t i = 0; i < from.rows; ++i) to.col(j)[i] = from.col(j)[i] * static_cast<T>(weights[i]);
    }
  }

  void subtract(MatrixView<T> a, MatrixView<T> b, MatrixSpan<T> to) override {
    for (int64_t j = 0; j < a.cols; ++j) {
      for (int64_t i = 0; i < a.rows; ++i) to.col(j)[i] = a.col(j)[i] - b.col(j)[i];
    }
  }

  void error_sums(MatrixView<T> target, MatrixView<T> predictions, MatrixSpan<double> out) override {
    for (int64_t j = 0; j < target.cols; ++j) {
      for (int64_t b = 0; b < out.rows; ++b) {
        out.col(j)[b] = squared_error(target.col(j), predictions.col(j) + b * target.rows, target.rows);
      }
    }
  }

  void product_sums(MatrixView<T> target, MatrixView<T> predictions, MatrixSpan<double> out) override {
    const int64_t rows = target.rows;
    const double n = static_cast<double>(rows), eps = std::numeric_limits<T>::epsilon();
    for (int64_t j = 0; j < target.cols; ++j) {
      for (int64_t b = 0; 2 * b < out.rows; ++b) {
        const T* p = predictions.col(j) + b * (rows + 1);
        const double about_mean = product(p, p, rows), mean_part = static_cast<double>(p[rows]) * p[rows];
        const bool constant = about_mean <= n * n * eps * eps * (about_mean + mean_part);
        out.col(j)[2 * b] = constant ? 0 : product(target.col(j), p, rows);
        out.col(j)[2 * b + 1] = constant ? 0 : about_mean;
      }
    }
  }
};

}  // namespace

template <class T>
std::unique_ptr<Device<T>> cpu_device() {
  return std::make_unique<CpuDevice<T>>();
}

template std::unique_ptr<Device<float>> cpu_device<float>();
template std::unique_ptr<Device<double>> cpu_device<double>();

}  // namespace voxridge
