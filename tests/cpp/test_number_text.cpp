#include "core/number_text.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

namespace voxridge_test {

using namespace voxridge;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// SplitMix64.
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t n) { return next() % n; }
  double finite() {
    for (;;) {
      const uint64_t bits = next();
      double value;
      std::memcpy(&value, &bits, sizeof(value));
      if (std::isfinite(value)) return value;
    }
  }

 private:
  uint64_t state_;
};

uint64_t bits_of(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// Both readers on a text in memory of exactly its size; `expected` may be infinite.
void expect_read(const std::string& text, double expected) {
  const std::unique_ptr<char[]> memory(new char[text.size()]);
  std::memcpy(memory.get(), text.data(), text.size());
  const char* const end = memory.get() + text.size();
  double value = 1, plain = 1;
  const bool finite = std::isfinite(expected);
  ASSERT_EQ(read_number(memory.get(), end, value), finite) << text;
  ASSERT_EQ(read_number_plain(memory.get(), end, plain), finite) << text;
  ASSERT_EQ(bits_of(value), bits_of(expected)) << text;
  ASSERT_EQ(bits_of(plain), bits_of(expected)) << text;
}

double in_c_locale(const std::string& text) {  // no test leaves another locale behind
  return std::strtod(text.c_str(), nullptr);
}

std::string digits(Draws& draws, uint64_t count) {
  std::string out;
  for (uint64_t k = 0; k < count; ++k) out += static_cast<char>('0' + draws.below(10));
  return out;
}

// Whether JSON has numbers of this form.
bool is_json_number(const std::string& text) {
  size_t k = text[0] == '-' ? 1 : 0;
  const auto some_digits = [&] {
    const size_t first = k;
    while (k < text.size() && text[k] >= '0' && text[k] <= '9') ++k;
    return k - first;
  };
  const bool zero = text[k] == '0';
  const size_t whole = some_digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (k < text.size() && text[k] == '.') {
    ++k;
    if (some_digits() == 0) return false;
  }
  if (k < text.size() && text[k] == 'e') {
    ++k;
    if (k < text.size() && (text[k] == '-' || text[k] == '+')) ++k;
    if (some_digits() == 0) return false;
  }
  return k == text.size();
}

void expect_round_trip(double value, size_t write(double, char*)) {
  const std::unique_ptr<char[]> memory(new char[kNumberBytes]);
  const size_t size = write(value, memory.get());
  ASSERT_LE(size, kNumberBytes);
  const std::string text(memory.get(), size);
  ASSERT_TRUE(is_json_number(text)) << text;
  ASSERT_EQ(bits_of(in_c_locale(text)), bits_of(value)) << text;
  double back;
  ASSERT_TRUE(read_number(memory.get(), memory.get() + size, back));
  ASSERT_EQ(bits_of(back), bits_of(value)) << text;
}

}  // namespace

TEST(NumberText, RandomBitsThereAndBack) {
  Draws draws(1);
  for (int k = 0; k < 1000000; ++k) expect_round_trip(draws.finite(), write_number);
  for (int k = 0; k < 50000; ++k) expect_round_trip(draws.finite(), write_number_plain);
}

TEST(NumberText, OrdinaryAndExtremeNumbersThereAndBack) {
  Draws draws(2);
  for (const auto write : {write_number, write_number_plain}) {
    for (int k = 0; k < 20000; ++k) {
      expect_round_trip(std::ldexp(static_cast<double>(draws.next()), -64), write);
      expect_round_trip(static_cast<double>(draws.below(100000)) / 1000, write);
      expect_round_trip(-std::ldexp(static_cast<double>(draws.next()), -1074 - static_cast<int>(draws.below(64))),
                        write);
    }
    for (const double value : {0.0, -0.0, 1.0, 0.1, 1e21, 1e22, 1e23, 5e-324, DBL_MIN, -DBL_MIN, DBL_MAX, -DBL_MAX,
                               -2.2250738585072009e-308, 123456789012345680.0, 9007199254740993.0}) {
      expect_round_trip(value, write);
    }
  }
}

TEST(NumberText, Shortest) {
  const auto text = [](double value) {
    char to[kNumberBytes];
    return std::string(to, write_number(value, to));
  };
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(-0.0), "-0");
  EXPECT_EQ(text(1), "1");
  EXPECT_EQ(text(0.69), "0.69");
  EXPECT_EQ(text(1.0 / 3).size(), 18u);
  EXPECT_EQ(text(kInf), "null");
  EXPECT_EQ(text(-kInf), "null");
  EXPECT_EQ(text(std::nan("")), "null");
}

TEST(NumberText, RandomTextsAsStrtodReadsThem) {
  Draws draws(3);
  for (int k = 0; k < 200000; ++k) {
    std::string text = draws.below(2) == 0 ? "-" : "";
    const uint64_t whole = draws.below(4) == 0 ? 0 : 1 + draws.below(20);
    text += whole == 0 ? "0" : static_cast<char>('1' + draws.below(9)) + digits(draws, whole - 1);
    if (draws.below(3) > 0) text += "." + digits(draws, 1 + draws.below(20));
    if (draws.below(3) > 0) {
      text += draws.below(2) == 0 ? "e" : "E";
      text += draws.below(3) == 0 ? "+" : draws.below(2) == 0 ? "-" : "";
      text += digits(draws, 1 + draws.below(3));
    }
    expect_read(text, in_c_locale(text));
  }
}

TEST(NumberText, LongTextsAsStrtodReadsThem) {
  Draws draws(4);
  for (int k = 0; k < 1000; ++k) {
    const uint64_t whole = 1 + draws.below(1200), fraction = draws.below(1200);
    std::string text = "7" + digits(draws, whole);
    if (draws.below(2) == 0)
      text = "0." + std::string(draws.below(400), '0') + digits(draws, 800);
    else if (fraction > 0)
      text += "." + digits(draws, fraction);
    text += "e" + std::to_string(static_cast<int64_t>(draws.below(2000)) - 1300);
    expect_read(text, in_c_locale(text));
  }
}

// Near 0, a subnormal number is a multiple of 2^-1074.
TEST(NumberText, SmallestAndLargest) {
  const double least = std::numeric_limits<double>::denorm_min();
  expect_read("5e-324", least);
  expect_read("4.9406564584124654e-324", least);
  expect_read("2.4703282292062328e-324", least);
  expect_read("2.4703282292062327e-324", 0.0);
  expect_read("-2.4703282292062327e-324", -0.0);
  expect_read("2.2250738585072011e-308", 2.2250738585072011e-308);
  expect_read("2.2250738585072012e-308", DBL_MIN);
  expect_read("1.7976931348623157e308", DBL_MAX);
  expect_read("1.7976931348623158e308", DBL_MAX);
  expect_read("1.7976931348623159e308", kInf);
  expect_read("-1e309", -kInf);
  expect_read("1e999999999999999999999999", kInf);
  expect_read("1e-999999999999999999999999", 0.0);
  expect_read("-1e-999999999999999999999999", -0.0);
  expect_read("0e999999999999999999999999", 0.0);
  expect_read("-0.000e-12", -0.0);
}

TEST(NumberText, ManyZerosAndTheirExponent) {
  for (const int zeros : {300, 799, 800, 801, 5000, 70000, 1000000}) {
    const std::string many(zeros, '0');
    expect_read("0." + many + "1e" + std::to_string(zeros + 1), 1.0);
    expect_read("-0." + many + "125e" + std::to_string(zeros + 3), -125.0);
    expect_read("1" + many + "e-" + std::to_string(zeros), 1.0);
    expect_read("25" + many + ".5e-" + std::to_string(zeros + 1), 2.5);
    expect_read("1" + many + "1e-" + std::to_string(zeros + 1), 1.0);
    expect_read("1." + many + "1", 1.0);
  }
  // Seven digits of an exponent are more than some libraries keep.
  const std::string many(100000, '0');
  expect_read("0." + many + "1e1000001", kInf);
  expect_read("1" + many + "e-1000000", 0.0);
}

// The number halfway between two doubles goes to the even one; a digit more or less decides. A long double holds it.
TEST(NumberText, HalfwayCases) {
  if (LDBL_MANT_DIG < DBL_MANT_DIG + 1 || LDBL_MAX_EXP <= DBL_MAX_EXP) GTEST_SKIP() << "no wider long double";
  Draws draws(5);
  for (int k = 0; k < 3000; ++k) {
    uint64_t bits = draws.next() >> 1;
    if (k % 3 == 0) bits >>= 12;  // subnormal
    double low, high;
    std::memcpy(&low, &bits, sizeof(low));
    ++bits;
    std::memcpy(&high, &bits, sizeof(high));
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const double even = bits % 2 == 0 ? high : low;
    char text[1300];
    std::snprintf(text, sizeof(text), "%.1100Le", (static_cast<long double>(low) + high) / 2);
    const char* const e = std::strchr(text, 'e');
    std::string mantissa(text, static_cast<size_t>(e - text));
    mantissa.erase(mantissa.find_last_not_of('0') + 1);
    const std::string exponent = e;
    expect_read(mantissa + exponent, even);
    expect_read(mantissa + std::string(draws.below(900), '0') + exponent, even);
    expect_read(mantissa + std::string(draws.below(900), '0') + "1" + exponent, high);
    --mantissa.back();
    expect_read(mantissa + std::string(1 + draws.below(900), '9') + exponent, low);
  }
}

TEST(NumberText, WhateverTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  const char* found = nullptr;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8", "ps_AF", "German"}) {
    if (found == nullptr) found = std::setlocale(LC_ALL, name);
  }
  if (found == nullptr) GTEST_SKIP() << "no locale with a decimal comma";
  char text[kNumberBytes], plain[kNumberBytes];
  const std::string written(text, write_number(-1234.5, text)),
      written_plain(plain, write_number_plain(-1234.5, plain));
  double value = 0, value_plain = 0;
  const std::string number = "-1234.5e-1";
  read_number(number.data(), number.data() + number.size(), value);
  read_number_plain(number.data(), number.data() + number.size(), value_plain);
  std::setlocale(LC_ALL, before.c_str());
  EXPECT_EQ(written, "-1234.5");
  EXPECT_EQ(written_plain, "-1234.5");
  EXPECT_EQ(value, -123.45);
  EXPECT_EQ(value_plain, -123.45);
}

}  // namespace voxridge_test
