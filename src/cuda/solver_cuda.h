// Symmetric eigenvalue problems by cuSOLVER: opened by a session when it first has one. Where the toolkit of the build
// had no cuSOLVER there is none.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "libraries.h"
#include "outcome.h"
#include "session.h"

namespace voxridge_plugin {

#ifdef VOXRIDGE_HAS_CUSOLVER

class CudaSolver {
 public:
  CudaSolver() = default;
  CudaSolver(const CudaSolver&) = delete;
  CudaSolver& operator=(const CudaSolver&) = delete;
  ~CudaSolver() {
    if (settings_ != nullptr) Cusolver::the_one().destroy_settings(settings_);
    if (handle_ != nullptr) Cusolver::the_one().destroy(handle_);
  }

  static bool find(char (&text)[kTextSize]) {
    const Cusolver& cusolver = Cusolver::the_one();
    put_text(text, kTextSize, cusolver.found() ? cusolver.path() : cusolver.reason());
    return cusolver.found();
  }

  // Bytes of the device that solve() needs.
  Outcome workspace(const EigenProblem& problem, cudaStream_t stream, size_t* bytes) {
    VOXRIDGE_TRY(start(stream));
    const Cusolver& cusolver = Cusolver::the_one();
    if (cusolver.wide()) {
      size_t of_host = 0;
      VOXRIDGE_TRY(check(cusolver.xsyevd_size(handle_, settings_, kVectors, kLower, problem.n, CUDA_R_64F, problem.a,
                                              problem.lda, CUDA_R_64F, problem.a, CUDA_R_64F, bytes, &of_host)));
      of_host_.resize(of_host);
      return {};
    }
    if (problem.n > kLargest || problem.lda > std::numeric_limits<int32_t>::max()) {
      return {VOXRIDGE_UNAVAILABLE, "cuSOLVER", "this one has no 64-bit sizes"};
    }
    int count = 0;
    VOXRIDGE_TRY(check(cusolver.dsyevd_size(handle_, kVectors, kLower, static_cast<int>(problem.n), problem.a,
                                            static_cast<int>(problem.lda), problem.a, &count)));
    *bytes = sizeof(double) * static_cast<size_t>(count);
    return {};
  }

  Outcome solve(const EigenProblem& problem, double* values, int* info, void* work, size_t bytes) {
    const Cusolver& cusolver = Cusolver::the_one();
    if (cusolver.wide()) {
      return check(cusolver.xsyevd(handle_, settings_, kVectors, kLower, problem.n, CUDA_R_64F, problem.a, problem.lda,
                                   CUDA_R_64F, values, CUDA_R_64F, work, bytes, of_host_.data(), of_host_.size(),
                                   info));
    }
    return check(cusolver.dsyevd(handle_, kVectors, kLower, static_cast<int>(problem.n), problem.a,
                                 static_cast<int>(problem.lda), values, static_cast<double*>(work),
                                 static_cast<int>(bytes / sizeof(double)), info));
  }

 private:
  static constexpr cusolverEigMode_t kVectors = CUSOLVER_EIG_MODE_VECTOR;
  static constexpr cublasFillMode_t kLower = CUBLAS_FILL_MODE_LOWER;
  static constexpr int64_t kLargest = 23000;  // whose workspace of some 3 n^2 the old interface can count

  Outcome start(cudaStream_t stream) {
    const Cusolver& cusolver = Cusolver::the_one();
    if (!cusolver.found()) return {VOXRIDGE_UNAVAILABLE, "", cusolver.reason()};
    if (handle_ == nullptr) VOXRIDGE_TRY(check(cusolver.create(&handle_)));
    if (settings_ == nullptr && cusolver.wide()) VOXRIDGE_TRY(check(cusolver.create_settings(&settings_)));
    return check(cusolver.set_stream(handle_, stream));
  }

  static Outcome check(cusolverStatus_t status) {
    switch (status) {
      case CUSOLVER_STATUS_SUCCESS:
        return {};
      case CUSOLVER_STATUS_ALLOC_FAILED:
        return {VOXRIDGE_NO_MEMORY, "cuSOLVER", "an allocation failed"};
      case CUSOLVER_STATUS_NOT_INITIALIZED:
        return {VOXRIDGE_UNAVAILABLE, "cuSOLVER", "could not be initialised; is the memory of the device full?"};
      case CUSOLVER_STATUS_INVALID_VALUE:
      case CUSOLVER_STATUS_NOT_SUPPORTED:
        return {VOXRIDGE_UNAVAILABLE, "cuSOLVER", "does not take this problem"};
      case CUSOLVER_STATUS_ARCH_MISMATCH:
        return {VOXRIDGE_UNAVAILABLE, "cuSOLVER", "does not know this device"};
      default:
        return {VOXRIDGE_NO_SOLUTION, "cuSOLVER", "an internal error"};
    }
  }

  cusolverDnHandle_t handle_ = nullptr;
  cusolverDnParams_t settings_ = nullptr;
  std::vector<char> of_host_;
};

#else

class CudaSolver {
 public:
  static bool find(char (&text)[kTextSize]) {
    put_text(text, kTextSize, kNone);
    return false;
  }
  Outcome workspace(const EigenProblem&, cudaStream_t, size_t*) { return {VOXRIDGE_UNAVAILABLE, "cuSOLVER", kNone}; }
  Outcome solve(const EigenProblem&, double*, int*, void*, size_t) { return {VOXRIDGE_UNAVAILABLE, "cuSOLVER", kNone}; }

 private:
  static constexpr const char* kNone = "the toolkit that the plugin was built with had no cuSOLVER";
};

#endif

}  // namespace voxridge_plugin
