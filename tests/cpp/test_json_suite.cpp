// Texts that JSON allows, texts that it does not, and texts about which readers differ, each as a body and in the
// places of a body. In the manner of Nicolas Seriot's "Parsing JSON is a minefield", with texts of our own.
#include "body_cases.h"
#include "core/json_rows.h"

namespace voxridge_test {

namespace {

using Code = BodyFaultCode;

const std::vector<std::string> kNumbers = {
    "0",      "-0",    "7",    "-7",   "10",   "1234567890", "0.5",     "-0.5",     "0e0",
    "0E-0",   "1e1",   "1E1",  "1e+1", "1e-1", "1.5e007",    "0.0001",  "-1.0e-10", "1e00",
    "100e-2", "0.000", "9e22", "1e22", "1e23", "5e-324",     "1e-5000", "-0.0e+9",  "4503599627370497.5"};

const std::vector<std::string> kOtherScalars = {
    "true", "false", "null", "\"\"", "\"a\"", "\"\\\"\"", "\"\\\\\"", "\"\\/\"", "\"\\b\\f\\n\\r\\t\"", "\"\\u0000\"",
    "\"\\uABCD\\uabcd\"", "\"\\ud83e\\udde0\"", "\"/\"", "\"\x7f\"", "\"\xc2\x80\"", "\"\xe2\x80\xa8\"",
    "\"\xef\xbb\xbf\"", "\"\xef\xbf\xbf\"", "\"\xf0\x90\x80\x80\"", "\"\xf4\x8f\xbf\xbf\"", "\"\xed\x9f\xbf\"",
    "\"\xee\x80\x80\"", "\"[1,2]\"", "\"1e5\"", "\"\\\\u0041\"", "\" \"",
    // Half a pair, in the wrong order, twice: JSON by its grammar.
    "\"\\ud800\"", "\"\\udc00\"", "\"\\udc00\\ud800\"", "\"\\ud800\\ud800\"", "\"\\ud800x\"", "\"\\ud800\\n\""};

const std::vector<std::string> kContainers = {"[]", "{}", "[[]]", "[1,2]", "[1, \"a\", null, true, {\"b\": [ ]}]",
                                              // Objects.
                                              "{\"a\":1}", "{\"\":{}}", "{\"a\":1,\"a\":2}", "[\n1\t,\r2 ]",
                                              "{\"features\":1}"};

const std::vector<std::string> kBrokenScalars = {
    "", " ", "+1", "++1", "-", "--1", "- 1", "-a", "01", "-01", "00", "012", "1.", "-1.", ".1", "-.1", "1.e1", "1..2",
    "1.2.3", "1e", "1e+", "1e-", "1ee1", "1e1e1", "1e1.5", "1E+-1", "1+2", "1-2", "1a", "1e1a", "0x", "0x10", "0b1",
    "0o7", "1L", "1f", "1'000", "1_0",
    // Words.
    "NaN", "nan", "-nan", "Inf", "Infinity", "-Infinity", "inf", "-inf", "1.#INF", "\xe2\x88\x9e", "\xef\xbc\x91",
    "\xd9\xa1", "TRUE", "True", "tru", "truE", "truee", "fals", "False", "falsey", "nul", "NULL", "Null", "nullx",
    "undefined", "None", "NA", "a", "'a'", "`a`",
    // Strings.
    "\"a", "\"\\\"", "\"\\", "\"\\u", "\"\\u1\"", "\"\\u12\"", "\"\\u123\"", "\"\\u123g\"", "\"\\U0041\"", "\"\\x41\"",
    "\"\\a\"", "\"\\v\"", "\"\\0\"", "\"\\'\"", "\"\\ \"", "\"\\\n\"", "\"\n\"", "\"\t\"", "\"\x01\"", "\"\x1f\"",
    "\"\x80\"", "\"\xbf\"", "\"\xc0\x80\"", "\"\xc1\xbf\"", "\"\xc3\"", "\"\xc3(\"", "\"\xe0\x9f\xbf\"", "\"\xe2\x82\"",
    "\"\xe2(\xa1\"", "\"\xed\xa0\x80\"", "\"\xed\xbf\xbf\"", "\"\xf0\x8f\xbf\xbf\"", "\"\xf0\x9f\xa7\"",
    "\"\xf4\x90\x80\x80\"", "\"\xf5\x80\x80\x80\"", "\"\xf8\x88\x80\x80\x80\"", "\"\xfe\"", "\"\xff\"", "\\u0031",
    "\"\\ud800\\u\"",
    // Signs.
    "*", "&", "#", "//", "/**/", "<1>", "(1)", "=", ":", ",", "}",
    "\xef\xbb\xbf"
    "1",
    "\xc2\xa0", "\xe2\x81\xa0", "\v", "\f"};

const std::vector<std::string> kBrokenRows = {"[1,]", "[,1]", "[1,,1]", "[,]",
                                              // Values that follow each other.
                                              "[1 1]", "[1;1]", "[1:1]", "[1}", "[1", "[1,", "[1,\n", "[1\"\"", "[1[]",
                                              "[1{}", "[1true]", "[1//]", "[1/**/]", "[1#]",
                                              // Tokens that are none.
                                              "[-]", "[1\v]", "[1\xc2\xa0]", "[1\\n]", "[1,'a']", "[1,a]", "[1, nan]",
                                              "[1-]", "[1.]", "[1e]", "[0x1]", "[*]", "[\""};

const std::vector<std::string> kBrokenBodies = {
    "{", "{\"", "{\"features", "{\"features\"", "{\"features\":", "{\"features\":[", "{\"features\":[[",
    // Keys that are none.
    "{,}", "{1}", "{1:1}", "{null:1}", "{[]:1}", "{a:1}", "{'a':1}",
    // Signs out of place.
    "{\"features\" 1}", "{\"features\",1}", "{\"features\";[]}", "{\"features\":}", "{:1}", "{\"features\":[[1]],}",
    "{\"features\":[[1]],,}", "{\"features\":[[1]]", "{\"features\":[[1]];\"a\":1}", "{\"features\":[[1]]}{}",
    "{\"features\":[[1]]}]", "{\"features\":[[1]]},", "{\"features\":[[1]]}#", "{\"features\":[[1]]}\xef\xbb\xbf",
    "{\"features\":[[1]]\"\"}", "{\"features\":[[1]]:1}", "{\"features\":[[1]] [1]}", "{\"features\"::[[1]]}", "{{}}",
    "{\"features\\\":[[1]]}", "{\"\\q\":1}"};

BodyFault read(const std::string& body) {
  return read_body(read_json_rows, body, make_form(1)).fault;
}

BodyFault as_value(const std::string& text) {
  return read("{\"features\":[[" + text + "]]}");
}

BodyFault as_row(const std::string& text) {
  return read("{\"features\":[" + text + "]}");
}

BodyFault as_features(const std::string& text) {
  return read("{\"features\":" + text + "}");
}

}  // namespace

TEST(JsonSuite, Numbers) {
  for (const std::string& text : kNumbers) {
    EXPECT_EQ(as_value(text), BodyFault()) << text;
    EXPECT_EQ(as_value("\r\n" + text + "\t "), BodyFault()) << text;
    EXPECT_EQ(as_row(text).code, Code::wrong_type) << text;
    EXPECT_EQ(as_features(text).code, Code::wrong_type) << text;
    EXPECT_EQ(read(text).code, Code::wrong_type) << text;
    EXPECT_EQ(read("[" + text + "]").code, Code::wrong_type) << text;
  }
}

TEST(JsonSuite, OtherValues) {
  for (const std::vector<std::string>* const texts : {&kOtherScalars, &kContainers}) {
    for (const std::string& text : *texts) {
      EXPECT_EQ(as_value(text).code, Code::not_a_number) << text;
      if (text[0] != '[') {
        EXPECT_EQ(as_row(text).code, Code::wrong_type) << text;
        EXPECT_EQ(as_features(text).code, Code::wrong_type) << text;
      }
      if (text[0] == '{') continue;
      EXPECT_EQ(read(text).code, Code::wrong_type) << text;
    }
  }
}

TEST(JsonSuite, BrokenScalars) {
  for (const std::string& text : kBrokenScalars) {
    if (text.find_first_not_of(' ') != std::string::npos) {
      EXPECT_EQ(as_value(text).code, Code::bad_json) << text;
    }
    EXPECT_EQ(read("{\"features\":[[1," + text + "]]}").code, Code::bad_json) << text;
    EXPECT_EQ(as_features(text).code, Code::bad_json) << text;
    EXPECT_EQ(as_row("[1]," + text).code, Code::bad_json) << text;
    EXPECT_EQ(read(text).code, Code::bad_json) << text;
  }
}

TEST(JsonSuite, BrokenRows) {
  for (const std::string& text : kBrokenRows) {
    EXPECT_EQ(as_row(text).code, Code::bad_json) << text;
    EXPECT_EQ(as_value(text).code, Code::not_a_number) << text;  // seen at the bracket
    EXPECT_EQ(read(text).code, Code::wrong_type) << text;
  }
}

TEST(JsonSuite, BrokenBodies) {
  for (const std::string& text : kBrokenBodies) EXPECT_EQ(read(text).code, Code::bad_json) << text;
}

// Bodies in UTF-16 and UTF-32, with and without their marks.
TEST(JsonSuite, OtherEncodings) {
  const std::string body = "{\"features\":[[1]]}";
  EXPECT_EQ(read(body), BodyFault());
  for (const size_t width : {2, 4}) {
    for (const bool big : {false, true}) {
      std::string wide, mark(width, '\0');
      for (const char c : body) {
        std::string letter(width, '\0');
        letter[big ? width - 1 : 0] = c;
        wide += letter;
      }
      mark[big ? width - 2 : 0] = big ? '\xfe' : '\xff';
      mark[big ? width - 1 : 1] = big ? '\xff' : '\xfe';
      EXPECT_EQ(read(wide).code, Code::bad_json);
      EXPECT_EQ(read(mark + wide).code, Code::bad_json);
    }
  }
}

// Any one byte in place of another, left out or put in between: never read beyond the end, and never a row of a
// length that is not asked for.
TEST(JsonSuite, EveryByteChanged) {
  const std::string body = R"({"features":[[-1.5e2,0],[3,"\u00e9"]]})";
  const BodyForm form = make_form(2);
  for (size_t k = 0; k <= body.size(); ++k) {
    for (int c = 0; c < 256; ++c) {
      std::string changed = body, longer = body;
      if (k < body.size()) changed[k] = static_cast<char>(c);
      longer.insert(k, 1, static_cast<char>(c));
      for (const std::string& text : {changed, longer}) {
        const Outcome outcome = read_body(read_json_rows, text, form);
        EXPECT_NE(outcome.fault.code, Code::none);
        EXPECT_EQ(outcome.values.size() % 2, 0u);
      }
    }
    if (k == body.size()) break;
    EXPECT_NE(read_body(read_json_rows, std::string(body).erase(k, 1), form).fault.code, Code::none);
  }
}

}  // namespace voxridge_test
