#include "factor_files.h"

#include <cstring>
#include <vector>

#include "byte_source.h"
#include "error.h"
#include "part_file.h"
#include "store.h"

namespace voxridge {

namespace {

constexpr char kMark[8] = {'V', 'X', 'F', 'A', 'C', 'T', '0', '1'};

struct Head {
  char mark[8];
  int64_t spans_samples, direct;
  double constant_value;
};

// Bytes of one part at a time, and a checksum of all of them: that of each part with the sum so far before it.
class Sum {
 public:
  void add(const void* bytes, int64_t size) {
    uint32_t parts[2] = {sum_, checksum_of(bytes, size)};
    sum_ = checksum_of(parts, sizeof parts);
  }
  uint32_t value() const { return sum_; }

 private:
  uint32_t sum_ = 0;
};

class Writer {
 public:
  explicit Writer(const std::string& path) : file_(path) {}
  void put(const void* from, int64_t size) {
    file_.write(from, size);
    sum_.add(from, size);
  }
  void put(const double* values, int64_t rows, int64_t cols) {
    const int64_t size[2] = {rows, cols};
    put(size, sizeof size);
    put(values, 8 * rows * cols);
  }
  void put(const arma::mat& m) { put(m.memptr(), static_cast<int64_t>(m.n_rows), static_cast<int64_t>(m.n_cols)); }
  void finish() {
    const uint32_t sum = sum_.value();
    file_.write(&sum, sizeof sum);
    file_.commit();
  }

 private:
  PartFile file_;
  Sum sum_;
};

class Reader {
 public:
  explicit Reader(const std::string& path) : name_(file_name(path)), source_(path) {}
  void take(void* to, int64_t size) {
    take_uncounted(to, size);
    sum_.add(to, size);
  }
  arma::mat take() {
    int64_t size[2];
    take(size, sizeof size);
    const double left = static_cast<double>(source_.size() - source_.position());
    if (size[0] < 0 || size[1] < 0 || 8.0 * static_cast<double>(size[0]) * static_cast<double>(size[1]) > left)
      damaged();
    arma::mat out(size[0], size[1], arma::fill::none);
    take(out.memptr(), 8 * size[0] * size[1]);
    return out;
  }
  void finish() {
    uint32_t sum;
    take_uncounted(&sum, sizeof sum);
    if (sum != sum_.value()) damaged();
  }
  [[noreturn]] void damaged() const { throw Error(ErrorCode::file, name_ + " is no factor, or a damaged one: remove it, and it is made again", "path"); }

 private:
  void take_uncounted(void* to, int64_t size) {
    if (size > 0 && source_.read(to, size) != size) damaged();
  }

  std::string name_;
  ByteSource source_;
  Sum sum_;
};

void write_head(Writer& writer, const Factor& factor, bool direct) {
  Head head;
  std::memcpy(head.mark, kMark, sizeof kMark);
  head.spans_samples = factor.spans_samples;
  head.direct = direct;
  head.constant_value = factor.constant_value;
  writer.put(&head, sizeof head);
  writer.put(factor.vectors);
  writer.put(factor.values);
  writer.put(factor.samples);
  writer.put(factor.right);
}

}  // namespace

void write_factor(const std::string& path, const FoldFactor& factor) {
  Writer writer(path);
  write_head(writer, factor, factor.direct);
  writer.put(factor.left);
  writer.put(factor.train_mean.data(), static_cast<int64_t>(factor.train_mean.size()), 1);
  writer.finish();
}

void write_factor(const std::string& path, const Factor& factor) {
  Writer writer(path);
  write_head(writer, factor, false);
  writer.put(arma::mat());
  writer.put(nullptr, 0, 1);
  writer.finish();
}

FoldFactor read_factor(const std::string& path) {
  Reader reader(path);
  Head head;
  reader.take(&head, sizeof head);
  if (std::memcmp(head.mark, kMark, sizeof kMark) != 0) reader.damaged();
  FoldFactor out;
  out.spans_samples = head.spans_samples != 0;
  out.direct = head.direct != 0;
  out.constant_value = head.constant_value;
  out.vectors = reader.take();
  out.values = reader.take();
  out.samples = reader.take();
  out.right = reader.take();
  out.left = reader.take();
  const arma::mat mean = reader.take();
  out.train_mean.assign(mean.begin(), mean.end());
  reader.finish();
  return out;
}

}  // namespace voxridge
