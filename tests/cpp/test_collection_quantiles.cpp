// Sums, extremes and quantiles over the items of a collection.
#include "collection_files.h"

namespace voxridge_test {

namespace {

struct Quantiles {
  std::vector<std::vector<double>> maps;
  std::vector<int32_t> counts;
  SummaryReport report;
};

Quantiles quantiles_of(const Collection& collection, const std::vector<double>& probs, const PassOptions& options,
                       int n_threads, double memory = 1e9) {
  Quantiles out;
  const size_t rows = options.rows.within == Within::none ? collection.items[0].n_rows() : 1;
  out.maps.assign(probs.size(), std::vector<double>(rows * collection.index.size(), 12345));
  out.counts.assign(rows * collection.index.size(), 12345);
  std::vector<double*> to;
  for (std::vector<double>& map : out.maps) to.push_back(map.data());
  Control control;
  control.n_threads = n_threads;
  control.memory_bytes = memory;
  out.report = quantiles(collection, probs, options, kMissing, to, out.counts.data(), control);
  return out;
}

double plain_quantile(std::vector<double> x, double p) {
  std::sort(x.begin(), x.end());
  const double at = 1 + static_cast<double>(x.size() - 1) * p;
  const size_t lo = static_cast<size_t>(at);
  const double h = at - static_cast<double>(lo);
  return h == 0 || x[lo] == x[lo - 1] ? x[lo - 1] : (1 - h) * x[lo - 1] + h * x[lo];
}

}  // namespace

TEST(Collection, SumsAndExtremes) {
  const Fixture fixture;
  for (const int threads : {1, 3}) {
    const Result sum = run(fixture.collection, options_for(Summary::sum), threads),
                 min = run(fixture.collection, options_for(Summary::min), threads),
                 max = run(fixture.collection, options_for(Summary::max), threads);
    for (size_t k = 0; k < fixture.collection.index.size(); ++k) {
      for (size_t row = 0; row < 10; ++row) {
        const auto x = over_items(fixture.values, row, k);
        EXPECT_EQ(sum.value[k * 10 + row], std::accumulate(x.begin(), x.end(), 0.0));
        EXPECT_EQ(min.value[k * 10 + row], *std::min_element(x.begin(), x.end()));
        EXPECT_EQ(max.value[k * 10 + row], *std::max_element(x.begin(), x.end()));
      }
    }
  }
}

TEST(Collection, QuantilesForAnyThreadsAndMemory) {
  const Fixture fixture;
  const std::vector<double> probs = {0, 0.1, 1.0 / 3, 0.5, 0.99, 1};
  const Quantiles want = quantiles_of(fixture.collection, probs, {}, 1);
  for (size_t q = 0; q < probs.size(); ++q) {
    for (size_t k = 0; k < fixture.collection.index.size(); ++k) {
      for (size_t row = 0; row < 10; ++row) {
        ASSERT_EQ(want.maps[q][k * 10 + row], plain_quantile(over_items(fixture.values, row, k), probs[q]));
      }
    }
  }
  EXPECT_EQ(want.counts, std::vector<int32_t>(300, 7));
  EXPECT_EQ(want.report.passes, 1);
  EXPECT_EQ(want.report.n, std::vector<int64_t>{7});
  for (const int threads : {1, 2, 8}) {
    const Quantiles got = quantiles_of(fixture.collection, probs, {}, threads, 8.0 * 7 * 10 * 9);  // nine voxels
    EXPECT_EQ(got.maps, want.maps);
    EXPECT_EQ(got.report.passes, 4);
  }
}

TEST(Collection, QuantilesWithoutWhatIsMissing) {
  std::vector<double> values[3] = {{1, NAN, 3, NAN}, {2, 5, INFINITY, NAN}, {9, 6, 4, -INFINITY}};
  Collection collection;
  collection.index = {0, 1, 2, 3};
  for (const std::vector<double>& row : values) {
    CollectionItem item;
    item.matrix = {row.data(), 1, 4, 1};
    collection.items.push_back(item);
  }
  PassOptions options;
  EXPECT_EQ(quantiles_of(collection, {0.5}, options, 1).maps[0],
            (std::vector<double>{2, kMissing, kMissing, kMissing}));
  options.rows.skip_missing = true;
  const Quantiles got = quantiles_of(collection, {0.5}, options, 2);
  EXPECT_EQ(got.maps[0], (std::vector<double>{2, 5.5, 3.5, kMissing}));
  EXPECT_EQ(got.counts, (std::vector<int32_t>{3, 2, 2, 0}));
}

TEST(Collection, QuantilesWithoutItemsThatFail) {
  Fixture fixture;
  for (const int item : {2, 5}) fixture.damage(item);
  EXPECT_THROW(quantiles_of(fixture.collection, {0.5}, {}, 2), Error);
  PassOptions options;
  options.skip_failed = true;
  for (const double memory : {1e9, 8.0 * 7 * 10 * 9}) {
    const Quantiles got = quantiles_of(fixture.collection, {0.5}, options, 3, memory);
    ASSERT_EQ(got.report.failed.size(), 2u);
    EXPECT_EQ(got.report.failed[0].item, 2);
    EXPECT_EQ(got.report.n, std::vector<int64_t>{5});
    for (size_t k = 0; k < fixture.collection.index.size(); ++k) {
      std::vector<double> x = over_items(fixture.values, 3, k);
      x.erase(x.begin() + 5);
      x.erase(x.begin() + 2);
      EXPECT_EQ(got.maps[0][k * 10 + 3], plain_quantile(x, 0.5));
    }
  }
}

}  // namespace voxridge_test
