// The states of the CUDA plugin that need no plugin; the others are tested from R, with plugins built on the fly.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/cuda_plugin.h"
#include "core/error.h"
#include "core/symbols.h"

namespace {

std::string reason_for(const std::string& path) {
  voxridge::set_cuda_plugin(path);
  std::string why_not;
  EXPECT_EQ(voxridge::cuda_table(&why_not), nullptr);
  const voxridge_cuda_info info = voxridge::cuda_info();
  EXPECT_EQ(info.available, 0);
  EXPECT_EQ(info.reason, why_not.substr(0, sizeof info.reason - 1));
  return why_not;
}

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

voxridge::ErrorCode code_of(int code) {
  try {
    voxridge::check_cuda(code, "the text");
  } catch (const voxridge::Error& error) {
    EXPECT_TRUE(says(error.what(), "the text"));
    return error.code();
  }
  ADD_FAILURE() << "no error for code " << code;
  return voxridge::ErrorCode::internal;
}

}  // namespace

TEST(CudaPlugin, files_that_are_not_there_or_no_library) {
  EXPECT_TRUE(says(reason_for(""), "is not there"));
  EXPECT_TRUE(says(reason_for("/no/such/plugin.so"), "The CUDA plugin /no/such/plugin.so is not there"));
  EXPECT_TRUE(says(reason_for(std::string(2000, 'x')), "xxx"));
}

TEST(CudaPlugin, a_library_that_ends_too_early_is_not_opened) {
  std::ifstream library(voxridge::library_of("deflate"), std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(library)), std::istreambuf_iterator<char>());
  if (bytes.size() < 5000) GTEST_SKIP() << "zlib is not a file of its own";
  const std::string path = testing::TempDir() + "cut_off.so";
  for (const size_t size : {size_t{0}, size_t{3}, size_t{4}, size_t{63}, size_t{64}, size_t{100}, size_t{4096},
                            bytes.size() / 2, bytes.size() - 1}) {
    std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(size));
    EXPECT_TRUE(says(reason_for(path), "is damaged: it ends too early")) << size << " bytes";
  }
  std::ofstream(path, std::ios::binary | std::ios::trunc) << "no library at all";
  EXPECT_TRUE(says(reason_for(path), "cannot be opened"));
  std::remove(path.c_str());
}

TEST(CudaPlugin, codes_become_errors) {
  EXPECT_NO_THROW(voxridge::check_cuda(VOXRIDGE_OK, "fine"));
  EXPECT_EQ(code_of(VOXRIDGE_NO_MEMORY), voxridge::ErrorCode::gpu_out_of_memory);
  EXPECT_EQ(code_of(VOXRIDGE_INVALID), voxridge::ErrorCode::internal);
  EXPECT_EQ(code_of(VOXRIDGE_FAILED), voxridge::ErrorCode::device_failed);
  EXPECT_EQ(code_of(VOXRIDGE_UNAVAILABLE), voxridge::ErrorCode::device_unavailable);
  EXPECT_EQ(code_of(99), voxridge::ErrorCode::internal);
}
