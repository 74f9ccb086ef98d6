#include "device_cuda.h"

#include <algorithm>
#include <utility>

#include "cuda_copy.h"

namespace voxridge {

namespace {

const double* data_or_null(const std::vector<double>& values) {
  return values.empty() ? nullptr : values.data();
}

template <class T>
class CudaDevice final : public Device<T> {
 public:
  explicit CudaDevice(std::shared_ptr<CudaMemory> memory) : sessions_(cuda_sessions()), memory_(std::move(memory)) {}

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
    send_panels(sessions_->lease(), to, [&](int64_t col, int64_t n_cols, T* panel) {
      for (int64_t j = 0; j < n_cols; ++j) {
        const double* source = from.col(col + j);
        for (int64_t i = 0; i < n; ++i) panel[i + j * n] = static_cast<T>(source[rows[i]] - shift[col + j]);
      }
    });
  }

  // For all sessions.
  void upload(MatrixView<double> from, MatrixSpan<T> to) override {
    const CudaLease lease = sessions_->lease();
    send_matrix(lease, from, to);
    lease.call(&voxridge_cuda_table::synchronize);
  }

  void download(MatrixView<T> from, MatrixSpan<double> to) override { fetch_matrix(sessions_->lease(), from, to); }

  MatrixView<T> resident(MatrixView<double> host, Buffer<T>& memory) override {
    const MatrixSpan<T> copy = reserve(memory, host.rows, host.cols);
    upload(host, copy);
    return copy;
  }

  MatrixView<T> borrow(MatrixView<T> host, Buffer<T>& memory) override {
    const MatrixSpan<T> copy = reserve(memory, host.rows, host.cols);
    sessions_->lease().call(&voxridge_cuda_table::to_device, kCudaType<T>, host.data, host.ld, host.rows, host.cols,
                            copy.data, copy.ld, 0);
    return copy;
  }

  void gemm_to_host(Trans trans_a, Trans trans_b, MatrixView<T> a, MatrixView<T> b, Buffer<T>& scratch,
                    MatrixSpan<double> to) override {
    const MatrixSpan<T> c = reserve(scratch, to.rows, to.cols);
    const CudaLease lease = sessions_->lease();
    gemm_with(lease, trans_a, trans_b, T(1), a, b, T(0), c);
    fetch_matrix<T>(lease, c, to);
  }

  void gemm(Trans trans_a, Trans trans_b, T alpha, MatrixView<T> a, MatrixView<T> b, T beta, MatrixSpan<T> c) override {
    gemm_with(sessions_->lease(), trans_a, trans_b, alpha, a, b, beta, c);
  }

  void gather(MatrixView<T> from, const RowList& rows, const std::vector<double>& shift, MatrixSpan<T> to) override {
    call(&voxridge_cuda_table::gather, kCudaType<T>, from.data, from.ld, from.cols, rows.data(),
         static_cast<int64_t>(rows.size()), data_or_null(shift), to.data, to.ld);
  }

  void take_columns(MatrixView<T> from, const RowList& columns, MatrixSpan<T> to) override {
    call(&voxridge_cuda_table::copy_columns, kCudaType<T>, 0, from.data, from.ld, from.rows, columns.data(),
         static_cast<int64_t>(columns.size()), to.data, to.ld);
  }

  void put_columns(MatrixView<T> from, const RowList& columns, MatrixSpan<T> to) override {
    call(&voxridge_cuda_table::copy_columns, kCudaType<T>, 1, from.data, from.ld, from.rows, columns.data(),
         static_cast<int64_t>(columns.size()), to.data, to.ld);
  }

  std::vector<double> means(MatrixView<T> from, const RowList& rows) override {
    std::vector<double> out(from.cols);
    call(&voxridge_cuda_table::means, kCudaType<T>, from.data, from.ld, from.cols, rows.data(),
         static_cast<int64_t>(rows.size()), out.data());
    return out;
  }

  std::vector<double> squares(MatrixView<T> from, const std::vector<double>& center) override {
    std::vector<double> out(from.cols);
    call(&voxridge_cuda_table::squares, kCudaType<T>, from.data, from.ld, from.rows, from.cols, data_or_null(center),
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
    call(&voxridge_cuda_table::add, kCudaType<T>, data.data(), ld.data(), static_cast<int64_t>(parts.size()), to.rows,
         to.cols, to.data, to.ld);
  }

  void leave_out(MatrixView<T> total, MatrixView<T> part, double weight, const std::vector<double>& x,
                 const std::vector<double>& y, MatrixSpan<T> to) override {
    std::vector<double> scale(total.cols, 0.0);
    for (size_t j = 0; j < y.size(); ++j) scale[j] = weight * y[j];
    call(&voxridge_cuda_table::leave_out, kCudaType<T>, total.data, total.ld, part.data, part.ld, total.rows, total.cols,
         data_or_null(x), scale.data(), to.data, to.ld);
  }

  void shrink(MatrixView<T> from, const std::vector<double>& lambda, const std::vector<double>& alpha,
              MatrixSpan<T> to) override {
    call(&voxridge_cuda_table::shrink, kCudaType<T>, from.data, from.ld, from.rows, from.cols, lambda.data(), alpha.data(),
         to.data, to.ld);
  }

  void scale_rows(MatrixView<T> from, const std::vector<double>& weights, MatrixSpan<T> to) override {
    call(&voxridge_cuda_table::scale_rows, kCudaType<T>, from.data, from.ld, from.rows, from.cols, weights.data(), to.data,
         to.ld);
  }

  void subtract(MatrixView<T> a, MatrixView<T> b, MatrixSpan<T> to) override {
    call(&voxridge_cuda_table::subtract, kCudaType<T>, a.data, a.ld, b.data, b.ld, a.rows, a.cols, to.data, to.ld);
  }

  void error_sums(MatrixView<T> target, MatrixView<T> predictions, MatrixSpan<double> out) override {
    call(&voxridge_cuda_table::error_sums, kCudaType<T>, target.data, target.ld, target.rows, target.cols, predictions.data,
         predictions.ld, out.rows, out.data, out.ld);
  }

  void product_sums(MatrixView<T> target, MatrixView<T> predictions, MatrixSpan<double> out) override {
    call(&voxridge_cuda_table::product_sums, kCudaType<T>, target.data, target.ld, target.rows, target.cols,
         predictions.data, predictions.ld, out.rows / 2, out.data, out.ld);
  }

 private:
  template <class... Parameters, class... Arguments>
  void call(int (*voxridge_cuda_table::*function)(voxridge_cuda_session*, Parameters...), Arguments... arguments) {
    sessions_->lease().call(function, arguments...);
  }

  void gemm_with(const CudaLease& lease, Trans trans_a, Trans trans_b, T alpha, MatrixView<T> a, MatrixView<T> b,
                 T beta, MatrixSpan<T> c) {
    const int64_t inner = trans_a == Trans::no ? a.cols : a.rows;
    lease.call(&voxridge_cuda_table::gemm, kCudaType<T>, trans_a == Trans::yes, trans_b == Trans::yes, c.rows, c.cols,
               inner, static_cast<double>(alpha), a.data, a.ld, b.data, b.ld, static_cast<double>(beta), c.data, c.ld);
  }

  const std::shared_ptr<CudaSessions> sessions_;
  const std::shared_ptr<CudaMemory> memory_;
};

}  // namespace

template <class T>
std::unique_ptr<Device<T>> cuda_device(std::shared_ptr<CudaMemory> memory) {
  return std::make_unique<CudaDevice<T>>(std::move(memory));
}

template <class T>
std::unique_ptr<Device<T>> make_device(const Control& control) {
  if (control.device == DeviceKind::cuda) return cuda_device<T>(control.gpu_memory);
  return cpu_device<T>();
}

template std::unique_ptr<Device<float>> cuda_device<float>(std::shared_ptr<CudaMemory>);
template std::unique_ptr<Device<double>> cuda_device<double>(std::shared_ptr<CudaMemory>);
template std::unique_ptr<Device<float>> make_device<float>(const Control&);
template std::unique_ptr<Device<double>> make_device<double>(const Control&);

}  // namespace voxridge
