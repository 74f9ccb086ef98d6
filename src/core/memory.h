// How much memory this machine, or the control group this process lives in, has to give.
#pragma once

namespace voxridge {

// Bytes; NaN where the system does not tell.
double memory_available();
double memory_peak();  // largest resident size of this process so far

}  // namespace voxridge
