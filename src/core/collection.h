// A collection: images of many subjects or runs on one grid, of which the voxels of one mask are looked at. An item is
// a file, some of its volumes being its rows, or a matrix in memory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "byte_source.h"
#include "control.h"
#include "error.h"
#include "view.h"

namespace voxridge {

class NiftiReader;

struct CollectionItem {
  std::string path;              // empty for a matrix in memory
  std::vector<int64_t> volumes;  // from 0, one per row; none where a matrix comes from no file
  MatrixView<double> matrix;     // rows x voxels of the mask
  int64_t size = -1;             // of the file when the collection was opened, and when it had been changed then
  double modified = 0;
  int group = 0;

  int64_t n_rows() const { return path.empty() ? matrix.rows : static_cast<int64_t>(volumes.size()); }
};

struct Collection {
  std::vector<CollectionItem> items;
  std::vector<int64_t> index;      // the voxels of the mask, from 0, increasing
  std::array<int64_t, 3> dim{};    // of every file
  int64_t n_voxels() const { return static_cast<int64_t>(index.size()); }
};

// Some of the voxels of the mask.
struct VoxelRange {
  int64_t first = 0, n = 0;
};

// What an item is reduced to before anything else is done: nothing, or one row.
enum class Within { none, mean, sd };

struct RowOptions {
  Within within = Within::none;
  bool skip_missing = false;  // values that are not finite are left out; otherwise they make a result NaN
  int64_t block_rows(int64_t n_rows, int64_t n_voxels) const;
};

// Row k of `rows` (the voxels of the range next to each other) is row places[k] of the item.
using UseRows = std::function<void(const double* rows, const std::vector<int64_t>& places)>;

// Reads items, one at a time. Items that are later volumes of the file read last go on where that ended: a gzip stream
// with the maps of many subjects is read once, not once for each.
class ItemReader {
 public:
  explicit ItemReader(const Collection& collection);
  ~ItemReader();

  // Rows of one item, a few at a time in the order of its file; one row, at place 0, where it is reduced.
  void read(int64_t item, VoxelRange voxels, const RowOptions& options, const UseRows& use, const Control& control);

 private:
  NiftiReader& open(const CollectionItem& item);

  const Collection& collection_;
  std::unique_ptr<NiftiReader> reader_;
  std::string path_;           // of the reader
  int64_t last_volume_ = -1;   // that it has read
  std::vector<double> rows_;
};

// Size and time of the files of an image, those of a pair taken together.
FileState item_state(const std::string& path);

struct FailedItem {
  int64_t item;
  Error error;
};

// ---- passes over all items -------------------------------------------------------------------

struct PassOptions {
  RowOptions rows;
  bool in_order = true;      // rows at one place come item after item; otherwise each whenever it has been read
  bool skip_failed = false;  // an item that cannot be read is left out; otherwise it ends the pass
};

// What a pass does with rows of an item. Calls for one place come from one thread at a time.
using UseItemRows = std::function<void(int64_t item, const double* rows, const std::vector<int64_t>& places)>;

struct PassOutcome {
  std::vector<FailedItem> failed;  // in the order of the items; without skip_failed the first one alone
  bool spoilt = false;             // an item failed after some of its rows had been used
};

// Reads the items that are not `excluded`, on up to control.n_threads threads. Each thread has its own item; with
// `in_order` it waits at every row for the items before it, so that the result does not depend on the threads.
PassOutcome pass_over(const Collection& collection, const std::vector<char>& excluded, VoxelRange voxels,
                      const PassOptions& options, const UseItemRows& use, const Control& control);

}  // namespace voxridge
