#include "nifti_writer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <type_traits>

#include "byte_source.h"
#include "bytes.h"
#include "error.h"

namespace voxridge {

namespace {

constexpr int64_t kChunk = 32 * 1024;  // values

NiftiHeader completed(NiftiHeader header) {
  header.big_endian = false;
  header.pair = false;
  header.offset = (header.version == 1 ? kNifti1Size : kNifti2Size) + 4;  // 4 bytes say that there are no extensions
  return header;
}

// 2^digits, the first number beyond a type of whole numbers.
template <class Stored>
double beyond() {
  return std::ldexp(1.0, std::numeric_limits<Stored>::digits);
}

constexpr int32_t kMissing = std::numeric_limits<int32_t>::min();  // R's NA

// Does the stored type hold this value? Whole numbers exactly; doubles may be rounded to float32, but not to infinity.
template <class Stored, class T>
bool fits(T value) {
  if constexpr (std::is_same_v<T, int32_t>) {
    if (value == kMissing) return false;
    if (std::is_floating_point_v<Stored>) return static_cast<double>(static_cast<Stored>(value)) == value;
  }
  const double x = value;
  if constexpr (std::is_floating_point_v<Stored>) {
    return !std::isfinite(x) || std::isfinite(static_cast<Stored>(x));
  } else {
    const double low = std::is_signed_v<Stored> ? -beyond<Stored>() : 0;
    return x >= low && x < beyond<Stored>() && x == std::floor(x);
  }
}

// How many of the values went in before one that does not fit.
template <class Stored, class T>
int64_t encode(const T* values, int64_t n, unsigned char* to) {
  for (int64_t k = 0; k < n; ++k) {
    if (!fits<Stored>(values[k])) return k;
    store<Stored>(to + k * static_cast<int64_t>(sizeof(Stored)), static_cast<Stored>(values[k]));
  }
  return n;
}

template <class T>
int64_t encode(NiftiType type, const T* values, int64_t n, unsigned char* to) {
  switch (type) {
    case NiftiType::uint8:
      return encode<uint8_t>(values, n, to);
    case NiftiType::int16:
      return encode<int16_t>(values, n, to);
    case NiftiType::int32:
      return encode<int32_t>(values, n, to);
    case NiftiType::float32:
      return encode<float>(values, n, to);
    case NiftiType::float64:
      return encode<double>(values, n, to);
    case NiftiType::int8:
      return encode<int8_t>(values, n, to);
    case NiftiType::uint16:
      return encode<uint16_t>(values, n, to);
    case NiftiType::uint32:
      return encode<uint32_t>(values, n, to);
    case NiftiType::int64:
      return encode<int64_t>(values, n, to);
    case NiftiType::uint64:
      return encode<uint64_t>(values, n, to);
  }
  return 0;
}

}  // namespace

NiftiWriter::NiftiWriter(const std::string& path, NiftiHeader header, int level)
    : header_(completed(std::move(header))),
      name_(file_name(path)),
      sink_(path, level),
      chunk_(static_cast<size_t>(kChunk * bytes_of(header_.type))) {
  const std::vector<unsigned char> bytes = format_nifti(header_);
  sink_.write(bytes.data(), static_cast<int64_t>(bytes.size()));
}

template <class T>
void NiftiWriter::refuse(T value) const {
  char text[40];
  if (std::is_same_v<T, int32_t> && value == static_cast<T>(kMissing)) {
    std::snprintf(text, sizeof text, "NA");
  } else {
    std::snprintf(text, sizeof text, "%.10g", static_cast<double>(value));
  }
  throw Error(ErrorCode::file,
              std::string("the value ") + text + " does not fit the data type " + name_of(header_.type), "datatype",
              text);
}

template <class T>
void NiftiWriter::append(const T* values, int64_t n, const Control& control) {
  for (int64_t first = 0; first < n; first += kChunk) {
    control.check_stop();
    const int64_t piece = std::min(kChunk, n - first);
    const int64_t done = encode(header_.type, values + first, piece, chunk_.data());
    if (done < piece) refuse(values[first + done]);
    sink_.write(chunk_.data(), piece * bytes_of(header_.type));
  }
  written_ += n;
}

void NiftiWriter::commit() {
  if (written_ != header_.voxels() * header_.volumes()) {
    throw Error(ErrorCode::internal, name_ + " was given another number of values than its header says");
  }
  sink_.commit();
}

template void NiftiWriter::append(const double*, int64_t, const Control&);
template void NiftiWriter::append(const int32_t*, int64_t, const Control&);

}  // namespace voxridge
