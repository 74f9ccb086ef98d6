// What can be wrong with the body of a scoring request, and what its reader is told: a status, a word, and a sentence
// with numbers, but nothing of what was sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace voxridge {

enum class BodyFaultCode {
  none,
  bad_json,             // found: the place of the first wrong byte, from 1; past the end where more should follow
  number_out_of_range,  // row, column
  not_a_number,         // row, column
  wrong_type,           // row, or 0: the body, `features` or `columns`
  missing_features,
  unknown_key,
  duplicate_key,
  empty,
  wrong_row_length,  // row; found: its values, or one more than needed for a row that goes on; needed
  column_mismatch,   // column, or 0 where the model has no names; needed: how many names
  too_many_rows,     // needed: how many rows there may be
  non_finite_score,  // row
  wrong_length,      // of a binary body. found: its bytes; needed: the bytes of a row
  non_finite_value   // row, column
};

// Rows and columns count from 1; 0 where there is none.
struct BodyFault {
  BodyFaultCode code = BodyFaultCode::none;
  int64_t row = 0;
  int64_t column = 0;
  int64_t found = 0;
  int64_t needed = 0;
};

int http_status(BodyFaultCode code);         // 200 for none
const char* fault_word(BodyFaultCode code);  // as it stands in a reply, "" for none

constexpr size_t kFaultMessageBytes = 160;

// Writes the sentence with a closing zero, at most kFaultMessageBytes, and returns its length. It needs no escapes in
// JSON.
size_t write_fault_message(const BodyFault& fault, char* to);

// What a model asks of a body.
struct BodyForm {
  int64_t n_features = 1;                             // at least 1
  int64_t max_rows = 512;                             // at least 1
  const std::vector<std::string>* columns = nullptr;  // n_features names in UTF-8; null: the model has none
};

// Takes each row when it is complete.
class RowSink {
 public:
  virtual ~RowSink() = default;

  // Row `index` (from 0) of n_features finite numbers, which are gone after the call. False: it has a score that is not
  // finite, and no row follows. What was scored before a fault in a later row is for the caller to throw away.
  virtual bool take(const double* row, int64_t index) noexcept = 0;
};

}  // namespace voxridge
