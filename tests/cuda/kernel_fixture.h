// What the tests of kernels share: shapes, and a launch by itself.
#pragma once

#include "cuda_on_cpu.h"
#include "harness.h"

#include "cuda/kernels.h"

namespace plugin_test {

using namespace voxridge_plugin;
using Index = std::vector<int64_t>;

struct Shape {
  int64_t rows, cols, extra;
  unsigned grid_x, grid_y;
};

template <class T>
DeviceMatrix<const T> in(const Matrix<T>& m) {
  return {m.data.data(), m.ld};
}
template <class T>
DeviceMatrix<T> out(Matrix<T>& m) {
  return {m.data.data(), m.ld};
}

template <class... P, class... A>
void run(const Shape& shape, bool sums, void (*kernel)(P...), A... arguments) {
  cuda_on_cpu::launch(shape.grid_x, sums ? 1 : shape.grid_y, kThreads, [=] { kernel(arguments...); });
}

// Around the sizes of a warp and a block, empty ones, and some at random.
template <class Body>
void for_shapes(const Body& body) {
  Random random(11);
  const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 100};
  const auto draw = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
  for (int k = 0; k < 24; ++k) {
    Shape shape = {sizes[draw(10)], sizes[draw(8)], draw(3) * draw(9), static_cast<unsigned>(1 + draw(4)),
                   static_cast<unsigned>(1 + draw(3))};
    if (k == 0) shape = {1, 1, 0, 1, 1};
    if (k == 1) shape = {40, 0, 0, 1, 1};
    if (k == 2) shape = {0, 5, 0, 1, 1};
    if (k == 3) shape = {2500, 3, 1, 1, 3};  // several runs of a sum
    if (k == 4) shape = {3, 600, 0, 2, 1};   // several columns for a warp
    context = say(shape.rows) + " x " + say(shape.cols) + ", schedule " + say(k % 4);
    cuda_on_cpu::use_schedule(static_cast<uint64_t>(k % 4));
    body(shape, random, float());
    body(shape, random, double());
  }
  cuda_on_cpu::use_schedule(0);
}

inline Index draw_index(int64_t size, int64_t below, Random& random) {
  Index index(static_cast<size_t>(below == 0 ? 0 : size));
  for (int64_t& i : index) i = static_cast<int64_t>(random() % static_cast<uint64_t>(below));
  return index;
}

}  // namespace plugin_test
