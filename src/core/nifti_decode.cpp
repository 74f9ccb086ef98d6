#include "nifti_decode.h"

#include <type_traits>

#include "bytes.h"

namespace voxridge {

namespace {

template <class Stored>
bool exact_in_double(Stored value) {
  if constexpr (sizeof(Stored) < 8 || std::is_floating_point_v<Stored>) return true;
  constexpr int64_t limit = int64_t{1} << 53;
  if constexpr (std::is_signed_v<Stored>) {
    return value <= static_cast<Stored>(limit) && value >= static_cast<Stored>(-limit);
  } else {
    return value <= static_cast<Stored>(limit);
  }
}

struct Scale {
  bool scaled;
  double slope, intercept;
};

template <class Stored, bool swap, class T>
bool decode_all(const Scale& scale, const unsigned char* raw, const int64_t* index, int64_t first, int64_t n, T* out) {
  bool exact = true;
  const auto run = [&](auto place, auto value) {
    for (int64_t k = 0; k < n; ++k) {
      const Stored stored = load_as<Stored, swap>(raw + static_cast<int64_t>(sizeof(Stored)) * place(k));
      exact &= exact_in_double(stored);
      out[k] = value(stored);
    }
  };
  const auto with_place = [&](auto value) {
    if (index == nullptr) {
      run([](int64_t k) { return k; }, value);
    } else {
      run([=](int64_t k) { return index[k] - first; }, value);
    }
  };
  if constexpr (!std::is_integral_v<T>) {
    if (scale.scaled) {
      with_place([&](Stored x) { return static_cast<T>(scale.slope * static_cast<double>(x) + scale.intercept); });
      return exact;
    }
  }
  with_place([](Stored x) { return static_cast<T>(x); });
  return exact;
}

template <class Stored, class T>
bool decode_as(const NiftiHeader& header, const unsigned char* raw, const int64_t* index, int64_t first, int64_t n,
               T* out) {
  // float and int64 never become int32_t: the caller asks for that with small integers only
  if constexpr (std::is_integral_v<T> && !(std::is_integral_v<Stored> && sizeof(Stored) <= 4)) return false;
  const Scale scale{header.scaled(), header.slope, header.intercept};
  return header.big_endian == host_is_big_endian() ? decode_all<Stored, false>(scale, raw, index, first, n, out)
                                                   : decode_all<Stored, true>(scale, raw, index, first, n, out);
}

}  // namespace

template <class T>
bool decode(const NiftiHeader& header, const unsigned char* raw, const int64_t* index, int64_t first, int64_t n,
            T* out) {
  switch (header.type) {
    case NiftiType::uint8:
      return decode_as<uint8_t>(header, raw, index, first, n, out);
    case NiftiType::int16:
      return decode_as<int16_t>(header, raw, index, first, n, out);
    case NiftiType::int32:
      return decode_as<int32_t>(header, raw, index, first, n, out);
    case NiftiType::float32:
      return decode_as<float>(header, raw, index, first, n, out);
    case NiftiType::float64:
      return decode_as<double>(header, raw, index, first, n, out);
    case NiftiType::int8:
      return decode_as<int8_t>(header, raw, index, first, n, out);
    case NiftiType::uint16:
      return decode_as<uint16_t>(header, raw, index, first, n, out);
    case NiftiType::uint32:
      return decode_as<uint32_t>(header, raw, index, first, n, out);
    case NiftiType::int64:
      return decode_as<int64_t>(header, raw, index, first, n, out);
    case NiftiType::uint64:
      return decode_as<uint64_t>(header, raw, index, first, n, out);
  }
  return false;
}

template bool decode(const NiftiHeader&, const unsigned char*, const int64_t*, int64_t, int64_t, float*);
template bool decode(const NiftiHeader&, const unsigned char*, const int64_t*, int64_t, int64_t, double*);
template bool decode(const NiftiHeader&, const unsigned char*, const int64_t*, int64_t, int64_t, int32_t*);

}  // namespace voxridge
