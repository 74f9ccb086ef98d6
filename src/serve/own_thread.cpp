#include "own_thread.h"

#ifndef _WIN32
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#endif

namespace voxridge {

#if defined(_POSIX_THREAD_CPUTIME) && _POSIX_THREAD_CPUTIME >= 0
#define VOXRIDGE_THREAD_CLOCKS
#endif

namespace {

#ifdef VOXRIDGE_THREAD_CLOCKS
double read_clock(clockid_t clock, double otherwise) {
  struct timespec time;
  if (clock_gettime(clock, &time) != 0) return otherwise;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
#endif

}  // namespace

void OwnThread::start(std::function<void()> work) {
#ifndef _WIN32
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
  const auto run = [this, work = std::move(work)] {
#ifdef VOXRIDGE_THREAD_CLOCKS
    clockid_t clock;
    if (pthread_getcpuclockid(pthread_self(), &clock) == 0) {
      clock_ = clock;
      has_clock_ = true;
    }
#endif
    work();
#ifdef VOXRIDGE_THREAD_CLOCKS
    spent_ = read_clock(CLOCK_THREAD_CPUTIME_ID, 0);
#endif
    ended_.store(true, std::memory_order_release);
  };
  try {
    thread_ = std::thread(run);
  } catch (...) {
#ifndef _WIN32
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
    throw;
  }
#ifndef _WIN32
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
}

void OwnThread::join() {
  if (thread_.joinable()) thread_.join();
}

double OwnThread::cpu_seconds() const {
#ifdef VOXRIDGE_THREAD_CLOCKS
  if (!has_ended() && has_clock_) return read_clock(static_cast<clockid_t>(clock_.load()), spent_);
#endif
  return spent_;
}

}  // namespace voxridge
