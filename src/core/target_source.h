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

// Some columns of a source, from a whole tile on.
class TargetWindow : public TargetSource {
 public:
  TargetWindow(const TargetSource& source, int64_t before) : source_(source), before_(before) {}
  MatrixView<double> columns(int64_t first, int64_t count, SourceMemory& memory) const override {
    return source_.columns(before_ + first, count, memory);
  }

 private:
  const TargetSource& source_;
  const int64_t before_;
};

}  // namespace voxridge
