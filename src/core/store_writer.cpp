#include <algorithm>
#include <cmath>
#include <limits>

#include "error.h"
#include "store.h"

namespace voxridge {

StoreWriter::StoreWriter(const std::string& path, int64_t rows, int64_t cols, bool single)
    : rows_(rows), cols_(cols), single_(single), file_(path) {
  const int64_t stripes = (cols + kStripeCols - 1) / kStripeCols;
  written_.assign(stripes, 0);
  facts_.checksums.assign(stripes, 0);
}

void StoreWriter::write(int64_t first, MatrixView<double> columns) {
  const int64_t size = single_ ? 4 : 8, column = rows_ * size, end = first + columns.cols;
  if (first % kStripeCols != 0 || (end % kStripeCols != 0 && end != cols_) || end > cols_ || columns.rows != rows_) {
    throw Error(ErrorCode::internal, "columns of a store are written in whole stripes");
  }
  std::vector<float> rounded(single_ ? rows_ * kStripeCols : 0);
  std::vector<double> values(single_ ? 0 : rows_ * kStripeCols);
  for (int64_t from = first; from < end; from += kStripeCols) {
    const int64_t count = std::min(kStripeCols, end - from);
    std::vector<int64_t> flawed;
    double rounding = 0;
    for (int64_t j = 0; j < count; ++j) {
      const double* x = columns.col(from - first + j);
      bool finite = true;
      for (int64_t i = 0; i < rows_; ++i) {
        finite = finite && std::isfinite(x[i]);
        if (!single_) {
          values[j * rows_ + i] = x[i];
          continue;
        }
        const float value = static_cast<float>(x[i]);
        rounded[j * rows_ + i] = value;
        if (!std::isfinite(x[i]) || x[i] == 0) continue;
        if (!std::isfinite(value)) {
          throw Error(ErrorCode::file,
                      "row " + std::to_string(i + 1) + " of column " + std::to_string(from + j + 1) +
                          " is beyond the range of float32",
                      "type");
        }
        rounding = std::max(rounding, std::fabs(value - x[i]) / std::fabs(x[i]));
      }
      if (!finite) flawed.push_back(from + j);
    }
    const void* const raw = single_ ? static_cast<const void*>(rounded.data()) : values.data();
    const int64_t bytes = count * column;
    const uint32_t checksum = checksum_of(raw, bytes);
    const std::lock_guard<std::mutex> hold(lock_);
    file_.write_at(from * column, raw, bytes);
    written_[from / kStripeCols] = 1;
    facts_.checksums[from / kStripeCols] = checksum;
    facts_.nonfinite.insert(facts_.nonfinite.end(), flawed.begin(), flawed.end());
    facts_.rounding = std::max(facts_.rounding, rounding);
  }
}

StoreFacts StoreWriter::finish() {
  if (std::count(written_.begin(), written_.end(), 0) > 0) {
    throw Error(ErrorCode::internal, "columns of a store are missing");
  }
  std::sort(facts_.nonfinite.begin(), facts_.nonfinite.end());
  file_.commit();
  return facts_;
}

}  // namespace voxridge
