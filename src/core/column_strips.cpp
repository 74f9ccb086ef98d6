#include "column_strips.h"

#include "no_contraction.h"

namespace voxridge {

namespace {

// Row i of the columns.
template <int kBytes>
VOXRIDGE_INLINE void row_of(const double* const* c, int64_t i, typename Vector<kBytes>::Double& out) {
  using V = typename Vector<kBytes>::Double;
  if constexpr (kBytes == 64)
    out = V{c[0][i], c[1][i], c[2][i], c[3][i], c[4][i], c[5][i], c[6][i], c[7][i]};
  else if constexpr (kBytes == 32)
    out = V{c[0][i], c[1][i], c[2][i], c[3][i]};
  else
    out = V{c[0][i], c[1][i]};
}

template <int kBytes>
struct Read {
  using V = typename Vector<kBytes>::Double;
  static VOXRIDGE_INLINE void run(int part, const double* const* columns, const double* next, int64_t n,
                                  DoubleStrip* to, StripSums& out) {
    constexpr int lanes = kBytes / static_cast<int>(sizeof(double));
    const double* from[lanes];
    for (int lane = 0; lane < lanes; ++lane) from[lane] = columns[part * lanes + lane];
    V largest = {}, flaw = {}, sum = {}, squares = {};
    for (int64_t i = 0; i < n; ++i) {
      if (part == 0) __builtin_prefetch(next + i * kDoubleLanes, 0, 2);
      V x;
      row_of<kBytes>(from, i, x);
      const V size = x < 0.0 ? -x : x;
      flaw += x - x;
      largest = size > largest ? size : largest;
      sum += x;
      squares += x * x;
      doubles<kBytes>(to + i, part) = x;
    }
    doubles<kBytes>(&out.largest, part) = largest;
    doubles<kBytes>(&out.flaw, part) = flaw;
    doubles<kBytes>(&out.sum, part) = sum;
    doubles<kBytes>(&out.squares, part) = squares;
  }
};

template <int kBytes>
struct Rescale {
  using V = typename Vector<kBytes>::Double;
  static VOXRIDGE_INLINE void run(int part, DoubleStrip* z, int64_t n, const DoubleStrip& scale1,
                                  const DoubleStrip& scale2, StripSums& sums) {
    const V first = doubles<kBytes>(&scale1, part), second = doubles<kBytes>(&scale2, part);
    V sum = {}, squares = {};
    for (int64_t i = 0; i < n; ++i) {
      V& x = doubles<kBytes>(z + i, part);
      x = x * first * second;
      sum += x;
      squares += x * x;
    }
    doubles<kBytes>(&sums.sum, part) = sum;
    doubles<kBytes>(&sums.squares, part) = squares;
  }
};

template <int kBytes>
struct Shift {
  using V = typename Vector<kBytes>::Double;
  static VOXRIDGE_INLINE void run(int part, DoubleStrip* z, int64_t n, const DoubleStrip& shift, const StripSums& sums,
                                  DoubleStrip& squares, DoubleStrip& spread) {
    const V away = doubles<kBytes>(&shift, part), mean = doubles<kBytes>(&sums.sum, part) / static_cast<double>(n);
    V all = {}, about = {};
    for (int64_t i = 0; i < n; ++i) {
      V& x = doubles<kBytes>(z + i, part);
      const V off = x - mean;
      about += off * off;
      x -= away;
      all += x * x;
    }
    doubles<kBytes>(&squares, part) = all;
    doubles<kBytes>(&spread, part) = about;
  }
};

template <int kBytes>
struct Residual {
  using V = typename Vector<kBytes>::Double;
  static VOXRIDGE_INLINE void run(int part, DoubleStrip* z, int64_t n, MatrixView<double> q, DoubleStrip& squares) {
    for (int turn = 0; turn < 2; ++turn) {
      for (int64_t k = 0; k < q.cols; ++k) {
        const double* direction = q.col(k);
        V along = {};
        for (int64_t i = 0; i < n; ++i) along += direction[i] * doubles<kBytes>(z + i, part);
        for (int64_t i = 0; i < n; ++i) doubles<kBytes>(z + i, part) -= direction[i] * along;
      }
    }
    V sum = {};
    for (int64_t i = 0; i < n; ++i) sum += doubles<kBytes>(z + i, part) * doubles<kBytes>(z + i, part);
    doubles<kBytes>(&squares, part) = sum;
  }
};

template <int kBytes>
struct Multiply {
  using V = typename Vector<kBytes>::Double;
  static VOXRIDGE_INLINE void run(int part, DoubleStrip* z, int64_t n, const DoubleStrip& by) {
    const V factor = doubles<kBytes>(&by, part);
    for (int64_t i = 0; i < n; ++i) doubles<kBytes>(z + i, part) *= factor;
  }
};

template <int kBytes>
struct AlongVector {
  using V = typename Vector<kBytes>::Double;
  static VOXRIDGE_INLINE void run(int part, const double* x, const DoubleStrip* e, const DoubleStrip* left,
                                  DoubleStrip* rest, int64_t n, DoubleStrip& b, DoubleStrip& squares) {
    V sum = {}, all = {};
    for (int64_t i = 0; i < n; ++i) sum += x[i] * doubles<kBytes>(e + i, part);
    for (int64_t i = 0; i < n; ++i) {
      const V off = doubles<kBytes>(left + i, part) - x[i] * sum;
      all += off * off;
      doubles<kBytes>(rest + i, part) = off;
    }
    doubles<kBytes>(&b, part) = sum;
    doubles<kBytes>(&squares, part) = all;
  }
};

template <int kBytes>
struct AlongStrip {
  using V = typename Vector<kBytes>::Double;
  static VOXRIDGE_INLINE void run(int part, const DoubleStrip* x, const DoubleStrip* e, const DoubleStrip* left,
                                  DoubleStrip* rest, int64_t n, DoubleStrip& b, DoubleStrip& squares) {
    V sum = {}, all = {};
    for (int64_t i = 0; i < n; ++i) sum += doubles<kBytes>(x + i, part) * doubles<kBytes>(e + i, part);
    for (int64_t i = 0; i < n; ++i) {
      const V off = doubles<kBytes>(left + i, part) - doubles<kBytes>(x + i, part) * sum;
      all += off * off;
      doubles<kBytes>(rest + i, part) = off;
    }
    doubles<kBytes>(&b, part) = sum;
    doubles<kBytes>(&squares, part) = all;
  }
};

template <int kBytes>
struct Round {
  using V = typename Vector<kBytes>::Double;
  using I = typename Vector<kBytes>::HalfInt;
  static VOXRIDGE_INLINE void run(int part, const DoubleStrip* z, int64_t n, double scale, const int32_t* mask,
                                  int half, IntStrip* q, int32_t* sums) {
    const int at = part + half * 64 / kBytes;
    I sum = {};
    for (int64_t i = 0; i < n; ++i) {
      // adding and taking away 1.5 * 2^52 rounds to a whole number
      const V whole = (doubles<kBytes>(z + i, part) * scale + 0x1.8p52) - 0x1.8p52;
      const I value = __builtin_convertvector(whole, I);
      reinterpret_cast<I*>(q + i)[at] = value;
      sum += value & mask[i];
    }
    reinterpret_cast<I*>(sums)[part] = sum;
  }
};

template <template <int> class Work, class... Args>
void run_baseline(Args&... args) {
  for (int part = 0; part < 4; ++part) Work<16>::run(part, args...);
}
#ifdef VOXRIDGE_TARGETS
template <template <int> class Work, class... Args>
VOXRIDGE_AVX2 void run_avx2(Args&... args) {
  for (int part = 0; part < 2; ++part) Work<32>::run(part, args...);
}
template <template <int> class Work, class... Args>
VOXRIDGE_AVX512 void run_avx512(Args&... args) {
  Work<64>::run(0, args...);
}
#endif

template <template <int> class Work, class... Args>
void run(InstructionSet set, Args&... args) {
#ifdef VOXRIDGE_TARGETS
  if (set == InstructionSet::avx512) return run_avx512<Work>(args...);
  if (set == InstructionSet::avx2) return run_avx2<Work>(args...);
#endif
  (void)set;
  run_baseline<Work>(args...);
}

}  // namespace

void strip_read(InstructionSet set, const double* const* columns, const double* next, int64_t n, DoubleStrip* to,
                StripSums& out) {
  run<Read>(set, columns, next, n, to, out);
}

void strip_rescale(InstructionSet set, DoubleStrip* z, int64_t n, const DoubleStrip& scale1, const DoubleStrip& scale2,
                   StripSums& sums) {
  run<Rescale>(set, z, n, scale1, scale2, sums);
}

void strip_shift(InstructionSet set, DoubleStrip* z, int64_t n, const DoubleStrip& shift, const StripSums& sums,
                 DoubleStrip& squares, DoubleStrip& spread) {
  run<Shift>(set, z, n, shift, sums, squares, spread);
}

void strip_residual(InstructionSet set, DoubleStrip* z, int64_t n, MatrixView<double> q, DoubleStrip& squares) {
  run<Residual>(set, z, n, q, squares);
}

void strip_multiply(InstructionSet set, DoubleStrip* z, int64_t n, const DoubleStrip& by) {
  run<Multiply>(set, z, n, by);
}

void strip_along(InstructionSet set, const double* x, const DoubleStrip* e, const DoubleStrip* left, DoubleStrip* rest,
                 int64_t n, DoubleStrip& b, DoubleStrip& squares) {
  run<AlongVector>(set, x, e, left, rest, n, b, squares);
}

void strip_along(InstructionSet set, const DoubleStrip* x, const DoubleStrip* e, const DoubleStrip* left,
                 DoubleStrip* rest, int64_t n, DoubleStrip& b, DoubleStrip& squares) {
  run<AlongStrip>(set, x, e, left, rest, n, b, squares);
}

void strip_round(InstructionSet set, const DoubleStrip* z, int64_t n, double scale, const int32_t* mask, int half,
                 IntStrip* q, int32_t* sums) {
  run<Round>(set, z, n, scale, mask, half, q, sums);
}

}  // namespace voxridge
