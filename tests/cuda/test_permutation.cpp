// The kernels of permutation tests, and the functions of the table that launch them, against plain loops: shapes around
// the sizes of groups, words, tables and blocks, several grids and schedules.
#include "kernel_fixture.h"
#include "plugin_fixture.h"

namespace plugin_test {

namespace {

struct SumCase {
  int64_t n, cols, ld, rows;
  bool signs, absolute;
  std::vector<int32_t> values, thresholds;
  std::vector<uint32_t> patterns;

  SumCase(int64_t samples, int64_t columns, int64_t permutations, bool with_signs, bool of_absolute, Random& random)
      : n(samples),
        cols(columns),
        ld(columns + 3),
        rows(permutations),
        signs(with_signs),
        absolute(of_absolute),
        values(static_cast<size_t>(n * ld - 3)),
        thresholds(static_cast<size_t>(cols)),
        patterns(static_cast<size_t>(words() * rows)) {
    const int64_t most = 2147483647 / n;  // so that any sum fits
    for (int32_t& value : values) value = static_cast<int32_t>(static_cast<int64_t>(random() % (2 * most + 1)) - most);
    for (int32_t& value : thresholds) value = static_cast<int32_t>(random() % (3 * most + 1));
    for (int64_t w = 0; w < words(); ++w) {
      const int64_t bits = std::min<int64_t>(kWordBits, n - w * kWordBits);
      for (int64_t r = 0; r < rows; ++r) {
        patterns[static_cast<size_t>(w * rows + r)] = static_cast<uint32_t>(random() & ((uint64_t{1} << bits) - 1));
      }
    }
  }
  int64_t words() const { return (n + kWordBits - 1) / kWordBits; }

  void plain(std::vector<int32_t>& counts, std::vector<int32_t>& maxima) const {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < cols; ++j) {
        int64_t sum = 0;
        for (int64_t i = 0; i < n; ++i) {
          const bool on = patterns[static_cast<size_t>(i / kWordBits * rows + r)] >> (i % kWordBits) & 1;
          const int64_t value = values[static_cast<size_t>(i * ld + j)];
          sum += on ? value : signs ? -value : 0;
        }
        if (absolute) sum = std::llabs(sum);
        counts[static_cast<size_t>(j)] += sum >= thresholds[static_cast<size_t>(j)];
        int32_t& largest = maxima[static_cast<size_t>(r)];
        largest = static_cast<int32_t>(std::max<int64_t>(largest, sum));
      }
    }
  }
};

// Whole numbers whose products sum to less than 2^53 over `inner` of them.
Matrix<double> whole(int64_t rows, int64_t cols, int64_t extra, double most, Random& random) {
  Matrix<double> out(rows, cols, extra);
  for (int64_t j = 0; j < cols; ++j) {
    for (int64_t i = 0; i < rows; ++i) {
      out(i, j) = std::rint(most * (2 * static_cast<double>(random() >> 11) * 0x1p-53 - 1));
    }
  }
  return out;
}

struct CellCase {
  voxridge_cuda_cells rule = {};
  int64_t rows, cols;
  Matrix<double> sums;
  std::vector<double> thresholds, totals;

  CellCase(int kind, bool absolute, int64_t rank, int64_t changed, int64_t permutations, int64_t columns,
           Random& random)
      : rows(permutations),
        cols(columns),
        sums((kind == VOXRIDGE_WELCH ? 2 : rank + changed) * permutations, columns, 2) {
    rule.kind = kind;
    rule.absolute = absolute;
    rule.rank = rank;
    rule.n_changed = changed;
    rule.n = 20;
    rule.n_first = 8;
    rule.sum_error = changed > 0 ? 0x1p-20 : 0;
    rule.left_error = 4 * rule.sum_error;
    const bool welch = kind == VOXRIDGE_WELCH;
    const int64_t segments = sums.rows / std::max<int64_t>(1, rows);
    sums = whole(sums.rows, cols, 2, welch ? 0x1p26 : 0x1p51 / static_cast<double>(segments), random);
    for (int64_t j = 0; j < cols; ++j) {
      for (int64_t r = 0; welch && r < rows; ++r) sums(rows + r, j) = std::fabs(sums(rows + r, j)) * 0x1p25;
      if (welch) {
        totals.push_back(std::rint(0x1p20 * normal(random)));
        totals.push_back(0x1.8p51);
      }
      if (rows > 3 && changed > 0) sums(rank * rows + 3, j) = 0x1p52;  // in the nuisance space
      if (rows > 4 && welch) sums(rows + 4, j) = 0;                    // variances below 0
      thresholds.push_back(kind == VOXRIDGE_CORRELATION ? 0x1p49 : 0.1 * normal(random));
    }
  }

  double plain_value(int64_t r, int64_t j) const {
    const double unit = 0x1p-52;
    if (rule.kind == VOXRIDGE_CORRELATION) return rule.absolute ? std::fabs(sums(r, j)) : sums(r, j);
    if (rule.kind == VOXRIDGE_PARTIAL) {
      double along_nuisance = 0, value = 0;
      for (int64_t k = 0; k < rule.n_changed; ++k) {
        const double along = sums((rule.rank + k) * rows + r, j) * unit;
        along_nuisance += along * along;
      }
      const double more = along_nuisance * rule.sum_error, less = along_nuisance * rule.left_error;
      for (int64_t k = 0; k < rule.rank; ++k) {
        double along = sums(k * rows + r, j) * unit;
        if (rule.absolute || rule.rank > 1) along = std::fabs(along);
        along += more;
        value += along < 0 ? -(along * along) : along * along;
      }
      const double narrow = 1 - along_nuisance - less, left = value < 0 ? narrow + less + less : narrow;
      return left < 0x1p-24 ? INFINITY : value / left;
    }
    const double n1 = 8, n2 = 12, a = sums(r, j) * 0x1p-26, b = sums(rows + r, j) * unit;
    const double rest = totals[static_cast<size_t>(2 * j)] * 0x1p-26 - a;
    const double other = totals[static_cast<size_t>(2 * j + 1)] * unit - b;
    const double ss1 = std::max(0.0, b - a * a / n1), ss2 = std::max(0.0, other - rest * rest / n2);
    const double variance = ss1 / (n1 * (n1 - 1)) + ss2 / (n2 * (n2 - 1));
    const double difference = (sums(r, j) * 20 - n1 * totals[static_cast<size_t>(2 * j)]) * (0x1p-26 / (n1 * n2));
    const double sign = rule.absolute || difference > 0 ? 1 : -1;
    if (difference == 0) return 0;
    return variance <= 20 * 0x1p-48 ? sign * INFINITY : sign * (difference * difference) / variance;
  }

  void plain(std::vector<int32_t>& counts, std::vector<double>& maxima, int64_t& degenerate) const {
    for (int64_t j = 0; j < cols; ++j) {
      for (int64_t r = 0; r < rows; ++r) {
        const double value = plain_value(r, j);
        const bool lost = rule.kind == VOXRIDGE_PARTIAL && std::isinf(value);
        counts[static_cast<size_t>(j)] += value >= thresholds[static_cast<size_t>(j)];
        degenerate += lost;
        double& largest = maxima[static_cast<size_t>(r)];
        if (!lost) largest = std::max(largest, value);
      }
    }
  }
};

struct CellKind {
  int kind;
  int64_t rank, changed;
};
const CellKind kinds[] = {{VOXRIDGE_CORRELATION, 1, 0},
                          {VOXRIDGE_PARTIAL, 1, 0},
                          {VOXRIDGE_PARTIAL, 1, 2},
                          {VOXRIDGE_PARTIAL, 3, 1},
                          {VOXRIDGE_WELCH, 1, 0}};

template <class T>
std::vector<T> filled(int64_t size, T value) {
  return std::vector<T>(static_cast<size_t>(size), value);
}

}  // namespace

TEST(count_sums) {
  Random random(21);
  const int64_t samples[] = {1, 4, 5, 29, 30, 31, 59, 60, 61, 130}, columns[] = {1, 31, 32, 33, 70};
  const int64_t permutations[] = {1, 15, 16, 127, 128, 129, 300};
  for (int k = 0; k < 20; ++k) {
    const SumCase one(samples[k % 10], columns[k % 5], permutations[k % 7], k & 1, k & 2, random);
    context = say(one.n) + " x " + say(one.cols) + ", " + say(one.rows) + " rows, schedule " + say(k % 4);
    cuda_on_cpu::use_schedule(static_cast<uint64_t>(k % 4));
    auto counts = filled<int32_t>(one.cols, 7), want = counts;
    auto maxima = filled<int32_t>(one.rows, k % 3 ? INT32_MIN : 1 << 30), want_maxima = maxima;
    one.plain(want, want_maxima);
    cuda_on_cpu::launch(1 + static_cast<unsigned>(k) % 3, 1 + static_cast<unsigned>(k) / 7, kThreads, [&] {
      kernels::count_sums(one.values.data(), one.ld, one.n, one.cols, one.patterns.data(), one.rows, one.signs,
                          one.absolute, one.thresholds.data(), counts.data(), maxima.data());
    });
    EXPECT(counts == want);
    EXPECT(maxima == want_maxima);
  }
  cuda_on_cpu::use_schedule(0);
}

TEST(count_cells) {
  Random random(22);
  const int64_t columns[] = {1, 7, 8, 9, 40}, permutations[] = {1, 5, 32, 255, 256, 257, 600};
  for (int k = 0; k < 35; ++k) {
    const CellKind& kind = kinds[k % 5];
    const CellCase one(kind.kind, k % 2, kind.rank, kind.changed, permutations[k % 7], columns[k / 7], random);
    context = say(kind.kind) + ": " + say(one.rows) + " x " + say(one.cols) + ", schedule " + say(k % 4);
    cuda_on_cpu::use_schedule(static_cast<uint64_t>(k % 4));
    auto counts = filled<int32_t>(one.cols, 7), want = counts;
    auto maxima = filled(one.rows, -INFINITY + 0.0), want_maxima = maxima;
    int64_t degenerate = 5, want_degenerate = 5;
    one.plain(want, want_maxima, want_degenerate);
    const double* totals = one.totals.empty() ? nullptr : one.totals.data();
    cuda_on_cpu::launch(1 + static_cast<unsigned>(k) % 3, 1 + static_cast<unsigned>(k) / 14, kThreads, [&] {
      kernels::count_cells(one.rule, in(one.sums), one.rows, one.cols, one.thresholds.data(), totals, counts.data(),
                           maxima.data(), reinterpret_cast<unsigned long long*>(&degenerate));
    });
    EXPECT(counts == want);
    EXPECT(maxima == want_maxima);
    EXPECT(degenerate == want_degenerate);
  }
  cuda_on_cpu::use_schedule(0);
}

TEST(dot_products) {
  for_shapes([](const Shape& s, Random& random, auto zero) {
    if (sizeof zero == sizeof(float)) return;
    const int64_t n = 1 + static_cast<int64_t>(random() % 40);
    const Matrix<double> a = whole(n, s.rows, 1, 0x1p23, random), b = whole(n, s.cols, s.extra, 0x1p23, random);
    Matrix<double> c(s.rows, s.cols, s.extra);
    run(s, false, kernels::dot_products, in(a), in(b), n, s.rows, s.cols, out(c));
    for (int64_t j = 0; j < s.cols; ++j) {
      for (int64_t i = 0; i < s.rows; ++i) {
        int64_t sum = 0;
        for (int64_t k = 0; k < n; ++k) sum += static_cast<int64_t>(a(k, i)) * static_cast<int64_t>(b(k, j));
        EXPECT(c(i, j) == static_cast<double>(sum));
      }
    }
  });
}

TEST(functions_of_permutation_tests) {
  Random random(23);
  Opened session;
  const SumCase sums(45, 300, 700, true, true, random);
  auto counts = filled<int32_t>(sums.cols, 1), want = counts;
  auto maxima = filled<int32_t>(sums.rows, INT32_MIN), want_maxima = maxima;
  sums.plain(want, want_maxima);
  EXPECT(table().count_sums(session, sums.values.data(), sums.ld, sums.n, sums.cols, sums.patterns.data(), sums.rows, 1,
                            1, sums.thresholds.data(), counts.data(), maxima.data()) == VOXRIDGE_OK);
  EXPECT(counts == want);
  EXPECT(maxima == want_maxima);
  for (const CellKind& kind : kinds) {
    const CellCase cells(kind.kind, false, kind.rank, kind.changed, 500, 60, random);
    const OnDevice<double> there(session, cells.sums);
    auto found = filled<int32_t>(cells.cols, 0), wanted = found;
    auto largest = filled(cells.rows, -INFINITY + 0.0), want_largest = largest;
    int64_t degenerate = 0, want_degenerate = 0;
    cells.plain(wanted, want_largest, want_degenerate);
    EXPECT(table().count_cells(session, &cells.rule, there.data(), there.ld(), cells.rows, cells.cols,
                               cells.thresholds.data(), cells.totals.empty() ? nullptr : cells.totals.data(),
                               found.data(), largest.data(), &degenerate) == VOXRIDGE_OK);
    EXPECT(found == wanted);
    EXPECT(largest == want_largest);
    EXPECT(degenerate == want_degenerate);
  }
  const Matrix<double> a = whole(37, 70, 2, 0x1p23, random), b = whole(37, 50, 0, 0x1p23, random);
  const OnDevice<double> dev_a(session, a), dev_b(session, b), dev_c(session, Matrix<double>(70, 50, 1));
  EXPECT(table().dot_products(session, 37, 70, 50, dev_a.data(), dev_a.ld(), dev_b.data(), dev_b.ld(), dev_c.data(),
                              dev_c.ld()) == VOXRIDGE_OK);
  const Matrix<double> c = dev_c.back(70, 50);
  for (int64_t j = 0; j < 50; ++j) {
    for (int64_t i = 0; i < 70; ++i) {
      int64_t sum = 0;
      for (int64_t k = 0; k < 37; ++k) sum += static_cast<int64_t>(a(k, i)) * static_cast<int64_t>(b(k, j));
      EXPECT(c(i, j) == static_cast<double>(sum));
    }
  }
}

TEST(refused_arguments_of_permutation_tests) {
  Opened session;
  const auto& t = table();
  const auto refused = [&](int code, const std::string& text) {
    EXPECT(code == VOXRIDGE_INVALID);
    EXPECT_SAID(session.text().find(text) != std::string::npos, session.text());
  };
  std::vector<int32_t> ints(64);
  std::vector<uint32_t> words(64);
  std::vector<double> doubles(64);
  int32_t* x = ints.data();
  double* d = doubles.data();
  int64_t lost = 0;
  refused(t.count_sums(session, x, 3, 2, 4, words.data(), 5, 1, 1, x, x, x), "count_sums: `values` ld 3 is less");
  refused(t.count_sums(session, x, 4, 2, 4, nullptr, 5, 1, 1, x, x, x), "`patterns` is NULL");
  refused(t.count_sums(session, x, 4, 2, 4, words.data(), -5, 1, 1, x, x, x), "`rows` -5 is negative");
  refused(t.count_sums(session, x, 4, 2, 4, words.data(), 5, 1, 1, x, nullptr, x), "`counts` is NULL");
  refused(t.count_sums(session, x, 4, 2, 4, words.data(), 5, 1, 1, x, x, nullptr), "`maxima` is NULL");
  voxridge_cuda_cells rule = {VOXRIDGE_PARTIAL, 1, 1, 1, 5, 2, 0, 0};
  refused(t.count_cells(session, nullptr, d, 8, 4, 2, d, nullptr, x, d, &lost), "`rule` is NULL");
  refused(t.count_cells(session, &rule, d, 7, 4, 2, d, nullptr, x, d, &lost), "`sums` ld 7 is less than its 8 rows");
  refused(t.count_cells(session, &rule, d, 8, 4, 2, d, nullptr, x, d, nullptr), "`degenerate` is NULL");
  rule.kind = 3;
  refused(t.count_cells(session, &rule, d, 8, 4, 2, d, nullptr, x, d, &lost), "`kind` 3 is none");
  rule.kind = VOXRIDGE_WELCH;
  refused(t.count_cells(session, &rule, d, 8, 4, 2, d, nullptr, x, d, &lost), "`totals` is NULL");
  rule.rank = 0;
  refused(t.count_cells(session, &rule, d, 8, 4, 2, d, d, x, d, &lost), "`rank` 0 is no number");
  rule = {VOXRIDGE_PARTIAL, 1, 1, -1, 5, 2, 0, 0};
  refused(t.count_cells(session, &rule, d, 8, 4, 2, d, nullptr, x, d, &lost), "`n_changed` -1 is no number");
  refused(t.dot_products(session, 4, 2, 2, d, 3, d, 4, d, 2), "dot_products: `a` ld 3");
  refused(t.dot_products(session, 4, 2, 2, d, 4, d, 4, nullptr, 2), "`c` is NULL");
  EXPECT(t.count_sums(session, x, 0, 2, 0, words.data(), 5, 1, 1, nullptr, nullptr, x) == VOXRIDGE_OK);
  EXPECT(t.dot_products(session, 4, 0, 2, nullptr, 4, d, 4, nullptr, 0) == VOXRIDGE_OK);
  EXPECT(t.synchronize(session) == VOXRIDGE_OK);
}

}  // namespace plugin_test
