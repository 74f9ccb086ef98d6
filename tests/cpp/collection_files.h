// Small collections for tests: files, what is in them, and calls of the core.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "core/collection_summary.h"
#include "core/nifti_reader.h"
#include "nifti_files.h"

namespace voxridge_test {

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
    const FileState state = item_state(item.path);
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

inline Result run(const Collection& collection, SummaryOptions options, int n_threads = 1, double memory = 1e9) {
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

inline SummaryOptions options_for(Summary what, Within within = Within::none) {
  SummaryOptions out;
  out.what = what;
  out.pass.rows.within = within;
  return out;
}

// Values at one place over the items that are kept.
inline std::vector<double> over_items(const std::vector<Rows>& values, size_t row, size_t voxel, int group = -1) {
  std::vector<double> out;
  for (size_t i = 0; i < values.size(); ++i) {
    if (group < 0 || static_cast<int>(i % 2) == group) out.push_back(values[i][row][voxel]);
  }
  return out;
}

inline double plain_mean(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0) / x.size(); }

inline double plain_squares(const std::vector<double>& x) {
  double out = 0;
  for (const double one : x) out += (one - plain_mean(x)) * (one - plain_mean(x));
  return out;
}

inline void expect_near(double got, double want) { EXPECT_NEAR(got, want, 1e-12 * (1 + std::abs(want))); }

}  // namespace voxridge_test
