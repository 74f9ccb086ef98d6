#include "permutation_maps.h"

#include <algorithm>
#include <cmath>

#include "clusters.h"
#include "tfce.h"
#include "threads.h"

#include "no_contraction.h"

namespace voxridge {

namespace {

constexpr double kBufferBytes = 32 << 20;
constexpr int64_t kMostMaps = 128;
constexpr int64_t kTogether = 8;  // maps that a thread takes out of the batch at a time: those of a cache line

// What one thread works with.
struct Bench {
  std::vector<double> maps;  // one after the other
  Clusters clusters;
  Tfce tfce;
  Bench(const Neighbours& neighbours, const MapRule& rule)
      : maps(neighbours.size() * kTogether), clusters(neighbours), tfce(neighbours, rule.E, rule.H) {}
};

class MapTest {
 public:
  MapTest(const PermutationTest& test, const MapRule& rule, const Neighbours& neighbours, PermutationOutputs& out,
          MapOutputs& to, const Control& control)
      : test_(test), rule_(rule), out_(out), to_(to), control_(control), v_(test.y.cols) {
    maps_ = fitting(kBufferBytes, static_cast<double>(v_) * sizeof(double), control.n_threads, kMostMaps);
    maps_ = std::max<int64_t>(1, std::min(maps_, test.n_permutations));
    for (int worker = 0; worker < control.n_threads; ++worker) benches_.emplace_back(neighbours, rule);
  }

  void run() {
    observe();
    std::vector<double> values(v_ * maps_, 0.0);
    values_ = values.data();
    PermutationTest batches = test_;
    batches.batch = maps_;
    out_.null = values_;
    out_.null_rows = maps_;
    out_.take_null = [this](int64_t first, int64_t count) { take(first, count); };
    run_permutation_test(batches, out_, control_);
    out_.null = nullptr;
    out_.take_null = nullptr;
  }

 private:
  // The data go the way of a permutation, the one that changes nothing, so that it would count as equal.
  void observe() {
    const int64_t n = test_.y.rows;
    std::vector<int> same(n, 1);
    for (int64_t i = 0; i < n && test_.rows.kind != Rearrangement::flips; ++i) same[i] = static_cast<int>(i + 1);
    PermutationTest identity = test_;
    identity.rows.exact = false;
    identity.rows.given = {same.data(), 1, n, 1};
    identity.n_permutations = 1;
    double maximum = 0;
    PermutationOutputs found = out_;
    found.null = to_.map;
    found.null_rows = 1;
    found.maximum = &maximum;
    std::fill_n(to_.map, v_, 0.0);
    run_permutation_test(identity, found, control_);
    for (int64_t j = 0; j < v_; ++j) to_.map[j] = height(to_.map[j]);
    Bench& bench = benches_[0];
    if (rule_.statistic == MapStatistic::tfce) {
      std::fill_n(to_.enhanced, v_, 0.0);
      for (const double sign : {1.0, -1.0}) bench.tfce.run(to_.map, sign, to_.enhanced);
      std::fill_n(to_.counts, v_, 0);
      return;
    }
    int base = 0;
    std::fill_n(to_.label, v_, 0);
    for (const double sign : {1.0, -1.0}) {
      if (looks(sign)) {
        base += static_cast<int>(bench.clusters.run(to_.map, sign, rule_.threshold, to_.label, base).size());
      }
    }
  }

  bool looks(double sign) const { return sign > 0 ? rule_.upper : rule_.lower; }

  double looked_at(double x) const {
    if (!rule_.upper) x = std::min(x, 0.0);
    return rule_.lower ? x : std::max(x, 0.0);
  }

  double height(double x) const {
    if (std::isnan(x)) return 0;
    if (rule_.correlation_df > 0) x *= std::sqrt(rule_.correlation_df / std::max(1 - x * x, 1e-300));
    return std::max(-kLargestHeight, std::min(kLargestHeight, x));
  }

  // Maps of a batch: a column of `maps_` values per voxel.
  void take(int64_t first, int64_t count) {
    const int64_t together = std::max<int64_t>(1, std::min(kTogether, count / control_.n_threads));
    parallel_for((count + together - 1) / together, control_.n_threads, [&](int64_t item, int worker) {
      Bench& bench = benches_[worker];
      const int64_t row = item * together, rows = std::min(together, count - row);
      for (int64_t j = 0; j < v_; ++j) {
        for (int64_t r = 0; r < rows; ++r) bench.maps[r * v_ + j] = looked_at(height(values_[j * maps_ + row + r]));
      }
      for (int64_t r = 0; r < rows; ++r) {
        control_.check_stop();
        double* map = bench.maps.data() + r * v_;
        to_.maximum[first + row + r] =
            rule_.statistic == MapStatistic::tfce ? enhance(bench, map) : largest_cluster(bench, map);
      }
      if (rule_.statistic != MapStatistic::tfce) return;
      for (int64_t j = 0; j < v_; ++j) {
        for (int64_t r = 0; r < rows; ++r) values_[j * maps_ + row + r] = std::fabs(bench.maps[r * v_ + j]);
      }
    });
    if (rule_.statistic != MapStatistic::tfce) return;
    const int64_t piece = 4096;
    parallel_for((v_ + piece - 1) / piece, control_.n_threads, [&](int64_t item, int) {
      for (int64_t j = item * piece; j < std::min(v_, (item + 1) * piece); ++j) {
        const double from = extreme(to_.enhanced[j]) * kEqualShare;
        for (int64_t row = 0; row < count; ++row) to_.counts[j] += values_[row + j * maps_] >= from;
      }
    });
  }

  // How far an enhanced value goes in the directions that are looked at.
  double extreme(double value) const {
    return std::max(rule_.upper ? std::max(value, 0.0) : 0.0, rule_.lower ? std::max(-value, 0.0) : 0.0);
  }

  // What is enhanced takes the place of the map.
  double enhance(Bench& bench, double* map) {
    return std::max(bench.tfce.run(map, 1.0, map), bench.tfce.run(map, -1.0, map));
  }

  double largest_cluster(Bench& bench, const double* map) {
    double largest = 0;
    for (const double sign : {1.0, -1.0}) {
      if (!looks(sign)) continue;
      for (const Cluster& cluster : bench.clusters.run(map, sign, rule_.threshold)) {
        const double size = static_cast<double>(cluster.size);
        largest = std::max(largest, rule_.statistic == MapStatistic::extent ? size : cluster.mass);
      }
    }
    return largest;
  }

  const PermutationTest& test_;
  const MapRule& rule_;
  PermutationOutputs& out_;
  MapOutputs& to_;
  const Control& control_;
  int64_t v_, maps_ = 1;
  std::vector<Bench> benches_;
  double* values_ = nullptr;
};

}  // namespace

void run_map_test(const PermutationTest& test, const MapRule& rule, const Neighbours& neighbours,
                  PermutationOutputs& out, MapOutputs& to, const Control& control) {
  MapTest(test, rule, neighbours, out, to, control).run();
}

}  // namespace voxridge
