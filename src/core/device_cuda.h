// The GPU as a device of the core, by way of the plugin's table of C functions (src/cuda/abi.h).
//
// All that a call takes on the GPU comes out of one limited memory. Threads share a few sessions (a stream and its
// library handle each): a thread keeps to one session, so its work is in order; what one thread has made for others
// (operators, factors) is complete when the function that makes it returns.
#pragma once

#include <memory>

#include "cuda_sessions.h"
#include "device.h"

namespace voxridge {

template <class T>
std::unique_ptr<Device<T>> cuda_device(std::shared_ptr<CudaMemory> memory);

}  // namespace voxridge
