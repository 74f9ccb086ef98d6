// The functions of the table that cuBLAS and cuSOLVER answer. Included by plugin.h.
#pragma once

namespace voxridge_plugin {

// A distance between columns: of matrices without rows it is 0, which BLAS does not take.
inline int narrow(int64_t size) {
  return static_cast<int>(size > 0 ? size : 1);
}

template <class Runtime>
int Plugin<Runtime>::gemm(Handle* handle, int type, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k,
                          double alpha, const void* a, int64_t lda, const void* b, int64_t ldb, double beta, void* c,
                          int64_t ldc) {
  return call_typed(handle, "gemm", type, [=](S& s, auto zero) -> Outcome {
    using T = decltype(zero);
    VOXRIDGE_TRY(s.checks.matrix("a", a, transpose_a ? k : m, transpose_a ? m : k, lda));
    VOXRIDGE_TRY(s.checks.matrix("b", b, transpose_b ? n : k, transpose_b ? k : n, ldb));
    VOXRIDGE_TRY(s.checks.matrix("c", c, m, n, ldc));
    VOXRIDGE_TRY(s.checks.blas_sizes({{"m", m}, {"n", n}, {"k", k}, {"lda", lda}, {"ldb", ldb}, {"ldc", ldc}}));
    if (m == 0 || n == 0) return {};
    return s.runtime.gemm(transpose_a != 0, transpose_b != 0, static_cast<int>(m), static_cast<int>(n),
                          static_cast<int>(k), static_cast<T>(alpha), static_cast<const T*>(a), narrow(lda),
                          static_cast<const T*>(b), narrow(ldb), static_cast<T>(beta), static_cast<T*>(c),
                          narrow(ldc));
  });
}

template <class Runtime>
int Plugin<Runtime>::syrk(Handle* handle, int transpose, int64_t n, int64_t k, double alpha, const void* a, int64_t lda,
                          double beta, void* c, int64_t ldc) {
  return call(handle, "syrk", [=](S& s) -> Outcome {
    VOXRIDGE_TRY(s.checks.matrix("a", a, transpose ? k : n, transpose ? n : k, lda));
    VOXRIDGE_TRY(s.checks.matrix("c", c, n, n, ldc));
    VOXRIDGE_TRY(s.checks.blas_sizes({{"n", n}, {"k", k}, {"lda", lda}, {"ldc", ldc}}));
    if (n == 0) return {};
    return s.runtime.syrk(transpose != 0, static_cast<int>(n), static_cast<int>(k), alpha,
                          static_cast<const double*>(a), narrow(lda), beta, static_cast<double*>(c), narrow(ldc));
  });
}

// The eigenvalues, the solver's answer and its workspace are one block of memory for the length of the call.
template <class Runtime>
int Plugin<Runtime>::syevd(Handle* handle, int64_t n, void* a, int64_t lda, double* values) {
  return call(handle, "syevd", [=](S& s) -> Outcome {
    VOXRIDGE_TRY(s.checks.matrix("a", a, n, n, lda));
    VOXRIDGE_TRY(s.checks.vector("values", values, n));
    if (n == 0) return {};
    const EigenProblem problem{n, static_cast<double*>(a), lda};
    size_t bytes = 0;
    VOXRIDGE_TRY(s.runtime.eigen_bytes(problem, &bytes));
    constexpr size_t kAlign = 256;
    const size_t of_values = (sizeof(double) * static_cast<size_t>(n) + kAlign - 1) / kAlign * kAlign;
    void* block = nullptr;
    VOXRIDGE_TRY(s.device.allocate(of_values + kAlign + bytes, &block));
    char* const place = static_cast<char*>(block);
    const auto solve = [&]() -> Outcome {
      const auto dev_values = reinterpret_cast<double*>(place);
      const auto dev_info = reinterpret_cast<int*>(place + of_values);
      VOXRIDGE_TRY(s.runtime.eigen(problem, dev_values, dev_info, place + of_values + kAlign, bytes));
      const int64_t size = static_cast<int64_t>(sizeof(double)) * n;
      int info = 0;
      VOXRIDGE_TRY(s.runtime.copy_out({values, size, dev_values, size, size, 1}));
      VOXRIDGE_TRY(s.runtime.copy_out({&info, sizeof info, dev_info, sizeof info, sizeof info, 1}));
      VOXRIDGE_TRY(s.runtime.synchronize());
      if (info == 0) return {};
      return {VOXRIDGE_NO_SOLUTION, "cuSOLVER", "the eigenvalue problem did not converge"};
    };
    const Outcome outcome = solve();
    s.device.release(block);
    return outcome;
  });
}

}  // namespace voxridge_plugin
