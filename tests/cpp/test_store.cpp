// Stores of targets: what is written is read, in any order and from any thread; damage is noticed.
#include <cstdio>
#include <fstream>
#include <limits>
#include <thread>

#include "common.h"
#include "core/store.h"

namespace voxridge_test {

namespace {

std::string new_path(const char* name) {
  return testing::TempDir() + "voxridge_store_" + name;
}

StoreLayout layout_of(const std::string& path, int64_t rows, int64_t cols, bool single, StoreFacts facts = {}) {
  StoreLayout out;
  out.rows = out.ld = rows;
  out.cols = cols;
  out.single = single;
  out.segments = {{path, 0, cols}};
  out.checksums = facts.checksums;
  return out;
}

void write_bytes(const std::string& path, const std::vector<double>& values, int64_t before) {
  std::ofstream file(path, std::ios::binary);
  for (int64_t i = 0; i < before; ++i) file.put('x');
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(8 * values.size()));
}

}  // namespace

TEST(Store, WhatIsWrittenFromAnyThreadIsRead) {
  const int64_t n = 7, t = 3 * kStripeCols + 5;
  const arma::mat y = normal_matrix(n, t, 1);
  for (const bool single : {false, true}) {
    const std::string path = new_path("threads");
    StoreWriter writer(path, n, t, single);
    std::vector<std::thread> threads;
    for (int64_t stripe = 3; stripe >= 0; --stripe) {
      threads.emplace_back([&, stripe] {
        const int64_t first = stripe * kStripeCols;
        writer.write(first, view_of(y).block(0, first, n, std::min(kStripeCols, t - first)));
      });
    }
    for (std::thread& thread : threads) thread.join();
    const StoreFacts facts = writer.finish();
    EXPECT_TRUE(facts.nonfinite.empty());
    EXPECT_LE(facts.rounding, single ? 6e-8 : 0);
    const StoreReader reader(layout_of(path, n, t, single, facts));
    SourceMemory memory;
    for (const int64_t first : {int64_t{0}, int64_t{1}, kStripeCols - 1, t - 1}) {
      const int64_t count = std::min<int64_t>(t - first, 2 * kStripeCols);
      const MatrixView<double> got = reader.columns(first, count, memory);
      for (int64_t j = 0; j < count; ++j) {
        for (int64_t i = 0; i < n; ++i) {
          const double want = single ? static_cast<float>(y(i, first + j)) : y(i, first + j);
          ASSERT_EQ(got.col(j)[i], want) << first << " " << j;
        }
      }
    }
    EXPECT_EQ(scan_store(reader, {}).checksums, facts.checksums);
    std::remove(path.c_str());
  }
}

TEST(Store, SegmentsOffsetsAndGapsBetweenColumns) {
  const int64_t n = 3, ld = 5;
  std::vector<double> a(ld * 4), b(ld * 2);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i);
  for (size_t i = 0; i < b.size(); ++i) b[i] = 100 + static_cast<double>(i);
  const std::string one = new_path("one"), two = new_path("two");
  write_bytes(one, a, 16);
  write_bytes(two, b, 16);
  StoreLayout layout = layout_of(one, n, 6, false);
  layout.ld = ld;
  layout.offset = 16;
  layout.segments = {{one, 0, 4}, {two, 4, 2}};
  const StoreReader reader(layout);
  SourceMemory memory;
  const MatrixView<double> got = reader.columns(3, 3, memory);
  EXPECT_EQ(got.col(0)[2], 17);
  EXPECT_EQ(got.col(1)[0], 100);
  EXPECT_EQ(got.col(2)[1], 106);
  std::remove(one.c_str());
  std::remove(two.c_str());
}

TEST(Store, DamageIsNoticed) {
  const int64_t n = 4, t = kStripeCols + 9;
  const arma::mat y = normal_matrix(n, t, 2);
  const std::string path = new_path("damage");
  StoreWriter writer(path, n, t, false);
  writer.write(0, view_of(y));
  const StoreFacts facts = writer.finish();
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(8 * n * (kStripeCols + 2));
    file.put('x');
  }
  const StoreReader reader(layout_of(path, n, t, false, facts));
  SourceMemory memory;
  EXPECT_NO_THROW(reader.columns(0, kStripeCols, memory));
  EXPECT_NO_THROW(reader.columns(kStripeCols + 1, 3, memory));  // no whole stripe: nothing to compare
  try {
    reader.columns(kStripeCols, 9, memory);
    FAIL() << "a changed byte was not noticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::store_corrupt);
  }
  try {
    const StoreReader longer(layout_of(path, n, t + 1, false));
    FAIL() << "a short file was not noticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::store_truncated);
    EXPECT_NE(std::string(error.what()).find("32 bytes too short"), std::string::npos) << error.what();
  }
  std::remove(path.c_str());
}

TEST(Store, AnUnfinishedStoreLeavesNothing) {
  const std::string path = new_path("unfinished");
  {
    StoreWriter writer(path, 2, kStripeCols + 1, true);
    writer.write(0, view_of(arma::mat(2, kStripeCols, arma::fill::ones)));
    EXPECT_THROW(writer.finish(), Error);                                      // columns are missing
    EXPECT_THROW(writer.write(1, view_of(arma::mat(2, 3))), Error);            // no whole stripe
    EXPECT_THROW(writer.write(kStripeCols, view_of(arma::mat(2, 2))), Error);  // beyond the end
    arma::mat large(2, 1);
    large.fill(1e39);
    EXPECT_THROW(writer.write(kStripeCols, view_of(large)), Error);  // beyond float32
  }
  EXPECT_FALSE(std::ifstream(path).good());
}

TEST(Store, MissingValuesAreListedAndKept) {
  const double missing = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  arma::mat y = normal_matrix(3, 4, 3);
  y(1, 3) = missing;
  y(2, 1) = infinite;
  const std::string path = new_path("missing");
  StoreWriter writer(path, 3, 4, true);
  writer.write(0, view_of(y));
  const StoreFacts facts = writer.finish();
  EXPECT_EQ(facts.nonfinite, (std::vector<int64_t>{1, 3}));
  const StoreReader reader(layout_of(path, 3, 4, true, facts));
  SourceMemory memory;
  const MatrixView<double> got = reader.columns(0, 4, memory);
  EXPECT_TRUE(std::isnan(got.col(3)[1]));
  EXPECT_EQ(got.col(1)[2], infinite);
  EXPECT_EQ(scan_store(reader, {}).nonfinite, facts.nonfinite);
  std::remove(path.c_str());
}

}  // namespace voxridge_test
