// The seeds of the fuzzers are read as the fuzzers read them.
#include <dirent.h>

#include "nifti_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace voxridge_test {

TEST(FuzzSeeds, Nifti) {
  const std::string folder = VOXRIDGE_FUZZ_SEEDS "/nifti";
  DIR* const entries = opendir(folder.c_str());
  ASSERT_NE(entries, nullptr);
  int count = 0;
  while (const dirent* entry = readdir(entries)) {
    if (entry->d_name[0] == '.') continue;
    const Bytes bytes = read_file(folder + "/" + entry->d_name);
    EXPECT_EQ(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()), 0);
    ++count;
  }
  closedir(entries);
  EXPECT_GE(count, 30);
}

}  // namespace voxridge_test
