#include "collection_files.h"
#include "core/welford.h"

namespace voxridge_test {

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

}  // namespace voxridge_test
