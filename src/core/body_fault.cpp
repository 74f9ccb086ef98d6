#include "body_fault.h"

#include <cstdio>

namespace voxridge {

namespace {

using Code = BodyFaultCode;

const char* plural(int64_t n) {
  return n == 1 ? "" : "s";
}

}  // namespace

int http_status(BodyFaultCode code) {
  switch (code) {
    case Code::none:
      return 200;
    case Code::bad_json:
      return 400;
    case Code::too_many_rows:
      return 413;
    default:
      return 422;
  }
}

const char* fault_word(BodyFaultCode code) {
  switch (code) {
    case Code::none:
      return "";
    case Code::bad_json:
      return "bad_json";
    case Code::number_out_of_range:
      return "number_out_of_range";
    case Code::not_a_number:
      return "not_a_number";
    case Code::wrong_type:
      return "wrong_type";
    case Code::missing_features:
      return "missing_features";
    case Code::unknown_key:
      return "unknown_key";
    case Code::duplicate_key:
      return "duplicate_key";
    case Code::empty:
      return "empty";
    case Code::wrong_row_length:
      return "wrong_row_length";
    case Code::column_mismatch:
      return "column_mismatch";
    case Code::too_many_rows:
      return "too_many_rows";
    case Code::non_finite_score:
      return "non_finite_score";
    case Code::wrong_length:
      return "wrong_length";
    case Code::non_finite_value:
      return "non_finite_value";
  }
  return "";
}

size_t write_fault_message(const BodyFault& fault, char* to) {
  const long long row = fault.row, column = fault.column, found = fault.found, needed = fault.needed;
  const auto say = [&](const char* text) {
    return static_cast<size_t>(std::snprintf(to, kFaultMessageBytes, "%s", text));
  };
  const auto write = [&](const char* format, auto... numbers) {
    return static_cast<size_t>(std::snprintf(to, kFaultMessageBytes, format, numbers...));
  };
  switch (fault.code) {
    case Code::none:
      break;
    case Code::bad_json:
      return write("The body is not JSON from byte %lld on.", found);
    case Code::number_out_of_range:
      return write("The number in row %lld, column %lld is too large for a double.", row, column);
    case Code::not_a_number:
      return write("The value in row %lld, column %lld is not a number.", row, column);
    case Code::wrong_type:
      if (row > 0) return write("Row %lld is not an array.", row);
      return say("The body must be an object of arrays: `features`, of rows, and perhaps `columns`, of names.");
    case Code::missing_features:
      return say("The body has no `features`.");
    case Code::unknown_key:
      return say("The body has a key other than `features` and `columns`, which are spelled without escapes.");
    case Code::duplicate_key:
      return say("The body has a key twice.");
    case Code::empty:
      return say("`features` has no rows.");
    case Code::wrong_row_length:
      if (found > needed) return write("Row %lld has more values than %lld, which the model needs.", row, needed);
      return write("Row %lld has %lld value%s; the model needs %lld.", row, found, plural(found), needed);
    case Code::column_mismatch:
      if (column == 0) return say("The model has no names of columns: leave out `columns`.");
      return write("Column %lld of `columns` is not as in the model, which has %lld.", column, needed);
    case Code::too_many_rows:
      return write("The body has more than %lld row%s.", needed, plural(needed));
    case Code::non_finite_score:
      return write("The score of row %lld is not finite.", row);
    case Code::wrong_length:
      return write("The body has %lld bytes; it needs a positive multiple of %lld.", found, needed);
    case Code::non_finite_value:
      return write("The value in row %lld, column %lld is not finite.", row, column);
  }
  to[0] = '\0';
  return 0;
}

}  // namespace voxridge
