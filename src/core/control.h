// How a caller steers long work: a stop flag, a progress counter, threads and memory. No printing here.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "error.h"

namespace voxridge {

// Written by the working threads, read by whoever shows progress. Units are the caller's.
struct Progress {
  std::atomic<int64_t> done{0};
  std::atomic<int64_t> total{0};
};

// How many times `item` fits into `bytes`: at least `least`, at most `most`, for any numbers.
inline int64_t fitting(double bytes, double item, int64_t least, int64_t most) {
  const double count = item > 0 ? bytes / item : static_cast<double>(most);
  if (!(count > static_cast<double>(least))) return least;
  return count < static_cast<double>(most) ? static_cast<int64_t>(count) : most;
}

// About half a second of one core: as much arithmetic may lie between two looks at the stop flag.
constexpr double kFlopsBetweenStops = 2e10;

enum class DeviceKind { cpu, cuda };

class CudaMemory;

struct Control {
  const std::atomic<bool>* stop = nullptr;  // set by another thread to end the work early
  Progress* progress = nullptr;
  int n_threads = 1;
  double memory_bytes = 1e9;  // working memory beyond inputs and outputs; on a GPU at most its limit
  DeviceKind device = DeviceKind::cpu;
  std::shared_ptr<CudaMemory> gpu_memory;  // of a GPU, with the limit of this call (cuda_sessions.h)

  // Called at every look at the stop flag, from any of the working threads: how the flag is set where no other thread
  // is left to do so.
  std::function<void()> poll;

  // Called between blocks of less than about a second of work.
  void check_stop() const {
    if (poll) poll();
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) {
      throw Error(ErrorCode::interrupted, "interrupted");
    }
  }
  void expect(int64_t steps) const {
    if (progress != nullptr) progress->total += steps;
  }
  void advance(int64_t steps) const {
    if (progress != nullptr) progress->done += steps;
  }
};

}  // namespace voxridge
