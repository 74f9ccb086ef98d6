// Any bytes as the JSON body of a scoring request: the reader finds what a plain parser finds, which first builds the
// whole tree of the body and then walks over it in the order of its bytes.
//
// The last byte of the input says what the model is like: bits 0 and 1: one to four features; bit 2: they have names;
// bit 3: two rows at most. A row that begins with 1e300 has a score that is not finite.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/json_rows.h"
#include "plain_json.h"

namespace {

using namespace plain_json;

constexpr double kRefused = 1e300;

void require(bool holds) {
  if (!holds) std::abort();
}

bool has_score(const double* row) {
  return row[0] != kRefused;
}

class Rows : public voxridge::RowSink {
 public:
  explicit Rows(int64_t p) : p_(p) {}
  bool take(const double* row, int64_t index) noexcept override {
    require(index * p_ == static_cast<int64_t>(values.size()));
    values.insert(values.end(), row, row + p_);
    return has_score(row);
  }
  std::vector<double> values;

 private:
  int64_t p_;
};

bool same(const BodyFault& a, const BodyFault& b) {
  return a.code == b.code && a.row == b.row && a.column == b.column && a.found == b.found && a.needed == b.needed;
}

BodyFault read(const uint8_t* data, size_t size, const BodyForm& form, std::vector<double>& rows) {
  const std::unique_ptr<char[]> body(new char[size]);  // exact, so that the sanitizer sees a step beyond
  if (size > 0) std::memcpy(body.get(), data, size);
  const std::unique_ptr<double[]> row(new double[static_cast<size_t>(form.n_features)]);
  Rows sink(form.n_features);
  const BodyFault fault = voxridge::read_json_rows(body.get(), size, form, row.get(), sink);
  rows = sink.values;
  char text[voxridge::kFaultMessageBytes];
  require(voxridge::write_fault_message(fault, text) < sizeof(text));
  return fault;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const int how = data[--size];
  BodyForm form;
  form.n_features = 1 + (how & 3);
  form.max_rows = (how & 8) != 0 ? 2 : 512;
  const std::vector<std::string> names(kNames.begin(), kNames.begin() + form.n_features);
  if ((how & 4) != 0) form.columns = &names;

  std::vector<double> rows, expected, some;
  const BodyFault fault = read(data, size, form, rows);
  const std::string body(reinterpret_cast<const char*>(data), size);
  const Tree tree(body);
  if (tree.is_json()) {
    require(same(fault, walk(tree.root(), form, expected, has_score)));
    require(rows.size() == expected.size());
    require(rows.empty() || std::memcmp(rows.data(), expected.data(), rows.size() * sizeof(double)) == 0);
  } else {
    require(fault.code != Code::none);
    require(tree.is_too_deep() || fault.code != Code::bad_json || fault.found <= static_cast<int64_t>(size) + 1);
  }

  // Cut somewhere, the body ends too early, or had its fault before; outside of the object a beginning may be whole.
  const size_t cut = size == 0 ? 0 : (data[size - 1] * size_t{131} + data[size / 2]) % size;
  const BodyFault early = read(data, cut, form, some);
  const BodyFault at_end = {Code::bad_json, 0, 0, static_cast<int64_t>(cut) + 1, 0};
  require(same(early, at_end) || same(early, fault) || early.code == Code::none || early.code == Code::wrong_type);
  return 0;
}
