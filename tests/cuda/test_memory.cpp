// Memory that runs out at every place where it is asked for, the memory that a session keeps, and a device that fails.
#include "plugin_fixture.h"

#include <thread>

namespace plugin_test {

constexpr int64_t kRows = 30, kCols = 4;

// Every function of the table that may need memory, on a session of its own; the first code that is not VOXRIDGE_OK.
int all_of_it() {
  const auto& t = table();
  voxridge_cuda_session* s = nullptr;
  char text[512] = "";
  int code = t.open(&s, text, sizeof text);
  if (code != VOXRIDGE_OK) return code;
  Random random(8);
  const Matrix<double> host(kRows, kCols, 0, random);
  const std::vector<double> ones(kRows, 1.0);
  const std::vector<int64_t> rows = {3, 1, 2};
  std::vector<double> large(1 << 18, 1.0), sums(kCols);
  void *a = nullptr, *b = nullptr, *tall = nullptr, *pinned = nullptr;
  const size_t bytes = sizeof(double) * kRows * kCols;
  const int64_t n = static_cast<int64_t>(large.size());
  const int f64 = VOXRIDGE_F64;
  const auto steps = [&]() {
    int c = 0;
    if ((c = t.allocate(s, bytes, &a)) || (c = t.allocate(s, bytes, &b)) || (c = t.allocate_host(s, bytes, &pinned)) ||
        (c = t.to_device(s, f64, host.data.data(), kRows, kRows, kCols, a, kRows, 0)) ||
        (c = t.gemm(s, f64, 1, 0, kCols, kCols, kRows, 1, a, kRows, a, kRows, 0, b, kRows)) ||
        (c = t.syrk(s, 1, kCols, kRows, 1, a, kRows, 0, b, kRows)) ||
        (c = t.syevd(s, kCols, b, kRows, sums.data())) ||
        (c = t.gather(s, f64, a, kRows, kCols, rows.data(), 3, nullptr, b, kRows)) ||
        (c = t.copy_columns(s, f64, 0, a, kRows, kRows, rows.data(), 3, b, kRows)) ||
        (c = t.leave_out(s, f64, a, kRows, a, kRows, kRows, kCols, ones.data(), ones.data(), b, kRows)) ||
        (c = t.shrink(s, f64, a, kRows, kRows, kCols, ones.data(), ones.data(), b, kRows)) ||
        (c = t.scale_rows(s, f64, a, kRows, kRows, kCols, ones.data(), b, kRows)) ||
        (c = t.error_sums(s, f64, a, kRows, kRows, kCols, b, kRows, 1, sums.data(), 1)) ||
        (c = t.allocate(s, sizeof(double) * large.size(), &tall)) ||
        (c = t.scale_rows(s, f64, tall, n, n, 1, large.data(), tall, n)) ||  // needs more memory for vectors
        (c = t.squares(s, f64, a, kRows, kRows, kCols, nullptr, sums.data())) || (c = t.synchronize(s))) {
      return c;
    }
    return 0;
  };
  code = steps();
  if (code != VOXRIDGE_OK) {
    EXPECT_SAID(std::string(t.text(s)).find("out of memory") != std::string::npos, t.text(s));
    // There is memory again: the same session goes on.
    Simulation::the_one().fail_first = Simulation::the_one().fail_last = -1;
    for (void* dev : {a, b, tall}) t.release(s, dev);
    t.release_host(s, pinned);
    EXPECT(steps() == VOXRIDGE_OK);
  }
  for (int64_t j = 0; j < kCols; ++j) {
    long double sum = 0;
    for (int64_t i = 0; i < kRows; ++i) sum += static_cast<long double>(host(i, j)) * host(i, j);
    EXPECT(close(sums[static_cast<size_t>(j)], sum, 1e-13, sum));
  }
  t.close(s);
  return code;
}

// From the k-th allocation on there is no memory, for every k: VOXRIDGE_NO_MEMORY each time, and nothing leaks.
TEST(every_allocation_fails_once) {
  Simulation& simulation = Simulation::the_one();
  simulation.allocations = 0;
  simulation.fail_first = simulation.fail_last = -1;
  EXPECT(all_of_it() == VOXRIDGE_OK);
  const long count = simulation.allocations;
  EXPECT(count >= 7);
  for (long k = 0; k < count; ++k) {
    context = "allocation " + say(k);
    simulation.allocations = 0;
    simulation.fail_first = k;
    simulation.fail_last = std::numeric_limits<long>::max();
    EXPECT(all_of_it() == VOXRIDGE_NO_MEMORY);
    EXPECT(living_blocks() == 0);
  }
  simulation.fail_first = simulation.fail_last = -1;
}

// Released memory is used again where it fits, and given back when memory is short.
TEST(kept_memory) {
  Opened session;
  Simulation& simulation = Simulation::the_one();
  const auto& t = table();
  void *a = nullptr, *b = nullptr;
  EXPECT(t.allocate(session, 1000, &a) == VOXRIDGE_OK);
  t.release(session, a);
  EXPECT(simulation.device.size() == 1);
  EXPECT(t.allocate(session, 900, &b) == VOXRIDGE_OK && b == a);
  t.release(session, b);
  EXPECT(t.allocate(session, 100, &b) == VOXRIDGE_OK && b != a);  // too small for so large a block
  EXPECT(t.allocate(session, 1001, &b) == VOXRIDGE_OK && b != a);
  EXPECT(simulation.device.size() == 3);
  // One failure: the kept block goes, the next attempt succeeds.
  simulation.allocations = 0;
  simulation.fail_first = simulation.fail_last = 0;
  EXPECT(t.allocate(session, 5000, &b) == VOXRIDGE_OK);
  EXPECT(simulation.device.count(a) == 0 && simulation.device.size() == 3);
  simulation.fail_first = simulation.fail_last = -1;
  // No more than a few are kept.
  std::vector<void*> many(30, nullptr);
  for (void*& one : many) EXPECT(t.allocate(session, 64, &one) == VOXRIDGE_OK);
  for (void* one : many) t.release(session, one);
  EXPECT(simulation.device.size() == 3 + 8);
  int stranger = 0;
  t.release(session, &stranger);
  EXPECT(t.allocate(session, 0, &b) == VOXRIDGE_OK && b == nullptr);
}

// Memory for small vectors that was too small is handed on only when the device has read it.
TEST(outgrown_memory_for_vectors) {
  Opened session;
  const int64_t few = 1000, many = 1 << 18;
  std::vector<double> x(many, 2.0), back(few);
  void *dev = nullptr, *host = nullptr;
  EXPECT(table().allocate(session, sizeof(double) * many, &dev) == VOXRIDGE_OK);
  EXPECT(table().to_device(session, VOXRIDGE_F64, x.data(), many, many, 1, dev, many, 0) == VOXRIDGE_OK);
  EXPECT(table().scale_rows(session, VOXRIDGE_F64, dev, few, few, 1, x.data(), dev, few) == VOXRIDGE_OK);
  EXPECT(table().scale_rows(session, VOXRIDGE_F64, dev, many, many, 1, x.data(), dev, many) == VOXRIDGE_OK);
  EXPECT(table().allocate_host(session, 1 << 20, &host) == VOXRIDGE_OK);
  std::memset(host, 0, 1 << 20);
  EXPECT(table().to_host(session, VOXRIDGE_F64, dev, few, few, 1, back.data(), few, 0) == VOXRIDGE_OK);
  EXPECT(back[0] == 8 && back[few - 1] == 8);
}

TEST(limited_memory) {
  setenv("VOXRIDGE_SHIM_MEMORY", "100000", 1);
  {
    Opened session;
    void* dev = nullptr;
    EXPECT(table().allocate(session, 200000, &dev) == VOXRIDGE_NO_MEMORY && dev == nullptr);
    EXPECT(table().allocate(session, 60000, &dev) == VOXRIDGE_OK);
    voxridge_cuda_info about;
    EXPECT(table().info(&about) == VOXRIDGE_OK && about.memory_total == 1e5 && about.memory_free == 4e4);
    EXPECT(table().allocate(session, 60000, &dev) == VOXRIDGE_NO_MEMORY);
  }
  unsetenv("VOXRIDGE_SHIM_MEMORY");
}

// Sessions of several threads side by side.
TEST(threads) {
  std::vector<std::thread> threads;
  std::vector<int> codes(3, -1);
  for (int& code : codes) threads.emplace_back([&code] { code = all_of_it(); });
  for (std::thread& thread : threads) thread.join();
  for (const int code : codes) EXPECT(code == VOXRIDGE_OK);
  EXPECT(living_blocks() == 0);
}

// After an error of the device nothing succeeds any more, in any session, and the text stays. The last test: it cannot
// be undone.
TEST(zz_failure_of_the_device) {
  const auto& t = table();
  Opened first, second;
  void* dev = nullptr;
  EXPECT(t.allocate(first, 100, &dev) == VOXRIDGE_OK);
  Simulation::the_one().broken = true;
  EXPECT(t.synchronize(first) == VOXRIDGE_FAILED);
  EXPECT(first.text() == "synchronize: device: an illegal memory access was encountered");
  Simulation::the_one().broken = false;
  EXPECT(t.allocate(second, 100, &dev) == VOXRIDGE_FAILED && dev == nullptr);
  EXPECT(second.text() == first.text());
  voxridge_cuda_info about;
  EXPECT(t.info(&about) == VOXRIDGE_OK && about.available == 0 && first.text() == about.reason);
  voxridge_cuda_session* third = nullptr;
  char text[512] = "";
  EXPECT(t.open(&third, text, sizeof text) == VOXRIDGE_UNAVAILABLE && third == nullptr && first.text() == text);
}

}  // namespace plugin_test
