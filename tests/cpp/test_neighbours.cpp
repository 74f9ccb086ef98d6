// Lists of neighbours, against a look at every pair of voxels.
#include "brain_cases.h"

namespace voxridge_test {

TEST(Neighbours, ListsArePairsThatTouch) {
  const std::vector<SmallMask> masks = {full_mask({4, 3, 2}),          full_mask({1, 1, 1}),
                                        full_mask({7, 1, 1}),          full_mask({1, 1, 6}),
                                        scattered_mask({5, 6, 4}, 0.4, 1), scattered_mask({9, 2, 5}, 0.7, 2),
                                        {{3, 3, 3}, {}},               {{3, 3, 3}, {0, 26}},
                                        {{2, 2, 2}, {0, 7}}};
  for (const SmallMask& mask : masks) {
    for (const int connectivity : {6, 18, 26}) {
      const Neighbours got = neighbours_of(mask.dim, mask.position, connectivity);
      ASSERT_EQ(got.size(), mask.size());
      for (int64_t a = 0; a < mask.size(); ++a) {
        std::vector<int> want;
        for (int64_t b = 0; b < mask.size(); ++b) {
          if (touch(mask, a, b, connectivity)) want.push_back(static_cast<int>(b));
        }
        EXPECT_EQ(std::vector<int>(got.place.begin() + got.start[a], got.place.begin() + got.start[a + 1]), want);
      }
    }
  }
}

TEST(Neighbours, InsideABoxThereAreAsManyAsTheNameSays) {
  const SmallMask mask = full_mask({5, 5, 5});
  for (const int connectivity : {6, 18, 26}) {
    const Neighbours got = neighbours_of(mask.dim, mask.position, connectivity);
    EXPECT_EQ(got.start[63] - got.start[62], connectivity);  // the centre
    // the other end has the voxel too
    for (int a = 0; a < 125; ++a) {
      for (int64_t k = got.start[a]; k < got.start[a + 1]; ++k) {
        const int b = got.place[k];
        const auto begin = got.place.begin() + got.start[b], end = got.place.begin() + got.start[b + 1];
        EXPECT_TRUE(std::binary_search(begin, end, a));
      }
    }
  }
}

}  // namespace voxridge_test
