// What needs no GPU: work that is left to the host, and the limits of memory. The rest is compared with the host from R,
// on the plugin that tests/cuda builds.
#include <gtest/gtest.h>

#include "common.h"
#include "core/cuda_sessions.h"
#include "core/gpu_algebra.h"

using namespace voxridge;

namespace {

bool refuses(CudaMemory& memory, size_t bytes) {
  try {
    memory.claim(bytes);
    return false;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::gpu_out_of_memory);
    return true;
  }
}

}  // namespace

TEST(GpuAlgebra, without_a_gpu_everything_is_left_to_the_host) {
  const Control control;
  arma::mat square(600, 600, arma::fill::eye), vectors;
  arma::vec values;
  EXPECT_EQ(GpuGram::start(Trans::no, 5000, 5000, control), nullptr);
  EXPECT_FALSE(gpu_eigen(square, values, vectors, control));
  square *= 2;
  EXPECT_EQ(arma::accu(product(square, Trans::no, square, control)), 4 * 600);
  const arma::mat rows(3, 600, arma::fill::ones);
  EXPECT_EQ(arma::accu(product(rows, Trans::yes, rows, control)), 9 * 600);
}

TEST(GpuAlgebra, work_that_is_not_worth_the_way_does_not_ask_for_the_gpu) {
  Control control;
  control.device = DeviceKind::cuda;  // without a memory: whoever asked for some would fail
  const arma::mat small(20, 20, arma::fill::eye);
  arma::mat vectors;
  arma::vec values;
  EXPECT_EQ(GpuGram::start(Trans::yes, 20, 0, control), nullptr);
  EXPECT_FALSE(gpu_eigen(small, values, vectors, control));
  EXPECT_EQ(arma::accu(product(small, Trans::no, small, control)), 20);
}

TEST(GpuAlgebra, memory_is_counted_for_the_call_and_for_the_process) {
  const auto first = make_cuda_memory(100, 150), second = make_cuda_memory(100, 150);
  std::shared_ptr<void> held = first->claim(80);
  EXPECT_TRUE(refuses(*first, 21));   // of this call
  EXPECT_TRUE(refuses(*second, 71));  // with what the other holds
  EXPECT_FALSE(refuses(*first, 20));
  EXPECT_FALSE(refuses(*second, 70));
  held = nullptr;
  EXPECT_FALSE(refuses(*second, 100));
  EXPECT_TRUE(refuses(*second, 101));
}
