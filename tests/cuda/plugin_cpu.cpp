// The plugin on the host: the same text as the CUDA plugin's, kernels and all, over the runtime of the tests. The
// package can be run on it in place of the real one.
#include "runtime_cpu.h"

#include "cuda/plugin.h"

extern "C" __attribute__((visibility("default"))) const voxridge_cuda_table* voxridge_cuda(void) {
  return voxridge_plugin::Plugin<voxridge_plugin::CpuRuntime>::table();
}
