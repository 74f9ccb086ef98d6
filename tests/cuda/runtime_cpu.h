// A runtime for the plugin on the host, for tests (see session.h for what it must supply). "Device" memory is the
// host's. Like a stream of the device it may run late: what is asked for is done when somebody waits, so that memory
// written too early shows. Allocations can be made to fail.
#pragma once

#include "cuda_on_cpu.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>

#include "cuda/session.h"

extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*,
            const float*, const int*, const float*, float*, const int*);
void dsyrk_(const char*, const char*, const int*, const int*, const double*, const double*, const int*, const double*,
            double*, const int*);
void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*, const int*,
             int*);
}

namespace voxridge_plugin {

// Memory that faults when it is touched while no work of the device runs, as memory of a real device would.
class GuardedMemory {
 public:
  void* take(size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const size_t pages = (bytes + kPage - 1) / kPage * kPage;
    void* const data = mmap(nullptr, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return nullptr;
    std::memset(data, 0xFF, bytes);
    if (running_ == 0) mprotect(data, pages, PROT_NONE);
    blocks_[data] = pages;
    return data;
  }
  void give_back(void* data) {
    const std::lock_guard<std::mutex> lock(mutex_);
    munmap(data, blocks_[data]);
    blocks_.erase(data);
  }
  // Open while at least one piece of work runs.
  void enter() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (running_++ == 0) protect(PROT_READ | PROT_WRITE);
  }
  void leave() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--running_ == 0) protect(PROT_NONE);
  }

 private:
  static constexpr size_t kPage = 4096;
  void protect(int how) {
    for (const auto& block : blocks_) mprotect(block.first, block.second, how);
  }
  std::mutex mutex_;
  std::map<void*, size_t> blocks_;
  int running_ = 0;
};

// How the solver of eigenvalue problems behaves: it works, is not there, has not enough memory, does not converge, or
// returns an error. VOXRIDGE_SHIM_SOLVER names it.
enum class Solver { works, missing, memory, fails, error };

// What tests look at and change. VOXRIDGE_SHIM_MEMORY: bytes that the device has (default 8 GB). VOXRIDGE_SHIM_GUARD,
// set to anything: memory of the device is guarded.
struct Simulation {
  const bool guarded = std::getenv("VOXRIDGE_SHIM_GUARD") != nullptr;
  GuardedMemory guard;

  std::mutex mutex;
  std::map<void*, size_t> device, host;  // living blocks
  long allocations = 0;                  // since the counter was set to 0
  long fail_first = -1, fail_last = -1;  // the allocations with these numbers, counted from 0, fail
  size_t device_bytes = 0;
  // Since the process began: bytes copied to the device and back, and calls.
  std::atomic<int64_t> bytes_in{0}, bytes_out{0}, grams{0}, solved{0};
  Solver solver = solver_named(std::getenv("VOXRIDGE_SHIM_SOLVER"));
  // Products of matrices are a little wrong. VOXRIDGE_SHIM_INEXACT, set to anything.
  const bool inexact = std::getenv("VOXRIDGE_SHIM_INEXACT") != nullptr;
  // Every call fails as after an error of the device. VOXRIDGE_SHIM_BROKEN, set to anything, begins so.
  std::atomic<bool> broken{std::getenv("VOXRIDGE_SHIM_BROKEN") != nullptr};

  static Simulation& the_one() {
    static Simulation simulation;
    return simulation;
  }
  static Solver solver_named(const char* name) {
    const std::string names[] = {"works", "missing", "memory", "fails", "error"};
    for (int k = 1; name != nullptr && k < 5; ++k) {
      if (names[k] == name) return static_cast<Solver>(k);
    }
    return Solver::works;
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
    const bool guard_it = on_device && guarded;
    void* data = guard_it ? guard.take(bytes) : std::malloc(bytes);
    if (data == nullptr) return failure;
    if (!guard_it) std::memset(data, 0xFF, bytes);
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
    &blocks == &device&& guarded ? guard.give_back(data) : std::free(data);
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
    std::snprintf(out->libraries, sizeof out->libraries, "the BLAS of the host; in %lld, out %lld, syrk %lld, syevd %lld",
                  static_cast<long long>(simulation.bytes_in), static_cast<long long>(simulation.bytes_out),
                  static_cast<long long>(simulation.grams), static_cast<long long>(simulation.solved));
  }

  static bool find_solver(char (&text)[kTextSize]) {
    const bool found = Simulation::the_one().solver != Solver::missing;
    put_text(text, kTextSize, found ? "the LAPACK of the host" : "cuSOLVER cannot be loaded: the shim has none");
    return found;
  }

  Outcome start() { return state(); }
  Outcome use() { return {}; }
  int multiprocessors() const { return kMultiprocessors; }

  Outcome synchronize() { return run(begun_ + queue_.size()); }

  // Work is done no earlier than somebody waits for it, and no further than that.
  Outcome mark(int slot) {
    marks_[slot] = begun_ + queue_.size();
    return state();
  }
  Outcome wait(int slot) { return run(marks_[slot]); }

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
    Simulation::the_one().bytes_in += copy.bytes * copy.cols;
    return later([copy] { run_copy(copy); });
  }
  Outcome copy_out(const Copy& copy) {
    Simulation::the_one().bytes_out += copy.bytes * copy.cols;
    return later([copy] { run_copy(copy); });
  }

  Outcome gemm(bool ta, bool tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb,
               double beta, double* c, int ldc) {
    return later([=] {
      dgemm_(ta ? "T" : "N", tb ? "T" : "N", &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
      if (Simulation::the_one().inexact) c[0] *= 1 + 1e-6;
    });
  }
  Outcome gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
               float beta, float* c, int ldc) {
    return later([=] { sgemm_(ta ? "T" : "N", tb ? "T" : "N", &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc); });
  }

  Outcome syrk(bool transpose, int n, int k, double alpha, const double* a, int lda, double beta, double* c, int ldc) {
    ++Simulation::the_one().grams;
    return later([=] { dsyrk_("L", transpose ? "T" : "N", &n, &k, &alpha, a, &lda, &beta, c, &ldc); });
  }

  Outcome eigen_bytes(const EigenProblem& problem, size_t* bytes) {
    const Solver solver = Simulation::the_one().solver;
    if (solver == Solver::missing) return {VOXRIDGE_UNAVAILABLE, "", "cuSOLVER cannot be loaded: the shim has none"};
    if (solver == Solver::memory) return {VOXRIDGE_NO_MEMORY, "memory of the shim", "out of memory"};
    *bytes = sizeof(double) * static_cast<size_t>(1 + 6 * problem.n + 2 * problem.n * problem.n);
    return {};
  }

  Outcome eigen(const EigenProblem& problem, double* values, int* info, void* work, size_t bytes) {
    ++Simulation::the_one().solved;
    const Solver solver = Simulation::the_one().solver;
    if (solver == Solver::error) return {VOXRIDGE_NO_SOLUTION, "cuSOLVER", "an internal error"};
    return later([=] {
      const int n = static_cast<int>(problem.n), lda = static_cast<int>(problem.lda);
      const int size = static_cast<int>(bytes / sizeof(double)), int_size = 3 + 5 * n;
      std::vector<int> ints(static_cast<size_t>(int_size));
      dsyevd_("V", "L", &n, problem.a, &lda, values, static_cast<double*>(work), &size, ints.data(), &int_size, info);
      if (solver == Solver::fails) *info = 1;
    });
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

  Outcome run(size_t end) {
    Simulation& simulation = Simulation::the_one();
    if (simulation.guarded) simulation.guard.enter();
    for (; begun_ < end; ++begun_) {
      queue_.front()();
      queue_.pop_front();
    }
    if (simulation.guarded) simulation.guard.leave();
    return state();
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

  std::deque<std::function<void()>> queue_;
  size_t begun_ = 0;  // pieces of work so far
  size_t marks_[VOXRIDGE_SLOTS] = {};
};

}  // namespace voxridge_plugin
