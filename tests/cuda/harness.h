// Tests with little around them: TEST(name) { ... EXPECT(condition); }. A failed condition is told and counted.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace plugin_test {

struct Case {
  const char* name;
  void (*run)();
};
inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}
struct Register {
  Register(const char* name, void (*run)()) { cases().push_back({name, run}); }
};
inline int failures = 0;
inline std::string context;  // told with a failure

inline void expect(bool holds, const char* text, const char* file, int line, const std::string& more = "") {
  if (holds) return;
  ++failures;
  if (failures <= 20) {
    std::printf("  %s:%d: %s %s [%s]\n", file, line, text, more.c_str(), context.c_str());
  }
}

#define EXPECT(condition) ::plugin_test::expect(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
#define EXPECT_SAID(condition, more) \
  ::plugin_test::expect(static_cast<bool>(condition), #condition, __FILE__, __LINE__, more)
#define TEST(name)                                                          \
  static void test_##name();                                                \
  static const ::plugin_test::Register register_##name(#name, test_##name); \
  static void test_##name()

using Random = std::mt19937_64;
inline double normal(Random& random) {
  return std::normal_distribution<double>()(random);
}

inline std::vector<double> normals(int64_t n, Random& random) {
  std::vector<double> out(static_cast<size_t>(n));
  for (double& x : out) x = normal(random);
  return out;
}

// A matrix in a block of exactly its size, so that the sanitizer sees every step outside: the last column ends with
// its last row.
template <class T>
struct Matrix {
  std::vector<T> data;
  int64_t rows, cols, ld;

  Matrix(int64_t n_rows, int64_t n_cols, int64_t extra = 0)
      : data(static_cast<size_t>(n_cols == 0 ? 0 : (n_rows + extra) * (n_cols - 1) + n_rows),
             std::numeric_limits<T>::quiet_NaN()),
        rows(n_rows),
        cols(n_cols),
        ld(n_rows + extra) {}
  Matrix(int64_t n_rows, int64_t n_cols, int64_t extra, Random& random) : Matrix(n_rows, n_cols, extra) {
    for (int64_t j = 0; j < cols; ++j) {
      for (int64_t i = 0; i < rows; ++i) (*this)(i, j) = static_cast<T>(normal(random));
    }
  }
  T& operator()(int64_t i, int64_t j) { return data[static_cast<size_t>(i + j * ld)]; }
  T operator()(int64_t i, int64_t j) const { return data[static_cast<size_t>(i + j * ld)]; }
};

// |a - b| <= tolerance * scale; both NaN counts as equal.
inline bool close(double a, long double b, double tolerance, long double scale) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::fabs(static_cast<long double>(a) - b) <= tolerance * scale;
}

template <class T>
constexpr double kSumTolerance = sizeof(T) == 4 ? 1e-6 : 1e-13;

template <class Value>
std::string say(const Value& value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  return out.str();
}

}  // namespace plugin_test
