// Gram matrices, eigenvalue problems and a solver that fails; two buffers in turn.
#include "plugin_fixture.h"

namespace plugin_test {

using voxridge_plugin::Solver;

// Sum over l of op(A)[i, l] op(A)[j, l].
long double product(const Matrix<double>& a, bool transpose, int64_t i, int64_t j, int64_t k) {
  long double sum = 0;
  for (int64_t l = 0; l < k; ++l) {
    sum += static_cast<long double>(transpose ? a(l, i) : a(i, l)) * (transpose ? a(l, j) : a(j, l));
  }
  return sum;
}

TEST(gram_matrices_by_panels) {
  Random random(3);
  Opened session;
  const int64_t n = 7;
  for (const bool transpose : {false, true}) {
    const int64_t k = 5;
    const Matrix<double> a(transpose ? k : n, transpose ? n : k, 2, random), b(a.rows, a.cols, 0, random),
        c(n, n, 1, random);
    const OnDevice<double> dev_a(session, a), dev_b(session, b), dev_c(session, c);
    EXPECT(table().syrk(session, transpose, n, k, 1, dev_a.data(), dev_a.ld(), 0, dev_c.data(), dev_c.ld()) ==
           VOXRIDGE_OK);
    EXPECT(table().syrk(session, transpose, n, k, 0.5, dev_b.data(), dev_b.ld(), 1, dev_c.data(), dev_c.ld()) ==
           VOXRIDGE_OK);
    // No terms: C = beta C.
    EXPECT(table().syrk(session, transpose, n, 0, 1, dev_b.data(), dev_b.ld(), 2, dev_c.data(), dev_c.ld()) ==
           VOXRIDGE_OK);
    const Matrix<double> found = dev_c.back(n, n);
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < n; ++i) {
        const long double sum = 2 * product(a, transpose, i, j, k) + product(b, transpose, i, j, k);
        EXPECT(i < j ? found(i, j) == c(i, j) : close(found(i, j), sum, 1e-14, 20));
      }
    }
  }
}

// A random matrix, a multiple of the unit matrix, one of rank 1, and one number.
TEST(eigen_of_symmetric_matrices) {
  Random random(4);
  Opened session;
  for (const int kind : {0, 1, 2, 3}) {
    context = "kind " + say(kind);
    const int64_t n = kind == 3 ? 1 : 40, k = kind == 2 ? 1 : 60;
    const Matrix<double> x(n, k, 0, random);
    Matrix<double> a(n, n, 3);
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = j; i < n; ++i) {  // above the diagonal it is NaN
        a(i, j) = kind == 1 ? (i == j ? 2 : 0) : static_cast<double>(product(x, false, i, j, k));
      }
    }
    const OnDevice<double> dev(session, a);
    std::vector<double> values(static_cast<size_t>(n), -1);
    EXPECT(table().syevd(session, n, dev.data(), dev.ld(), values.data()) == VOXRIDGE_OK);
    EXPECT(std::is_sorted(values.begin(), values.end()));
    const Matrix<double> v = dev.back(n, n);
    const double top = values.back();
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < n; ++i) {
        EXPECT(close(static_cast<double>(product(v, true, i, j, n)), i == j ? 1 : 0, 1e-13, 1));
        long double rebuilt = 0;
        for (int64_t l = 0; l < n; ++l) {
          rebuilt += static_cast<long double>(v(i, l)) * values[static_cast<size_t>(l)] * v(j, l);
        }
        EXPECT(close(a(std::max(i, j), std::min(i, j)), rebuilt, 1e-13, top));
      }
    }
  }
}

TEST(solvers_that_fail_leave_the_session_well) {
  Random random(6);
  Opened session;
  Simulation& simulation = Simulation::the_one();
  Matrix<double> a(3, 3, 0, random);
  double values[3];
  const struct {
    Solver solver;
    int code;
    const char* text;
  } all[] = {{Solver::missing, VOXRIDGE_UNAVAILABLE, "syevd: cuSOLVER cannot be loaded: the shim has none"},
             {Solver::memory, VOXRIDGE_NO_MEMORY, "syevd: memory of the shim: out of memory"},
             {Solver::fails, VOXRIDGE_NO_SOLUTION, "syevd: cuSOLVER: the eigenvalue problem did not converge"},
             {Solver::error, VOXRIDGE_NO_SOLUTION, "syevd: cuSOLVER: an internal error"},
             {Solver::works, VOXRIDGE_OK, "syevd: cuSOLVER: an internal error"}};
  char text[200] = "";
  for (const auto& one : all) {
    simulation.solver = one.solver;
    const OnDevice<double> dev(session, a);
    const size_t blocks = living_blocks();
    EXPECT(table().syevd(session, 3, dev.data(), dev.ld(), values) == one.code);
    EXPECT_SAID(session.text() == one.text, session.text());
    EXPECT(living_blocks() <= blocks + 1);  // kept for the next
    EXPECT(table().synchronize(session) == VOXRIDGE_OK);
    const bool there = one.solver != Solver::missing;
    EXPECT(table().solver(text, sizeof text) == (there ? VOXRIDGE_OK : VOXRIDGE_UNAVAILABLE));
    EXPECT(std::string(text) ==
           (there ? "the LAPACK of the host" : "cuSOLVER cannot be loaded: the shim has none"));
  }
  EXPECT(table().solver(nullptr, 0) == VOXRIDGE_OK);
}

// Copies n numbers to the device and back in pieces, through two buffers in turn; without waiting, the shim's late
// copies find what was written later.
std::vector<double> through_buffers(voxridge_cuda_session* session, int64_t n, bool waiting) {
  const auto& t = table();
  const int64_t piece = 100;
  const size_t bytes = sizeof(double) * piece;
  void *dev = nullptr, *buffers[2] = {nullptr, nullptr};
  EXPECT(t.allocate(session, sizeof(double) * static_cast<size_t>(n), &dev) == VOXRIDGE_OK);
  for (void*& buffer : buffers) EXPECT(t.allocate_host(session, bytes, &buffer) == VOXRIDGE_OK);
  const auto place = [&](int64_t first) { return static_cast<double*>(dev) + first; };
  for (int64_t first = 0; first < n; first += piece) {
    const int slot = static_cast<int>(first / piece % 2);
    if (waiting) EXPECT(t.wait(session, slot) == VOXRIDGE_OK);
    for (int64_t i = 0; i < piece; ++i) static_cast<double*>(buffers[slot])[i] = static_cast<double>(first + i);
    EXPECT(t.to_device(session, VOXRIDGE_F64, buffers[slot], piece, piece, 1, place(first), piece, 1) == VOXRIDGE_OK);
    EXPECT(t.mark(session, slot) == VOXRIDGE_OK);
  }
  EXPECT(t.synchronize(session) == VOXRIDGE_OK);
  std::vector<double> back(static_cast<size_t>(n));
  const auto fetch = [&](int64_t first) {
    const int slot = static_cast<int>(first / piece % 2);
    EXPECT(t.to_host(session, VOXRIDGE_F64, place(first), piece, piece, 1, buffers[slot], piece, 1) == VOXRIDGE_OK);
    EXPECT(t.mark(session, slot) == VOXRIDGE_OK);
  };
  fetch(0);
  for (int64_t first = 0; first < n; first += piece) {
    const int slot = static_cast<int>(first / piece % 2);
    if (first + piece < n) fetch(first + piece);
    if (waiting) EXPECT(t.wait(session, slot) == VOXRIDGE_OK);
    const double* from = static_cast<const double*>(buffers[slot]);
    std::copy_n(from, piece, back.begin() + first);
  }
  EXPECT(t.synchronize(session) == VOXRIDGE_OK);
  t.release(session, dev);
  for (void* buffer : buffers) t.release_host(session, buffer);
  return back;
}

TEST(two_buffers_in_turn) {
  Opened session;
  const int64_t n = 1000;
  EXPECT(table().wait(session, 0) == VOXRIDGE_OK);  // nothing was marked
  const std::vector<double> right = through_buffers(session, n, true);
  for (int64_t i = 0; i < n; ++i) EXPECT(right[static_cast<size_t>(i)] == static_cast<double>(i));
}

TEST(without_waiting_buffers_are_spoilt) {
  Opened session;
  const std::vector<double> wrong = through_buffers(session, 1000, false);
  EXPECT(!std::is_sorted(wrong.begin(), wrong.end()) || wrong[0] != 0);
}

}  // namespace plugin_test
