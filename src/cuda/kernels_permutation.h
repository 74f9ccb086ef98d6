// The kernels of permutation tests (core/permutation.h): how many permutations of each column are at least as extreme
// as the data, and the largest value of each permutation. Counts and maxima are of whole numbers or of single IEEE
// operations, so that neither the order of blocks nor that of atomic operations can change them.
#pragma once

#include "abi.h"
#include "cell_formula.h"
#include "kernels.h"

// nvcc compiles this text once, the tests include it in several files. Loops over registers must be unrolled.
#if defined(__CUDACC__)
#define VOXRIDGE_KERNEL __global__
#define VOXRIDGE_UNROLL _Pragma("unroll")
#else
#define VOXRIDGE_KERNEL inline __global__
#define VOXRIDGE_UNROLL
#endif

namespace voxridge_plugin {

// A double whose operations are never fused, for the formulas of cells.
struct Exact {
  double x = 0;
  Exact() = default;
  __device__ Exact(double value) : x(value) {}
  __device__ Exact operator-() const { return -x; }
  friend __device__ Exact operator+(Exact a, Exact b) { return __dadd_rn(a.x, b.x); }
  friend __device__ Exact operator-(Exact a, Exact b) { return __dadd_rn(a.x, -b.x); }
  friend __device__ Exact operator*(Exact a, Exact b) { return __dmul_rn(a.x, b.x); }
  friend __device__ Exact operator/(Exact a, Exact b) { return __ddiv_rn(a.x, b.x); }
  friend __device__ bool operator<(Exact a, Exact b) { return a.x < b.x; }
  friend __device__ bool operator<=(Exact a, Exact b) { return a.x <= b.x; }
  friend __device__ bool operator==(Exact a, Exact b) { return a.x == b.x; }
};
struct ExactLane {
  using Value = Exact;
};

// Patterns of signs or of members: 30 samples to a word, a permutation's words `rows` apart. Samples go in groups of 5,
// whose 32 sums lie in shared memory, for 32 columns side by side: a permutation costs a load and an addition per
// group.
constexpr int kGroupBits = 5, kGroupCodes = 1 << kGroupBits;
constexpr int kWordGroups = 6, kWordBits = kGroupBits * kWordGroups;
constexpr int kTableWords = 2, kTableGroups = kTableWords * kWordGroups;  // at a time: 48 KB of tables
constexpr int kTogether = 16;                                             // permutations that a warp adds up at a time
constexpr int kBlockRows = kWarps * kTogether;

constexpr int kSide = 16;  // of the squares of products by plain loops

constexpr int kRowStrips = 8;  // cells: rows of a warp are 8 strips of 32
constexpr int kStripRows = kWarp * kRowStrips;

namespace kernels {

// The sums of all patterns of 5 samples from `sample` on, for the column of this lane: 32 values, kWarp apart. Integers
// wrap around; the final sums fit.
inline __device__ void fill_table(const int32_t* values, int64_t ld, int64_t sample, int64_t n, bool signs,
                                  uint32_t* table) {
  uint32_t none = 0, step[kGroupBits];
  VOXRIDGE_UNROLL
  for (int b = 0; b < kGroupBits; ++b) {
    const uint32_t value = sample + b < n ? static_cast<uint32_t>(values[(sample + b) * ld]) : 0;
    step[b] = signs ? 2 * value : value;
    if (signs) none -= value;
  }
  table[0] = none;
  VOXRIDGE_UNROLL
  for (int b = 0; b < kGroupBits; ++b) {
    VOXRIDGE_UNROLL
    for (int code = 0; code < 1 << b; ++code) table[(code + (1 << b)) * kWarp] = table[code * kWarp] + step[b];
  }
}

// values: n rows of `cols`, ld apart. counts[j]: permutations whose sum (its absolute value, where `absolute`) reaches
// thresholds[j], added to what is there; maxima[r] is raised to the largest sum of row r. A maximum that is read late
// is too small, which costs a useless comparison and no more.
VOXRIDGE_KERNEL void count_sums(const int32_t* values, int64_t ld, int64_t n, int64_t cols, const uint32_t* patterns,
                                int64_t rows, bool signs, bool absolute, const int32_t* thresholds, int32_t* counts,
                                int32_t* maxima) {
  __shared__ uint32_t tables[kTableGroups][kGroupCodes][kWarp];
  const int warp = static_cast<int>(threadIdx.x) / kWarp, own = static_cast<int>(lane());
  const int64_t groups = (n + kGroupBits - 1) / kGroupBits, passes = (groups + kTableGroups - 1) / kTableGroups;
  const int64_t first_base = static_cast<int64_t>(blockIdx.y) * kBlockRows;
  const int64_t base_stride = static_cast<int64_t>(gridDim.y) * kBlockRows;
  for (int64_t tile = blockIdx.x; tile * kWarp < cols; tile += gridDim.x) {
    // lanes beyond the last column repeat it
    const int64_t wanted = tile * kWarp + own, column = wanted < cols ? wanted : cols - 1;
    const int32_t threshold = thresholds[column];
    int32_t count = 0;
    for (int64_t base = first_base; base < rows; base += base_stride) {
      const int64_t first = base + warp * kTogether;
      uint32_t sums[kTogether] = {};
      for (int64_t pass = 0; pass < passes; ++pass) {
        const int64_t done = pass * kTableGroups;
        const int here = static_cast<int>(groups - done < kTableGroups ? groups - done : kTableGroups);
        if (passes > 1 || base == first_base) {
          __syncthreads();
          for (int g = warp; g < here; g += kWarps) {
            fill_table(values + column, ld, (done + g) * kGroupBits, n, signs, &tables[g][0][own]);
          }
          __syncthreads();
        }
        for (int word = 0; word * kWordGroups < here; ++word) {
          const uint32_t* from = patterns + (pass * kTableWords + word) * rows;
          const uint32_t* table = &tables[word * kWordGroups][0][own];
          const int some = here - word * kWordGroups;
          VOXRIDGE_UNROLL
          for (int p = 0; p < kTogether; ++p) {
            const uint32_t bits = from[first + p < rows ? first + p : rows - 1];
            VOXRIDGE_UNROLL
            for (int g = 0; g < kWordGroups; ++g) {
              const int code = static_cast<int>(bits >> (g * kGroupBits)) % kGroupCodes;
              if (g < some) sums[p] += table[(g * kGroupCodes + code) * kWarp];
            }
          }
        }
      }
      VOXRIDGE_UNROLL
      for (int p = 0; p < kTogether; ++p) {
        const int64_t r = first + p;
        if (r >= rows) continue;  // all lanes
        const int32_t sum = static_cast<int32_t>(sums[p]);
        int32_t value = absolute && sum < 0 ? -sum : sum;
        count += value >= threshold;
        const int32_t known = *static_cast<const volatile int32_t*>(maxima + r);
        if (!__any_sync(kAllLanes, value > known)) continue;
        for (int offset = kWarp / 2; offset > 0; offset /= 2) {
          const int32_t other = __shfl_xor_sync(kAllLanes, value, offset);
          value = value > other ? value : other;
        }
        if (own == 0) atomicMax(maxima + r, value);
      }
    }
    if (wanted < cols && count > 0) atomicAdd(counts + column, count);
  }
}

// As integers, positive doubles keep their order and negative ones, which are larger without a sign, turn it round.
inline __device__ void raise_maximum(double* maximum, double value) {
  if (value >= 0) {
    atomicMax(reinterpret_cast<long long*>(maximum), __double_as_longlong(value));
  } else {
    atomicMin(reinterpret_cast<unsigned long long*>(maximum),
              static_cast<unsigned long long>(__double_as_longlong(value)));
  }
}

inline __device__ void cell_value(const voxridge_cuda_cells& rule, const Exact* sums, int64_t stride, double total,
                                  double total_squares, Exact& out) {
  if (rule.kind == VOXRIDGE_CORRELATION) {
    voxridge::correlation_value<ExactLane>(rule, sums, out);
  } else if (rule.kind == VOXRIDGE_WELCH) {
    voxridge::welch_value<ExactLane>(rule, total, total_squares, sums, stride, out);
  } else {
    voxridge::partial_value<ExactLane>(rule, sums, stride, out);
  }
}

// sums: per column, segments of `rows` sums of products. totals: of Welch's rule, two per column. counts and
// maxima as above. Infinite values of the partial rule are degenerate: extreme, and not in the maximum.
VOXRIDGE_KERNEL void count_cells(voxridge_cuda_cells rule, DeviceMatrix<const double> sums, int64_t rows, int64_t cols,
                                 const double* thresholds, const double* totals, int32_t* counts, double* maxima,
                                 unsigned long long* degenerate) {
  const bool partial = rule.kind == VOXRIDGE_PARTIAL;
  unsigned long long lost = 0;
  const int64_t base_stride = static_cast<int64_t>(gridDim.y) * kStripRows;
  for (int64_t base = static_cast<int64_t>(blockIdx.y) * kStripRows; base < rows; base += base_stride) {
    double largest[kRowStrips];
    VOXRIDGE_UNROLL
    for (int k = 0; k < kRowStrips; ++k) largest[k] = -voxridge::kInfinity;
    for (int64_t j = first_column(); j < cols; j += column_stride()) {
      const Exact* from = reinterpret_cast<const Exact*>(sums.col(j));
      const double threshold = thresholds[j];
      const double total = totals == nullptr ? 0 : totals[2 * j], squares = totals == nullptr ? 0 : totals[2 * j + 1];
      int count = 0;
      VOXRIDGE_UNROLL
      for (int k = 0; k < kRowStrips; ++k) {
        const int64_t r = base + k * kWarp + lane();
        if (r >= rows) continue;
        Exact value;
        cell_value(rule, from + r, rows, total, squares, value);
        count += value.x >= threshold;
        const bool out = partial && value.x == voxridge::kInfinity;
        lost += out;
        if (!out && value.x > largest[k]) largest[k] = value.x;
      }
      count = warp_sum(count);
      if (lane() == 0 && count > 0) atomicAdd(counts + j, count);
    }
    VOXRIDGE_UNROLL
    for (int k = 0; k < kRowStrips; ++k) {
      const int64_t r = base + k * kWarp + lane();
      if (r >= rows) continue;
      if (largest[k] > *static_cast<const volatile double*>(maxima + r)) raise_maximum(maxima + r, largest[k]);
    }
  }
  if (lost > 0) atomicAdd(degenerate, lost);
}

// C = A'B, for a library whose products are not exact where sums of whole numbers are: A has n rows, and so has B.
VOXRIDGE_KERNEL void dot_products(DeviceMatrix<const double> a, DeviceMatrix<const double> b, int64_t n, int64_t rows,
                                  int64_t cols, DeviceMatrix<double> c) {
  __shared__ double left[kSide][kSide + 1], right[kSide][kSide + 1];
  const int x = static_cast<int>(threadIdx.x) % kSide, y = static_cast<int>(threadIdx.x) / kSide;
  for (int64_t col = static_cast<int64_t>(blockIdx.x) * kSide; col < cols; col += gridDim.x * kSide) {
    for (int64_t row = static_cast<int64_t>(blockIdx.y) * kSide; row < rows; row += gridDim.y * kSide) {
      double sum = 0;
      for (int64_t first = 0; first < n; first += kSide) {
        const int64_t i = first + x;
        left[y][x] = i < n && row + y < rows ? a.col(row + y)[i] : 0;
        right[y][x] = i < n && col + y < cols ? b.col(col + y)[i] : 0;
        __syncthreads();
        for (int k = 0; k < kSide; ++k) sum += left[x][k] * right[y][k];
        __syncthreads();
      }
      if (row + x < rows && col + y < cols) c.col(col + y)[row + x] = sum;
    }
  }
}

}  // namespace kernels
}  // namespace voxridge_plugin
