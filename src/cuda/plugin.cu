// Stand-in until the device itself is here: answers info() and nothing else.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#include "abi.h"
#include "cuda_build.h"

namespace {

int info(voxridge_cuda_info* out) {
  memset(out, 0, sizeof *out);
  snprintf(out->architectures, sizeof out->architectures, "%s", VOXRIDGE_CUDA_ARCHITECTURES);
  cudaDriverGetVersion(&out->driver_version);
  cudaRuntimeGetVersion(&out->runtime_version);
  const cudaError_t code = cudaGetDeviceCount(&out->device_count);
  snprintf(out->reason, sizeof out->reason, "%s.", code == cudaSuccess ? "No device yet" : cudaGetErrorString(code));
  return VOXRIDGE_OK;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const voxridge_cuda_table* voxridge_cuda(void) {
  static voxridge_cuda_table table = {};
  table.abi = VOXRIDGE_CUDA_ABI;
  table.table_size = sizeof table;
  table.info = info;
  return &table;
}
