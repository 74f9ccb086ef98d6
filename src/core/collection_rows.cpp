// Rows of one item of a collection.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "collection.h"
#include "nifti_reader.h"
#include "welford.h"

namespace voxridge {

namespace {

constexpr int64_t kMostRows = 8, kLeastRows = 4;  // a cache line of 64 bytes across the columns of a result
constexpr double kBlockBytes = 2e6;

// The rows of a matrix, a few at a time.
void matrix_rows(const CollectionItem& item, VoxelRange voxels, double* rows, int64_t most, const UseRows& use,
                 const Control& control) {
  std::vector<int64_t> order(static_cast<size_t>(item.n_rows())), places;
  std::iota(order.begin(), order.end(), int64_t{0});
  if (!item.volumes.empty()) {  // as from the file
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return item.volumes[a] < item.volumes[b]; });
  }
  for (size_t first = 0; first < order.size(); first += places.size()) {
    control.check_stop();
    places.assign(order.begin() + first, order.begin() + std::min(order.size(), first + most));
    for (int64_t k = 0; k < voxels.n; ++k) {
      const double* const column = item.matrix.col(voxels.first + k);
      for (size_t r = 0; r < places.size(); ++r) rows[r * voxels.n + k] = column[places[r]];
    }
    use(rows, places);
    control.advance(static_cast<int64_t>(places.size()));
  }
}

// Mean, or standard deviation, of the rows that come, by voxel.
class Reduction {
 public:
  Reduction(int64_t n, const RowOptions& options) : options_(options), mean_(n), m2_(n), count_(n) {}

  void add(const double* rows, size_t n_rows) {
    const size_t n = mean_.size();
    for (size_t r = 0; r < n_rows; ++r) {
      for (size_t k = 0; k < n; ++k) {
        const double x = rows[r * n + k];
        if (!options_.skip_missing || std::isfinite(x)) add_value(x, ++count_[k], mean_[k], m2_[k]);
      }
    }
  }

  // NaN where there are too few values.
  const double* finish() {
    for (size_t k = 0; k < mean_.size(); ++k) {
      if (options_.within == Within::sd) mean_[k] = std::sqrt(variance_of(m2_[k], count_[k]));
      if (count_[k] == 0) mean_[k] = NAN;
    }
    return mean_.data();
  }

 private:
  RowOptions options_;
  std::vector<double> mean_, m2_, count_;
};

}  // namespace

int64_t RowOptions::block_rows(int64_t n_rows, int64_t n_voxels) const {
  if (within != Within::none) return 1;
  return std::min(n_rows, fitting(kBlockBytes, 8.0 * static_cast<double>(n_voxels), kLeastRows, kMostRows));
}

FileState item_state(const std::string& path) {
  FileState out{0, 0};
  for (const std::string& file : nifti_files(path)) {
    const FileState state = file_state(file);
    if (state.size < 0) return {};
    out.size += state.size;
    out.modified = std::max(out.modified, state.modified);
  }
  return out;
}

ItemReader::ItemReader(const Collection& collection) : collection_(collection) {}
ItemReader::~ItemReader() = default;

NiftiReader& ItemReader::open(const CollectionItem& item) {
  const FileState now = item_state(item.path);
  if (now.size != item.size || now.modified != item.modified) {
    const std::string how = now.size < 0 ? " is not there any more"
                                         : " has been changed since the collection was opened";
    throw Error(ErrorCode::file, file_name(item.path) + how, "changed");
  }
  const int64_t first = *std::min_element(item.volumes.begin(), item.volumes.end());
  if (!reader_ || path_ != item.path || first <= last_volume_) {
    reader_ = std::make_unique<NiftiReader>(item.path);
    path_ = item.path;
    if (!std::equal(collection_.dim.begin(), collection_.dim.end(), reader_->header().dim.begin())) {
      throw Error(ErrorCode::file, reader_->name() + " has other dimensions than the mask", "dim");
    }
  }
  last_volume_ = *std::max_element(item.volumes.begin(), item.volumes.end());
  return *reader_;
}

void ItemReader::read(int64_t place, VoxelRange voxels, const RowOptions& options, const UseRows& use,
                      const Control& control) {
  const CollectionItem& item = collection_.items[place];
  const int64_t most = std::max<int64_t>(1, options.block_rows(item.n_rows(), voxels.n));
  rows_.resize(static_cast<size_t>(most * voxels.n));
  const auto read_rows = [&](const UseRows& use_rows) {
    if (item.matrix.data != nullptr) {
      matrix_rows(item, voxels, rows_.data(), most, use_rows, control);
      return;
    }
    const auto first = collection_.index.begin() + voxels.first;
    const std::vector<int64_t> index(first, first + voxels.n);
    try {
      open(item).read_blocks<double>(
          item.volumes, index, rows_.data(), most,
          [&](const std::vector<int64_t>& places) { use_rows(rows_.data(), places); }, control);
    } catch (...) {
      reader_.reset();
      throw;
    }
  };
  if (options.within == Within::none) {
    read_rows(use);
    return;
  }
  Reduction reduction(voxels.n, options);
  read_rows([&](const double* values, const std::vector<int64_t>& places) { reduction.add(values, places.size()); });
  use(reduction.finish(), {0});
}

}  // namespace voxridge
