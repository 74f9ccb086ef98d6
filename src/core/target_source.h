// Where targets come from that do not lie in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "view.h"

namespace voxridge {

// Targets are read, worked on and kept in tiles of this many columns, aligned to the absolute number of the target.
constexpr int64_t kTileCols = 512;

struct SourceMemory {
  std::vector<double> values;
  std::vector<unsigned char> bytes;
};

class TargetSource {
 public:
  virtual ~TargetSource() = default;

  // Columns first .. first + count - 1, valid until `memory` is used again. From any thread, each with its own memory.
  virtual MatrixView<double> columns(int64_t first, int64_t count, SourceMemory& memory) const = 0;
};

}  // namespace voxridge
