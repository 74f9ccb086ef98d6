// How much memory this machine, or the control group this process lives in, has to give.
#pragma once

#include <cstddef>

namespace voxridge {

// Bytes; NaN where the system does not tell.
double memory_available();
double memory_resident();  // of this process now
double memory_peak();      // largest resident size of this process so far

// Asks for large pages behind a block that is about to be filled for the first time: fewer page faults and fewer
// address look-ups. Only a hint, and only where the system knows it.
void advise_large_pages(void* data, size_t bytes);

// Uninitialised memory for large working buffers, with that hint given. Freed by free(); throws std::bad_alloc.
void* allocate_buffer(size_t bytes);

}  // namespace voxridge
