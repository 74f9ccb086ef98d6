// Targets in files: a matrix of samples x targets as raw values, column after column, so that a block of targets is one
// piece of a file. Little-endian float32 or float64, nothing between the columns but what `ld` says. The same bytes are
// a backing file of bigmemory or bigstatsr and a Fortran-order .npy behind its header.
//
// A stripe is a tile of targets (tiles.h): a checksum (CRC-32, as in zlib) guards each, and is compared whenever a
// whole stripe is read.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "control.h"
#include "part_file.h"
#include "target_source.h"
#include "view.h"

namespace voxridge {

constexpr int64_t kStripeCols = kTileCols;

struct StoreSegment {
  std::string path;
  int64_t first = 0, cols = 0;  // of the store's columns
};

struct StoreLayout {
  int64_t rows = 0, cols = 0;
  bool single = true;                  // float32
  int64_t offset = 0;                  // bytes before the first value of a segment
  int64_t ld = 0;                      // values from one column to the next
  std::vector<StoreSegment> segments;  // in the order of their columns
  std::vector<uint32_t> checksums;     // of the stripes; empty: not known

  int64_t value_bytes() const { return single ? 4 : 8; }
};

// CRC-32 of some bytes, as zlib computes it.
uint32_t checksum_of(const void* bytes, int64_t size);

class StoreReader : public TargetSource {
 public:
  // Opens the segments; each must hold its columns.
  explicit StoreReader(StoreLayout layout);
  ~StoreReader() override;

  const StoreLayout& layout() const { return layout_; }

  // From any thread.
  MatrixView<double> columns(int64_t first, int64_t count, SourceMemory& memory) const override;

  // Bytes of rows row .. row + count - 1 of a column, from any thread: not compared with a checksum (store_rows.h is).
  void read_rows(int64_t col, int64_t row, int64_t count, unsigned char* to) const;

  // Throws where this is not the checksum of a stripe that was written.
  void compare_stripe(int64_t stripe, uint32_t found) const;

 private:
  class File;
  void read_bytes(int64_t first, int64_t count, unsigned char* to) const;
  void compare(int64_t first, int64_t count, const unsigned char* bytes) const;

  StoreLayout layout_;
  std::vector<std::unique_ptr<File>> files_;
};

// What is learnt about values on their way through.
struct StoreFacts {
  std::vector<uint32_t> checksums;
  std::vector<int64_t> nonfinite;  // columns with NA, NaN or Inf
  double rounding = 0;             // largest relative error of float32
};

// All stripes of a store that is open for reading, once.
StoreFacts scan_store(const StoreReader& store, const Control& control);

// One file of whole stripes, written in any order, from any thread.
class StoreWriter {
 public:
  StoreWriter(const std::string& path, int64_t rows, int64_t cols, bool single);

  // Columns first, first + 1, ...: whole stripes, but for the last of the store.
  void write(int64_t first, MatrixView<double> columns);

  // When all of them are there: the file takes its place.
  StoreFacts finish();

 private:
  int64_t rows_, cols_;
  bool single_;
  std::mutex lock_;
  PartFile file_;
  std::vector<char> written_;  // per stripe
  StoreFacts facts_;
};

}  // namespace voxridge
