#include "common.h"

#include <cmath>
#include <vector>

#include "core/memory.h"

namespace voxridge_test {

TEST(Memory, AvailableIsPlausible) {
  const double available = memory_available();
  if (std::isnan(available)) GTEST_SKIP() << "this system does not tell";
  EXPECT_GT(available, 1e6);
  EXPECT_LT(available, 1e15);
}

TEST(Memory, PeakGrowsWithUse) {
  const double before = memory_peak();
  if (std::isnan(before)) GTEST_SKIP() << "this system does not tell";
  EXPECT_GT(before, 1e6);
  const size_t size = static_cast<size_t>(before) + (64u << 20);  // more than was ever in use
  {
    std::vector<char> block(size, 1);
    EXPECT_EQ(block[size / 2], 1);
  }
  EXPECT_GE(memory_peak(), before + (60 << 20));
}

}  // namespace voxridge_test
