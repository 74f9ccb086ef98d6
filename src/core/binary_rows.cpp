#include "binary_rows.h"

#include <cmath>

#include "bytes.h"

namespace voxridge {

namespace {

constexpr int64_t kBytes = 8;  // of a number

// The number of the first value that is not finite, or n.
int64_t load_row(const unsigned char* from, int64_t n, double* to) {
  constexpr uint64_t exponent = 0x7ff0000000000000ULL;  // all ones: NaN or Inf
  bool finite = true;
  for (int64_t j = 0; j < n; ++j) {
    uint64_t bits;
    std::memcpy(&bits, from + j * kBytes, kBytes);
    if (host_is_big_endian()) bits = swapped(bits);
    finite &= (bits & exponent) != exponent;
    std::memcpy(to + j, &bits, kBytes);
  }
  if (finite) return n;
  int64_t j = 0;
  while (std::isfinite(to[j])) ++j;
  return j;
}

}  // namespace

BodyFault read_binary_rows(const void* body, size_t size, const BodyForm& form, double* row, RowSink& sink) {
  const int64_t p = form.n_features, bytes = static_cast<int64_t>(size);
  if (bytes == 0 || bytes % kBytes != 0 || bytes / kBytes % p != 0) {
    return {BodyFaultCode::wrong_length, 0, 0, bytes, kBytes * p};
  }
  const unsigned char* const from = static_cast<const unsigned char*>(body);
  const int64_t n = bytes / kBytes / p;
  for (int64_t i = 0; i < n; ++i) {
    if (i == form.max_rows) return {BodyFaultCode::too_many_rows, 0, 0, 0, form.max_rows};
    const int64_t j = load_row(from + i * kBytes * p, p, row);
    if (j < p) return {BodyFaultCode::non_finite_value, i + 1, j + 1, 0, 0};
    if (!sink.take(row, i)) return {BodyFaultCode::non_finite_score, i + 1, 0, 0, 0};
  }
  return BodyFault();
}

}  // namespace voxridge
