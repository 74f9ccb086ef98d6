// cuBLAS and cuSOLVER, looked for when they are first needed: the types come from the toolkit's headers, the addresses
// from dlsym, so the plugin loads where there are none and says so. Without cuBLAS there is no session; without cuSOLVER
// eigenvalue problems are left to the host.
//
// configure writes cuda_build.h with what it found in the toolkit:
//   VOXRIDGE_CUBLAS_NAMES         names of the shared library in the order to try: "libcublas.so.13", "..."
//   VOXRIDGE_CUSOLVER_NAMES       the same of cuSOLVER, which has numbers of its own: "libcusolver.so.12"
//   VOXRIDGE_CUDA_LIBDIR          the toolkit's folder of libraries
//   VOXRIDGE_CUDA_ARCHITECTURES   what nvcc was told to compile for: "75 80 86"
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "outcome.h"

#if defined(__has_include)
#if __has_include("cuda_build.h")
#include "cuda_build.h"
#endif
// The 64-bit interface came with CUDA 11.1; where a later library lacks it, the old one does for sizes of 32 bits.
#if __has_include(<cusolverDn.h>) && CUDART_VERSION >= 11010
#include <cusolverDn.h>
#define VOXRIDGE_HAS_CUSOLVER 1
#endif
#endif

#if CUDART_VERSION >= 13000
#define VOXRIDGE_DEFAULT_CUBLAS "libcublas.so.13"
#define VOXRIDGE_DEFAULT_CUSOLVER "libcusolver.so.12"
#elif CUDART_VERSION >= 12000
#define VOXRIDGE_DEFAULT_CUBLAS "libcublas.so.12"
#define VOXRIDGE_DEFAULT_CUSOLVER "libcusolver.so.11"
#else
#define VOXRIDGE_DEFAULT_CUBLAS "libcublas.so.11"
#define VOXRIDGE_DEFAULT_CUSOLVER "libcusolver.so.11"
#endif
#ifndef VOXRIDGE_CUBLAS_NAMES
#define VOXRIDGE_CUBLAS_NAMES VOXRIDGE_DEFAULT_CUBLAS
#endif
#ifndef VOXRIDGE_CUSOLVER_NAMES
#define VOXRIDGE_CUSOLVER_NAMES VOXRIDGE_DEFAULT_CUSOLVER
#endif
#ifndef VOXRIDGE_CUDA_LIBDIR
#define VOXRIDGE_CUDA_LIBDIR ""
#endif
#ifndef VOXRIDGE_CUDA_ARCHITECTURES
#define VOXRIDGE_CUDA_ARCHITECTURES ""
#endif

namespace voxridge_plugin {

// One of this process. It is looked for until it is found, and never closed.
class Library {
 public:
  bool found() const { return found_; }
  const char* path() const { return path_; }      // where it came from
  const char* reason() const { return reason_; }  // why it was not found

 protected:
  explicit Library(const char* title) : title_(title) {}
  ~Library() = default;

  // The addresses of all functions that are needed; false where one is missing.
  virtual bool bind_all(void* library) = 0;

  template <size_t n>
  void find(const char* const (&names)[n]) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (found_) return;
    reason_[0] = '\0';
    for (const char* name : names) {
      // Somebody's wish, then what the loader finds or has loaded already, then the toolkit of the build and others.
      if (try_folder(std::getenv("VOXRIDGE_CUDA_LIBDIR"), "", name) || try_path(name) ||
          try_folder(VOXRIDGE_CUDA_LIBDIR, "", name) || try_folder(std::getenv("CUDA_HOME"), "/lib64", name) ||
          try_folder(std::getenv("CUDA_PATH"), "/lib64", name) || try_folder("/usr/local/cuda", "/lib64", name)) {
        found_ = true;
        return;
      }
    }
  }

  template <class Function>
  static bool bind(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }

 private:
  bool try_folder(const char* folder, const char* below, const char* name) {
    if (folder == nullptr || *folder == '\0') return false;
    char path[sizeof path_];
    const int length = std::snprintf(path, sizeof path, "%s%s/%s", folder, below, name);
    return length > 0 && static_cast<size_t>(length) < sizeof path && try_path(path);
  }

  bool try_path(const char* path) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return because(path, dlerror());
    if (!bind_all(library)) {
      dlclose(library);
      return because(path, "lacks functions");
    }
    put_text(path_, sizeof path_, path);
    return true;
  }

  // The first failure says most: the later ones are guesses.
  bool because(const char* path, const char* what) {
    if (reason_[0] == '\0') {
      std::snprintf(reason_, sizeof reason_, "%s cannot be loaded: %s (%s)", title_,
                    what == nullptr ? "no reason" : what, path);
    }
    return false;
  }

  const char* const title_;
  std::mutex mutex_;
  bool found_ = false;
  char path_[400] = "";
  char reason_[500] = "";
};

class Cublas final : public Library {
 public:
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasSetMathMode) set_math_mode = nullptr;
  decltype(&cublasSgemm_v2) sgemm = nullptr;
  decltype(&cublasDgemm_v2) dgemm = nullptr;
  decltype(&cublasDsyrk_v2) dsyrk = nullptr;

  static Cublas& the_one() {
    static Cublas cublas;
    cublas.find({VOXRIDGE_CUBLAS_NAMES});
    return cublas;
  }

 private:
  Cublas() : Library("cuBLAS") {}
  bool bind_all(void* library) override {
    return bind(library, "cublasCreate_v2", create) && bind(library, "cublasDestroy_v2", destroy) &&
           bind(library, "cublasSetStream_v2", set_stream) && bind(library, "cublasSetMathMode", set_math_mode) &&
           bind(library, "cublasSgemm_v2", sgemm) && bind(library, "cublasDgemm_v2", dgemm) &&
           bind(library, "cublasDsyrk_v2", dsyrk);
  }
};

#ifdef VOXRIDGE_HAS_CUSOLVER
class Cusolver final : public Library {
 public:
  decltype(&cusolverDnCreate) create = nullptr;
  decltype(&cusolverDnDestroy) destroy = nullptr;
  decltype(&cusolverDnSetStream) set_stream = nullptr;
  decltype(&cusolverDnDsyevd_bufferSize) dsyevd_size = nullptr;
  decltype(&cusolverDnDsyevd) dsyevd = nullptr;
  // Of the 64-bit interface; all or none.
  decltype(&cusolverDnCreateParams) create_settings = nullptr;
  decltype(&cusolverDnDestroyParams) destroy_settings = nullptr;
  decltype(&cusolverDnXsyevd_bufferSize) xsyevd_size = nullptr;
  decltype(&cusolverDnXsyevd) xsyevd = nullptr;
  bool wide() const { return wide_; }

  static Cusolver& the_one() {
    static Cusolver cusolver;
    cusolver.find({VOXRIDGE_CUSOLVER_NAMES});
    return cusolver;
  }

 private:
  Cusolver() : Library("cuSOLVER") {}
  bool bind_all(void* library) override {
    wide_ = bind(library, "cusolverDnCreateParams", create_settings) &&
            bind(library, "cusolverDnDestroyParams", destroy_settings) &&
            bind(library, "cusolverDnXsyevd_bufferSize", xsyevd_size) && bind(library, "cusolverDnXsyevd", xsyevd);
    return bind(library, "cusolverDnCreate", create) && bind(library, "cusolverDnDestroy", destroy) &&
           bind(library, "cusolverDnSetStream", set_stream) &&
           bind(library, "cusolverDnDsyevd_bufferSize", dsyevd_size) && bind(library, "cusolverDnDsyevd", dsyevd);
  }

  bool wide_ = false;
};
#endif

}  // namespace voxridge_plugin
