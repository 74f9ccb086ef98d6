#include "core/binary_rows.h"

#include <cmath>
#include <limits>

#include "body_cases.h"
#include "core/bytes.h"

namespace voxridge_test {

namespace {

using Code = BodyFaultCode;

std::string packed(const std::vector<double>& values) {
  std::string out(8 * values.size(), '\0');
  for (size_t k = 0; k < values.size(); ++k) store(reinterpret_cast<unsigned char*>(&out[8 * k]), values[k]);
  return out;
}

Outcome read(const std::string& body, const BodyForm& form, size_t shift = 0) {
  return read_body(read_binary_rows, body, form, -1, shift);
}

}  // namespace

TEST(BinaryRows, LittleEndianAtAnyAlignment) {
  const std::vector<double> values = {1.5, -0.0, std::numeric_limits<double>::denorm_min(), 1e308, -3, 0.1};
  const std::string body = packed(values);
  EXPECT_EQ(body.substr(0, 8), std::string("\0\0\0\0\0\0\xf8\x3f", 8));
  for (size_t shift = 0; shift < 8; ++shift) {
    for (const int64_t p : {1, 2, 3, 6}) {
      const Outcome outcome = read(body, make_form(p), shift);
      EXPECT_EQ(outcome.fault, BodyFault());
      EXPECT_EQ(outcome.values, values);
      EXPECT_TRUE(std::signbit(outcome.values[1]));
    }
  }
}

TEST(BinaryRows, LengthIsCheckedFirst) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string body = packed({nan, 1, 2, 3, 4, 5});
  for (size_t size = 0; size <= body.size(); ++size) {
    for (const int64_t p : {1, 2, 4}) {
      const BodyFault fault = read(body.substr(0, size), make_form(p, 1)).fault;
      if (size > 0 && size % (8 * static_cast<size_t>(p)) == 0) {
        EXPECT_EQ(fault, (BodyFault{Code::non_finite_value, 1, 1, 0, 0}));
      } else {
        EXPECT_EQ(fault, (BodyFault{Code::wrong_length, 0, 0, static_cast<int64_t>(size), 8 * p}));
      }
    }
  }
}

TEST(BinaryRows, EveryNumberThatIsNotFinite) {
  const double inf = std::numeric_limits<double>::infinity(), largest = std::numeric_limits<double>::max();
  std::vector<std::string> wrong = {packed({inf}), packed({-inf}), packed({std::nan("")}), packed({-std::nan("")})};
  wrong.push_back(std::string("\1\0\0\0\0\0\xf0\x7f", 8));  // a signalling NaN
  wrong.push_back(std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8));
  for (const std::string& number : wrong) {
    for (size_t place = 0; place < 21; ++place) {
      std::string body = packed(std::vector<double>(21, -largest));
      body.replace(8 * place, 8, number);
      const Outcome outcome = read(body, make_form(7), 3);
      const int64_t row = static_cast<int64_t>(place) / 7, column = static_cast<int64_t>(place) % 7;
      EXPECT_EQ(outcome.fault, (BodyFault{Code::non_finite_value, row + 1, column + 1, 0, 0}));
      EXPECT_EQ(static_cast<int64_t>(outcome.values.size()), 7 * row);
    }
  }
  std::string two = packed({1, inf, std::nan(""), 4});
  EXPECT_EQ(read(two, make_form(4)).fault.column, 2);
}

TEST(BinaryRows, OneRowTooMany) {
  const BodyFault many = {Code::too_many_rows, 0, 0, 0, 512};
  EXPECT_EQ(read(packed(std::vector<double>(1024, 1)), make_form(2)).fault, BodyFault());
  std::vector<double> values(1026, 1);
  values[1025] = std::nan("");
  EXPECT_EQ(read(packed(values), make_form(2)).fault, many);
  values[1023] = std::nan("");
  EXPECT_EQ(read(packed(values), make_form(2)).fault, (BodyFault{Code::non_finite_value, 512, 2, 0, 0}));
}

TEST(BinaryRows, AScoreThatIsNotFiniteEndsTheBody) {
  const Outcome outcome = read_body(read_binary_rows, packed({1, 2, 3, 4, 5, std::nan("")}), make_form(2), 1);
  EXPECT_EQ(outcome.fault, (BodyFault{Code::non_finite_score, 2, 0, 0, 0}));
  EXPECT_EQ(outcome.values, (std::vector<double>{1, 2, 3, 4}));
}

}  // namespace voxridge_test
