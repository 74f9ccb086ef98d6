// The table as the package sees it: results of every function, arguments that are refused, work that runs late.
#include "plugin_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

namespace plugin_test {

template <class Body>
void for_types(const Body& body) {
  Random random(5);
  body(random, float());
  body(random, double());
}

TEST(info_and_text) {
  voxridge_cuda_info about;
  EXPECT(table().abi == VOXRIDGE_CUDA_ABI);
  EXPECT(table().table_size == static_cast<int>(sizeof(voxridge_cuda_table)));
  EXPECT(table().info(&about) == VOXRIDGE_OK);
  EXPECT(about.available == 1 && about.device_count == 1 && about.reason[0] == '\0');
  EXPECT(std::string(about.name) == "CPU shim" && about.memory_total == 8e9 && about.memory_free == 8e9);
  EXPECT(table().info(nullptr) == VOXRIDGE_INVALID);
  EXPECT(table().open(nullptr, nullptr, 0) == VOXRIDGE_INVALID);
  EXPECT(std::string(table().text(nullptr)) == "no session");
  EXPECT(table().synchronize(nullptr) == VOXRIDGE_INVALID);
  table().close(nullptr);
  table().release(nullptr, nullptr);
  table().release_host(nullptr, nullptr);
}

TEST(copies_and_gemm) {
  for_types([](Random& random, auto zero) {
    using T = decltype(zero);
    Opened session;
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        const int64_t m = 5, n = 4, k = 9;
        const Matrix<T> a(ta ? k : m, ta ? m : k, 2, random), b(tb ? n : k, tb ? k : n, 1, random), c(m, n, 3, random);
        const OnDevice<T> dev_a(session, a), dev_b(session, b), dev_c(session, c);
        EXPECT(table().gemm(session, kType<T>, ta, tb, m, n, k, 0.5, dev_a.data(), dev_a.ld(), dev_b.data(), dev_b.ld(),
                            2, dev_c.data(), dev_c.ld()) == VOXRIDGE_OK);
        const Matrix<T> found = dev_c.back(m, n);
        for (int64_t j = 0; j < n; ++j) {
          for (int64_t i = 0; i < m; ++i) {
            long double sum = 2 * static_cast<long double>(c(i, j));
            for (int64_t l = 0; l < k; ++l) {
              sum += 0.5L * (ta ? a(l, i) : a(i, l)) * static_cast<long double>(tb ? b(j, l) : b(l, j));
            }
            EXPECT(close(found(i, j), sum, 50 * static_cast<double>(std::numeric_limits<T>::epsilon()), 1));
          }
        }
        // No terms: C = beta C.
        EXPECT(table().gemm(session, kType<T>, ta, tb, m, n, 0, 1, dev_a.data(), ta ? 0 : m, dev_b.data(), tb ? n : 0,
                            3, dev_c.data(), dev_c.ld()) == VOXRIDGE_OK);
        const Matrix<T> scaled = dev_c.back(m, n);
        for (int64_t j = 0; j < n; ++j) {
          for (int64_t i = 0; i < m; ++i) EXPECT(scaled(i, j) == 3 * found(i, j));
        }
      }
    }
  });
}

// The kernels have tests of their own; here every function must hand them the right things. (A device may fuse a
// product with a sum, so the last digits may differ.)
TEST(functions) {
  for_types([](Random& random, auto zero) {
    using T = decltype(zero);
    Opened session;
    const int type = kType<T>;
    const int64_t rows = 37, cols = 6;
    const Matrix<T> a(rows, cols, 3, random), b(rows, cols, 1, random);
    const std::vector<double> by_row = normals(rows, random), by_col = normals(cols, random);
    const std::vector<int64_t> some_rows = {36, 0, 4, 4, 11}, some_cols = {5, 1, 3};
    const OnDevice<T> dev_a(session, a), dev_b(session, b), to(session, Matrix<T>(rows, cols, 2));
    const void *pa = dev_a.data(), *pb = dev_b.data();
    const double tolerance = static_cast<double>(std::numeric_limits<T>::epsilon());
    const auto expect_elements = [&](int code, int64_t n, int64_t t, auto expected) {
      EXPECT(code == VOXRIDGE_OK);
      const Matrix<T> found = to.back(n, t);
      for (int64_t j = 0; j < t; ++j) {
        for (int64_t i = 0; i < n; ++i) EXPECT(close(found(i, j), static_cast<T>(expected(i, j)), tolerance, 10));
      }
    };
    const auto row = [&](int64_t i) { return by_row[static_cast<size_t>(i)]; };
    const auto col = [&](int64_t j) { return by_col[static_cast<size_t>(j)]; };
    expect_elements(
        table().gather(session, type, pa, dev_a.ld(), cols, some_rows.data(), 5, by_col.data(), to.data(), to.ld()), 5,
        cols, [&](int64_t i, int64_t j) { return a(some_rows[static_cast<size_t>(i)], j) - static_cast<T>(col(j)); });
    expect_elements(
        table().copy_columns(session, type, 0, pa, dev_a.ld(), rows, some_cols.data(), 3, to.data(), to.ld()), rows, 3,
        [&](int64_t i, int64_t j) { return a(i, some_cols[static_cast<size_t>(j)]); });
    const void* parts[40];
    int64_t lds[40];
    for (int k = 0; k < 40; ++k) parts[k] = k % 2 ? pb : pa, lds[k] = k % 2 ? dev_b.ld() : dev_a.ld();
    for (const int n : {0, 1, 2, 16, 17, 40}) {
      expect_elements(table().add(session, type, parts, lds, n, rows, cols, to.data(), to.ld()), rows, cols,
                      [&](int64_t i, int64_t j) {
                        T sum = 0;
                        for (int k = 0; k < n; ++k) sum += k % 2 ? b(i, j) : a(i, j);
                        return sum;
                      });
    }
    expect_elements(table().leave_out(session, type, pa, dev_a.ld(), pb, dev_b.ld(), rows, cols, by_row.data(),
                                      by_col.data(), to.data(), to.ld()),
                    rows, cols, [&](int64_t i, int64_t j) {
                      const T value = a(i, j) - b(i, j);
                      return value - static_cast<T>(col(j) * row(i));
                    });
    std::vector<double> lambda, alpha(static_cast<size_t>(cols), 1.0);
    for (const double x : by_row) lambda.push_back(x * x);
    alpha[2] = -1e9;
    expect_elements(
        table().shrink(session, type, pa, dev_a.ld(), rows, cols, lambda.data(), alpha.data(), to.data(), to.ld()),
        rows, cols, [&](int64_t i, int64_t j) {
          const double sum = row(i) * row(i) + 1;
          return a(i, j) * static_cast<T>(j == 2 ? 0 : 1 / sum);
        });
    expect_elements(table().scale_rows(session, type, pa, dev_a.ld(), rows, cols, by_row.data(), to.data(), to.ld()),
                    rows, cols, [&](int64_t i, int64_t j) { return a(i, j) * static_cast<T>(row(i)); });
    expect_elements(table().subtract(session, type, pa, dev_a.ld(), pb, dev_b.ld(), rows, cols, to.data(), to.ld()),
                    rows, cols, [&](int64_t i, int64_t j) { return a(i, j) - b(i, j); });
    double sums[6] = {};
    EXPECT(table().means(session, type, pa, dev_a.ld(), cols, some_rows.data(), 5, sums) == VOXRIDGE_OK);
    for (int64_t j = 0; j < cols; ++j) {
      long double sum = 0;
      for (const int64_t i : some_rows) sum += a(i, j);
      EXPECT(close(sums[j], sum / 5, 1e-15, 4));
    }
    EXPECT(table().means(session, type, pa, dev_a.ld(), cols, nullptr, 0, sums) == VOXRIDGE_OK);
    EXPECT(sums[0] == 0 && sums[5] == 0);
    EXPECT(table().squares(session, type, pa, dev_a.ld(), rows, cols, by_col.data(), sums) == VOXRIDGE_OK);
    for (int64_t j = 0; j < cols; ++j) {
      long double sum = 0;
      for (int64_t i = 0; i < rows; ++i) sum += (a(i, j) - col(j)) * static_cast<long double>(a(i, j) - col(j));
      EXPECT(close(sums[j], sum, 1e-13, sum));
    }
  });
}

TEST(scores) {
  for_types([](Random& random, auto zero) {
    using T = decltype(zero);
    Opened session;
    const int64_t rows = 45, cols = 7, blocks = 3, apart = 9;
    const Matrix<T> target(rows, cols, 2, random), predictions((rows + 1) * blocks, cols, 1, random);
    const OnDevice<T> y(session, target), p(session, predictions);
    std::vector<double> out(static_cast<size_t>(apart * cols), -7.0);
    const auto plain = [&](int64_t b, int64_t j, int64_t height, int what) {
      long double sum = 0;
      for (int64_t i = 0; i < rows; ++i) {
        const long double t = target(i, j), q = predictions(b * height + i, j);
        sum += what == 0 ? (t - q) * (t - q) : (what == 1 ? t * q : q * q);
      }
      return sum;
    };
    EXPECT(table().error_sums(session, kType<T>, y.data(), y.ld(), rows, cols, p.data(), p.ld(), blocks, out.data(),
                              apart) == VOXRIDGE_OK);
    for (int64_t j = 0; j < cols; ++j) {
      for (int64_t b = 0; b < apart; ++b) {
        const double found = out[static_cast<size_t>(b + j * apart)];
        if (b >= blocks) EXPECT(found == -7.0);
        if (b < blocks) EXPECT(close(found, plain(b, j, rows, 0), kSumTolerance<T>, plain(b, j, rows, 0)));
      }
    }
    EXPECT(table().product_sums(session, kType<T>, y.data(), y.ld(), rows, cols, p.data(), p.ld(), blocks, out.data(),
                                apart) == VOXRIDGE_OK);
    for (int64_t j = 0; j < cols; ++j) {
      for (int64_t b = 0; b < blocks; ++b) {
        const double* found = &out[static_cast<size_t>(2 * b + j * apart)];
        EXPECT(close(found[0], plain(b, j, rows + 1, 1), kSumTolerance<T>, 60));
        EXPECT(close(found[1], plain(b, j, rows + 1, 2), kSumTolerance<T>, 60));
      }
      EXPECT(out[static_cast<size_t>(6 + j * apart)] == -7.0);
    }
  });
}

TEST(refused_arguments) {
  Opened session;
  double x[64] = {};
  const double* host = x;
  int64_t index[] = {0, 3, -1};
  void* dev = nullptr;
  EXPECT(table().allocate(session, 512, &dev) == VOXRIDGE_OK);
  const int f64 = VOXRIDGE_F64;
  const int64_t huge = int64_t{1} << 31, vast = int64_t{1} << 60;
  const auto refused = [&](int code, const std::string& text) {
    EXPECT(code == VOXRIDGE_INVALID);
    EXPECT_SAID(session.text().find(text) != std::string::npos, session.text());
  };
  const auto& t = table();
  refused(t.to_device(session, 2, host, 4, 4, 1, dev, 4, 0), "to_device: `type` 2");
  refused(t.to_device(session, f64, nullptr, 4, 4, 1, dev, 4, 0), "`host` is NULL");
  refused(t.to_device(session, f64, host, 3, 4, 1, dev, 4, 0), "`host` ld 3 is less than its 4 rows");
  refused(t.to_device(session, f64, host, 4, 4, 1, dev, 3, 0), "`dev` ld 3");
  refused(t.to_device(session, f64, host, 4, -4, 1, dev, 4, 0), "-4 x 1 is no size");
  refused(t.to_host(session, f64, dev, 4, 4, vast, x, 4, 0), "too large");
  refused(t.to_host(session, f64, dev, 4, 4, 1, nullptr, 4, 0), "to_host: `host` is NULL");
  refused(t.gemm(session, f64, 0, 0, huge, 1, 1, 1, dev, huge, dev, 1, 0, dev, huge), "`m` 2147483648 is beyond");
  refused(t.gemm(session, f64, 0, 0, 1, 1, huge, 1, dev, 1, dev, huge, 0, dev, 1), "`k` 2147483648 is beyond");
  refused(t.gemm(session, f64, 0, 0, 2, 2, 2, 1, dev, huge, dev, 2, 0, dev, 2), "`lda` 2147483648 is beyond");
  refused(t.gemm(session, f64, 1, 0, 2, 2, 3, 1, dev, 2, dev, 3, 0, dev, 2), "`a` ld 2 is less than its 3 rows");
  refused(t.gemm(session, f64, 0, 0, 2, 2, 2, 1, dev, 2, nullptr, 2, 0, dev, 2), "`b` is NULL");
  refused(t.syrk(session, 0, 1, huge, 1, dev, 1, 0, dev, 1), "syrk: `k` 2147483648 is beyond");
  refused(t.syrk(session, 1, 2, 3, 1, dev, 2, 0, dev, 2), "syrk: `a` ld 2 is less than its 3 rows");
  refused(t.syrk(session, 0, 2, 3, 1, dev, 2, 0, nullptr, 2), "`c` is NULL");
  refused(t.syevd(session, 3, dev, 2, x), "syevd: `a` ld 2 is less than its 3 rows");
  refused(t.syevd(session, 2, dev, 2, nullptr), "`values` is NULL");
  refused(t.mark(session, 2), "mark: `slot` 2 is not between 0 and 1");
  refused(t.wait(session, -1), "wait: `slot` -1 is not");
  refused(t.gather(session, f64, dev, 3, 1, index, 2, nullptr, dev, 2), "`rows` 3 is not between 0 and 2");
  refused(t.gather(session, f64, dev, 4, 1, index, 3, nullptr, dev, 3), "`rows` -1 is not");
  refused(t.gather(session, f64, dev, 4, 1, nullptr, 3, nullptr, dev, 3), "`rows` is NULL");
  refused(t.copy_columns(session, f64, 0, dev, 4, 4, index, 3, dev, 4), "`columns` -1 is not");
  refused(t.means(session, f64, dev, 4, 1, index, 2, nullptr), "means: `out` is NULL");
  refused(t.squares(session, f64, nullptr, 4, 4, 1, nullptr, x), "squares: `from` is NULL");
  const void* parts[] = {dev, nullptr};
  const int64_t lds[] = {2, 1};
  refused(t.add(session, f64, parts, lds, 2, 2, 2, dev, 2), "`parts` ld 1");
  refused(t.add(session, f64, nullptr, lds, 2, 2, 2, dev, 2), "`parts` is NULL");
  const double scale[] = {0, 1};
  refused(t.leave_out(session, f64, dev, 2, dev, 2, 2, 2, nullptr, scale, dev, 2), "`x` is NULL");
  EXPECT(t.leave_out(session, f64, dev, 2, dev, 2, 2, 1, nullptr, scale, dev, 2) == VOXRIDGE_OK);
  refused(t.shrink(session, f64, dev, 2, 2, 2, nullptr, scale, dev, 2), "`lambda` is NULL");
  refused(t.scale_rows(session, f64, dev, 2, 2, 2, nullptr, dev, 2), "`weights` is NULL");
  refused(t.subtract(session, f64, dev, 2, dev, 1, 2, 2, dev, 2), "`b` ld 1");
  refused(t.error_sums(session, f64, dev, 2, 2, 2, dev, 5, 3, x, 3), "`predictions` ld 5 is less than its 6 rows");
  refused(t.error_sums(session, f64, dev, 2, 2, 2, dev, 6, 3, x, 2), "`out` ld 2 is less than its 3 rows");
  refused(t.error_sums(session, f64, dev, 2, 2, 2, dev, 6, vast, x, 2), "blocks are too many");
  refused(t.product_sums(session, f64, dev, 2, 2, 2, dev, 6, 3, x, 6), "`predictions` ld 6 is less than its 9 rows");
  refused(t.product_sums(session, f64, dev, 2, 2, 2, dev, 9, 3, x, 5), "`out` ld 5 is less than its 6 rows");
  EXPECT(t.allocate(session, 8, nullptr) == VOXRIDGE_INVALID);
  // Nothing of it harmed the session, and nothing to do is no failure.
  EXPECT(t.synchronize(session) == VOXRIDGE_OK);
  EXPECT(t.to_device(session, f64, nullptr, 0, 0, 5, nullptr, 0, 0) == VOXRIDGE_OK);
  EXPECT(t.gemm(session, f64, 0, 0, 0, 3, 2, 1, nullptr, 0, dev, 2, 0, nullptr, 0) == VOXRIDGE_OK);
  EXPECT(t.syrk(session, 0, 0, 3, 1, nullptr, 0, 0, nullptr, 0) == VOXRIDGE_OK);
  EXPECT(t.syevd(session, 0, nullptr, 0, nullptr) == VOXRIDGE_OK);
  EXPECT(t.error_sums(session, f64, nullptr, 2, 2, 0, nullptr, 6, 3, nullptr, 3) == VOXRIDGE_OK);
  EXPECT(t.subtract(session, f64, nullptr, 0, nullptr, 0, 0, 4, nullptr, 0) == VOXRIDGE_OK);
  EXPECT(t.error_sums(session, f64, nullptr, 0, 0, 2, nullptr, 0, 3, x, 3) == VOXRIDGE_OK);
  EXPECT(x[0] == 0 && x[5] == 0);
}

// Ordinary memory of the host may be written again at once, and so may the vectors of a call; the shim runs late.
TEST(memory_of_the_caller_is_free_after_a_call) {
  Opened session;
  void *dev = nullptr, *pinned = nullptr;
  const int64_t n = 3000;
  const size_t bytes = sizeof(double) * n;
  EXPECT(table().allocate(session, bytes, &dev) == VOXRIDGE_OK);
  EXPECT(table().allocate_host(session, bytes, &pinned) == VOXRIDGE_OK);
  std::vector<double> x(n, 1.0), weights(n), back(n);
  EXPECT(table().to_device(session, VOXRIDGE_F64, x.data(), n, n, 1, dev, n, 0) == VOXRIDGE_OK);
  std::fill(x.begin(), x.end(), 9.0);
  double product = 1;
  for (int k = 0; k < 200; ++k) {  // more than fits into the memory for small vectors
    std::fill(weights.begin(), weights.end(), 1 + 0.001 * k);
    product *= 1 + 0.001 * k;
    EXPECT(table().scale_rows(session, VOXRIDGE_F64, dev, n, n, 1, weights.data(), dev, n) == VOXRIDGE_OK);
    std::fill(weights.begin(), weights.end(), -1.0);
  }
  EXPECT(table().to_host(session, VOXRIDGE_F64, dev, n, n, 1, back.data(), n, 0) == VOXRIDGE_OK);
  EXPECT(close(back[0], product, 1e-13, product) && back[0] == back[n - 1]);
  // `later`: after synchronize.
  std::fill_n(static_cast<double*>(pinned), n, 4.0);
  EXPECT(table().to_device(session, VOXRIDGE_F64, pinned, n, n, 1, dev, n, 1) == VOXRIDGE_OK);
  EXPECT(table().synchronize(session) == VOXRIDGE_OK);
  std::fill_n(static_cast<double*>(pinned), n, 5.0);
  EXPECT(table().to_host(session, VOXRIDGE_F64, dev, n, n, 1, back.data(), n, 0) == VOXRIDGE_OK);
  EXPECT(back[0] == 4 && back[n - 1] == 4);
}

// A forked process is told, and does not touch its parent's session.
TEST(forked_process) {
  Opened session;
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    voxridge_cuda_info about;
    voxridge_cuda_session* own = nullptr;
    char text[512] = "";
    bool right = table().info(&about) == VOXRIDGE_OK && about.available == 0;
    right = right && std::strstr(about.reason, "forked") != nullptr;
    right = right && table().open(&own, text, sizeof text) == VOXRIDGE_UNAVAILABLE && own == nullptr;
    right = right && std::strstr(text, "forked") != nullptr;
    right = right && table().synchronize(session) == VOXRIDGE_UNAVAILABLE;
    right = right && table().solver(text, sizeof text) == VOXRIDGE_UNAVAILABLE && std::strstr(text, "forked") != nullptr;
    table().close(session);
    _exit(right ? 0 : 1);
  }
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT(table().synchronize(session) == VOXRIDGE_OK);
}

}  // namespace plugin_test
