// A runtime for the plugin on the host, for tests (see session.h for what it must supply). "Device" memory is the
// host's. Like a stream of the device it may run late: what is asked for is done when somebody waits, so that memory
// written too early shows. Allocations can be made to fail.
#pragma once

#include "cuda_on_cpu.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>

#include "cuda/session.h"

extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*,
            const float*, const int*, const float*, float*, const int*);
}

namespace voxridge_plugin {

// What tests look at and change. VOXRIDGE_SHIM_MEMORY: bytes that the device has (default 8 GB).
struct Simulation {
  std::mutex mutex;
  std::map<void*, size_t> device, host;  // living blocks
  long allocations = 0;                  // since the counter was set to 0
  long fail_first = -1, fail_last = -1;  // the allocations with these numbers, counted from 0, fail
  size_t device_bytes = 0;
  std::atomic<bool> broken{false};  // every call fails as after an error of the device

  static Simulation& the_one() {
    static Simulation simulation;
    return simulation;
  }
  static double memory() {
    const char* bytes = std::getenv("VOXRIDGE_SHIM_MEMORY");
    return bytes == nullptr ? 8e9 : std::atof(bytes);
  }

  Outcome take(std::map<void*, size_t>& blocks, size_t bytes, void** out) {
    const std::lock_guard<std::mutex> lock(mutex);
    const long number = allocations++;
    const bool on_device = &blocks == &device;
    const Outcome failure = {VOXRIDGE_NO_MEMORY, "memory of the shim", "out of memory"};
    if (number >= fail_first && number <= fail_last) return failure;
    if (on_device && static_cast<double>(device_bytes + bytes) > memory()) return failure;
    void* data = std::malloc(bytes);
    if (data == nullptr) return failure;
    std::memset(data, 0xFF, bytes);
    blocks[data] = bytes;
    if (on_device) device_bytes += bytes;
    *out = data;
    return {};
  }
  void give_back(std::map<void*, size_t>& blocks, void* data) {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = blocks.find(data);
    if (found == blocks.end()) return;
    if (&blocks == &device) device_bytes -= found->second;
    blocks.erase(found);
    std::free(data);
  }
};

class CpuRuntime {
 public:
  static void describe(voxridge_cuda_info* out) {
    Simulation& simulation = Simulation::the_one();
    const std::lock_guard<std::mutex> lock(simulation.mutex);
    out->available = 1;
    out->driver_version = out->runtime_version = 13000;
    out->device_count = 1;
    out->major = 9;
    out->n_multiprocessors = kMultiprocessors;
    out->fp64_ratio = 2;
    out->memory_total = Simulation::memory();
    out->memory_free = out->memory_total - static_cast<double>(simulation.device_bytes);
    std::strcpy(out->name, "CPU shim");
    std::strcpy(out->architectures, "host");
    std::strcpy(out->libraries, "the BLAS of the host");
  }

  Outcome start() { return state(); }
  Outcome use() { return {}; }
  int multiprocessors() const { return kMultiprocessors; }

  Outcome synchronize() {
    for (const auto& work : queue_) work();
    queue_.clear();
    return state();
  }

  Outcome allocate(size_t bytes, void** out) {
    return Simulation::the_one().take(Simulation::the_one().device, bytes, out);
  }
  Outcome allocate_host(size_t bytes, void** out) {
    return Simulation::the_one().take(Simulation::the_one().host, bytes, out);
  }
  // As cudaFree does, these wait.
  void release(void* data) {
    synchronize();
    Simulation::the_one().give_back(Simulation::the_one().device, data);
  }
  void release_host(void* data) {
    synchronize();
    Simulation::the_one().give_back(Simulation::the_one().host, data);
  }

  Outcome copy_in(const Copy& copy) {
    return later([copy] { run_copy(copy); });
  }
  Outcome copy_out(const Copy& copy) {
    return later([copy] { run_copy(copy); });
  }

  Outcome gemm(bool ta, bool tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb,
               double beta, double* c, int ldc) {
    return later([=] { dgemm_(ta ? "T" : "N", tb ? "T" : "N", &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc); });
  }
  Outcome gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
               float beta, float* c, int ldc) {
    return later([=] { sgemm_(ta ? "T" : "N", tb ? "T" : "N", &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc); });
  }

  template <class T>
  struct Same {
    using type = T;
  };
  template <class... Parameters>
  Outcome launch(void (*kernel)(Parameters...), Grid grid, typename Same<Parameters>::type... arguments) {
    return later([=] { cuda_on_cpu::launch(grid.x, grid.y, kThreads, [=] { kernel(arguments...); }); });
  }

 private:
  static constexpr int kMultiprocessors = 1;

  static Outcome state() {
    if (!Simulation::the_one().broken) return {};
    return {VOXRIDGE_FAILED, "device", "an illegal memory access was encountered"};
  }

  Outcome later(std::function<void()> work) {
    queue_.push_back(std::move(work));
    return state();
  }

  static void run_copy(const Copy& copy) {
    for (int64_t j = 0; j < copy.cols; ++j) {
      std::memcpy(static_cast<char*>(copy.to) + j * copy.to_ld, static_cast<const char*>(copy.from) + j * copy.from_ld,
                  static_cast<size_t>(copy.bytes));
    }
  }

  std::vector<std::function<void()>> queue_;
};

}  // namespace voxridge_plugin
