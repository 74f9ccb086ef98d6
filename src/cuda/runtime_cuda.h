// The CUDA runtime, as session.h wants it.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include "kernels.h"
#include "libraries.h"
#include "outcome.h"
#include "session.h"
#include "solver_cuda.h"

namespace voxridge_plugin {

class CudaRuntime {
 public:
  static constexpr int kDevice = 0;  // CUDA_VISIBLE_DEVICES says which one that is

  CudaRuntime() = default;
  CudaRuntime(const CudaRuntime&) = delete;
  CudaRuntime& operator=(const CudaRuntime&) = delete;
  ~CudaRuntime() {
    for (const cudaEvent_t event : events_) {
      if (event != nullptr) cudaEventDestroy(event);
    }
    if (blas_ != nullptr) Cublas::the_one().destroy(blas_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  static void describe(voxridge_cuda_info* out) {
    put_text(out->architectures, sizeof out->architectures, VOXRIDGE_CUDA_ARCHITECTURES);
    cudaDriverGetVersion(&out->driver_version);
    cudaRuntimeGetVersion(&out->runtime_version);
    const Outcome outcome = describe_device(out);
    if (!outcome.ok()) {
      std::snprintf(out->reason, sizeof out->reason, "%s (%s)", outcome.what, outcome.where);
      return;
    }
    const Cublas& cublas = Cublas::the_one();
    put_text(out->libraries, sizeof out->libraries, cublas.path());
    if (!cublas.found()) return put_text(out->reason, sizeof out->reason, cublas.reason());
    out->available = 1;
  }

  static bool find_solver(char (&text)[kTextSize]) { return CudaSolver::find(text); }

  Outcome start() {
    const Cublas& cublas = Cublas::the_one();
    if (!cublas.found()) return {VOXRIDGE_UNAVAILABLE, "", cublas.reason()};
    VOXRIDGE_TRY(check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, kDevice), "device"));
    VOXRIDGE_TRY(check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream"));
    for (cudaEvent_t& event : events_) {
      VOXRIDGE_TRY(check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "event"));
    }
    VOXRIDGE_TRY(check(cublas.create(&blas_)));
    VOXRIDGE_TRY(check(cublas.set_stream(blas_, stream_)));
    // No TF32 and no other emulation of single precision.
    return check(cublas.set_math_mode(blas_, CUBLAS_DEFAULT_MATH));
  }

  Outcome use() { return check(cudaSetDevice(kDevice), "device"); }
  Outcome synchronize() { return check(cudaStreamSynchronize(stream_), "device"); }
  Outcome mark(int slot) { return check(cudaEventRecord(events_[slot], stream_), "event"); }
  Outcome wait(int slot) { return check(cudaEventSynchronize(events_[slot]), "event"); }
  int multiprocessors() const { return multiprocessors_; }

  Outcome allocate(size_t bytes, void** out) { return check(cudaMalloc(out, bytes), "memory of the device"); }
  void release(void* data) { cudaFree(data); }

  // Where no page-locked memory is to be had, ordinary memory does: copies from it are only slower.
  Outcome allocate_host(size_t bytes, void** out) {
    if (cudaMallocHost(out, bytes) == cudaSuccess) return {};
    cudaGetLastError();
    ordinary_.reserve(ordinary_.size() + 1);
    *out = std::malloc(bytes);
    if (*out == nullptr) return {VOXRIDGE_NO_MEMORY, "memory of the host", "an allocation failed"};
    ordinary_.push_back(*out);
    return {};
  }
  void release_host(void* data) {
    const auto found = std::find(ordinary_.begin(), ordinary_.end(), data);
    if (found == ordinary_.end()) {
      cudaFreeHost(data);
    } else {
      std::free(data);
      ordinary_.erase(found);
    }
  }

  Outcome copy_in(const Copy& copy) { return run_copy(copy, cudaMemcpyHostToDevice, "copy to the device"); }
  Outcome copy_out(const Copy& copy) { return run_copy(copy, cudaMemcpyDeviceToHost, "copy to the host"); }

  Outcome gemm(bool transpose_a, bool transpose_b, int m, int n, int k, double alpha, const double* a, int lda,
               const double* b, int ldb, double beta, double* c, int ldc) {
    return check(Cublas::the_one().dgemm(blas_, operation(transpose_a), operation(transpose_b), m, n, k, &alpha, a, lda,
                                         b, ldb, &beta, c, ldc));
  }
  Outcome gemm(bool transpose_a, bool transpose_b, int m, int n, int k, float alpha, const float* a, int lda,
               const float* b, int ldb, float beta, float* c, int ldc) {
    return check(Cublas::the_one().sgemm(blas_, operation(transpose_a), operation(transpose_b), m, n, k, &alpha, a, lda,
                                         b, ldb, &beta, c, ldc));
  }

  Outcome syrk(bool transpose, int n, int k, double alpha, const double* a, int lda, double beta, double* c, int ldc) {
    return check(Cublas::the_one().dsyrk(blas_, CUBLAS_FILL_MODE_LOWER, operation(transpose), n, k, &alpha, a, lda,
                                         &beta, c, ldc));
  }

  Outcome eigen_bytes(const EigenProblem& problem, size_t* bytes) {
    return after_solver(solver_.workspace(problem, stream_, bytes));
  }
  Outcome eigen(const EigenProblem& problem, double* values, int* info, void* work, size_t bytes) {
    return after_solver(solver_.solve(problem, values, info, work, bytes));
  }

  // The arguments are converted to the kernel's parameters.
  template <class T>
  struct Same {
    using type = T;
  };
  template <class... Parameters>
  Outcome launch(void (*kernel)(Parameters...), Grid grid, typename Same<Parameters>::type... arguments) {
    void* pointers[] = {&arguments...};
    return check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(grid.x, grid.y), dim3(kThreads), pointers,
                                  0, stream_),
                 "kernel");
  }

 private:
  static cublasOperation_t operation(bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; }

  // The runtime keeps the last failure; it is cleared, so that later calls tell of their own.
  static Outcome check(cudaError_t error, const char* where) {
    if (error == cudaSuccess) return {};
    cudaGetLastError();
    const int code = error == cudaErrorMemoryAllocation ? VOXRIDGE_NO_MEMORY : VOXRIDGE_FAILED;
    return {code, where, cudaGetErrorString(error)};
  }

  static Outcome check(cublasStatus_t status) {
    switch (status) {
      case CUBLAS_STATUS_SUCCESS:
        return {};
      case CUBLAS_STATUS_ALLOC_FAILED:
        return {VOXRIDGE_NO_MEMORY, "cuBLAS", "an allocation failed"};
      case CUBLAS_STATUS_INVALID_VALUE:
        return {VOXRIDGE_INVALID, "cuBLAS", "an argument is out of range"};
      case CUBLAS_STATUS_NOT_INITIALIZED:
        return {VOXRIDGE_UNAVAILABLE, "cuBLAS", "could not be initialised; is the memory of the device full?"};
      case CUBLAS_STATUS_ARCH_MISMATCH:
        return {VOXRIDGE_UNAVAILABLE, "cuBLAS", "does not know this device"};
      case CUBLAS_STATUS_EXECUTION_FAILED:
        return {VOXRIDGE_FAILED, "cuBLAS", "a kernel failed"};
      default:
        return {VOXRIDGE_FAILED, "cuBLAS", "an internal error"};
    }
  }

  // A failure of the solver is one of the device only where the device says so, too.
  Outcome after_solver(const Outcome& outcome) {
    if (!outcome.ok()) VOXRIDGE_TRY(check(cudaStreamSynchronize(stream_), "cuSOLVER"));
    return outcome;
  }

  static Outcome describe_device(voxridge_cuda_info* out) {
    if (out->driver_version == 0) return {VOXRIDGE_UNAVAILABLE, "driver", "no NVIDIA driver is installed"};
    VOXRIDGE_TRY(check(cudaGetDeviceCount(&out->device_count), "devices"));
    if (out->device_count == 0) return {VOXRIDGE_UNAVAILABLE, "devices", "no CUDA device is visible"};
    out->device = kDevice;
    const struct {
      cudaDeviceAttr attribute;
      int* value;
    } wanted[] = {{cudaDevAttrComputeCapabilityMajor, &out->major},
                  {cudaDevAttrComputeCapabilityMinor, &out->minor},
                  {cudaDevAttrMultiProcessorCount, &out->n_multiprocessors},
                  {cudaDevAttrSingleToDoublePrecisionPerfRatio, &out->fp64_ratio}};
    for (const auto& want : wanted) {
      VOXRIDGE_TRY(check(cudaDeviceGetAttribute(want.value, want.attribute, kDevice), "attributes"));
    }
    cudaDeviceProp properties;
    VOXRIDGE_TRY(check(cudaGetDeviceProperties(&properties, kDevice), "properties"));
    put_text(out->name, sizeof out->name, properties.name);
    VOXRIDGE_TRY(check(cudaSetDevice(kDevice), "device"));
    size_t free_bytes = 0, total_bytes = 0;
    VOXRIDGE_TRY(check(cudaMemGetInfo(&free_bytes, &total_bytes), "memory"));
    out->memory_free = static_cast<double>(free_bytes);
    out->memory_total = static_cast<double>(total_bytes);
    // Is there code for this device among what was compiled?
    cudaFuncAttributes attributes;
    const auto kernel = reinterpret_cast<const void*>(
        static_cast<void (*)(DeviceMatrix<const float>, DeviceMatrix<const float>, int64_t, int64_t,
                             DeviceMatrix<float>)>(kernels::subtract<float>));
    return check(cudaFuncGetAttributes(&attributes, kernel), "kernels compiled for " VOXRIDGE_CUDA_ARCHITECTURES);
  }

  // In one piece where the columns touch; else with strides, which the runtime takes up to 2 GB; else by columns.
  Outcome run_copy(const Copy& copy, cudaMemcpyKind kind, const char* where) {
    const auto size = [](int64_t n) { return static_cast<size_t>(n); };
    if (copy.one_piece()) {
      return check(cudaMemcpyAsync(copy.to, copy.from, size(copy.bytes) * size(copy.cols), kind, stream_), where);
    }
    if (std::max(copy.to_ld, copy.from_ld) <= std::numeric_limits<int32_t>::max()) {
      return check(cudaMemcpy2DAsync(copy.to, size(copy.to_ld), copy.from, size(copy.from_ld), size(copy.bytes),
                                     size(copy.cols), kind, stream_),
                   where);
    }
    for (int64_t j = 0; j < copy.cols; ++j) {
      VOXRIDGE_TRY(check(
          cudaMemcpyAsync(static_cast<char*>(copy.to) + j * copy.to_ld,
                          static_cast<const char*>(copy.from) + j * copy.from_ld, size(copy.bytes), kind, stream_),
          where));
    }
    return {};
  }

  cudaStream_t stream_ = nullptr;
  cudaEvent_t events_[VOXRIDGE_SLOTS] = {};
  cublasHandle_t blas_ = nullptr;
  CudaSolver solver_;
  int multiprocessors_ = 0;
  std::vector<void*> ordinary_;
};

}  // namespace voxridge_plugin
