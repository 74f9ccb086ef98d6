// The JSON body of a scoring request, in one pass, without recursion and without allocations:
//
//   {"features": [[0.5, -1.2], [1, 2]], "columns": ["a", "b"]}
//
// `columns` may be left out, come first or last, and must hold the model's names in their order. Strict JSON (RFC
// 8259) in UTF-8. The first fault in byte order decides, token by token:
// - bytes that cannot continue JSON are `bad_json`, at that byte. This holds within strings, numbers and words too, so
//   a token is well formed before anything else is said about it; of an array or object in a wrong place nothing but
//   its bracket is read;
// - a number or a word ends before a blank, `,`, `]` or `}`; any other byte there, the end too, is `bad_json`. Only
//   outside of the object the end will do: `5` is JSON, but `wrong_type`;
// - then the token is held against the form above: is there place for it, is it of the right kind, has it a right
//   value, in this order.
// So a body that is cut off before its last brace is never accepted, and within the object no fault depends on what
// follows it.
// Half a surrogate pair in an escape is JSON, but equals no name.
#pragma once

#include "body_fault.h"

namespace voxridge {

// Gives each row to the sink when it closes, through `row`, which has place for n_features numbers.
BodyFault read_json_rows(const char* body, size_t size, const BodyForm& form, double* row, RowSink& sink);

}  // namespace voxridge
