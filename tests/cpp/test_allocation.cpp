// Failing allocations: whatever operator new or malloc of Armadillo refuses, the core throws and leaves nothing behind
// (the address sanitizer looks for leaks when the program ends).
#include "common.h"

#include <cstdlib>
#include <new>

#include "core/binary_rows.h"
#include "core/json_rows.h"
#include "core/number_text.h"
#include "core/predictor.h"
#include "core/threads.h"

namespace {

std::atomic<int64_t> countdown{-1};  // allocations of at least `counted_bytes` until one fails; negative: none fails
std::atomic<size_t> counted_bytes{0};

bool refuse(std::size_t size) {
  if (size < counted_bytes.load() || countdown.load() < 0) return false;
  return countdown.fetch_sub(1) == 0;
}

void* allocate(std::size_t size) {
  if (!refuse(size)) {
    if (void* const memory = std::malloc(size > 0 ? size : 1)) return memory;
  }
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) {
  return allocate(size);
}
void* operator new[](std::size_t size) {
  return allocate(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size > 0 ? size : 1);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size > 0 ? size : 1);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}

namespace voxridge_test {

namespace {

// Fails the first, second, ... allocation of at least `bytes` until the work gets through; returns how many failed.
int failures(size_t bytes, const std::function<void()>& work) {
  for (int k = 0; k < 3000; ++k) {
    counted_bytes = bytes;
    countdown = k;
    bool through = false;
    try {
      work();
      through = true;
    } catch (const std::bad_alloc&) {
    } catch (const Error&) {
    }
    const bool refused = countdown < 0;
    countdown = -1;
    if (through && !refused) return k;
    EXPECT_TRUE(refused) << "failed without a refused allocation";
    EXPECT_FALSE(through) << "allocation " << k << " was refused and nobody noticed";
  }
  ADD_FAILURE() << "no end of allocations";
  return -1;
}

}  // namespace

// Blocks of 512 bytes and more: tiles, sums, vectors and matrices of any consequence (operator new; Armadillo's own
// matrices come from malloc, which is not reached from here).
TEST(Allocation, EveryRefusedBlockIsAnException) {
  const int before = blas_info().threads;
  Problem problem = make_problem(20, 6, 5, 1);
  problem.intercept = true;
  problem.folds = scattered_folds(20, 3);
  const Control control;
  EXPECT_GT(failures(512, [&] { run_cv<double>(problem, {}, control); }), 5);
  EXPECT_GT(failures(512, [&] { run_cv<float>(problem, {}, control, Coefs::dual); }), 5);
  EXPECT_GT(failures(512, [&] { run_predict<double>(problem, {1.0}, Score::r2, control); }), 3);
  EXPECT_EQ(blas_info().threads, before);
}

TEST(Allocation, WithTwoThreads) {
  const int before = blas_info().threads;
  Problem problem = make_problem(20, 6, 600, 2);
  Control control;
  control.n_threads = 2;
  EXPECT_GT(failures(512, [&] { run_cv<double>(problem, {}, control); }), 5);
  EXPECT_EQ(blas_info().threads, before);
}

// The scoring engine, once its workspace is there: the first allocation of any size would be refused, and none is made.
TEST(Allocation, TheScoringEngineMakesNone) {
  const arma::mat x = normal_matrix(200, 11, 3), beta = normal_matrix(11, 2, 4), rows = x.t();
  const Predictor model({beta.memptr(), 11, 2, 11}, nullptr);
  arma::mat out(200, 2), by_rows(2, 200);
  std::vector<PredictorWorkspace> workspaces;
  const Control control;
  const auto score = [&] {
    score_columns(model, {x.memptr(), 200, 11, 200}, {}, ForecastScale::probability, 0, {out.memptr(), 200, 2, 200},
                  workspaces, control);
    model.score_rows(rows.memptr(), 200, by_rows.memptr());
  };
  EXPECT_GT(failures(0, score), 0);  // the first time
  EXPECT_EQ(failures(0, score), 0);
}

// Nor do the readers of request bodies, of whatever is in them, and the writer of numbers.
TEST(Allocation, ReadersOfBodiesMakeNone) {
  class Sum : public RowSink {
   public:
    bool take(const double* row, int64_t) noexcept override {
      sum += row[0] + row[1];
      return true;
    }
    double sum = 0;
  };
  const std::vector<std::string> columns = {"a", "a name that is too long for a small string"};
  BodyForm form;
  form.n_features = 2;
  form.columns = &columns;
  const std::string names = R"("columns":["\u0061","a name that is too long for a small string"])";
  const std::string digits(2000, '7');
  std::vector<std::string> bodies = {
      "{" + names + R"(,"features":[[1,2],[0.12345678901234567,-1e-320],[1e-999,0.)" + digits + "]]}",
      R"({"features":[[1,2],[3,4]],)" + names + "}",
      R"({"features":[[1,1e999]]})",
      R"({"features":[[1,2,3]]})",
      R"({"features":[["a)" + digits + R"("]]})",
      R"({"columns":["a","b"]})",
      "{\"features\":[[1," + digits,
      "{",
      ""};
  Sum sink;
  double row[2];
  char text[kFaultMessageBytes];
  const auto read = [&] {
    for (const std::string& body : bodies) {
      write_fault_message(read_json_rows(body.data(), body.size(), form, row, sink), text);
      write_fault_message(read_binary_rows(body.data(), body.size(), form, row, sink), text);
    }
    write_number(sink.sum, text);
    write_number_plain(1.0 / 3, text);
  };
  EXPECT_EQ(failures(0, read), 0);
  EXPECT_GT(sink.sum, 0);
}

// Any allocation at all, threads of ours included. In a process of its own: a thread that is not joined ends it.
TEST(AllocationDeathTest, ParallelForJoinsItsThreads) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        failures(0, [] { parallel_for(64, 4, [](int64_t, int) {}); });
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace voxridge_test
