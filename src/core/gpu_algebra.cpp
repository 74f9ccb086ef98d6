#include "gpu_algebra.h"

#include <algorithm>

#include "arma_view.h"
#include "cuda_copy.h"
#include "error.h"

namespace voxridge {

namespace {

// Below these the way to the GPU and its own slow start cost more than the work on one thread of the host.
constexpr double kWorthFlops = 1e8;
constexpr int64_t kWorthEigen = 512;

constexpr int64_t kPieceBytes = 64 * 1024 * 1024;
constexpr int64_t kLeastPiece = 256;  // so that the sum is not read and written for little

bool worth(const Control& control, double flops) {
  return control.device == DeviceKind::cuda && flops >= kWorthFlops;
}

double product_flops(int64_t m, int64_t n, int64_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

// False for what the host can do instead; failures of the device go on to the caller.
template <class Work>
bool attempt(const Work& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    switch (error.code()) {
      case ErrorCode::gpu_out_of_memory:
      case ErrorCode::device_unavailable:
      case ErrorCode::numerical:
        return false;
      default:
        throw;
    }
  }
}

std::shared_ptr<void> allocate(const Control& control, int64_t rows, int64_t cols) {
  return control.gpu_memory->allocate(sizeof(double) * static_cast<size_t>(rows * cols));
}

MatrixSpan<double> span_in(const std::shared_ptr<void>& memory, int64_t rows, int64_t cols) {
  return {static_cast<double*>(memory.get()), rows, cols, rows};
}

}  // namespace

GpuGram::GpuGram(Trans trans, int64_t n, int64_t length, const Control& control)
    : trans_(trans),
      n_(n),
      length_(length),
      sum_(allocate(control, n, n)),
      piece_(allocate(control, n, length)) {}

std::unique_ptr<GpuGram> GpuGram::start(Trans trans, int64_t n, int64_t inner, const Control& control) {
  std::unique_ptr<GpuGram> gram;
  if (!worth(control, product_flops(n, n, inner) / 2)) return gram;
  const int64_t fitting_piece = kPieceBytes / (static_cast<int64_t>(sizeof(double)) * n);
  const int64_t length = std::min(inner, std::max(kLeastPiece, fitting_piece));
  attempt([&] { gram.reset(new GpuGram(trans, n, length, control)); });
  return gram;
}

void GpuGram::add(MatrixView<double> panel) {
  const int64_t inner = trans_ == Trans::no ? panel.cols : panel.rows;
  for (int64_t first = 0; first < inner; first += length_) {
    const int64_t length = std::min(length_, inner - first);
    const MatrixView<double> piece =
        trans_ == Trans::no ? panel.block(0, first, n_, length) : panel.block(first, 0, length, n_);
    const MatrixSpan<double> copy = span_in(piece_, piece.rows, piece.cols);
    const CudaLease lease = cuda_sessions()->lease();
    send_matrix(lease, piece, copy);
    multiply(lease, copy);
  }
}

void GpuGram::add_there(MatrixView<double> panel) {
  multiply(cuda_sessions()->lease(), panel);
}

void GpuGram::multiply(const CudaLease& lease, MatrixView<double> panel) {
  lease.call(&voxridge_cuda_table::syrk, trans_ == Trans::yes, n_, trans_ == Trans::no ? panel.cols : panel.rows, 1.0,
             panel.data, panel.ld, begun_ ? 1.0 : 0.0, sum_.get(), n_);
  begun_ = true;
}

void GpuGram::finish(MatrixSpan<double> sum) {
  fetch_matrix<double>(cuda_sessions()->lease(), span_in(sum_, n_, n_), sum);
}

bool gpu_eigen(const arma::mat& symmetric, arma::vec& values, arma::mat& vectors, const Control& control) {
  const int64_t n = static_cast<int64_t>(symmetric.n_rows);
  if (control.device != DeviceKind::cuda || n < kWorthEigen) return false;
  return attempt([&] {
    const std::shared_ptr<void> memory = allocate(control, n, n);
    const std::shared_ptr<void> workspace =
        control.gpu_memory->claim(sizeof(double) * static_cast<size_t>(3 * n * n));  // a little more than it takes
    const MatrixSpan<double> matrix = span_in(memory, n, n);
    values.set_size(n);
    const CudaLease lease = cuda_sessions()->lease();
    send_matrix(lease, view_of(symmetric), matrix);
    lease.call(&voxridge_cuda_table::syevd, n, matrix.data, n, values.memptr());
    vectors.set_size(n, n);
    fetch_matrix<double>(lease, matrix, span_of(vectors));
  });
}

bool gpu_gemm(Trans trans_a, Trans trans_b, double alpha, MatrixView<double> a, MatrixView<double> b,
              MatrixSpan<double> c, const Control& control) {
  const int64_t inner = trans_a == Trans::no ? a.cols : a.rows;
  if (!worth(control, product_flops(c.rows, c.cols, inner))) return false;
  return attempt([&] {
    const std::shared_ptr<void> of_a = allocate(control, a.rows, a.cols), of_b = allocate(control, b.rows, b.cols),
                                of_c = allocate(control, c.rows, c.cols);
    const MatrixSpan<double> dev_a = span_in(of_a, a.rows, a.cols), dev_b = span_in(of_b, b.rows, b.cols),
                             dev_c = span_in(of_c, c.rows, c.cols);
    const CudaLease lease = cuda_sessions()->lease();
    send_matrix(lease, a, dev_a);
    send_matrix(lease, b, dev_b);
    lease.call(&voxridge_cuda_table::gemm, kCudaType<double>, trans_a == Trans::yes, trans_b == Trans::yes, c.rows,
               c.cols, inner, alpha, dev_a.data, dev_a.ld, dev_b.data, dev_b.ld, 0.0, dev_c.data, dev_c.ld);
    fetch_matrix<double>(lease, dev_c, c);
  });
}

arma::mat product(const arma::mat& a, Trans trans_b, const arma::mat& b, const Control& control) {
  arma::mat c(a.n_rows, trans_b == Trans::no ? b.n_cols : b.n_rows, arma::fill::none);
  if (gpu_gemm(Trans::no, trans_b, 1.0, view_of(a), view_of(b), span_of(c), control)) return c;
  if (trans_b == Trans::no) {
    c = a * b;
  } else {
    c = a * b.t();
  }
  return c;
}

}  // namespace voxridge
