#include "threads.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "blas.h"
#include "symbols.h"

namespace voxridge {

namespace {

using SetThreads = void (*)(int);
using GetThreads = int (*)();

struct BlasControl {
  const char* vendor;
  const char* set_name;
  const char* get_name;
};

// Accelerate only switches between one thread and all of them, so it counts as not controlled.
const BlasControl known_blas[] = {
    {"OpenBLAS", "openblas_set_num_threads", "openblas_get_num_threads"},
    {"MKL", "MKL_Set_Num_Threads", "MKL_Get_Max_Threads"},
    {"BLIS", "bli_thread_set_num_threads", "bli_thread_get_num_threads"},
};

struct FoundBlas {
  const char* vendor = "unknown";
  SetThreads set = nullptr;
  GetThreads get = nullptr;
};

// That of the library whose products are used: a preloaded one may stand before another that stays loaded.
FoundBlas find_blas() {
  const std::string used = library_of("dgemm_");
  FoundBlas found;
  for (const BlasControl& blas : known_blas) {
    const SetThreads set = find_function<SetThreads>(blas.set_name);
    const GetThreads get = find_function<GetThreads>(blas.get_name);
    if (set == nullptr || get == nullptr) continue;
    if (library_of(blas.set_name) == used) return {blas.vendor, set, get};
    if (found.set == nullptr) found = {blas.vendor, set, get};
  }
  return found;
}

// Only OpenBLAS tells.
std::string kind_of_threads(const FoundBlas& blas) {
  const bool tells = std::string(blas.vendor) == "OpenBLAS";
  const auto get = tells ? find_function<GetThreads>("openblas_get_parallel") : nullptr;
  switch (get != nullptr ? get() : -1) {
    case 0:
      return "serial";
    case 1:
      return "pthread";
    case 2:
      return "openmp";
  }
  return "unknown";
}

}  // namespace

BlasInfo blas_info() {
  const FoundBlas blas = find_blas();
  const int threads = blas.get != nullptr ? blas.get() : 1;
  return {blas.vendor, blas.set != nullptr, threads, single_blas_available(), kind_of_threads(blas)};
}

BlasThreads::BlasThreads(int n) : before_(0) {
  const FoundBlas blas = find_blas();
  if (blas.set == nullptr) return;
  before_ = blas.get();
  if (before_ != n) blas.set(n);
}

BlasThreads::~BlasThreads() {
  const FoundBlas blas = find_blas();
  if (blas.set != nullptr && before_ > 0 && blas.get() != before_) blas.set(before_);
}

void parallel_for(int64_t n_items, int n_threads, const std::function<void(int64_t, int)>& work) {
  const int n_workers = static_cast<int>(std::min<int64_t>(n_threads, n_items));
  if (n_workers <= 1) {
    for (int64_t item = 0; item < n_items; ++item) work(item, 0);
    return;
  }
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_lock;
  const auto run = [&](int worker) {
    for (int64_t item = next++; item < n_items; item = next++) {
      try {
        work(item, worker);
      } catch (...) {
        const std::lock_guard<std::mutex> guard(failure_lock);
        if (!failure) failure = std::current_exception();
        next = n_items;
      }
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(n_workers - 1);
  try {
    for (int worker = 1; worker < n_workers; ++worker) helpers.emplace_back(run, worker);
  } catch (const std::exception&) {
    // The system grants fewer threads, or no memory for more: the ones there are do all the work.
  }
  run(0);
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

void for_each_job(int64_t n_jobs, const Control& control, const std::function<void(int64_t, const Control&)>& work) {
  const int side_by_side = jobs_side_by_side(static_cast<size_t>(n_jobs), control.n_threads);
  Control inside = control;
  if (side_by_side > 1) {
    inside.n_threads = 1;
    inside.memory_bytes /= side_by_side;
  }
  const BlasThreads blas(1);
  parallel_for(n_jobs, side_by_side, [&](int64_t job, int) { work(job, inside); });
}

}  // namespace voxridge
