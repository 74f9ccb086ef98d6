// A thread of the server: signals go to the threads of before, and its CPU time can be read from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace voxridge {

class OwnThread {
 public:
  void start(std::function<void()> work);  // `work` must not throw
  void join();
  bool has_ended() const { return ended_.load(std::memory_order_acquire); }
  double cpu_seconds() const;

 private:
  std::thread thread_;
  std::atomic<bool> ended_{false};
  std::atomic<long> clock_{0};  // of the system, while the thread runs
  std::atomic<bool> has_clock_{false};
  std::atomic<double> spent_{0};  // when it had ended
};

}  // namespace voxridge
