// What the fuzzers hold request bodies against: a plain parser of JSON that builds the whole tree of a body, and a walk
// over it in the order of its bytes. Nothing of this is used by the library.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/body_fault.h"

namespace plain_json {

using voxridge::BodyFault;
using voxridge::BodyForm;
using Code = voxridge::BodyFaultCode;

constexpr int kDeepest = 200;  // as far as the plain parser goes

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

inline const std::vector<std::string> kNames = {"a", "b\"c", "\xc3\xa9", "\xf0\x9f\xa7\xa0"};
inline const std::vector<std::u32string> kLetters = {U"a", U"b\"c", U"\u00e9", U"\U0001f9e0"};

// The first fault of a body that is JSON; `rows` gets what comes before it. `has_score`: whether the score of p numbers
// is finite.
template <class HasScore>
BodyFault walk(const Value& root, const BodyForm& form, std::vector<double>& rows, HasScore has_score) {
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
      if (!has_score(numbers.data())) return {Code::non_finite_score, row, 0, 0, 0};
    }
  }
  return {features > 0 ? Code::none : Code::missing_features, 0, 0, 0, 0};
}

}  // namespace plain_json
