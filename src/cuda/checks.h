// Checks of the arguments of a call, before the device sees them: a kernel that reads outside its matrices takes the
// whole process's device with it.
#pragma once

#include <cinttypes>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <limits>

#include "outcome.h"

namespace voxridge_plugin {

// Writes what it has found into `note`, so that an outcome can point there.
class Checks {
 public:
  Outcome type(int type) {
    if (type == VOXRIDGE_F32 || type == VOXRIDGE_F64) return {};
    return refuse("type", "%d is neither VOXRIDGE_F32 nor VOXRIDGE_F64", type);
  }

  Outcome size(const char* name, int64_t value) {
    if (value >= 0) return {};
    return refuse(name, "%" PRId64 " is negative", value);
  }

  // May be null where it has no elements.
  Outcome vector(const char* name, const void* data, int64_t size) {
    VOXRIDGE_TRY(this->size(name, size));
    if (size > kMostElements) return refuse(name, "%" PRId64 " elements are too many", size);
    if (size > 0 && data == nullptr) return refuse(name, "is NULL");
    return {};
  }

  Outcome matrix(const char* name, const void* data, int64_t rows, int64_t cols, int64_t ld) {
    if (rows < 0 || cols < 0) return refuse(name, "%" PRId64 " x %" PRId64 " is no size", rows, cols);
    if (ld < rows) return refuse(name, "ld %" PRId64 " is less than its %" PRId64 " rows", ld, rows);
    if (cols > 0 && ld > kMostElements / cols) {
      return refuse(name, "%" PRId64 " columns %" PRId64 " apart are too large", cols, ld);
    }
    if (rows > 0 && cols > 0 && data == nullptr) return refuse(name, "is NULL");
    return {};
  }

  // `blocks` blocks of `rows` rows as the rows of one matrix.
  Outcome stack(const char* name, const void* data, int64_t rows, int64_t blocks, int64_t cols, int64_t ld) {
    VOXRIDGE_TRY(size("n_blocks", blocks));
    VOXRIDGE_TRY(size("rows", rows));
    if (rows > 0 && blocks > kMostElements / rows) return refuse(name, "%" PRId64 " blocks are too many", blocks);
    return matrix(name, data, rows * blocks, cols, ld);
  }

  // 0 <= index < limit.
  Outcome indices(const char* name, const int64_t* index, int64_t count, int64_t limit) {
    VOXRIDGE_TRY(vector(name, index, count));
    for (int64_t i = 0; i < count; ++i) {
      if (index[i] < 0 || index[i] >= limit) {
        return refuse(name, "%" PRId64 " is not between 0 and %" PRId64, index[i], limit - 1);
      }
    }
    return {};
  }

  Outcome cells(const voxridge_cuda_cells& rule) {
    if (rule.kind < VOXRIDGE_CORRELATION || rule.kind > VOXRIDGE_WELCH) {
      return refuse("kind", "%d is none that is known", rule.kind);
    }
    const int64_t most = std::numeric_limits<int32_t>::max();
    if (rule.rank < 1 || rule.rank > most) return refuse("rank", "%" PRId64 " is no number of sums", rule.rank);
    if (rule.n_changed >= 0 && rule.n_changed <= most) return {};
    return refuse("n_changed", "%" PRId64 " is no number of sums", rule.n_changed);
  }

  Outcome slot(int slot) {
    if (slot >= 0 && slot < VOXRIDGE_SLOTS) return {};
    return refuse("slot", "%d is not between 0 and %d", slot, VOXRIDGE_SLOTS - 1);
  }

  // cuBLAS counts in 32 bits.
  struct Named {
    const char* name;
    int64_t value;
  };
  Outcome blas_sizes(std::initializer_list<Named> sizes) {
    for (const Named& size : sizes) {
      if (size.value <= std::numeric_limits<int32_t>::max()) continue;
      return refuse(size.name, "%" PRId64 " is beyond cuBLAS's 32-bit sizes", size.value);
    }
    return {};
  }

 private:
  // So that sizes in bytes and sums of a few sizes fit 64 bits.
  static constexpr int64_t kMostElements = std::numeric_limits<int64_t>::max() / 64;

#if defined(__GNUC__)
  __attribute__((format(printf, 3, 4)))
#endif
  Outcome
  refuse(const char* name, const char* format, ...) {
    const int used = std::snprintf(note_, sizeof note_, "`%s` ", name);
    va_list values;
    va_start(values, format);
    std::vsnprintf(note_ + used, sizeof note_ - static_cast<size_t>(used), format, values);
    va_end(values);
    return {VOXRIDGE_INVALID, "", note_};
  }

  char note_[256] = "";
};

}  // namespace voxridge_plugin
