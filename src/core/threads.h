// Threads of ours, and the threads of whatever BLAS is loaded. One level of parallelism at a time: either our
// threads run with a one-thread BLAS inside, or one thread calls a BLAS that uses all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "control.h"

namespace voxridge {

struct BlasInfo {
  std::string vendor;       // "OpenBLAS", "MKL", "BLIS", "Accelerate" or "unknown"
  bool threads_controlled;  // can its number of threads be set from here?
  int threads;              // now; 1 where unknown
  bool single;              // does it have sgemm?
  std::string parallel;     // "serial", "pthread", "openmp" or "unknown": what its threads are made of
};

BlasInfo blas_info();

// Sets the number of BLAS threads, and puts the old number back when it goes out of scope.
class BlasThreads {
 public:
  explicit BlasThreads(int n);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

 private:
  int before_;
};

// Calls work(item, worker) for items 0 .. n_items - 1 in increasing order of start, on up to n_threads threads
// (worker = 0 .. n_threads - 1). All threads are joined before it returns; the first exception is rethrown here and
// keeps further items from starting. With one thread everything runs on the caller's.
void parallel_for(int64_t n_items, int n_threads, const std::function<void(int64_t item, int worker)>& work);

// How many jobs run at a time, each with a BLAS of one thread: as many as there are threads where there are enough
// jobs, which beats a threaded BLAS, and else one, with all threads.
inline int jobs_side_by_side(size_t n_jobs, int n_threads) {
  return n_jobs >= static_cast<size_t>(n_threads) ? n_threads : 1;
}

// Calls work(job, control) for jobs 0 .. n_jobs - 1: side by side, with one thread and a share of the memory each,
// where there are at least as many jobs as threads, and otherwise one after the other with all of both. BLAS starts at
// one thread either way.
void for_each_job(int64_t n_jobs, const Control& control, const std::function<void(int64_t, const Control&)>& work);

}  // namespace voxridge
