// Tells which seconds of a run other work disturbed: one thread per processor, bound to it, that wants to wake up every
// millisecond and notes how late it does. So long would a server have waited there, too.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "serving_connections.h"

class Probes {
 public:
  static constexpr double late_s = 0.0002;

  // Windows of a second, the first from `start` on; the threads end with the last one.
  Probes(double start, int windows) : start_(start), windows_(windows) {
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &all)) late_.emplace_back(static_cast<size_t>(windows));
    for (int cpu = 0, k = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &all))
        threads_.emplace_back(&Probes::run, this, cpu, std::ref(late_[static_cast<size_t>(k++)]));
  }
  ~Probes() { finish(); }

  // After the last window: whether more than `share` of the wake-ups of any processor were late.
  bool disturbed(int window, double share) const {
    for (const auto& one : late_)
      if (one[static_cast<size_t>(window)] > share * 1000) return true;
    return false;
  }
  void finish() {
    stop_ = true;
    for (auto& thread : threads_)
      if (thread.joinable()) thread.join();
  }

 private:
  void run(int cpu, std::vector<int>& late) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    prctl(PR_SET_TIMERSLACK, 1UL);
    for (int i = 0; i < 1000 * windows_ && !stop_; ++i) {
      const double due = start_ + i / 1000.0;
      timespec time{};
      time.tv_sec = static_cast<time_t>(due);
      time.tv_nsec = static_cast<long>((due - std::floor(due)) * 1e9);
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
      late[static_cast<size_t>(i / 1000)] += now() - due > late_s;
    }
  }

  const double start_;
  const int windows_;
  std::atomic<bool> stop_{false};
  std::vector<std::vector<int>> late_;  // one per processor
  std::vector<std::thread> threads_;
};
