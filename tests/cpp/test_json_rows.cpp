#include "core/json_rows.h"

#include <cmath>
#include <limits>

#include "body_cases.h"

namespace voxridge_test {

namespace {

using Code = BodyFaultCode;

struct Case {
  std::string body;
  BodyFault fault;
};

Outcome read(const std::string& body, const BodyForm& form) {
  return read_body(read_json_rows, body, form);
}

BodyFault bad_at(int64_t byte) {
  return {Code::bad_json, 0, 0, byte, 0};
}

// The fault is as given, and no later byte has a say: a body cut anywhere is bad at its end, or has this fault already.
void expect_fault(const std::string& body, const BodyForm& form, const BodyFault& fault) {
  EXPECT_EQ(read(body, form).fault, fault) << body.substr(0, 200);
  bool known = false;
  for (size_t cut = 0; cut < body.size(); ++cut) {
    const BodyFault early = read(body.substr(0, cut), form).fault;
    if (early == BodyFault()) continue;  // a whole body, to which something wrong is added
    known = known || early == fault;
    ASSERT_EQ(early, known ? fault : bad_at(static_cast<int64_t>(cut) + 1)) << cut << " bytes of " << body;
  }
}

void expect_rows(const std::string& body, const BodyForm& form, const std::vector<double>& values) {
  const Outcome outcome = read(body, form);
  EXPECT_EQ(outcome.fault, BodyFault()) << body.substr(0, 200);
  ASSERT_EQ(outcome.values.size(), values.size()) << body.substr(0, 200);
  for (size_t k = 0; k < values.size(); ++k) {
    EXPECT_EQ(outcome.values[k], values[k]);
    EXPECT_EQ(std::signbit(outcome.values[k]), std::signbit(values[k]));
  }
  for (size_t cut = 0; cut <= body.rfind('}'); ++cut) {
    ASSERT_EQ(read(body.substr(0, cut), form).fault, bad_at(static_cast<int64_t>(cut) + 1)) << cut << " of " << body;
  }
}

std::string one_value(const std::string& value) {
  return "{\"features\":[[" + value + "]]}";
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int k = 0; k < times; ++k) out += text;
  return out;
}

}  // namespace

TEST(JsonRows, RowsAsTheyAre) {
  expect_rows(R"({"features":[[0.5,-1.2],[1,2]]})", make_form(2), {0.5, -1.2, 1, 2});
  expect_rows(R"({"features":[[7]]})", make_form(1), {7});
  expect_rows("\t{ \"features\" :\r\n[ [ 1 , 2 ] , [ 3\t, 4 ] ] }\r\n ", make_form(2), {1, 2, 3, 4});
}

TEST(JsonRows, NumbersOfEveryForm) {
  const double least = std::numeric_limits<double>::denorm_min();
  const double largest = std::numeric_limits<double>::max();
  const std::vector<std::pair<std::string, double>> good = {{"0", 0.0},
                                                            {"-0", -0.0},
                                                            {"0.0", 0.0},
                                                            {"-0.0e-5", -0.0},
                                                            {"1E5", 1e5},
                                                            {"1e+5", 1e5},
                                                            {"1e-05", 1e-5},
                                                            {"0e99999", 0.0},
                                                            {"-12.75", -12.75},
                                                            {"1.0000", 1.0},
                                                            {"1e-999", 0.0},
                                                            {"-1e-999", -0.0},
                                                            {"5e-324", least},
                                                            {"3e-324", least},
                                                            {"2e-324", 0.0},
                                                            {"1e308", 1e308},
                                                            {"0.1e1", 1.0},
                                                            {"123456789", 1.23456789e8},
                                                            {"1e0000000000000000001", 10.0},
                                                            {"1.7976931348623157e308", largest},
                                                            {"9007199254740993", 9007199254740992.0},
                                                            {"0." + std::string(400, '0') + "1e401", 1.0},
                                                            {"1" + std::string(900, '0') + "e-900", 1.0}};
  for (const auto& [text, value] : good) {
    expect_rows(one_value(text), make_form(1), {value});
    expect_rows(one_value(" " + text + "\n"), make_form(1), {value});
    expect_rows("{\"features\":[[1," + text + ",2]]}", make_form(3), {1, value, 2});
  }
  for (const std::string text : {"1e999", "-1e999", "1.7976931348623159e308", "1e+309", "123e99999999999999999999"}) {
    expect_fault(one_value(text), make_form(1), {Code::number_out_of_range, 1, 1, 0, 0});
    expect_fault("{\"features\":[[1,2],[3," + text + "]]}", make_form(2), {Code::number_out_of_range, 2, 2, 0, 0});
  }
  expect_fault(one_value(std::string(400, '9')), make_form(1), {Code::number_out_of_range, 1, 1, 0, 0});
}

TEST(JsonRows, WhatIsNoNumber) {
  for (const std::string text : {"\"1\"", "true", "false", "null", "[", "[1]", "[]", "{}", "{\"a\":1}", "\"\"",
                                 "\"\\ud800\"", "\"\\u00e9\xc3\xa9\"", "[1e999]", "{\"x\":nan}", "[[[[,"}) {
    expect_fault(one_value(text), make_form(1), {Code::not_a_number, 1, 1, 0, 0});
    expect_fault("{\"features\":[[1,2,3],[4, " + text + " ,6]]}", make_form(3), {Code::not_a_number, 2, 2, 0, 0});
  }
  for (const char* open : {"[", "{\"a\":", "{\"features\":["}) {
    const std::string deep = repeated(open, 50000);
    EXPECT_EQ(read(one_value(deep), make_form(1)).fault, (BodyFault{Code::not_a_number, 1, 1, 0, 0}));
    EXPECT_NE(read(deep, make_form(1)).fault.code, Code::none);
  }
}

// Bytes that cannot continue JSON, with the place of the first of them in the value, from 0.
TEST(JsonRows, ValuesThatAreNotJson) {
  const std::vector<std::pair<std::string, int>> wrong = {{"NaN", 0},
                                                          {"nan", 1},
                                                          {"Infinity", 0},
                                                          {"-Infinity", 1},
                                                          {"inf", 0},
                                                          {"-inf", 1},
                                                          {"+1", 0},
                                                          {"01", 1},
                                                          {"-01", 2},
                                                          {"1.", 2},
                                                          {".5", 0},
                                                          {"-.5", 1},
                                                          {"0x1", 1},
                                                          {"1e", 2},
                                                          {"1e+", 3},
                                                          {"1.e5", 2},
                                                          {"1e5.5", 3},
                                                          {"--1", 1},
                                                          {"1_000", 1},
                                                          {"1,", 2},
                                                          {",1", 0},
                                                          {"1,,2", 2},
                                                          {"1 2", 2},
                                                          {"1:2", 1},
                                                          {"'1'", 0},
                                                          {"True", 0},
                                                          {"tru", 3},
                                                          {"truex", 4},
                                                          {"nulll", 4},
                                                          {"fals ", 4},
                                                          {"1f", 1},
                                                          {"1d", 1},
                                                          {"/*1*/", 0},
                                                          {"1//", 1},
                                                          {"#", 0},
                                                          {"(1)", 0},
                                                          {"1\v", 1},
                                                          {"\f1", 0},
                                                          {"\xc2\xa0"
                                                           "1",
                                                           0},
                                                          {"\xef\xbc\x91", 0},
                                                          {"1\"\"", 1},
                                                          {"1[", 1},
                                                          {"\"1", 3},
                                                          {"\"\t\"", 1},
                                                          {"\"\\x41\"", 2},
                                                          {"\"\\u12g4\"", 5},
                                                          {"\"\\'\"", 2},
                                                          {"\"\x1f\"", 1},
                                                          {"\"\xff\"", 1},
                                                          {"\"\x80\"", 1},
                                                          {"\"\xc0\xaf\"", 1},
                                                          {"\"\xc3\"", 2},
                                                          {"\"\xe0\x80\xaf\"", 2},
                                                          {"\"\xed\xa0\x80\"", 2},
                                                          {"\"\xf4\x90\x80\x80\"", 2},
                                                          {"\"\xf0\x8f\xbf\xbf\"", 2},
                                                          {"\"\xf5\x80\x80\x80\"", 1},
                                                          {"\"\xe2\x82\"", 3},
                                                          {std::string("1\0", 2), 1},
                                                          {std::string("\"\0\"", 3), 1}};
  const std::string before = "{\"features\":[[";
  for (const auto& [text, place] : wrong) {
    const std::string body = before + text + "]]}";
    const int64_t byte = static_cast<int64_t>(before.size()) + place + 1;
    if (text.substr(0, 2) == "\"1") {  // no closing quote: all that follows is part of it
      expect_fault(body, make_form(4), bad_at(static_cast<int64_t>(body.size()) + 1));
    } else {
      expect_fault(body, make_form(4), bad_at(byte));
    }
  }
  expect_rows(one_value("1"), make_form(1), {1});
}

TEST(JsonRows, BodiesThatAreNotJson) {
  const std::vector<Case> cases = {{"", bad_at(1)},
                                   {" \n", bad_at(3)},
                                   {"\xef\xbb\xbf{\"features\":[[1]]}", bad_at(1)},
                                   {std::string("{\0\"", 3), bad_at(2)},
                                   {"{\"features\":[[1]]", bad_at(18)},
                                   {"{\"features\":[[1]]}x", bad_at(19)},
                                   {"{\"features\":[[1]]} {}", bad_at(20)},
                                   {"{\"features\":[[1]]}}", bad_at(19)},
                                   {std::string("{\"features\":[[1]]}\0", 19), bad_at(19)},
                                   {"{\"features\":[[1]],}", bad_at(19)},
                                   {"{\"features\":[[1],]}", bad_at(18)},
                                   {"{\"features\":[[1,]]}", bad_at(17)},
                                   {"{\"features\":[,[1]]}", bad_at(14)},
                                   {"{,\"features\":[[1]]}", bad_at(2)},
                                   {"{\"features\"[[1]]}", bad_at(12)},
                                   {"{\"features\"=[[1]]}", bad_at(12)},
                                   {"{\"features\"::[[1]]}", bad_at(13)},
                                   {"{\"features\":}", bad_at(13)},
                                   {"{\"features\":[[1][2]]}", bad_at(17)},
                                   {"{\"features\":[[1}]}", bad_at(16)},
                                   {"{\"features\":[[1]]]", bad_at(18)},
                                   {"{\"features\":[[1]] \"columns\":[\"a\"]}", bad_at(19)},
                                   {"{'features':[[1]]}", bad_at(2)},
                                   {"{features:[[1]]}", bad_at(2)},
                                   {"{1:[[1]]}", bad_at(2)},
                                   {"{\"features\":[[1]]}//", bad_at(19)},
                                   {"/**/{\"features\":[[1]]}", bad_at(1)},
                                   {"{\"features\":/**/[[1]]}", bad_at(13)},
                                   {"{\"fea\ntures\":[[1]]}", bad_at(6)},
                                   {"{\"\xff\":[[1]]}", bad_at(3)},
                                   {"nope", bad_at(2)},

                                   {"\"a", bad_at(3)},
                                   {"]", bad_at(1)},
                                   {"features=1", bad_at(2)},
                                   {std::string("\xff\xfe{\0", 4), bad_at(1)}};
  for (const Case& one : cases) expect_fault(one.body, make_form(1), one.fault);
}

TEST(JsonRows, JsonOfAnotherForm) {
  const std::vector<Case> cases = {{"[]", {Code::wrong_type, 0, 0, 0, 0}},
                                   {"[[1,2]]", {Code::wrong_type, 0, 0, 0, 0}},

                                   {"null", {Code::wrong_type, 0, 0, 0, 0}},
                                   {"\"features\"", {Code::wrong_type, 0, 0, 0, 0}},
                                   {"{\"features\":null}", {Code::wrong_type, 0, 0, 0, 0}},
                                   {"{\"features\":{\"a\":[1]}}", {Code::wrong_type, 0, 0, 0, 0}},
                                   {"{\"features\":\"[[1,2]]\"}", {Code::wrong_type, 0, 0, 0, 0}},
                                   {"{\"columns\":\"a\"}", {Code::wrong_type, 0, 0, 0, 0}},
                                   {"{\"features\":[1,2]}", {Code::wrong_type, 1, 0, 0, 0}},
                                   {"{\"features\":[[1,2],null]}", {Code::wrong_type, 2, 0, 0, 0}},
                                   {"{\"features\":[[1,2],{\"a\":1}]}", {Code::wrong_type, 2, 0, 0, 0}},
                                   {"{\"features\":[\"[1,2]\"]}", {Code::wrong_type, 1, 0, 0, 0}},
                                   {"{}", {Code::missing_features, 0, 0, 0, 0}},
                                   {" { } x", {Code::missing_features, 0, 0, 0, 0}},
                                   {"{\"features\":[]}", {Code::empty, 0, 0, 0, 0}},
                                   {"{\"features\":[ ]}", {Code::empty, 0, 0, 0, 0}},
                                   {"{\"features\":[[]]}", {Code::wrong_row_length, 1, 0, 0, 2}},
                                   {"{\"features\":[[1]]}", {Code::wrong_row_length, 1, 0, 1, 2}},
                                   {"{\"features\":[[1,2],[3]]}", {Code::wrong_row_length, 2, 0, 1, 2}},
                                   {"{\"features\":[[1,2],[3,4,5]]}", {Code::wrong_row_length, 2, 0, 3, 2}},
                                   {"{\"features\":[[1,2,3,4,5]]}", {Code::wrong_row_length, 1, 0, 3, 2}},
                                   {"{\"features\":[[1,2,null]]}", {Code::wrong_row_length, 1, 0, 3, 2}},
                                   {"{\"features\":[[1,2,1e999]]}", {Code::wrong_row_length, 1, 0, 3, 2}},
                                   {"{\"x\":1}", {Code::unknown_key, 0, 0, 0, 0}},
                                   {"{\"\":1}", {Code::unknown_key, 0, 0, 0, 0}},
                                   {"{\"Features\":[[1,2]]}", {Code::unknown_key, 0, 0, 0, 0}},
                                   {"{\"feature\":[[1,2]]}", {Code::unknown_key, 0, 0, 0, 0}},
                                   {"{\"features \":[[1,2]]}", {Code::unknown_key, 0, 0, 0, 0}},
                                   {"{\"\\u0066eatures\":[[1,2]]}", {Code::unknown_key, 0, 0, 0, 0}},
                                   {"{\"features\\u0000\":[[1,2]]}", {Code::unknown_key, 0, 0, 0, 0}},
                                   {"{\"\\ud800\":[[1,2]]}", {Code::unknown_key, 0, 0, 0, 0}},
                                   {"{\"features\":[[1,2]],\"note\":[]}", {Code::unknown_key, 0, 0, 0, 0}},
                                   {"{\"features\":[[1,2]],\"features\":[[1,2]]}", {Code::duplicate_key, 0, 0, 0, 0}}};
  for (const Case& one : cases) expect_fault(one.body, make_form(2), one.fault);
}

// A number that is the whole body may end with it.
TEST(JsonRows, NumbersAsBodies) {
  const BodyFault wrong_type = {Code::wrong_type, 0, 0, 0, 0};
  for (const std::string body : {"5", " -0 ", "1e999", "0.5\n", "1 2", "1]", "1,"}) {
    EXPECT_EQ(read(body, make_form(1)).fault, wrong_type) << body;
  }
  EXPECT_EQ(read("0x10", make_form(1)).fault, bad_at(2));
  EXPECT_EQ(read("1.", make_form(1)).fault, bad_at(3));
  EXPECT_EQ(read("-", make_form(1)).fault, bad_at(2));
  EXPECT_EQ(read("1e", make_form(1)).fault, bad_at(3));
}

// Whichever fault comes first in the body is the one that is told.
TEST(JsonRows, TheFirstFaultDecides) {
  const std::vector<Case> cases = {{"{\"features\":[[1e999,\"a\",]", {Code::number_out_of_range, 1, 1, 0, 0}},
                                   {"{\"features\":[[1,\"a\",1e999]", {Code::not_a_number, 1, 2, 0, 0}},
                                   {"{\"features\":[[1,01,1e999]", bad_at(18)},
                                   {"{\"features\":[[1,2],[1],[\"\"]],\"x\"", {Code::wrong_row_length, 2, 0, 1, 2}},
                                   {"{\"y\":[[1],[1e999]]}", {Code::unknown_key, 0, 0, 0, 0}},
                                   {"{\"features\":[[1,2]],\"y\" 1", {Code::unknown_key, 0, 0, 0, 0}},
                                   {"{\"features\":[[1,2]] \"y\"", bad_at(21)}};
  for (const Case& one : cases) expect_fault(one.body, make_form(2), one.fault);
}

}  // namespace voxridge_test
