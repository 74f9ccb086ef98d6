#include "descriptors.h"

#include <atomic>
#include <cstddef>
#include <limits>

#ifndef _WIN32
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace voxridge {

#ifdef _WIN32

bool keep_descriptor(int) {
  return true;
}
void forget_descriptor(int) {}
void close_descriptors_in_children() {}
int free_descriptors() {
  return std::numeric_limits<int>::max();
}

#else

namespace {

constexpr int kDescriptors = 1 << 16;
std::atomic<bool> kept[kDescriptors];

void close_all() {
  for (int i = 0; i < kDescriptors; ++i) {
    if (!kept[i].load(std::memory_order_relaxed)) continue;
    kept[i].store(false, std::memory_order_relaxed);
    close(i);
  }
}

}  // namespace

bool keep_descriptor(int descriptor) {
  if (descriptor < 0 || descriptor >= kDescriptors) return false;
  kept[descriptor].store(true, std::memory_order_relaxed);
  const int flags = fcntl(descriptor, F_GETFD);
  return flags >= 0 && fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) == 0;
}

void forget_descriptor(int descriptor) {
  if (descriptor >= 0 && descriptor < kDescriptors) kept[descriptor].store(false, std::memory_order_relaxed);
}

void close_descriptors_in_children() {
  static const int installed = pthread_atfork(nullptr, nullptr, close_all);
  (void)installed;
}

int free_descriptors() {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kDescriptors;
  const int most = limit.rlim_cur < static_cast<rlim_t>(kDescriptors) ? static_cast<int>(limit.rlim_cur) : kDescriptors;
  int used = 0;
  for (int i = 0; i < most; ++i) {
    if (fcntl(i, F_GETFD) >= 0) ++used;
  }
  return most - used;
}

#endif

}  // namespace voxridge
