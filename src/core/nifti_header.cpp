#include "nifti_header.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "bytes.h"
#include "error.h"

namespace voxridge {

namespace {

struct TypeEntry {
  NiftiType type;
  const char* name;
  int bytes;
};
constexpr TypeEntry kTypes[] = {{NiftiType::uint8, "uint8", 1},     {NiftiType::int16, "int16", 2},
                                {NiftiType::int32, "int32", 4},     {NiftiType::float32, "float32", 4},
                                {NiftiType::float64, "float64", 8}, {NiftiType::int8, "int8", 1},
                                {NiftiType::uint16, "uint16", 2},   {NiftiType::uint32, "uint32", 4},
                                {NiftiType::int64, "int64", 8},     {NiftiType::uint64, "uint64", 8}};

struct RefusedType {
  int code;
  const char* name;
};
constexpr RefusedType kRefused[] = {{0, "unknown"},     {1, "binary"},        {32, "complex64"},    {128, "RGB24"},
                                    {1536, "float128"}, {1792, "complex128"}, {2048, "complex256"}, {2304, "RGBA32"}};

const TypeEntry* find_type(int code) {
  for (const TypeEntry& entry : kTypes) {
    if (static_cast<int>(entry.type) == code) return &entry;
  }
  return nullptr;
}

// Where the fields of the two versions lie, and how wide they are.
struct Layout {
  int64_t size;
  int dim, dim_bytes, type, bitpix, pixdim, real_bytes, offset, slope, intercept, units, intent, description,
      qform_code, sform_code, code_bytes, quaternion, srow, magic;
};
constexpr Layout kLayout1{kNifti1Size, 40, 2, 70, 72, 76, 4, 108, 112, 116, 123, 68, 148, 252, 254, 2, 256, 280, 344};
constexpr Layout kLayout2{kNifti2Size, 16, 8, 12, 14, 104, 8, 168, 176, 184, 500, 504, 240, 344, 348, 4, 352, 400, 4};

const char kMagic2Tail[] = "\r\n\032\n";

// Reads fields in the byte order of the file.
class Fields {
 public:
  Fields(const unsigned char* bytes, bool big_endian) : bytes_(bytes), big_(big_endian) {}

  int64_t whole(int at, int width) const {
    switch (width) {
      case 1:
        return bytes_[at];
      case 2:
        return load<int16_t>(bytes_ + at, big_);
      case 4:
        return load<int32_t>(bytes_ + at, big_);
      default:
        return load<int64_t>(bytes_ + at, big_);
    }
  }
  double real(int at, int width) const {
    return width == 4 ? static_cast<double>(load<float>(bytes_ + at, big_)) : load<double>(bytes_ + at, big_);
  }

 private:
  const unsigned char* bytes_;
  bool big_;
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

class Parser {
 public:
  Parser(const unsigned char* bytes, const std::string& name)
      : bytes_(bytes),
        name_(name),
        size_(nifti_header_size(bytes, kNifti2Size)),
        layout_(size_ == kNifti1Size ? kLayout1 : kLayout2),
        big_(load<int32_t>(bytes, true) == size_),
        fields_(bytes, big_) {}

  NiftiHeader parse() {
    NiftiHeader out;
    out.version = size_ == kNifti1Size ? 1 : 2;
    out.big_endian = big_;
    out.pair = is_pair();
    read_dim(out);
    read_type(out);
    read_scale(out);
    read_offset(out);
    for (int i = 0; i < 8; ++i) out.pixdim[i] = real(layout_.pixdim, i);
    for (int i = 0; i < 6; ++i) out.quaternion[i] = real(layout_.quaternion, i);
    for (int i = 0; i < 12; ++i) out.srow[i] = real(layout_.srow, i);
    out.qform_code = static_cast<int>(fields_.whole(layout_.qform_code, layout_.code_bytes));
    out.sform_code = static_cast<int>(fields_.whole(layout_.sform_code, layout_.code_bytes));
    out.units = static_cast<int>(fields_.whole(layout_.units, out.version == 1 ? 1 : 4));
    out.intent_code = static_cast<int>(fields_.whole(layout_.intent, out.version == 1 ? 2 : 4));
    const char* text = reinterpret_cast<const char*>(bytes_ + layout_.description);
    out.description.assign(text, std::find(text, text + 80, '\0'));
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& text, const std::string& where, const std::string& found) const {
    throw Error(ErrorCode::file, name_ + " has " + text, where, found);
  }

  double real(int at, int i) const { return fields_.real(at + i * layout_.real_bytes, layout_.real_bytes); }

  bool is_pair() const {
    const char* magic = reinterpret_cast<const char*>(bytes_ + layout_.magic);
    const char version = size_ == kNifti1Size ? '1' : '2';
    const bool known = magic[0] == 'n' && (magic[1] == 'i' || magic[1] == '+') && magic[2] == version && magic[3] == 0;
    if (known && (version == '1' || std::memcmp(magic + 4, kMagic2Tail, 4) == 0)) return magic[1] == 'i';
    if (version == '1') {
      throw Error(
          ErrorCode::file,
          name_ + " is not NIfTI but most likely Analyze 7.5, which does not say left from right",
          "magic");
    }
    throw Error(ErrorCode::file, name_ + " is not NIfTI: its magic string is damaged", "magic");
  }

  void read_dim(NiftiHeader& out) const {
    const int64_t n = fields_.whole(layout_.dim, layout_.dim_bytes);
    if (n < 1 || n > 7) fail("a dim[0] of " + std::to_string(n) + ", not 1 to 7", "dim[0]", std::to_string(n));
    int64_t count = 1;
    for (int i = 1; i <= n; ++i) {
      const int64_t size = fields_.whole(layout_.dim + i * layout_.dim_bytes, layout_.dim_bytes);
      const std::string field = "dim[" + std::to_string(i) + "]";
      if (size < 1) fail("a " + field + " of " + std::to_string(size) + ", not 1 or more", field, std::to_string(size));
      if (i > 4 && size > 1) {
        fail("a " + field + " of " + std::to_string(size) + ": several values per voxel are not read", field,
             std::to_string(size));
      }
      if (__builtin_mul_overflow(count, size, &count))
        fail("more voxels than a number can hold", field, std::to_string(size));
      if (i <= 4) out.dim[i - 1] = size;
    }
    out.n_dims = static_cast<int>(std::min<int64_t>(n, 4));
  }

  void read_type(NiftiHeader& out) const {
    const int code = static_cast<int>(fields_.whole(layout_.type, 2));
    const int bits = static_cast<int>(fields_.whole(layout_.bitpix, 2));
    const TypeEntry* entry = find_type(code);
    if (entry == nullptr) {
      std::string what = "which is not in use";
      for (const RefusedType& refused : kRefused) {
        if (refused.code == code) what = refused.name;
      }
      fail("the data type " + std::to_string(code) + " (" + what + "), not one of real numbers", "datatype",
           std::to_string(code));
    }
    if (bits != 8 * entry->bytes) {
      fail("a bitpix of " + std::to_string(bits) + ", but " + entry->name + " takes " +
               std::to_string(8 * entry->bytes) + " bits",
           "bitpix", std::to_string(bits));
    }
    out.type = entry->type;
    int64_t bytes = out.voxels();
    if (__builtin_mul_overflow(bytes, out.volumes(), &bytes) ||
        __builtin_mul_overflow(bytes, static_cast<int64_t>(entry->bytes), &bytes)) {
      fail("more bytes than a number can hold", "dim", std::to_string(out.voxels()));
    }
  }

  void read_scale(NiftiHeader& out) const {
    out.slope = fields_.real(layout_.slope, layout_.real_bytes);
    out.intercept = fields_.real(layout_.intercept, layout_.real_bytes);
    if (!out.scaled() || std::isfinite(out.intercept)) return;
    fail("a scl_inter of " + number(out.intercept) + ", not a finite number", "scl_inter", number(out.intercept));
  }

  void read_offset(NiftiHeader& out) const {
    const int64_t least = out.pair ? 0 : size_ + 4;
    int64_t offset = 0;
    if (out.version == 1) {
      const double value = fields_.real(layout_.offset, 4);
      // beyond 2^53 a real number is whole by force
      if (!(value >= 0 && value <= 9e15 && value == std::floor(value))) {
        fail("a vox_offset of " + number(value) + ", not a whole number", "vox_offset", number(value));
      }
      offset = static_cast<int64_t>(value);
    } else {
      offset = fields_.whole(layout_.offset, 8);
    }
    int64_t end = 0;
    if (offset < least || __builtin_add_overflow(offset, out.volume_bytes() * out.volumes(), &end)) {
      fail("a vox_offset of " + std::to_string(offset) + ", not at least " + std::to_string(least), "vox_offset",
           std::to_string(offset));
    }
    out.offset = offset;
  }

  const unsigned char* bytes_;
  const std::string name_;
  const int64_t size_;
  const Layout layout_;
  const bool big_;
  const Fields fields_;
};

// Writes fields, little endian.
class Writer {
 public:
  explicit Writer(int64_t size) : bytes_(static_cast<size_t>(size), 0) {}

  void whole(int at, int width, int64_t value) {
    if (width == 1) bytes_[at] = static_cast<unsigned char>(value);
    if (width == 2) store<int16_t>(&bytes_[at], static_cast<int16_t>(value));
    if (width == 4) store<int32_t>(&bytes_[at], static_cast<int32_t>(value));
    if (width == 8) store<int64_t>(&bytes_[at], value);
  }
  void real(int at, int width, double value) {
    width == 4 ? store<float>(&bytes_[at], static_cast<float>(value)) : store<double>(&bytes_[at], value);
  }
  void text(int at, const std::string& value, size_t most) {
    std::copy_n(value.begin(), std::min(value.size(), most), bytes_.begin() + at);
  }
  std::vector<unsigned char> take() { return std::move(bytes_); }

 private:
  std::vector<unsigned char> bytes_;
};

}  // namespace

int bytes_of(NiftiType type) {
  return find_type(static_cast<int>(type))->bytes;
}

const char* name_of(NiftiType type) {
  return find_type(static_cast<int>(type))->name;
}

NiftiType nifti_type(const std::string& name) {
  for (const TypeEntry& entry : kTypes) {
    if (name == entry.name) return entry.type;
  }
  throw Error(ErrorCode::invalid_argument, "unknown data type " + name);
}

int64_t nifti_header_size(const unsigned char* bytes, int64_t n) {
  if (n < 4) return 0;
  for (const int64_t size : {kNifti1Size, kNifti2Size}) {
    if (load<int32_t>(bytes, false) == size || load<int32_t>(bytes, true) == size) return size;
  }
  return 0;
}

NiftiHeader parse_nifti(const unsigned char* bytes, const std::string& name) {
  return Parser(bytes, name).parse();
}

std::vector<unsigned char> format_nifti(const NiftiHeader& header) {
  const Layout& at = header.version == 1 ? kLayout1 : kLayout2;
  const int real = at.real_bytes;
  Writer out(header.offset);
  out.whole(0, 4, at.size);
  out.whole(at.dim, at.dim_bytes, header.n_dims);
  for (int i = 1; i < 8; ++i) out.whole(at.dim + i * at.dim_bytes, at.dim_bytes, i <= 4 ? header.dim[i - 1] : 1);
  out.whole(at.type, 2, static_cast<int>(header.type));
  out.whole(at.bitpix, 2, 8 * bytes_of(header.type));
  for (int i = 0; i < 8; ++i) out.real(at.pixdim + i * real, real, header.pixdim[i]);
  if (header.version == 1) out.real(at.offset, 4, static_cast<double>(header.offset));
  if (header.version == 2) out.whole(at.offset, 8, header.offset);
  out.real(at.slope, real, 1);
  out.whole(at.units, header.version == 1 ? 1 : 4, header.units);
  out.whole(at.intent, header.version == 1 ? 2 : 4, header.intent_code);
  out.text(at.description, header.description, 79);
  out.whole(at.qform_code, at.code_bytes, header.qform_code);
  out.whole(at.sform_code, at.code_bytes, header.sform_code);
  for (int i = 0; i < 6; ++i) out.real(at.quaternion + i * real, real, header.quaternion[i]);
  for (int i = 0; i < 12; ++i) out.real(at.srow + i * real, real, header.srow[i]);
  out.text(at.magic, header.version == 1 ? "n+1" : std::string("n+2\0", 4) + kMagic2Tail, 8);
  return out.take();
}

}  // namespace voxridge
