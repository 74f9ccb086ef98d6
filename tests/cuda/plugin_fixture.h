// The table of the plugin under test, and a session that must end clean.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include "harness.h"
#include "runtime_cpu.h"

#include "cuda/plugin.h"

namespace plugin_test {

using voxridge_plugin::Simulation;

// The shim's, or that of the plugin which VOXRIDGE_TEST_PLUGIN names.
inline const voxridge_cuda_table& table() {
  static const voxridge_cuda_table* const the_one = [] {
    const char* path = std::getenv("VOXRIDGE_TEST_PLUGIN");
    if (path == nullptr) return voxridge_plugin::Plugin<voxridge_plugin::CpuRuntime>::table();
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void* entry = library == nullptr ? nullptr : dlsym(library, VOXRIDGE_CUDA_ENTRY);
    if (entry == nullptr) {
      std::printf("%s\n", dlerror());
      std::exit(2);
    }
    return reinterpret_cast<voxridge_cuda_entry>(entry)();
  }();
  return *the_one;
}

template <class T>
constexpr int kType = sizeof(T) == 4 ? VOXRIDGE_F32 : VOXRIDGE_F64;

inline size_t living_blocks() {
  return Simulation::the_one().device.size() + Simulation::the_one().host.size();
}

// Once the last one is closed, no block of memory may be left.
struct Opened {
  voxridge_cuda_session* session = nullptr;
  inline static int open = 0;
  Opened() {
    ++open;
    char text[512] = "";
    EXPECT(table().open(&session, text, sizeof text) == VOXRIDGE_OK);
  }
  ~Opened() {
    table().close(session);
    if (--open == 0) EXPECT(living_blocks() == 0);
  }
  operator voxridge_cuda_session*() const { return session; }
  std::string text() const { return table().text(session); }
};

// A matrix on the device.
template <class T>
class OnDevice {
 public:
  OnDevice(voxridge_cuda_session* session, const Matrix<T>& host) : session_(session), ld_(host.ld) {
    const size_t bytes = sizeof(T) * static_cast<size_t>(host.ld * host.cols);
    EXPECT(table().allocate(session, bytes, &data_) == VOXRIDGE_OK);
    EXPECT(table().to_device(session, kType<T>, host.data.data(), host.ld, host.rows, host.cols, data_, ld_, 0) ==
           VOXRIDGE_OK);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { table().release(session_, data_); }
  void* data() const { return data_; }
  int64_t ld() const { return ld_; }
  Matrix<T> back(int64_t rows, int64_t cols) const {
    Matrix<T> host(rows, cols);
    EXPECT(table().to_host(session_, kType<T>, data_, ld_, rows, cols, host.data.data(), host.ld, 0) == VOXRIDGE_OK);
    return host;
  }

 private:
  voxridge_cuda_session* session_;
  int64_t ld_;
  void* data_ = nullptr;
};

}  // namespace plugin_test
