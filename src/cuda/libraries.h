// cuBLAS, looked for when the first session is opened: the types come from the toolkit's header, the addresses from
// dlsym, so the plugin loads where there is no cuBLAS and says so.
//
// configure writes cuda_build.h with what it found in the toolkit:
//   VOXRIDGE_CUBLAS_NAMES         names of the shared library in the order to try: "libcublas.so.13", "..."
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
#endif

#ifndef VOXRIDGE_CUBLAS_NAMES
#if CUDART_VERSION >= 13000
#define VOXRIDGE_CUBLAS_NAMES "libcublas.so.13"
#elif CUDART_VERSION >= 12000
#define VOXRIDGE_CUBLAS_NAMES "libcublas.so.12"
#else
#define VOXRIDGE_CUBLAS_NAMES "libcublas.so.11"
#endif
#endif
#ifndef VOXRIDGE_CUDA_LIBDIR
#define VOXRIDGE_CUDA_LIBDIR ""
#endif
#ifndef VOXRIDGE_CUDA_ARCHITECTURES
#define VOXRIDGE_CUDA_ARCHITECTURES ""
#endif

namespace voxridge_plugin {

// The functions of cuBLAS that the plugin uses.
class Cublas {
 public:
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasSetMathMode) set_math_mode = nullptr;
  decltype(&cublasSgemm_v2) sgemm = nullptr;
  decltype(&cublasDgemm_v2) dgemm = nullptr;

  // The one of this process. It is looked for until it is found, and never closed.
  static Cublas& the_one() {
    static Cublas cublas;
    cublas.find();
    return cublas;
  }

  bool found() const { return found_; }
  const char* path() const { return path_; }      // where it came from
  const char* reason() const { return reason_; }  // why it was not found

 private:
  void find() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (found_) return;
    reason_[0] = '\0';
    const char* const names[] = {VOXRIDGE_CUBLAS_NAMES};
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

  bool try_folder(const char* folder, const char* below, const char* name) {
    if (folder == nullptr || *folder == '\0') return false;
    char path[sizeof path_];
    const int length = std::snprintf(path, sizeof path, "%s%s/%s", folder, below, name);
    return length > 0 && static_cast<size_t>(length) < sizeof path && try_path(path);
  }

  bool try_path(const char* path) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return because(path, dlerror());
    if (!bind(library, "cublasCreate_v2", create) || !bind(library, "cublasDestroy_v2", destroy) ||
        !bind(library, "cublasSetStream_v2", set_stream) || !bind(library, "cublasSetMathMode", set_math_mode) ||
        !bind(library, "cublasSgemm_v2", sgemm) || !bind(library, "cublasDgemm_v2", dgemm)) {
      dlclose(library);
      return because(path, "lacks functions");
    }
    put_text(path_, sizeof path_, path);
    return true;
  }

  template <class Function>
  static bool bind(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }

  // The first failure says most: the later ones are guesses.
  bool because(const char* path, const char* what) {
    if (reason_[0] == '\0') {
      std::snprintf(reason_, sizeof reason_, "cuBLAS cannot be loaded: %s (%s)", what == nullptr ? "no reason" : what,
                    path);
    }
    return false;
  }

  std::mutex mutex_;
  bool found_ = false;
  char path_[400] = "";
  char reason_[500] = "";
};

}  // namespace voxridge_plugin
