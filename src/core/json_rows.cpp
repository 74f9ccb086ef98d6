#include "json_rows.h"

#include <cstring>

#include "json_text.h"
#include "number_text.h"

namespace voxridge {

namespace {

using Code = BodyFaultCode;

enum class Token { bad, number, text, word, array, object };

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

class Reader {
 public:
  Reader(const char* body, size_t size, const BodyForm& form, double* row, RowSink& sink)
      : begin_(body), end_(body + size), at_(body), form_(form), row_(row), sink_(sink) {}

  BodyFault read() {
    read_body();
    return fault_;
  }

 private:
  // Each returns whether to go on; after a fault nothing is read.
  bool read_body();
  bool read_member();
  bool read_rows();
  bool read_values(int64_t row);
  bool read_columns();

  // The token that starts here; `at_` goes past it, or to the first wrong byte.
  Token read_token(Spelling& spelling);
  bool read_number_token();
  bool read_digits();
  bool read_word(const char* word);

  void skip_blanks() {
    while (at_ < end_ && is_blank(*at_)) ++at_;
  }
  bool ends_here(char close) {
    skip_blanks();
    if (at_ == end_ || *at_ != close) return false;
    ++at_;
    return true;
  }
  // Past a comma and the blanks around it; false where something else stands.
  bool goes_on() {
    if (!ends_here(',')) return false;
    skip_blanks();
    return true;
  }
  bool is_delimited() const {
    if (at_ == end_) return !inside_;
    return *at_ == ',' || *at_ == ']' || *at_ == '}' || is_blank(*at_);
  }

  bool fail(Code code, int64_t row = 0, int64_t column = 0, int64_t found = 0, int64_t needed = 0) {
    fault_ = {code, row, column, found, needed};
    return false;
  }
  bool bad() { return fail(Code::bad_json, 0, 0, at_ - begin_ + 1); }
  bool mismatch(int64_t column) { return fail(Code::column_mismatch, 0, column, 0, form_.n_features); }

  const char* const begin_;
  const char* const end_;
  const char* at_;
  const BodyForm& form_;
  double* const row_;
  RowSink& sink_;
  BodyFault fault_;
  bool inside_ = false;  // the object of the body
  bool has_features_ = false, has_columns_ = false;
};

bool Reader::read_body() {
  Spelling any;
  skip_blanks();
  const Token top = read_token(any);
  if (top == Token::bad) return bad();
  if (top != Token::object) return fail(Code::wrong_type);
  inside_ = true;
  if (ends_here('}')) return fail(Code::missing_features);
  do {
    if (!read_member()) return false;
  } while (goes_on());
  if (!ends_here('}')) return bad();
  if (!has_features_) return fail(Code::missing_features);
  skip_blanks();
  return at_ == end_ || bad();
}

bool Reader::read_member() {
  Spelling any;
  const char* const key = at_;
  if (at_ == end_ || *at_ != '"' || !read_json_text(at_, end_, any)) return bad();
  const auto is = [&](const char* quoted) {
    const size_t size = static_cast<size_t>(at_ - key);
    return size == std::strlen(quoted) && std::memcmp(key, quoted, size) == 0;
  };
  const bool features = is("\"features\"");
  if (!features && !is("\"columns\"")) return fail(Code::unknown_key);
  bool& had = features ? has_features_ : has_columns_;
  if (had) return fail(Code::duplicate_key);
  had = true;
  if (!ends_here(':')) return bad();
  skip_blanks();
  const Token value = read_token(any);
  if (value == Token::bad) return bad();
  if (value != Token::array) return fail(Code::wrong_type);
  return features ? read_rows() : read_columns();
}

bool Reader::read_rows() {
  Spelling any;
  if (ends_here(']')) return fail(Code::empty);
  int64_t n = 0;
  do {
    const Token token = read_token(any);
    if (token == Token::bad) return bad();
    if (n == form_.max_rows) return fail(Code::too_many_rows, 0, 0, 0, form_.max_rows);
    if (token != Token::array) return fail(Code::wrong_type, n + 1);
    if (!read_values(n + 1)) return false;
    if (!sink_.take(row_, n)) return fail(Code::non_finite_score, n + 1);
    ++n;
  } while (goes_on());
  return ends_here(']') || bad();
}

bool Reader::read_values(int64_t row) {
  const int64_t p = form_.n_features;
  Spelling any;
  int64_t k = 0;
  if (ends_here(']')) return fail(Code::wrong_row_length, row, 0, 0, p);
  do {
    const char* const first = at_;
    const Token token = read_token(any);
    if (token == Token::bad) return bad();
    if (k == p) return fail(Code::wrong_row_length, row, 0, p + 1, p);
    if (token != Token::number) return fail(Code::not_a_number, row, k + 1);
    if (!read_number(first, at_, row_[k])) return fail(Code::number_out_of_range, row, k + 1);
    ++k;
  } while (goes_on());
  if (!ends_here(']')) return bad();
  return k == p || fail(Code::wrong_row_length, row, 0, k, p);
}

bool Reader::read_columns() {
  if (form_.columns == nullptr) return mismatch(0);
  const std::vector<std::string>& names = *form_.columns;
  const int64_t p = static_cast<int64_t>(names.size());
  if (ends_here(']')) return mismatch(1);
  int64_t k = 0;
  do {
    Spelling spelling;
    if (k < p) spelling = Spelling(names[k]);
    const Token token = read_token(spelling);
    if (token == Token::bad) return bad();
    if (k == p || token != Token::text || !spelling.matches()) return mismatch(k + 1);
    ++k;
  } while (goes_on());
  if (!ends_here(']')) return bad();
  return k == p || mismatch(k + 1);
}

Token Reader::read_token(Spelling& spelling) {
  if (at_ == end_) return Token::bad;
  switch (*at_) {
    case '"':
      return read_json_text(at_, end_, spelling) ? Token::text : Token::bad;
    case '[':
      ++at_;
      return Token::array;
    case '{':
      ++at_;
      return Token::object;
    case 't':
      return read_word("true") ? Token::word : Token::bad;
    case 'f':
      return read_word("false") ? Token::word : Token::bad;
    case 'n':
      return read_word("null") ? Token::word : Token::bad;
    default:
      return read_number_token() ? Token::number : Token::bad;
  }
}

bool Reader::read_number_token() {
  if (*at_ == '-') ++at_;
  if (at_ < end_ && *at_ == '0') {
    ++at_;
  } else if (!read_digits()) {
    return false;
  }
  if (at_ < end_ && *at_ == '.') {
    ++at_;
    if (!read_digits()) return false;
  }
  if (at_ < end_ && (*at_ == 'e' || *at_ == 'E')) {
    ++at_;
    if (at_ < end_ && (*at_ == '+' || *at_ == '-')) ++at_;
    if (!read_digits()) return false;
  }
  return is_delimited();
}

bool Reader::read_digits() {
  const char* const first = at_;
  while (at_ < end_ && is_digit(*at_)) ++at_;
  return at_ > first;
}

bool Reader::read_word(const char* word) {
  for (; *word != '\0'; ++word, ++at_) {
    if (at_ == end_ || *at_ != *word) return false;
  }
  return is_delimited();
}

}  // namespace

BodyFault read_json_rows(const char* body, size_t size, const BodyForm& form, double* row, RowSink& sink) {
  return Reader(body, size, form, row, sink).read();
}

}  // namespace voxridge
