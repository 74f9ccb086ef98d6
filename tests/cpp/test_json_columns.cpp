// The names in a body, how many rows it may have, and what is said about faults.
#include <limits>
#include <set>

#include "body_cases.h"
#include "core/json_rows.h"

namespace voxridge_test {

namespace {

using Code = BodyFaultCode;

const std::vector<std::string> kNames = {"a", "b\"\\/c", "\xc3\xa9t\xc3\xa9", "\xf0\x9f\xa7\xa0", "tab\there", ""};
const std::string kSpelled = R"("a","b\"\\/c","été","🧠","tab\there","")";
const std::string kRow = R"("features":[[1,2,3,4,5,6]])";

BodyFault read(const std::string& body, const BodyForm& form) {
  return read_body(read_json_rows, body, form).fault;
}

BodyFault read_names(const std::string& names) {
  const BodyForm form = make_form(static_cast<int64_t>(kNames.size()), 512, &kNames);
  const BodyFault last = read("{" + kRow + ",\"columns\":[" + names + "]}", form);
  EXPECT_EQ(read("{\"columns\":[" + names + "]," + kRow + "}", form).code, last.code) << names;
  return last;
}

BodyFault mismatch(int64_t column) {
  return {Code::column_mismatch, 0, column, 0, static_cast<int64_t>(kNames.size())};
}

}  // namespace

TEST(JsonColumns, NamesInAnySpelling) {
  EXPECT_EQ(read_names(kSpelled).code, Code::none);
  EXPECT_EQ(read_names(R"( "\u0061" , "b\u0022\u005C\/c" , "\u00e9t\u00C9" )").column, 3);  // a capital
  EXPECT_EQ(read_names(R"("\u0061","b\u0022\u005C\/c","\u00e9t\u00E9","\ud83e\uDDE0","tab\u0009here", "")"),
            BodyFault());
}

TEST(JsonColumns, OtherNames) {
  EXPECT_EQ(read_names(""), mismatch(1));
  EXPECT_EQ(read_names(R"("a")"), mismatch(2));
  EXPECT_EQ(read_names(R"("a","b\"\\/c","été","🧠","tab\there")"), mismatch(6));
  EXPECT_EQ(read_names(kSpelled + ",\"\""), mismatch(7));
  EXPECT_EQ(read_names(kSpelled + ",[["), mismatch(7));
  EXPECT_EQ(read_names(R"("b\"\\/c","a","été","🧠","tab\there","")"), mismatch(1));
  for (const char* first : {"\"\"", "\"A\"", "\"aa\"", "\"a \"", "\" a\"", "\"\\u0000a\"", "\"a\\u0000\"", "1", "null",
                            "[\"a\"]", "{}", "\"\\ud800a\"", "\"a\\ud800\"", "\"\\udc00a\"", "\"a\\udc00\""}) {
    EXPECT_EQ(read_names(first), mismatch(1)) << first;
  }
  const std::string before = R"("a","b\"\\/c",)";
  EXPECT_EQ(read_names(before + "\"ete\""), mismatch(3));
  EXPECT_EQ(read_names(before + "\"e\xcc\x81te\xcc\x81\""), mismatch(3));  // the same to look at, other bytes
  for (const char* fourth : {R"("\ud83e")", R"("\udde0")", R"("\udde0\ud83e")", R"("\ud83e\ud83e\udde0")",
                             R"("\ud83e \udde0")", R"("\ud83e\udde1")", R"("\ud83e\udde0\udde0")"}) {
    EXPECT_EQ(read_names(before + "\"été\"," + fourth), mismatch(4)) << fourth;
  }
}

TEST(JsonColumns, HaveTheFirstFaultLikeAnythingElse) {
  const BodyForm form = make_form(6, 512, &kNames);
  EXPECT_EQ(read("{\"columns\":[\"a\",1e999", form), (BodyFault{Code::bad_json, 0, 0, 22, 0}));
  EXPECT_EQ(read("{\"columns\":[\"a\",1e999]", form), mismatch(2));
  EXPECT_EQ(read("{\"columns\":[\"x\"],\"features\":[[1e999]]}", form), mismatch(1));
  EXPECT_EQ(read("{\"features\":[[1]],\"columns\":[\"x\"]}", form).code, Code::wrong_row_length);
  EXPECT_EQ(read("{\"columns\":[" + kSpelled + "]}", form).code, Code::missing_features);
  EXPECT_EQ(read("{\"columns\":[" + kSpelled + "],\"columns\":[]," + kRow + "}", form).code, Code::duplicate_key);
  EXPECT_EQ(read("{\"columns\":[\"a\" \"b\"]}", form).code, Code::bad_json);
  EXPECT_EQ(read("{\"columns\":[\"a\",]}", form).code, Code::bad_json);
  EXPECT_EQ(read("{\"columns\":[\"a\xff\"]}", form).code, Code::bad_json);
}

TEST(JsonColumns, OfAModelWithoutNames) {
  const BodyForm form = make_form(6);
  EXPECT_EQ(read("{" + kRow + "}", form), BodyFault());
  for (const std::string names : {"", "\"a\"", "1"}) {
    const BodyFault fault = read("{" + kRow + ",\"columns\":[" + names + "]}", form);
    EXPECT_EQ(fault, (BodyFault{Code::column_mismatch, 0, 0, 0, 6}));
  }
}

TEST(JsonColumns, SplitAtEveryByte) {
  const BodyForm form = make_form(6, 512, &kNames);
  for (const std::string& body :
       {"{\"columns\":[" + kSpelled + "]," + kRow + "}",
        "{" + kRow +
            R"( , "columns" : ["\u0061","b\u0022\\/c","\u00e9t\u00E9","\ud83e\uDDE0","tab\u0009here", ""]})"}) {
    EXPECT_EQ(read(body, form), BodyFault());
    for (size_t cut = 0; cut < body.size(); ++cut) {
      EXPECT_EQ(read(body.substr(0, cut), form), (BodyFault{Code::bad_json, 0, 0, static_cast<int64_t>(cut) + 1, 0}));
    }
  }
}

TEST(JsonRowLimits, OneRowTooMany) {
  std::string body = "{\"features\":[";
  for (int k = 0; k < 512; ++k) body += k > 0 ? ",[1]" : "[1]";
  EXPECT_EQ(read(body + "]}", make_form(1)), BodyFault());
  const BodyFault many = {Code::too_many_rows, 0, 0, 0, 512};
  for (const std::string rest : {",[1]]}", ",[", ",[]]}", ",[\"a\"", ",null]}", ",[1],]"}) {
    EXPECT_EQ(read(body + rest, make_form(1)), many) << rest;
  }
  EXPECT_EQ(read(body + ",]}", make_form(1)).code, Code::bad_json);
  EXPECT_EQ(read(body + ",", make_form(1)).code, Code::bad_json);
  EXPECT_EQ(read("{\"features\":[[1,2],[3]]}", make_form(2, 1)), (BodyFault{Code::too_many_rows, 0, 0, 0, 1}));
}

TEST(JsonRowLimits, AScoreThatIsNotFiniteEndsTheBody) {
  const std::string body = "{\"features\":[[1,2],[3,4],[5,6]],\"x\"";
  for (int64_t refused = 0; refused < 3; ++refused) {
    const Outcome outcome = read_body(read_json_rows, body, make_form(2), refused);
    EXPECT_EQ(outcome.fault, (BodyFault{Code::non_finite_score, refused + 1, 0, 0, 0}));
    EXPECT_EQ(static_cast<int64_t>(outcome.values.size()), 2 * (refused + 1));
  }
  EXPECT_EQ(read(body, make_form(2)).code, Code::unknown_key);
}

TEST(JsonFaults, StatusWordAndSentence) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  std::set<std::string> words;
  for (int k = 1; k <= static_cast<int>(Code::non_finite_value); ++k) {
    const Code code = static_cast<Code>(k);
    words.insert(fault_word(code));
    EXPECT_EQ(http_status(code), code == Code::bad_json ? 400 : code == Code::too_many_rows ? 413 : 422);
    for (const BodyFault& fault : {BodyFault{code, 0, 0, 0, 0}, BodyFault{code, most, most, most, most - 1},
                                   BodyFault{code, -most, -most, -most, -most}, BodyFault{code, 1, 0, most, most}}) {
      char text[kFaultMessageBytes];
      const size_t size = write_fault_message(fault, text);
      ASSERT_LT(size, kFaultMessageBytes);
      ASSERT_EQ(size, std::strlen(text));
      EXPECT_GT(size, 10u);
      EXPECT_EQ(std::string(text).find_first_of("\"\\\n\t%"), std::string::npos) << text;
    }
  }
  EXPECT_EQ(words,
            (std::set<std::string>{"bad_json", "number_out_of_range", "not_a_number", "wrong_type", "missing_features",
                                   "unknown_key", "duplicate_key", "empty", "wrong_row_length", "column_mismatch",
                                   "too_many_rows", "non_finite_score", "wrong_length", "non_finite_value"}));
  EXPECT_EQ(http_status(Code::none), 200);
  EXPECT_STREQ(fault_word(Code::none), "");
}

TEST(JsonFaults, Sentences) {
  const auto sentence = [](const BodyFault& fault) {
    char text[kFaultMessageBytes];
    write_fault_message(fault, text);
    return std::string(text);
  };
  EXPECT_EQ(sentence({Code::wrong_row_length, 2, 0, 3, 8}), "Row 2 has 3 values; the model needs 8.");
  EXPECT_EQ(sentence({Code::wrong_row_length, 1, 0, 1, 2}), "Row 1 has 1 value; the model needs 2.");
  EXPECT_EQ(sentence({Code::wrong_row_length, 1, 0, 9, 8}), "Row 1 has more values than 8, which the model needs.");
  EXPECT_EQ(sentence({Code::not_a_number, 2, 3, 0, 0}), "The value in row 2, column 3 is not a number.");
  EXPECT_EQ(sentence({Code::too_many_rows, 0, 0, 0, 512}), "The body has more than 512 rows.");
  EXPECT_EQ(sentence({Code::wrong_length, 0, 0, 17, 64}), "The body has 17 bytes; it needs a positive multiple of 64.");
  EXPECT_EQ(sentence({Code::bad_json, 0, 0, 18, 0}), "The body is not JSON from byte 18 on.");
  EXPECT_EQ(sentence({Code::none, 0, 0, 0, 0}), "");
}

}  // namespace voxridge_test
