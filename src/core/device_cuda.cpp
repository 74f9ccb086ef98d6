#include "device_cuda.h"

#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "cuda_sessions.h"

namespace voxridge {

namespace {

template <class T>
constexpr int kType = std::is_same_v<T, float> ? VOXRIDGE_F32 : VOXRIDGE_F64;

const double* data_or_null(const std::vector<double>& values) {
  return values.empty() ? nullptr : values.data();
}

template <class T>
class CudaDevice final : public Device<T> {
 public:
  explicit CudaDevice(double limit_bytes) : sessions_(cuda_sessions()), memory_(make_cuda_memory(limit_bytes)) {}

  std::string name() const override { return "cuda"; }
  bool in_place() const override { return false; }

  MatrixSpan<T> reserve(Buffer<T>& buffer, int64_t rows, int64_t cols) override {
    if (buffer.capacity < rows * cols) {
      buffer.data.reset();
      buffer.capacity = 0;
      buffer.data = std::static_pointer_cast<T>(memory_->allocate(sizeof(T) * static_cast<size_t>(rows * cols)));
      buffer.capacity = rows * cols;
    }
    return {buffer.data.get(), rows, cols, rows};
  }

  void load(MatrixView<double> from, const RowList& rows, const std::vector<double>& shift, MatrixSpan<T> to) override {
    const int64_t n = static_cast<int64_t>(rows.size());
    const CudaLease lease = sessions_->lease();
    for_each_panel(n, from.cols, [&](int64_t col, int64_t n_cols) {
      T* const staged = static_cast<T*>(lease.staging(bytes(n, n_cols)));
      for (int64_t j = 0; j < n_cols; ++j) {
        const double* source = from.col(col + j);
        for (int64_t i = 0; i < n; ++i) staged[i + j * n] = static_cast<T>(source[rows[i]] - shift[col + j]);
      }
      copy_in(lease, staged, n, n, n_cols, to.block(0, col, n, n_cols));
    });
  }

  void upload(MatrixView<double> from, MatrixSpan<T> to) override {
    const CudaLease lease = sessions_->lease();
    if constexpr (std::is_same_v<T, double>) {
      copy_in(lease, from.data, from.ld, from.rows, from.cols, to);
    } else {
      for_each_panel(from.rows, from.cols, [&](int64_t col, int64_t n_cols) {
        T* const staged = static_cast<T*>(lease.staging(bytes(from.rows, n_cols)));
        for (int64_t j = 0; j < n_cols; ++j) {
          const double* column = from.col(col + j);
          std::transform(column, column + from.rows, staged + j * from.rows,
                         [](double x) { return static_cast<T>(x); });
        }
        copy_in(lease, staged, from.rows, from.rows, n_cols, to.block(0, col, from.rows, n_cols));
      });
    }
  }

  void download(MatrixView<T> from, MatrixSpan<double> to) override { download_with(sessions_->lease(), from, to); }

  MatrixView<T> resident(MatrixView<double> host, Buffer<T>& memory) override {
    const MatrixSpan<T> copy = reserve(memory, host.rows, host.cols);
    upload(host, copy);
    return copy;
  }

  MatrixView<T> borrow(MatrixView<T> host, Buffer<T>& memory) override {
    const MatrixSpan<T> copy = reserve(memory, host.rows, host.cols);
    copy_in(sessions_->lease(), host.data, host.ld, host.rows, host.cols, copy);
    return copy;
  }

  void gemm_to_host(Trans trans_a, Trans trans_b, MatrixView<T> a, MatrixView<T> b, Buffer<T>& scratch,
                    MatrixSpan<double> to) override {
    const MatrixSpan<T> c = reserve(scratch, to.rows, to.cols);
    const CudaLease lease = sessions_->lease();
    gemm_with(lease, trans_a, trans_b, T(1), a, b, T(0), c);
    download_with(lease, c, to);
  }

  void gemm(Trans trans_a, Trans trans_b, T alpha, MatrixView<T> a, MatrixView<T> b, T beta, MatrixSpan<T> c) override {
    gemm_with(sessions_->lease(), trans_a, trans_b, alpha, a, b, beta, c);
  }

  void gather(MatrixView<T> from, const RowList& rows, const std::vector<double>& shift, MatrixSpan<T> to) override {
    call(&voxridge_cuda_table::gather, kType<T>, from.data, from.ld, from.cols, rows.data(),
         static_cast<int64_t>(rows.size()), data_or_null(shift), to.data, to.ld);
  }

  void take_columns(MatrixView<T> from, const RowList& columns, MatrixSpan<T> to) override {
    call(&voxridge_cuda_table::copy_columns, kType<T>, 0, from.data, from.ld, from.rows, columns.data(),
         static_cast<int64_t>(columns.size()), to.data, to.ld);
  }

  void put_columns(MatrixView<T> from, const RowList& columns, MatrixSpan<T> to) override {
    call(&voxridge_cuda_table::copy_columns, kType<T>, 1, from.data, from.ld, from.rows, columns.data(),
         static_cast<int64_t>(columns.size()), to.data, to.ld);
  }

  std::vector<double> means(MatrixView<T> from, const RowList& rows) override {
    std::vector<double> out(from.cols);
    call(&voxridge_cuda_table::means, kType<T>, from.data, from.ld, from.cols, rows.data(),
         static_cast<int64_t>(rows.size()), out.data());
    return out;
  }

  std::vector<double> squares(MatrixView<T> from, const std::vector<double>& center) override {
    std::vector<double> out(from.cols);
    call(&voxridge_cuda_table::squares, kType<T>, from.data, from.ld, from.rows, from.cols, data_or_null(center),
         out.data());
    return out;
  }

  void add(const std::vector<MatrixSpan<T>>& parts, MatrixSpan<T> to) override {
    std::vector<const void*> data;
    std::vector<int64_t> ld;
    for (const MatrixSpan<T>& part : parts) {
      data.push_back(part.data);
      ld.push_back(part.ld);
    }
    call(&voxridge_cuda_table::add, kType<T>, data.data(), ld.data(), static_cast<int64_t>(parts.size()), to.rows,
         to.cols, to.data, to.ld);
  }

  void leave_out(MatrixView<T> total, MatrixView<T> part, double weight, const std::vector<double>& x,
                 const std::vector<double>& y, MatrixSpan<T> to) override {
    std::vector<double> scale(total.cols, 0.0);
    for (size_t j = 0; j < y.size(); ++j) scale[j] = weight * y[j];
    call(&voxridge_cuda_table::leave_out, kType<T>, total.data, total.ld, part.data, part.ld, total.rows, total.cols,
         data_or_null(x), scale.data(), to.data, to.ld);
  }

  void shrink(MatrixView<T> from, const std::vector<double>& lambda, const std::vector<double>& alpha,
              MatrixSpan<T> to) override {
    call(&voxridge_cuda_table::shrink, kType<T>, from.data, from.ld, from.rows, from.cols, lambda.data(), alpha.data(),
         to.data, to.ld);
  }

  void scale_rows(MatrixView<T> from, const std::vector<double>& weights, MatrixSpan<T> to) override {
    call(&voxridge_cuda_table::scale_rows, kType<T>, from.data, from.ld, from.rows, from.cols, weights.data(), to.data,
         to.ld);
  }

  void subtract(MatrixView<T> a, MatrixView<T> b, MatrixSpan<T> to) override {
    call(&voxridge_cuda_table::subtract, kType<T>, a.data, a.ld, b.data, b.ld, a.rows, a.cols, to.data, to.ld);
  }

  void error_sums(MatrixView<T> target, MatrixView<T> predictions, MatrixSpan<double> out) override {
    call(&voxridge_cuda_table::error_sums, kType<T>, target.data, target.ld, target.rows, target.cols, predictions.data,
         predictions.ld, out.rows, out.data, out.ld);
  }

  void product_sums(MatrixView<T> target, MatrixView<T> predictions, MatrixSpan<double> out) override {
    call(&voxridge_cuda_table::product_sums, kType<T>, target.data, target.ld, target.rows, target.cols,
         predictions.data, predictions.ld, out.rows / 2, out.data, out.ld);
  }

 private:
  static size_t bytes(int64_t rows, int64_t cols) { return sizeof(T) * static_cast<size_t>(rows * cols); }

  // work(first column, columns) over pieces that fit into the staging memory, a column at least.
  template <class Work>
  static void for_each_panel(int64_t rows, int64_t cols, const Work& work) {
    const int64_t width = std::max<int64_t>(1, kStagingBytes / std::max<int64_t>(1, sizeof(T) * rows));
    for (int64_t col = 0; col < cols; col += width) work(col, std::min(width, cols - col));
  }

  template <class... Parameters, class... Arguments>
  void call(int (*voxridge_cuda_table::*function)(voxridge_cuda_session*, Parameters...), Arguments... arguments) {
    sessions_->lease().call(function, arguments...);
  }

  void copy_in(const CudaLease& lease, const T* host, int64_t ld, int64_t rows, int64_t cols, MatrixSpan<T> to) {
    lease.call(&voxridge_cuda_table::to_device, kType<T>, host, ld, rows, cols, to.data, to.ld, 0);
  }

  void download_with(const CudaLease& lease, MatrixView<T> from, MatrixSpan<double> to) {
    if constexpr (std::is_same_v<T, double>) {
      lease.call(&voxridge_cuda_table::to_host, kType<T>, from.data, from.ld, from.rows, from.cols, to.data, to.ld);
    } else {
      for_each_panel(from.rows, from.cols, [&](int64_t col, int64_t n_cols) {
        T* const staged = static_cast<T*>(lease.staging(bytes(from.rows, n_cols)));
        lease.call(&voxridge_cuda_table::to_host, kType<T>, from.col(col), from.ld, from.rows, n_cols, staged,
                   from.rows);
        for (int64_t j = 0; j < n_cols; ++j) std::copy_n(staged + j * from.rows, from.rows, to.col(col + j));
      });
    }
  }

  void gemm_with(const CudaLease& lease, Trans trans_a, Trans trans_b, T alpha, MatrixView<T> a, MatrixView<T> b,
                 T beta, MatrixSpan<T> c) {
    const int64_t inner = trans_a == Trans::no ? a.cols : a.rows;
    lease.call(&voxridge_cuda_table::gemm, kType<T>, trans_a == Trans::yes, trans_b == Trans::yes, c.rows, c.cols,
               inner, static_cast<double>(alpha), a.data, a.ld, b.data, b.ld, static_cast<double>(beta), c.data, c.ld);
  }

  const std::shared_ptr<CudaSessions> sessions_;
  const std::shared_ptr<CudaMemory> memory_;
};

}  // namespace

template <class T>
std::unique_ptr<Device<T>> cuda_device(double limit_bytes) {
  return std::make_unique<CudaDevice<T>>(limit_bytes);
}

template <class T>
std::unique_ptr<Device<T>> make_device(const Control& control) {
  if (control.device == DeviceKind::cuda) return cuda_device<T>(control.device_bytes);
  return cpu_device<T>();
}

template std::unique_ptr<Device<float>> cuda_device<float>(double);
template std::unique_ptr<Device<double>> cuda_device<double>(double);
template std::unique_ptr<Device<float>> make_device<float>(const Control&);
template std::unique_ptr<Device<double>> make_device<double>(const Control&);

}  // namespace voxridge
