#include "device_rates.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "device.h"
#include "threads.h"

namespace voxridge {

namespace {

constexpr int64_t kHostSize = 512, kDeviceSize = 2048, kRepeats = 3;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::max(1e-9, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

// The best of a few: the first run also wakes the device.
template <class T>
DeviceRates measure_rates(const Control& control) {
  const BlasThreads blas(1);
  const std::unique_ptr<Device<T>> device = make_device<T>(control);
  const int64_t n = device->in_place() ? kHostSize : kDeviceSize;
  const std::vector<double> host(n * n, 1.0);
  std::vector<double> back(n * n);
  Buffer<T> a_memory, b_memory, c_memory;
  const MatrixSpan<T> a = device->reserve(a_memory, n, n), b = device->reserve(b_memory, n, n),
                      c = device->reserve(c_memory, n, n);
  DeviceRates best;
  for (int64_t k = 0; k < kRepeats; ++k) {
    control.check_stop();
    const double copy = seconds_of([&] {
      device->upload({host.data(), n, n, n}, a);
      device->upload({host.data(), n, n, n}, b);
    });
    const double product = seconds_of([&] {
      device->gemm(Trans::no, Trans::no, T(1), a, b, T(0), c);
      device->download(MatrixView<T>(c).block(0, 0, 1, 1), {back.data(), 1, 1, 1});  // waits for it
    });
    const double size = static_cast<double>(n);
    best.flops = std::max(best.flops, 2 * size * size * size / product);
    if (!device->in_place()) best.bytes = std::max(best.bytes, 2 * sizeof(T) * size * size / copy);
  }
  return best;
}

template DeviceRates measure_rates<float>(const Control&);
template DeviceRates measure_rates<double>(const Control&);

}  // namespace voxridge
