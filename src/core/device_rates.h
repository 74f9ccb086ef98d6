// How fast a device is, by a product and a copy of a few milliseconds each, for the choice between devices.
#pragma once

#include "control.h"

namespace voxridge {

struct DeviceRates {
  double flops = 0;  // operations per second of matrix products, by one thread of the CPU or by the whole GPU
  double bytes = 0;  // per second between host and device; 0 for the CPU
};

template <class T>
DeviceRates measure_rates(const Control& control);

}  // namespace voxridge
