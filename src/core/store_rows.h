// A store read by ranges of rows, first to last: for work on all of its columns that holds few samples at a time.
//
// A checksum guards 512 whole columns (store.h). Those of single columns grow with every range that is read, and are
// joined when the last has been (crc32_combine() of zlib), so a file that has changed is noticed here too.
#pragma once

#include <cstdint>
#include <vector>

#include "store.h"

namespace voxridge {

class StoreRows {
 public:
  // Columns first .. first + cols - 1: whole stripes, but for the last of the store.
  StoreRows(const StoreReader& store, int64_t first, int64_t cols)
      : store_(store), first_(first), checksums_(cols, 0) {}

  // The next rows of column first + col, from `row` on. Each column from one thread at a time.
  void read(int64_t col, int64_t row, int64_t count, std::vector<unsigned char>& bytes, double* to);

  // After the last rows of all columns.
  void compare() const;

 private:
  const StoreReader& store_;
  const int64_t first_;
  std::vector<uint32_t> checksums_;  // of the rows so far, per column
};

}  // namespace voxridge
