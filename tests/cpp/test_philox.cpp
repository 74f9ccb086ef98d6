#include "common.h"

#include <cmath>

namespace voxridge_test {

using Block = Philox::Block;

// Known answers of Random123 (kat_vectors, philox4x32 10 rounds).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(Philox::rounds({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox::rounds({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox::rounds({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, BlockPutsIndexAndStreamIntoTheCounter) {
  const Philox random(0x299f31d0a4093822, 0x0370734413198a2e);
  EXPECT_EQ(random.block(0x85a308d3243f6a88), (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, DrawsAreAFunctionOfKeyStreamAndIndex) {
  const Philox a(5, 1), again(5, 1), other_key(6, 1), other_stream(5, 2);
  EXPECT_EQ(a.block(17), again.block(17));
  EXPECT_NE(a.block(17), a.block(18));
  EXPECT_NE(a.block(17), other_key.block(17));
  EXPECT_NE(a.block(17), other_stream.block(17));
}

// 2e5 draws: mean 1/2 and variance 1/12, each within five of its own standard errors.
TEST(Philox, UniformNumbersLieInTheOpenInterval) {
  const Philox random(1, 0);
  const int n = 100000;
  double sum = 0, squares = 0, smallest = 1, largest = 0;
  for (int i = 0; i < n; ++i) {
    for (const double u : random.uniform_pair(i)) {
      smallest = std::min(smallest, u);
      largest = std::max(largest, u);
      sum += u;
      squares += (u - 0.5) * (u - 0.5);
    }
  }
  EXPECT_GT(smallest, 0);
  EXPECT_LT(largest, 1);
  EXPECT_NEAR(sum / (2 * n), 0.5, 5 * std::sqrt(1 / 12.0 / (2 * n)));
  EXPECT_NEAR(squares / (2 * n), 1 / 12.0, 5 * std::sqrt(1 / 180.0 / (2 * n)));
}

// Moments 1 .. 4 of a standard normal within five standard errors: variances 1, 2, 15, 96.
TEST(Philox, NormalNumbersHaveNormalMoments) {
  const Philox random(2, 0);
  const int n = 100000;
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, cross = 0;
  for (int i = 0; i < n; ++i) {
    const std::array<double, 2> pair = random.normal_pair(i);
    cross += pair[0] * pair[1];
    for (const double z : pair) {
      ASSERT_TRUE(std::isfinite(z));
      m1 += z;
      m2 += z * z;
      m3 += z * z * z;
      m4 += z * z * z * z;
    }
  }
  const double count = 2.0 * n, five = 5 / std::sqrt(count);
  EXPECT_NEAR(m1 / count, 0, five);
  EXPECT_NEAR(m2 / count, 1, five * std::sqrt(2.0));
  EXPECT_NEAR(m3 / count, 0, five * std::sqrt(15.0));
  EXPECT_NEAR(m4 / count, 3, five * std::sqrt(96.0));
  EXPECT_NEAR(cross / n, 0, 5 / std::sqrt(static_cast<double>(n)));
}

}  // namespace voxridge_test
