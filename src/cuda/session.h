// A session: one stream of work on the device with its memory, and the way in and out of each call.
//
// `Runtime` is what runs the work: CUDA's (runtime_cuda.h), or the tests' on the host. It supplies
//   static void describe(voxridge_cuda_info*)   fills in all but `reason`'s defaults; available, or the reason
//   start(), use(), synchronize()               Outcome; use() makes the device the calling thread's
//   allocate(bytes, void**), release(void*), allocate_host(bytes, void**), release_host(void*)
//   mark(slot), wait(slot)                      Outcome; wait ends when what was asked for before the mark is done
//   copy_in(Copy), copy_out(Copy)               Outcome; both may return before the copy is made
//   gemm(...), syrk(...), launch(kernel, ...)   Outcome; likewise
//   eigen_bytes(EigenProblem, size_t*)          Outcome; workspace that eigen() needs on the device
//   eigen(EigenProblem, values, info, ...)      Outcome; likewise
//   static find_solver(text)                    where the solver came from, or false and why there is none
//   multiprocessors()
#pragma once

#include <cstring>
#include <exception>
#include <new>

#include "checks.h"
#include "kernels.h"
#include "kernels_permutation.h"
#include "memory.h"

namespace voxridge_plugin {

// `cols` columns of `bytes` bytes, `to_ld` and `from_ld` bytes apart.
struct Copy {
  void* to;
  int64_t to_ld;
  const void* from;
  int64_t from_ld;
  int64_t bytes;
  int64_t cols;
  bool one_piece() const { return cols == 1 || (to_ld == bytes && from_ld == bytes); }
};

struct Grid {
  unsigned x, y;
};

// The lower triangle of a symmetric n x n matrix on the device, which its eigenvectors will take the place of.
struct EigenProblem {
  int64_t n;
  double* a;
  int64_t lda;
};

// The small vectors of one call: inputs, sent in one copy, then results.
class Parcel {
 public:
  // Null data: a null pointer on the device, too.
  template <class T>
  int add(const T* data, int64_t size) {
    return append(data, data == nullptr ? 0 : sizeof(T) * static_cast<size_t>(size), data != nullptr);
  }
  // Room for results; after all inputs.
  template <class T>
  int expect(int64_t size) {
    return append(nullptr, sizeof(T) * static_cast<size_t>(size), true);
  }

  template <class T>
  T* dev(int item) const {
    return items_[item].present ? reinterpret_cast<T*>(stretch_.dev + items_[item].offset) : nullptr;
  }

  template <class Session>
  Outcome send(Session& session) {
    VOXRIDGE_TRY(session.scratch.take(bytes_, &stretch_));
    size_t inputs = 0;
    for (int k = 0; k < count_; ++k) {
      const Item& item = items_[k];
      if (item.data == nullptr || item.bytes == 0) continue;
      std::memcpy(stretch_.host + item.offset, item.data, item.bytes);
      inputs = item.offset + item.bytes;
    }
    if (inputs == 0) return {};
    const int64_t n = static_cast<int64_t>(inputs);
    return session.runtime.copy_in({stretch_.dev, n, stretch_.host, n, n, 1});
  }

  // Waits for the results and puts them into rows x cols of the caller's.
  template <class Session, class T>
  Outcome fetch(Session& session, int item, T* out, int64_t rows, int64_t cols, int64_t ld) const {
    const size_t offset = items_[item].offset;
    const int64_t n = static_cast<int64_t>(items_[item].bytes);
    VOXRIDGE_TRY(session.runtime.copy_out({stretch_.host + offset, n, stretch_.dev + offset, n, n, 1}));
    VOXRIDGE_TRY(session.runtime.synchronize());
    const size_t column = sizeof(T) * static_cast<size_t>(rows);
    for (int64_t j = 0; j < cols; ++j) {
      std::memcpy(out + j * ld, stretch_.host + offset + column * static_cast<size_t>(j), column);
    }
    return {};
  }

 private:
  struct Item {
    const void* data;
    size_t offset, bytes;
    bool present;
  };
  int append(const void* data, size_t bytes, bool present) {
    constexpr size_t kAlign = 256;
    items_[count_] = {data, bytes_, bytes, present};
    bytes_ += (bytes + kAlign - 1) / kAlign * kAlign;
    return count_++;
  }

  Item items_[6];
  int count_ = 0;
  size_t bytes_ = 0;
  Stretch stretch_;
};

template <class Runtime>
struct Session {
  Runtime runtime;
  DevicePool<Runtime> device{runtime};
  HostPool<Runtime> host{runtime};
  Scratch<Runtime> scratch{runtime, device, host};
  Checks checks;
  char text[kTextSize] = "";

  // Blocks for rows x cols, enough to fill the device but no more. Sums have all rows of a column in one warp.
  Grid grid(int64_t rows, int64_t cols, bool sums = false) const {
    constexpr int64_t kRowsOfALane = 8;
    const int64_t most = int64_t{8} * runtime.multiprocessors();
    const int64_t x = smaller((cols + kWarps - 1) / kWarps, most);
    const int64_t strips = (rows + kWarp * kRowsOfALane - 1) / (kWarp * kRowsOfALane);
    const int64_t y = sums ? 1 : smaller(strips, most / (x > 0 ? x : 1));
    return {at_least_one(x), at_least_one(y)};
  }

  // Blocks for tiles of tile_cols columns and tile_rows rows, likewise.
  Grid tiles(int64_t cols, int64_t tile_cols, int64_t rows, int64_t tile_rows) const {
    const int64_t most = int64_t{8} * runtime.multiprocessors();
    const int64_t x = smaller((cols + tile_cols - 1) / tile_cols, most);
    return {at_least_one(x), at_least_one(smaller((rows + tile_rows - 1) / tile_rows, most / (x > 0 ? x : 1)))};
  }

  // Runs one function of the table: body() gives an Outcome.
  template <class Body>
  int call(const char* name, const Body& body) {
    const int refused = process().refuses(text);
    if (refused != VOXRIDGE_OK) return refused;
    Outcome outcome;
    try {
      outcome = runtime.use();
      if (outcome.ok()) outcome = body();
    } catch (const std::bad_alloc&) {
      outcome = {VOXRIDGE_NO_MEMORY, "memory of the host", "an allocation failed"};
    } catch (const std::exception&) {
      outcome = {VOXRIDGE_FAILED, "", "an exception of the standard library"};
    }
    if (outcome.ok()) return VOXRIDGE_OK;
    write_text(text, name, outcome);
    if (outcome.code == VOXRIDGE_FAILED) process().fail(text);
    return outcome.code;
  }

  static void write_text(char (&text)[kTextSize], const char* name, const Outcome& outcome) {
    std::snprintf(text, sizeof text, "%s: %s%s%s", name, outcome.where, *outcome.where ? ": " : "", outcome.what);
  }

 private:
  static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
  static unsigned at_least_one(int64_t n) { return n < 1 ? 1u : static_cast<unsigned>(n < 65535 ? n : 65535); }
};

}  // namespace voxridge_plugin
