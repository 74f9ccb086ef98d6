// The GPU as a device of the core, by way of the plugin's table of C functions (src/cuda/abi.h).
//
// A call's buffers may take `limit_bytes` on the GPU. Threads share a few sessions (a stream and its library handle
// each): a thread keeps to one session, so its work is in order; what one thread has made for others (operators,
// factors) is complete when the function that makes it returns.
#pragma once

#include <memory>

#include "device.h"

namespace voxridge {

template <class T>
std::unique_ptr<Device<T>> cuda_device(double limit_bytes);

}  // namespace voxridge
