#include "store_rows.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

namespace voxridge {

void StoreRows::read(int64_t col, int64_t row, int64_t count, std::vector<unsigned char>& bytes, double* to) {
  const int64_t size = count * store_.layout().value_bytes();
  bytes.resize(size);
  store_.read_rows(first_ + col, row, count, bytes.data());
  if (!store_.layout().checksums.empty()) {
    checksums_[col] = static_cast<uint32_t>(crc32_z(checksums_[col], bytes.data(), static_cast<size_t>(size)));
  }
  if (!store_.layout().single) {
    std::memcpy(to, bytes.data(), static_cast<size_t>(size));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    float value;
    std::memcpy(&value, bytes.data() + i * 4, sizeof value);
    to[i] = value;
  }
}

void StoreRows::compare() const {
  if (store_.layout().checksums.empty()) return;
  const int64_t cols = static_cast<int64_t>(checksums_.size());
  const int64_t column = store_.layout().rows * store_.layout().value_bytes();
  for (int64_t from = 0; from < cols; from += kStripeCols) {
    uLong joined = crc32_z(0, nullptr, 0);
    for (int64_t j = from; j < std::min(from + kStripeCols, cols); ++j) {
      joined = crc32_combine(joined, checksums_[j], static_cast<z_off_t>(column));
    }
    store_.compare_stripe((first_ + from) / kStripeCols, static_cast<uint32_t>(joined));
  }
}

}  // namespace voxridge
