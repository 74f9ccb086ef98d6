// The CUDA plugin: the table of abi.h over the CUDA runtime.
#include "plugin.h"
#include "runtime_cuda.h"

extern "C" __attribute__((visibility("default"))) const voxridge_cuda_table* voxridge_cuda(void) {
  return voxridge_plugin::Plugin<voxridge_plugin::CudaRuntime>::table();
}
