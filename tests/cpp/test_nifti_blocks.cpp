#include "core/nifti_reader.h"
#include "nifti_files.h"

namespace voxridge_test {

TEST(NiftiReader, BlocksOfVolumesInTheOrderOfTheFile) {
  const TemporaryFolder folder;
  const NiftiHeader header = make_header({3, 4, 5, 6});
  const std::vector<int64_t> index{0, 7, 31, 59}, volumes{4, 0, 4, 2, 1};
  for (const bool gz : {false, true}) {
    const std::string path = folder.path(gz ? "x.nii.gz" : "x.nii");
    write_file(path, gz ? gzipped(make_image(header)) : make_image(header));
    for (const int64_t most : {1, 2, 3, 5, 9}) {
      NiftiReader reader(path);
      std::vector<double> rows(static_cast<size_t>(most) * 4);
      std::vector<int64_t> seen;
      const auto use = [&](const std::vector<int64_t>& places) {
        ASSERT_LE(static_cast<int64_t>(places.size()), most);
        for (size_t r = 0; r < places.size(); ++r) {
          seen.push_back(places[r]);
          for (size_t k = 0; k < 4; ++k) {
            EXPECT_EQ(rows[r * 4 + k], stored_value(header.type, volumes[places[r]] * 60 + index[k]));
          }
        }
      };
      reader.read_blocks<double>(volumes, index, rows.data(), most, use, Control());
      EXPECT_EQ(seen, (std::vector<int64_t>{1, 4, 3, 0, 2}));
      // later volumes may follow
      reader.read_blocks<double>({5}, index, rows.data(), most, [](const std::vector<int64_t>&) {}, Control());
      EXPECT_EQ(rows[3], stored_value(header.type, 5 * 60 + 59));
    }
  }
}

}  // namespace voxridge_test
