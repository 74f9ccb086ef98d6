// Any bytes as the JSON body of a scoring request: the reader finds what a plain parser finds, which first builds the
// whole tree of the body and then walks over it in the order of its bytes.
//
// The last byte of the input says what the model is like: bits 0 and 1: one to four features; bit 2: they have names;
// bit 3: two rows at most. A row that begins with 1e300 has a score that is not finite.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/json_rows.h"

namespace {

using voxridge::BodyFault;
using voxridge::BodyForm;
using Code = voxridge::BodyFaultCode;

constexpr double kRefused = 1e300;
constexpr int kDeepest = 200;  // as far as the plain parser goes

void require(bool holds) {
  if (!holds) std::abort();
}

struct Value {
  enum Kind { word, number, text, array, object } kind = word;
  std::string source;  // its bytes
  std::u32string letters;
  std::vector<std::pair<Value, Value>> items;  // the key of an array's items is not used
};

class Tree {
 public:
  explicit Tree(const std::string& body) : body_(body) { whole_ = value(root_, 0) && (blanks(), k_ == body_.size()); }
  bool is_json() const { return whole_; }
  bool is_too_deep() const { return too_deep_; }
  const Value& root() const { return root_; }

 private:
  bool at(const char* any) const {
    return k_ < body_.size() && body_[k_] != 0 && std::strchr(any, body_[k_]) != nullptr;
  }
  bool take(const char* any) {
    if (!at(any)) return false;
    ++k_;
    return true;
  }
  void blanks() {
    while (take(" \t\r\n")) {
    }
  }

  bool value(Value& out, int depth) {
    blanks();
    if (depth > kDeepest) {
      too_deep_ = true;
      return false;
    }
    const size_t first = k_;
    bool good = false;
    if (at("[{")) {
      good = container(out, depth);
    } else if (at("\"")) {
      good = text(out);
    } else if (at("-0123456789")) {
      good = number(out);
    } else {
      for (const std::string word : {"true", "false", "null"}) {
        if (good || body_.compare(k_, word.size(), word) != 0) continue;
        k_ += word.size();
        good = true;
      }
    }
    out.source = body_.substr(first, k_ - first);
    return good;
  }

  bool container(Value& out, int depth) {
    const bool object = body_[k_++] == '{';
    const char* const close = object ? "}" : "]";
    out.kind = object ? Value::object : Value::array;
    blanks();
    if (take(close)) return true;
    do {
      out.items.emplace_back();
      if (object) {
        blanks();
        if (!at("\"") || !value(out.items.back().first, depth + 1)) return false;
        blanks();
        if (!take(":")) return false;
      }
      if (!value(out.items.back().second, depth + 1)) return false;
      blanks();
    } while (take(","));
    return take(close);
  }

  bool digits() {
    if (!at("0123456789")) return false;
    while (take("0123456789")) {
    }
    return true;
  }

  bool number(Value& out) {
    out.kind = Value::number;
    take("-");
    if (!take("0") && !digits()) return false;
    if (take(".") && !digits()) return false;
    if (take("eE")) {
      take("+-");
      if (!digits()) return false;
    }
    return true;
  }

  bool text(Value& out) {
    out.kind = Value::text;
    ++k_;
    while (!take("\"")) {
      char32_t letter = 0;
      if (!character(letter)) return false;
      std::u32string& letters = out.letters;
      const bool pair = escaped_ && !letters.empty() && waits_ && letter >= 0xdc00 && letter <= 0xdfff;
      if (pair)
        letters.back() = 0x10000 + (letters.back() - 0xd800) * 0x400 + (letter - 0xdc00);
      else
        letters += letter;
      waits_ = escaped_ && !pair && letter >= 0xd800 && letter <= 0xdbff;
    }
    waits_ = false;
    return true;
  }

  // One character or \uXXXX; `escaped_` says which.
  bool character(char32_t& letter) {
    escaped_ = false;
    if (k_ == body_.size()) return false;
    const unsigned char first = static_cast<unsigned char>(body_[k_++]);
    if (first < 32) return false;
    letter = first;
    if (first == '\\') return escape(letter);
    if (first < 128) return true;
    const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc0 || first > 0xf7) return false;
    letter = first & (0x3f >> more);
    for (int j = 0; j < more; ++j) {
      if (k_ == body_.size() || (body_[k_] & 0xc0) != 0x80) return false;
      letter = letter * 64 + (body_[k_++] & 0x3f);
    }
    const char32_t least[] = {0, 0x80, 0x800, 0x10000};
    return letter >= least[more] && letter <= 0x10ffff && (letter < 0xd800 || letter > 0xdfff);
  }

  bool escape(char32_t& letter) {
    const std::string signs = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    if (k_ == body_.size()) return false;
    const char sign = body_[k_++];
    if (sign == 'u') {
      const std::string hex = body_.substr(k_, 4);
      if (hex.size() < 4 || hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) return false;
      k_ += 4;
      letter = static_cast<char32_t>(std::stoul(hex, nullptr, 16));
      escaped_ = true;
      return true;
    }
    const size_t place = signs.find(sign);
    if (place == std::string::npos) return false;
    letter = static_cast<unsigned char>(meant[place]);
    return true;
  }

  const std::string& body_;
  size_t k_ = 0;
  Value root_;
  bool whole_ = false, too_deep_ = false, escaped_ = false, waits_ = false;
};

const std::vector<std::string> kNames = {"a", "b\"c", "\xc3\xa9", "\xf0\x9f\xa7\xa0"};
const std::vector<std::u32string> kLetters = {U"a", U"b\"c", U"\u00e9", U"\U0001f9e0"};

// The first fault of a body that is JSON; `rows` gets what comes before it.
BodyFault walk(const Value& root, const BodyForm& form, std::vector<double>& rows) {
  const int64_t p = form.n_features;
  if (root.kind != Value::object) return {Code::wrong_type, 0, 0, 0, 0};
  int features = 0, columns = 0;
  for (const auto& [key, value] : root.items) {
    const bool is_features = key.source == "\"features\"";
    if (!is_features && key.source != "\"columns\"") return {Code::unknown_key, 0, 0, 0, 0};
    if (++(is_features ? features : columns) > 1) return {Code::duplicate_key, 0, 0, 0, 0};
    if (value.kind != Value::array) return {Code::wrong_type, 0, 0, 0, 0};
    if (!is_features) {
      if (form.columns == nullptr) return {Code::column_mismatch, 0, 0, 0, p};
      for (int64_t j = 0; j < static_cast<int64_t>(value.items.size()); ++j) {
        const Value& name = value.items[j].second;
        const bool same = j < p && name.kind == Value::text && name.letters == kLetters[j];
        if (!same) return {Code::column_mismatch, 0, j + 1, 0, p};
      }
      const int64_t n = static_cast<int64_t>(value.items.size());
      if (n < p) return {Code::column_mismatch, 0, n + 1, 0, p};
      continue;
    }
    if (value.items.empty()) return {Code::empty, 0, 0, 0, 0};
    int64_t row = 0;
    for (const auto& item : value.items) {
      if (++row > form.max_rows) return {Code::too_many_rows, 0, 0, 0, form.max_rows};
      if (item.second.kind != Value::array) return {Code::wrong_type, row, 0, 0, 0};
      int64_t column = 0;
      std::vector<double> numbers;
      for (const auto& entry : item.second.items) {
        if (++column > p) return {Code::wrong_row_length, row, 0, p + 1, p};
        if (entry.second.kind != Value::number) return {Code::not_a_number, row, column, 0, 0};
        numbers.push_back(std::strtod(entry.second.source.c_str(), nullptr));
        if (std::isinf(numbers.back())) return {Code::number_out_of_range, row, column, 0, 0};
      }
      if (column < p) return {Code::wrong_row_length, row, 0, column, p};
      rows.insert(rows.end(), numbers.begin(), numbers.end());
      if (numbers[0] == kRefused) return {Code::non_finite_score, row, 0, 0, 0};
    }
  }
  return {features > 0 ? Code::none : Code::missing_features, 0, 0, 0, 0};
}

class Rows : public voxridge::RowSink {
 public:
  explicit Rows(int64_t p) : p_(p) {}
  bool take(const double* row, int64_t index) noexcept override {
    require(index * p_ == static_cast<int64_t>(values.size()));
    values.insert(values.end(), row, row + p_);
    return row[0] != kRefused;
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
    require(same(fault, walk(tree.root(), form, expected)));
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
