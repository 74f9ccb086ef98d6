// Threads of a CUDA block as fibers of one thread of the host. A fiber runs until it waits for others or ends; which
// one runs next is drawn from a seed, so that what depends on the order comes out differently under another seed. What
// would hang or be undefined on a device is reported and ends the program with status 3.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
inline dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace cuda_on_cpu {

constexpr size_t kStackBytes = 64 * 1024;

// What a fiber, or the host, needs to go on where it left off.
#if defined(__SANITIZE_ADDRESS__)

// The address sanitizer must know which stack is in use. That of the host is learned when it is left.
class Context {
 public:
  void start(void* stack, void (*entry)()) {
    getcontext(&state_);
    state_.uc_stack.ss_sp = stack;
    state_.uc_stack.ss_size = kStackBytes;
    state_.uc_link = nullptr;
    makecontext(&state_, entry, 0);
    bottom_ = stack;
    size_ = kStackBytes;
  }
  // `from` is the running one.
  static void change(Context& from, Context& to) {
    left() = &from;
    __sanitizer_start_switch_fiber(&from.fake_, to.bottom_, to.size_);
    swapcontext(&from.state_, &to.state_);
    from.arrived();
  }
  // Also the first thing that a new fiber says.
  void arrived() { __sanitizer_finish_switch_fiber(fake_, &left()->bottom_, &left()->size_); }

 private:
  static Context*& left() {
    static Context* context = nullptr;
    return context;
  }
  ucontext_t state_;
  void* fake_ = nullptr;
  const void* bottom_ = nullptr;
  size_t size_ = 0;
};

#else

// A fiber is entered once by its context; after that it is left and entered by jumps, which make no system calls.
class Context {
 public:
  void start(void* stack, void (*entry)()) {
    getcontext(&state_);
    state_.uc_stack.ss_sp = stack;
    state_.uc_stack.ss_size = kStackBytes;
    state_.uc_link = nullptr;
    makecontext(&state_, entry, 0);
    entered_ = false;
  }
  __attribute__((noinline)) static void change(Context& from, Context& to) {
    if (_setjmp(from.place_) != 0) return;
    if (to.entered_) _longjmp(to.place_, 1);
    to.entered_ = true;
    setcontext(&to.state_);
  }
  void arrived() {}

 private:
  ucontext_t state_;
  jmp_buf place_;
  bool entered_ = true;  // the host is running
};

#endif

enum class Operation { none, shuffle, vote, sync };

struct Fiber {
  Context context;
  std::unique_ptr<char[]> stack;
  uint64_t slot[2] = {};  // what it gives to its warp, in turns
  int turn = 0;
};

struct Warp {
  unsigned arrived = 0, gone = 0, mask = 0;
  Operation operation = Operation::none;
};

// One block at a time.
class Block {
 public:
  std::mutex in_use;
  uint64_t seed = 0;         // 0: fibers run in order
  unsigned current = 0;      // the running thread
  unsigned block_index = 0;  // for reports

  void run(unsigned threads, const std::function<void()>& body) {
    body_ = &body;
    warps_.assign((threads + 31) / 32, Warp());
    threads_ = threads;
    at_barrier_ = done_ = 0;
    if (threads == 0) return;
    while (fibers_.size() < threads) {
      fibers_.push_back(std::make_unique<Fiber>());
      Fiber& fiber = *fibers_.back();
      fiber.stack.reset(new char[kStackBytes]);
      fiber.context.start(fiber.stack.get(), enter);
    }
    ready_.clear();
    for (unsigned i = threads; i-- > 0;) ready_.push_back(i);
    change_to_next(host_);  // comes back when nobody is ready
    if (done_ < threads) fail("a barrier or a warp's operation that some threads never reach");
  }

  // Gives `value` to the warp and waits for the lanes of the mask to do the same.
  void meet_warp(Operation operation, unsigned mask, uint64_t value) {
    Warp& warp = warps_[current / 32];
    const unsigned bit = 1u << (current % 32);
    if ((mask & bit) == 0) fail("a lane that is not in its own mask");
    if ((mask & warp.gone) != 0) fail("a lane named in the mask has ended");
    if (warp.arrived != 0 && (warp.mask != mask || warp.operation != operation)) {
      fail("lanes of a warp in different operations");
    }
    Fiber& self = *fibers_[current];
    self.turn ^= 1;
    self.slot[self.turn] = value;
    warp.arrived |= bit;
    warp.mask = mask;
    warp.operation = operation;
    if (warp.arrived == mask) {
      warp.arrived = 0;
      for (unsigned lane = 32; lane-- > 0;) {
        if ((mask >> lane & 1) != 0) ready_.push_back(current / 32 * 32 + lane);
      }
    }
    leave();
  }

  // After meet_warp: what that lane gave. Two slots suffice: nobody gives again until all have come back.
  uint64_t given_by(unsigned lane) const { return fibers_[current / 32 * 32 + lane]->slot[fibers_[current]->turn]; }

  void meet_block() {
    if (++at_barrier_ == threads_) {
      at_barrier_ = 0;
      for (unsigned i = threads_; i-- > 0;) ready_.push_back(i);
    }
    leave();
  }

  [[noreturn]] void fail(const char* what) const {
    std::fprintf(stderr, "cuda_on_cpu: %s (block %u, thread %u)\n", what, block_index, current);
    std::_Exit(3);
  }

  uint64_t draw() {  // xorshift64
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
  }

  static Block& the_one() {
    static Block block;
    return block;
  }

 private:
  unsigned take_ready() {
    if (seed != 0) std::swap(ready_[draw() % ready_.size()], ready_.back());
    const unsigned next = ready_.back();
    ready_.pop_back();
    return next;
  }

  // The running fiber waits; another one, or the host, goes on.
  void leave() {
    Context& self = fibers_[current]->context;
    if (ready_.empty()) {
      Context::change(self, host_);
    } else {
      change_to_next(self);
    }
  }

  void change_to_next(Context& from) {
    current = threadIdx.x = take_ready();
    Context& next = fibers_[current]->context;
    if (&next != &from) Context::change(from, next);
  }

  // The life of a fiber: one thread after another, in this block and later ones.
  static void enter() {
    Block& block = the_one();
    block.fibers_[block.current]->context.arrived();
    for (;;) {
      (*block.body_)();
      block.end_of_thread();
    }
  }

  void end_of_thread() {
    Warp& warp = warps_[current / 32];
    warp.gone |= 1u << (current % 32);
    if (warp.arrived != 0 && (warp.mask & warp.gone) != 0) fail("a lane named in the mask has ended");
    ++done_;
    fibers_[current]->turn = 0;
    leave();
  }

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<unsigned> ready_;
  std::vector<Warp> warps_;
  Context host_;
  const std::function<void()>* body_ = nullptr;
  unsigned threads_ = 0, at_barrier_ = 0, done_ = 0;
};

}  // namespace cuda_on_cpu
