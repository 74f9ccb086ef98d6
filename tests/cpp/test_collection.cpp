#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "core/byte_source.h"
#include "core/collection_summary.h"
#include "core/nifti_reader.h"
#include "core/welford.h"
#include "nifti_files.h"

namespace voxridge_test {

namespace {

constexpr double kMissing = -999;
using Rows = std::vector<std::vector<double>>;  // rows of an item, each over the voxels of the mask

// Items of `n_rows` volumes of 4 x 5 x 3 voxels in files, every second one gzip, and what is in them inside the mask.
struct Fixture {
  TemporaryFolder folder;
  Collection collection;
  std::vector<Rows> values;

  explicit Fixture(int n_items = 7, int64_t n_rows = 10) {
    collection.dim = {4, 5, 3};
    for (int64_t voxel = 1; voxel < 60; voxel += 2) collection.index.push_back(voxel);
    for (int i = 0; i < n_items; ++i) add(i, n_rows);
  }

  void add(int i, int64_t n_rows) {
    const NiftiHeader header = make_header({4, 5, 3, n_rows}, i % 3 == 0 ? NiftiType::float32 : NiftiType::int16);
    Bytes bytes = make_image(header);
    std::rotate(bytes.begin() + header.offset, bytes.begin() + header.offset + 4 * i, bytes.end());
    CollectionItem item;
    item.path = folder.path("item" + std::to_string(i) + (i % 2 == 0 ? ".nii.gz" : ".nii"));
    write_file(item.path, i % 2 == 0 ? gzipped(bytes) : bytes);
    item.volumes.resize(n_rows);
    std::iota(item.volumes.begin(), item.volumes.end(), int64_t{0});
    if (i == 2) std::reverse(item.volumes.begin(), item.volumes.end());
    item.group = i % 2;
    remember(item);
    Rows rows;
    for (const int64_t volume : item.volumes) {
      std::vector<double> row(collection.index.size());
      NiftiReader(item.path).read({volume}, collection.index, row.data(), 1, 1, Control());
      rows.push_back(row);
    }
    values.push_back(rows);
    collection.items.push_back(item);
  }

  static void remember(CollectionItem& item) {
    const ItemState state = item_state(item.path);
    item.size = state.size;
    item.modified = state.modified;
  }

  // Cuts the file of an item in the middle of its data, and pretends that it was so from the beginning.
  void damage(int item, double share = 0.6) {
    CollectionItem& which = collection.items[item];
    Bytes bytes = read_file(which.path);
    bytes.resize(static_cast<size_t>(static_cast<double>(bytes.size()) * share));
    write_file(which.path, bytes);
    remember(which);
  }
};

struct Result {
  std::vector<double> value, estimate, df;
  std::vector<int32_t> counts;
  SummaryReport report;
};

Result run(const Collection& collection, SummaryOptions options, int n_threads = 1, double memory = 1e9) {
  Result out;
  const bool reduced = options.pass.rows.within != Within::none;
  const size_t n = collection.index.size() * (reduced ? 1 : static_cast<size_t>(collection.items[0].n_rows()));
  out.value.assign(n, 12345);
  out.estimate = out.df = out.value;
  out.counts.assign(n, 12345);
  options.missing = kMissing;
  Control control;
  control.n_threads = n_threads;
  control.memory_bytes = memory;
  out.report = summarise(collection, options, {out.value.data(), out.estimate.data(), out.df.data(),
                                               options.pass.rows.skip_missing ? out.counts.data() : nullptr}, control);
  return out;
}

SummaryOptions options_for(Summary what, Within within = Within::none) {
  SummaryOptions out;
  out.what = what;
  out.pass.rows.within = within;
  return out;
}

// Values at one place over the items that are kept.
std::vector<double> over_items(const std::vector<Rows>& values, size_t row, size_t voxel, int group = -1) {
  std::vector<double> out;
  for (size_t i = 0; i < values.size(); ++i) {
    if (group < 0 || static_cast<int>(i % 2) == group) out.push_back(values[i][row][voxel]);
  }
  return out;
}

double plain_mean(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0) / x.size(); }

double plain_squares(const std::vector<double>& x) {
  double out = 0;
  for (const double one : x) out += (one - plain_mean(x)) * (one - plain_mean(x));
  return out;
}

void expect_near(double got, double want) { EXPECT_NEAR(got, want, 1e-12 * (1 + std::abs(want))); }

}  // namespace

TEST(Collection, MeanIsThatOfASerialLoopForAnyNumberOfThreads) {
  const Fixture fixture;
  const size_t v = fixture.collection.index.size();
  std::vector<double> want(10 * v, 0);
  for (size_t i = 0; i < fixture.values.size(); ++i) {
    for (size_t row = 0; row < 10; ++row) {
      for (size_t k = 0; k < v; ++k) add_value(fixture.values[i][row][k], i + 1.0, want[k * 10 + row]);
    }
  }
  for (const int threads : {1, 2, 3, 8}) {
    const Result got = run(fixture.collection, options_for(Summary::mean), threads);
    EXPECT_EQ(got.value, want) << threads;
    EXPECT_EQ(got.report.n, std::vector<int64_t>{7});
    EXPECT_EQ(got.report.passes, 1);
  }
}

TEST(Collection, StandardDeviationAndT) {
  const Fixture fixture;
  const Result sd = run(fixture.collection, options_for(Summary::sd), 2);
  SummaryOptions settings = options_for(Summary::t);
  settings.mu = 3;
  const Result t = run(fixture.collection, settings, 2);
  settings.n_groups = 2;
  const Result pooled = run(fixture.collection, settings, 3);
  settings.var_equal = false;
  const Result welch = run(fixture.collection, settings, 2);
  for (size_t k = 0; k < fixture.collection.index.size(); ++k) {
    for (size_t row = 0; row < 10; ++row) {
      const size_t cell = k * 10 + row;
      const auto x = over_items(fixture.values, row, k), a = over_items(fixture.values, row, k, 0),
                 b = over_items(fixture.values, row, k, 1);
      expect_near(sd.value[cell], std::sqrt(plain_squares(x) / 6));
      expect_near(t.value[cell], (plain_mean(x) - 3) / std::sqrt(plain_squares(x) / 6 / 7));
      expect_near(t.estimate[cell], plain_mean(x));
      EXPECT_EQ(t.df[cell], 6);
      const double difference = plain_mean(a) - plain_mean(b), va = plain_squares(a) / 3, vb = plain_squares(b) / 2;
      expect_near(pooled.estimate[cell], difference);
      expect_near(pooled.value[cell], (difference - 3) / std::sqrt((3 * va + 2 * vb) / 5 * (1.0 / 4 + 1.0 / 3)));
      EXPECT_EQ(pooled.df[cell], 5);
      const double error = va / 4 + vb / 3;
      expect_near(welch.value[cell], (difference - 3) / std::sqrt(error));
      expect_near(welch.df[cell], error * error / (va * va / 16 / 3 + vb * vb / 9 / 2));
    }
  }
}

TEST(Collection, ItemsReducedToOneRow) {
  const Fixture fixture;
  for (const Within within : {Within::mean, Within::sd}) {
    const Result one = run(fixture.collection, options_for(Summary::mean, within), 1);
    EXPECT_EQ(one.value, run(fixture.collection, options_for(Summary::mean, within), 5).value);
    for (size_t k = 0; k < fixture.collection.index.size(); ++k) {
      std::vector<double> reduced;
      for (const Rows& rows : fixture.values) {
        std::vector<double> x;
        for (const auto& row : rows) x.push_back(row[k]);
        reduced.push_back(within == Within::mean ? plain_mean(x) : std::sqrt(plain_squares(x) / 9));
      }
      expect_near(one.value[k], plain_mean(reduced));
    }
  }
}

TEST(Collection, PartsOfTheVoxelsGiveTheSameBits) {
  const Fixture fixture;
  SummaryOptions settings = options_for(Summary::t);
  settings.n_groups = 2;
  const Result whole = run(fixture.collection, settings), parts = run(fixture.collection, settings, 2, 16 * 10 * 7 + 1);
  EXPECT_EQ(whole.value, parts.value);
  EXPECT_EQ(whole.estimate, parts.estimate);
  EXPECT_EQ(parts.report.passes, 5);  // 30 voxels, 7 at a time
}

TEST(Collection, MatricesAndFilesGiveTheSameBits) {
  Fixture fixture;
  std::vector<std::vector<double>> columns;
  Collection in_memory = fixture.collection;
  for (size_t i = 0; i < fixture.values.size(); ++i) {
    columns.emplace_back();
    for (size_t k = 0; k < fixture.collection.index.size(); ++k) {
      for (size_t row = 0; row < 10; ++row) columns[i].push_back(fixture.values[i][row][k]);
    }
  }
  for (size_t i = 0; i < columns.size(); ++i) in_memory.items[i].matrix = {columns[i].data(), 10, 30, 10};
  for (const Within within : {Within::none, Within::mean, Within::sd}) {
    for (const Summary what : {Summary::mean, Summary::sd}) {
      EXPECT_EQ(run(fixture.collection, options_for(what, within), 2).value,
                run(in_memory, options_for(what, within), 2).value);
    }
  }
}

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

TEST(Collection, StackAndItemsOfOneFile) {
  Fixture fixture(2, 12);
  for (const int64_t source : {0, 1}) {  // gzip and plain
    Collection maps = fixture.collection;
    const CollectionItem whole = maps.items[source];
    maps.items.clear();
    for (const int64_t volume : {3, 4, 11, 0, 7, 8}) {
      CollectionItem item = whole;
      item.volumes = {volume};
      maps.items.push_back(item);
    }
    for (const int threads : {1, 3}) {
      std::vector<double> out(6 * 30, 12345);
      Control control;
      control.n_threads = threads;
      EXPECT_TRUE(stack_items(maps, PassOptions(), {out.data(), 6, 30, 6}, control).empty());
      const int64_t volumes[] = {3, 4, 11, 0, 7, 8};
      for (size_t i = 0; i < 6; ++i) {
        for (size_t k = 0; k < 30; ++k) ASSERT_EQ(out[i + 6 * k], fixture.values[source][volumes[i]][k]);
      }
    }
  }
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
