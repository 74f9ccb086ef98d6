// The words of CUDA C++ that the kernels use, for the compiler of the host: include this before kernels.h. Blocks run
// one after another in an order drawn from the seed, their threads as fibers (fibers.h). Launches of several threads of
// the host wait for each other.
#pragma once

#include <link.h>

#include <cstring>
#include <numeric>
#include <type_traits>

#include "fibers.h"

#define __global__
#define __device__
// Each thread of the host has its own, so that all of it can be found and spoilt before a block starts.
#define __shared__ static thread_local

namespace cuda_on_cpu {

// Shared memory holds nothing of use when a block starts: all thread-local memory of this program or library, where
// there is no other, becomes NaN.
inline int spoil_shared_memory_of(dl_phdr_info* module, size_t, void* address) {
  const auto here = reinterpret_cast<ElfW(Addr)>(address);
  bool ours = false;
  size_t bytes = 0;
  for (int k = 0; k < module->dlpi_phnum; ++k) {
    const ElfW(Phdr)& part = module->dlpi_phdr[k];
    const ElfW(Addr) start = module->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && here >= start && here < start + part.p_memsz) ours = true;
    if (part.p_type == PT_TLS) bytes = part.p_memsz;
  }
  if (ours && bytes > 0 && module->dlpi_tls_data != nullptr) std::memset(module->dlpi_tls_data, 0xFF, bytes);
  return ours ? 1 : 0;
}
inline void spoil_shared_memory() {
  dl_iterate_phdr(spoil_shared_memory_of, reinterpret_cast<void*>(&spoil_shared_memory_of));
}

// Of all launches that follow; 0 is the plain order.
inline void use_schedule(uint64_t seed) {
  Block::the_one().seed = seed * 0x9E3779B97F4A7C15u;
}

template <class Body>
void launch(unsigned grid_x, unsigned grid_y, unsigned threads, const Body& body) {
  Block& block = Block::the_one();
  const std::lock_guard<std::mutex> lock(block.in_use);
  blockDim = {threads, 1, 1};
  gridDim = {grid_x, grid_y, 1};
  std::vector<unsigned> order(static_cast<size_t>(grid_x) * grid_y);
  std::iota(order.begin(), order.end(), 0u);
  for (size_t i = order.size(); block.seed != 0 && i > 1; --i) std::swap(order[i - 1], order[block.draw() % i]);
  const std::function<void()> run = body;
  for (const unsigned index : order) {
    block.block_index = index;
    blockIdx = {index % grid_x, index / grid_x, 0};
    spoil_shared_memory();
    block.run(threads, run);
  }
}

template <class T>
T shuffle(unsigned mask, T value, unsigned from) {
  static_assert(sizeof(T) <= sizeof(uint64_t) && std::is_trivially_copyable_v<T>, "a word of at most 64 bits");
  Block& block = Block::the_one();
  uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  block.meet_warp(Operation::shuffle, mask, word);
  if (from > 31 || (mask >> from & 1) == 0) block.fail("a shuffle from a lane outside the mask");
  word = block.given_by(from);
  std::memcpy(&value, &word, sizeof value);
  return value;
}

inline unsigned own_lane() {
  return Block::the_one().current % 32;
}

}  // namespace cuda_on_cpu

inline void __syncthreads() {
  cuda_on_cpu::Block::the_one().meet_block();
}
inline void __syncwarp(unsigned mask = 0xffffffffu) {
  cuda_on_cpu::Block::the_one().meet_warp(cuda_on_cpu::Operation::sync, mask, 0);
}
template <class T>
T __shfl_sync(unsigned mask, T value, int lane) {
  return cuda_on_cpu::shuffle(mask, value, static_cast<unsigned>(lane) % 32);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits) {
  return cuda_on_cpu::shuffle(mask, value, cuda_on_cpu::own_lane() ^ static_cast<unsigned>(bits));
}
// Past the last lane: its own value.
template <class T>
T __shfl_down_sync(unsigned mask, T value, int by) {
  const unsigned own = cuda_on_cpu::own_lane(), from = own + static_cast<unsigned>(by);
  return cuda_on_cpu::shuffle(mask, value, from < 32 ? from : own);
}
template <class T>
T atomicAdd(T* place, T value) {
  const T old = *place;
  *place += value;
  return old;
}
template <class T>
T atomicMax(T* place, T value) {
  const T old = *place;
  if (value > old) *place = value;
  return old;
}
template <class T>
T atomicMin(T* place, T value) {
  const T old = *place;
  if (value < old) *place = value;
  return old;
}
// Does the condition hold for any lane of the mask?
inline int __any_sync(unsigned mask, bool condition) {
  cuda_on_cpu::Block& block = cuda_on_cpu::Block::the_one();
  block.meet_warp(cuda_on_cpu::Operation::vote, mask, condition ? 1 : 0);
  int any = 0;
  for (unsigned lane = 0; lane < 32; ++lane) any |= (mask >> lane & 1) != 0 && block.given_by(lane) != 0;
  return any;
}
// The host's compiler is told not to fuse operations.
inline double __dadd_rn(double a, double b) {
  return a + b;
}
inline double __dmul_rn(double a, double b) {
  return a * b;
}
inline double __ddiv_rn(double a, double b) {
  return a / b;
}
inline long long __double_as_longlong(double x) {
  long long bits;
  std::memcpy(&bits, &x, sizeof x);
  return bits;
}
