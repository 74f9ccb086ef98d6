// The seeds of the fuzzers are read as the fuzzers read them.
#include <dirent.h>

#include "nifti_files.h"

// The Makefile gives each fuzzer the name of its file.
extern "C" int fuzz_nifti(const uint8_t* data, size_t size);
extern "C" int fuzz_json_rows(const uint8_t* data, size_t size);
extern "C" int fuzz_http(const uint8_t* data, size_t size);

namespace voxridge_test {

namespace {

void replay(const std::string& name, int fuzz(const uint8_t*, size_t), int at_least) {
  const std::string folder = VOXRIDGE_FUZZ_SEEDS "/" + name;
  DIR* const entries = opendir(folder.c_str());
  ASSERT_NE(entries, nullptr);
  int count = 0;
  while (const dirent* entry = readdir(entries)) {
    if (entry->d_name[0] == '.') continue;
    const Bytes bytes = read_file(folder + "/" + entry->d_name);
    EXPECT_EQ(fuzz(bytes.data(), bytes.size()), 0);
    ++count;
  }
  closedir(entries);
  EXPECT_GE(count, at_least);
}

}  // namespace

TEST(FuzzSeeds, Nifti) {
  replay("nifti", fuzz_nifti, 30);
}

TEST(FuzzSeeds, JsonRows) {
  replay("json_rows", fuzz_json_rows, 50);
}

TEST(FuzzSeeds, Http) {
  replay("http", fuzz_http, 80);
}

}  // namespace voxridge_test
