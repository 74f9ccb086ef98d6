// The test of the BLAS: the one that is loaded passes, and its errors are measured at all.
#include "core/blas_test.h"

#include "common.h"

namespace voxridge_test {

TEST(BlasTest, TheLoadedOnePasses) {
  for (const int n_threads : {1, 2, 3}) {
    const BlasVerdict verdict = test_blas(n_threads);
    EXPECT_GT(verdict.plain, 0.1);
    EXPECT_GT(verdict.threaded, 0.1);
    EXPECT_LT(verdict.plain, kGoodBlas / 2);
    EXPECT_LT(verdict.threaded, kGoodBlas / 2);
  }
}

}  // namespace voxridge_test
