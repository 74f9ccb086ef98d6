// Kernels with planted faults, which the tests' means must catch, and their right forms, which must pass.
//
//   faults NAME right|wrong
//
// Ends with 0 where the result is right under all schedules; otherwise something has been said and the status is not 0.
#include "cuda_on_cpu.h"
#include "harness.h"

namespace {

constexpr int kWidth = 64;

// Each thread takes its neighbour's value out of shared memory.
template <bool wrong>
__global__ void missing_barrier(const float* from, int, float* to) {
  __shared__ float tile[kWidth];
  const unsigned i = threadIdx.x;
  tile[i] = from[i];
  if (!wrong) __syncthreads();
  to[i] = tile[(i + 1) % kWidth] - from[(i + 1) % kWidth] + from[i];
}

// The loop goes one element too far.
template <bool wrong>
__global__ void read_outside(const float* from, int n, float* to) {
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n + (wrong ? 1 : 0); i += kWidth) sum += from[i];
  to[threadIdx.x] = sum;
}

// A shuffle inside a loop that the lanes leave at different times.
template <bool wrong>
__global__ void divergent_shuffle(const float* from, int n, float* to) {
  float value = 0;
  for (int i = static_cast<int>(threadIdx.x) % 32; i < (wrong ? n - 7 : n); i += 32) {
    value = __shfl_xor_sync(0xffffffffu, from[i], 1);
  }
  to[threadIdx.x] = value;
}

// A counter in shared memory that nobody sets to 0.
template <bool wrong>
__global__ void shared_not_set(const float* from, int, float* to) {
  __shared__ float count;
  if (!wrong && threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x == 5) atomicAdd(&count, 1.0f);
  __syncthreads();
  to[threadIdx.x] = from[threadIdx.x] + count - 1;
}

// A barrier that half of the block goes round.
template <bool wrong>
__global__ void divergent_barrier(const float* from, int, float* to) {
  if (!wrong || threadIdx.x < kWidth / 2) __syncthreads();
  to[threadIdx.x] = from[threadIdx.x];
}

// A mask that names lanes which have returned.
template <bool wrong>
__global__ void ended_lane(const float* from, int, float* to) {
  if (wrong && threadIdx.x % 32 > 20) return;
  to[threadIdx.x] = from[threadIdx.x] + 0 * __shfl_down_sync(0xffffffffu, from[threadIdx.x], 1);
}

using Kernel = void (*)(const float*, int, float*);
struct Fault {
  const char* name;
  Kernel right, wrong;
};
#define FAULT(name) \
  { #name, name < false>, name < true> }
const Fault faults[] = {FAULT(missing_barrier), FAULT(read_outside),      FAULT(divergent_shuffle),
                        FAULT(shared_not_set),  FAULT(divergent_barrier), FAULT(ended_lane)};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  for (const Fault& fault : faults) {
    if (fault.name != std::string(argv[1])) continue;
    const Kernel kernel = std::string(argv[2]) == "right" ? fault.right : fault.wrong;
    const std::vector<float> from(kWidth, 2.0f);
    for (uint64_t seed = 0; seed < 8; ++seed) {
      std::vector<float> to(kWidth, -1.0f);
      cuda_on_cpu::use_schedule(seed);
      cuda_on_cpu::launch(3, 1, kWidth, [&] { kernel(from.data(), kWidth, to.data()); });
      for (const float value : to) {
        if (value == 2) continue;
        std::fprintf(stderr, "wrong result under schedule %d\n", static_cast<int>(seed));
        return 1;
      }
    }
    return 0;
  }
  return 64;
}
