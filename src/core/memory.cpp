#include "memory.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <new>
#include <sstream>
#include <string>

#ifndef _WIN32
#include <sys/resource.h>
#endif
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace voxridge {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// The number after `key` in a file of "key: number kB" lines, in bytes.
double read_kilobytes(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    std::istringstream rest(line.substr(key.size()));
    double value = 0;
    if (rest >> value) return 1024 * value;
  }
  return unknown;
}

double read_number(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? value : unknown;  // "max" is no number: no limit
}

// What the control group still allows (version 2, then version 1); NaN without a limit.
double control_group_room() {
  const std::string root = "/sys/fs/cgroup/";
  const double limit2 = read_number(root + "memory.max"), used2 = read_number(root + "memory.current");
  if (!std::isnan(limit2) && !std::isnan(used2)) return std::max(0.0, limit2 - used2);
  const double limit1 = read_number(root + "memory/memory.limit_in_bytes");
  const double used1 = read_number(root + "memory/memory.usage_in_bytes");
  if (std::isnan(limit1) || std::isnan(used1) || limit1 > 1e18) return unknown;
  return std::max(0.0, limit1 - used1);
}

}  // namespace

double memory_available() {
  const double machine = read_kilobytes("/proc/meminfo", "MemAvailable:");
  const double group = control_group_room();
  return std::isnan(group) ? machine : std::isnan(machine) ? group : std::min(machine, group);
}

double memory_resident() {
  return read_kilobytes("/proc/self/status", "VmRSS:");
}

double memory_peak() {
#ifdef _WIN32
  return unknown;
#else
  const double peak = read_kilobytes("/proc/self/status", "VmHWM:");
  if (!std::isnan(peak)) return peak;
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return unknown;
#ifdef __APPLE__
  return static_cast<double>(usage.ru_maxrss);
#else
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
#endif
#endif
}

namespace {

constexpr size_t kLargePage = size_t{1} << 21;

}  // namespace

void advise_large_pages(void* data, size_t bytes) {
#ifdef __linux__
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + kLargePage - 1) / kLargePage * kLargePage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(data) + bytes) / kLargePage * kLargePage;
  if (data != nullptr && begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
  (void)data;
  (void)bytes;
#endif
}

void* allocate_buffer(size_t bytes) {
#ifdef __linux__
  if (bytes >= 2 * kLargePage) {
    void* data = nullptr;
    if (posix_memalign(&data, kLargePage, bytes) != 0) throw std::bad_alloc();
    advise_large_pages(data, bytes);
    return data;
  }
#endif
  void* data = std::malloc(bytes > 0 ? bytes : 1);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

}  // namespace voxridge
