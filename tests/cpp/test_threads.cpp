#include "common.h"

#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>

#include "core/symbols.h"
#include "core/threads.h"

namespace voxridge_test {

TEST(Threads, EveryItemOnce) {
  for (const int threads : {0, 1, 2, 3, 8}) {
    for (const int64_t items : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> seen(items);
      std::atomic<int> wrong{0};
      parallel_for(items, threads, [&](int64_t item, int worker) {
        ++seen[item];
        if (worker < 0 || worker >= std::max(1, threads)) ++wrong;
      });
      for (const std::atomic<int>& count : seen) ASSERT_EQ(count, 1);
      EXPECT_EQ(wrong, 0);
    }
  }
}

TEST(Threads, AWorkerNumberIsUsedByOneThreadAtATime) {
  std::vector<std::atomic<int>> busy(3);
  std::atomic<int> clashes{0};
  parallel_for(300, 3, [&](int64_t, int worker) {
    if (busy[worker]++ != 0) ++clashes;
    std::this_thread::yield();
    --busy[worker];
  });
  EXPECT_EQ(clashes, 0);
}

TEST(Threads, OneThreadWorksInOrderOnTheCallers) {
  std::vector<int64_t> order;
  const std::thread::id here = std::this_thread::get_id();
  parallel_for(5, 1, [&](int64_t item, int) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    order.push_back(item);
  });
  EXPECT_EQ(order, row_range(0, 5));
}

// The exception arrives, no further item starts (but those in hand), and no item is still at work.
TEST(Threads, AnExceptionEndsTheWork) {
  for (const int threads : {1, 2, 4}) {
    std::atomic<int> started{0}, at_work{0};
    try {
      parallel_for(100000, threads, [&](int64_t item, int) {
        ++started;
        ++at_work;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        --at_work;
        if (item == 10) throw std::out_of_range("item 10");
      });
      FAIL() << "no exception";
    } catch (const std::out_of_range& error) {
      EXPECT_STREQ(error.what(), "item 10");
    }
    EXPECT_EQ(at_work, 0);
    EXPECT_LT(started, 1000);
  }
}

TEST(Threads, ErrorsKeepTheirCode) {
  try {
    parallel_for(8, 2, [](int64_t, int) { throw Error(ErrorCode::numerical, "n"); });
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::numerical);
  }
}

// Jobs enough for all threads share them and the memory; fewer have all of both, one after the other.
TEST(Threads, JobsShareThreadsAndMemory) {
  const BlasInfo before = blas_info();
  Progress progress;
  for (const int threads : {1, 3}) {
    for (const int64_t jobs : {0, 1, 2, 3, 50}) {
      Control control;
      control.n_threads = threads;
      control.memory_bytes = 6e6;
      control.progress = &progress;
      const bool shared = jobs >= threads && threads > 1;
      std::vector<std::atomic<int>> seen(jobs);
      std::atomic<int> wrong{0}, at_work{0}, most{0};
      for_each_job(jobs, control, [&](int64_t job, const Control& inside) {
        const int now = ++at_work;
        for (int old = most; old < now && !most.compare_exchange_weak(old, now);) continue;
        ++seen[job];
        if (inside.n_threads != (shared ? 1 : threads) || inside.memory_bytes != (shared ? 2e6 : 6e6)) ++wrong;
        if (inside.progress != &progress || inside.stop != nullptr) ++wrong;
        if (before.threads_controlled && blas_info().threads != 1) ++wrong;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        --at_work;
      });
      for (const std::atomic<int>& count : seen) ASSERT_EQ(count, 1);
      EXPECT_EQ(wrong, 0);
      EXPECT_LE(most, shared ? threads : 1);
      EXPECT_EQ(blas_info().threads, before.threads);
      EXPECT_EQ(control.n_threads, threads);
    }
  }
}

TEST(Threads, AnExceptionEndsTheJobs) {
  const int before = blas_info().threads;
  for (const int threads : {1, 2, 30}) {
    Control control;
    control.n_threads = threads;
    std::atomic<int> started{0};
    const auto work = [&](int64_t job, const Control&) {
      ++started;
      if (job == 3) throw Error(ErrorCode::numerical, "job 3");
    };
    EXPECT_THROW(for_each_job(20, control, work), Error);
    EXPECT_GE(started, 4);
    EXPECT_EQ(blas_info().threads, before);
  }
}

TEST(Threads, BlasThreadsAreRestored) {
  const BlasInfo before = blas_info();
  EXPECT_EQ(before.vendor == "unknown", !before.threads_controlled);
  EXPECT_TRUE(before.single);
  if (!before.threads_controlled) GTEST_SKIP() << "the threads of this BLAS cannot be set";
  {
    const BlasThreads one(1);
    EXPECT_EQ(blas_info().threads, 1);
    const BlasThreads two(2);
    EXPECT_EQ(blas_info().threads, 2);
  }
  EXPECT_EQ(blas_info().threads, before.threads);
  try {
    const BlasThreads one(1);
    throw std::runtime_error("x");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(blas_info().threads, before.threads);
}

TEST(Threads, RidgeCvRestoresBlasThreads) {
  const int before = blas_info().threads;
  Problem problem = make_problem(20, 5, 3, 1);
  for (const int threads : {1, 2}) {
    Control control;
    control.n_threads = threads;
    run_cv<double>(problem, {}, control);
    EXPECT_EQ(blas_info().threads, before);
    run_predict<double>(problem, {1.0}, Score::r2, control);
    EXPECT_EQ(blas_info().threads, before);
    RidgeCvOptions options;
    options.score = Score::user;
    options.user = [](MatrixView<double>, MatrixView<double>, double*) { throw std::runtime_error("score"); };
    EXPECT_THROW(run_cv<double>(problem, options, control), std::runtime_error);
    EXPECT_EQ(blas_info().threads, before);
  }
}

TEST(Threads, Symbols) {
  EXPECT_NE(find_symbol("dgemm_"), nullptr);
  EXPECT_EQ(find_symbol("no_such_symbol_anywhere"), nullptr);
  EXPECT_NE(library_of("dgemm_"), "");
  EXPECT_EQ(library_of("no_such_symbol_anywhere"), "");
}

namespace {

ErrorCode code_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::internal;
}

}  // namespace

TEST(Stop, EndsEveryKindOfWork) {
  const std::atomic<bool> stop{true};
  Problem problem = make_problem(24, 6, 3, 2);
  const int before = blas_info().threads;
  for (const int threads : {1, 2}) {
    Control control;
    control.n_threads = threads;
    control.stop = &stop;
    for (const CvKind kind : {CvKind::kfold, CvKind::loo, CvKind::gcv}) {
      RidgeCvOptions options;
      options.cv = kind;
      EXPECT_EQ(code_of([&] { run_cv<double>(problem, options, control); }), ErrorCode::interrupted);
    }
    EXPECT_EQ(code_of([&] { run_fit<double>(problem, {1.0}, control); }), ErrorCode::interrupted);
    EXPECT_EQ(code_of([&] { run_predict<double>(problem, {1.0}, Score::r2, control); }), ErrorCode::interrupted);
    EXPECT_EQ(blas_info().threads, before);
  }
}

// Set while tiles are at work, by the score function itself.
TEST(Stop, EndsWorkUnderWay) {
  Problem problem = make_problem(24, 6, 512 * 4, 3);
  std::atomic<bool> stop{false};
  std::atomic<int> calls{0};
  Control control;
  control.stop = &stop;
  RidgeCvOptions options;
  options.score = Score::user;
  options.user = [&](MatrixView<double> truth, MatrixView<double>, double* out) {
    std::fill_n(out, truth.cols, 0.0);
    if (++calls == 5) stop = true;
  };
  EXPECT_EQ(code_of([&] { run_cv<double>(problem, options, control); }), ErrorCode::interrupted);
  EXPECT_LE(calls, 5 + 8);  // the penalties of the fold in hand
}

TEST(Stop, ProgressReachesItsTotal) {
  Problem problem = make_problem(24, 6, 600, 4);
  problem.alphas = log_grid(1e-2, 1e5, 40);
  for (const double memory : {1e9, 3e4}) {
    for (const bool local : {true, false}) {
      Progress progress;
      Control control;
      control.progress = &progress;
      control.memory_bytes = memory;
      RidgeCvOptions options;
      options.local_alpha = local;
      run_cv<double>(problem, options, control);
      EXPECT_GT(progress.total, 0);
      EXPECT_EQ(progress.done, progress.total) << "memory " << memory << ", local " << local;
    }
  }
}

}  // namespace voxridge_test
