#include <unistd.h>

#include <atomic>
#include <limits>

#include "collection_files.h"

namespace voxridge_test {

TEST(Collection, DamagedItemsAreLeftOutAsIfTheyHadNotBeenThere) {
  Fixture fixture(9);
  fixture.damage(4);
  fixture.damage(6, 0.9);
  unlink(fixture.collection.items[7].path.c_str());
  Collection rest = fixture.collection;
  for (const int gone : {7, 6, 4}) rest.items.erase(rest.items.begin() + gone);
  for (const int threads : {1, 2, 6}) {
    for (const double memory : {1e9, 8.0 * 10 * 11}) {
      for (const Within within : {Within::none, Within::mean}) {
        SummaryOptions settings = options_for(Summary::sd, within);
        settings.pass.skip_failed = true;
        const Result got = run(fixture.collection, settings, threads, memory);
        EXPECT_EQ(got.value, run(rest, settings).value) << threads;
        ASSERT_EQ(got.report.failed.size(), 3u);
        EXPECT_EQ(got.report.failed[0].item, 4);
        EXPECT_EQ(got.report.failed[1].item, 6);
        EXPECT_EQ(got.report.failed[2].error.where(), "changed");
        EXPECT_EQ(got.report.n, std::vector<int64_t>{6});
      }
    }
    try {  // the first of them, whichever thread was faster
      run(fixture.collection, options_for(Summary::mean), threads);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, 3), "5: ");
      EXPECT_EQ(error.code(), ErrorCode::file);
    }
  }
  SummaryOptions settings = options_for(Summary::mean);
  settings.pass.skip_failed = true;
  for (CollectionItem& item : fixture.collection.items) item.modified -= 1;
  const Result none = run(fixture.collection, settings, 2);
  EXPECT_EQ(none.value, std::vector<double>(300, kMissing));
  EXPECT_EQ(none.report.failed.size(), 9u);
}

TEST(Collection, FilesOfOtherDimensionsAreRefused) {
  Fixture fixture(3);
  fixture.collection.dim = {4, 3, 5};
  EXPECT_THROW(run(fixture.collection, options_for(Summary::mean), 2), Error);
}

TEST(Collection, MissingValues) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  // items x voxels, one row each
  const std::vector<std::vector<double>> values{{1, nan, 1, inf, 2}, {2, nan, inf, 5, 2}, {6, 4, nan, 7, 2}};
  Collection collection;
  collection.dim = {5, 1, 1};
  collection.index = {0, 1, 2, 3, 4};
  for (const auto& row : values) {
    CollectionItem item;
    item.matrix = {row.data(), 1, 5, 1};
    collection.items.push_back(item);
  }
  SummaryOptions settings = options_for(Summary::mean);
  EXPECT_EQ(run(collection, settings).value, (std::vector<double>{3, kMissing, kMissing, kMissing, 2}));
  std::reverse(collection.items.begin(), collection.items.end());
  EXPECT_EQ(run(collection, settings).value, (std::vector<double>{3, kMissing, kMissing, kMissing, 2}));
  settings.pass.rows.skip_missing = true;
  Result got = run(collection, settings, 2);
  EXPECT_EQ(got.value, (std::vector<double>{3, 4, 1, 6, 2}));
  EXPECT_EQ(got.counts, (std::vector<int32_t>{3, 1, 1, 2, 3}));
  settings.what = Summary::sd;
  got = run(collection, settings);
  EXPECT_EQ(got.value[1], kMissing);
  EXPECT_EQ(got.value[2], kMissing);
  expect_near(got.value[3], std::sqrt(2.0));
  EXPECT_EQ(got.value[4], 0);
  settings.what = Summary::t;
  got = run(collection, settings);
  EXPECT_EQ(got.value[4], kMissing);  // constant
  EXPECT_EQ(got.estimate[4], 2);
  EXPECT_EQ(got.value[1], kMissing);
  EXPECT_EQ(got.estimate[1], 4);
  expect_near(got.value[3], 6.0);
  EXPECT_EQ(got.df[3], 1);
}

TEST(Collection, StopsWhenAskedAlsoWhileThreadsWait) {
  const Fixture fixture(40);
  std::atomic<bool> stop{false};
  std::atomic<int> looks{0};
  Control control;
  control.stop = &stop;
  control.n_threads = 4;
  control.poll = [&] {
    if (++looks > 20) stop = true;
  };
  std::vector<double> out(300);
  try {
    summarise(fixture.collection, options_for(Summary::mean), {out.data(), nullptr, nullptr, nullptr}, control);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::interrupted);
  }
}

TEST(Collection, StateCountsBothFilesOfAPair) {
  const TemporaryFolder folder;
  write_file(folder.path("x.hdr"), Bytes(10));
  write_file(folder.path("x.img.gz"), Bytes(20));
  EXPECT_EQ(item_state(folder.path("x.hdr")).size, 30);
  EXPECT_EQ(item_state(folder.path("x.img.gz")).size, 30);
  EXPECT_GT(item_state(folder.path("x.hdr")).modified, 1e9);
  EXPECT_EQ(item_state(folder.path("y.nii")).size, -1);
}

}  // namespace voxridge_test
