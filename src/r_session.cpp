#include "r_session.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include "core/cuda_sessions.h"
#include "core/error.h"
#include "core/threads.h"

namespace voxridge_r {

namespace {

constexpr std::chrono::milliseconds kPoll(100);

void check_interrupt(void*) {
  R_CheckUserInterrupt();
}
bool interrupt_pending() {
  return R_ToplevelExec(check_interrupt, nullptr) == FALSE;
}

std::string condition_of(voxridge::ErrorCode code) {
  switch (code) {
    case voxridge::ErrorCode::invalid_argument:
      return "argument";
    case voxridge::ErrorCode::too_large:
      return "too_large";
    case voxridge::ErrorCode::alphas:
      return "alphas";
    case voxridge::ErrorCode::memory:
      return "memory";
    case voxridge::ErrorCode::numerical:
      return "numerical";
    case voxridge::ErrorCode::file:
      return "file";
    case voxridge::ErrorCode::store_truncated:
      return "store_truncated";
    case voxridge::ErrorCode::store_corrupt:
      return "store_corrupt";
    case voxridge::ErrorCode::device_unavailable:
      return "device_unavailable";
    case voxridge::ErrorCode::gpu_out_of_memory:
      return "gpu_out_of_memory";
    case voxridge::ErrorCode::device_failed:
      return "device_failed";
    case voxridge::ErrorCode::port_in_use:
      return "port_in_use";
    case voxridge::ErrorCode::network:
      return "network";
    default:
      return "internal";
  }
}

// Raises voxridge_error_<what> in R.
[[noreturn]] void raise(const std::string& what, const std::string& text, const std::string& where = "",
                        const std::string& found = "") {
  const Rcpp::Environment package = Rcpp::Environment::namespace_env("voxridge");
  const Rcpp::Function abort_core = package["abort_core"];
  abort_core(what, text, where, found);
  throw Rcpp::exception(text.c_str(), false);
}

[[noreturn]] void translate(std::exception_ptr failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const voxridge::Error& error) {
    if (error.code() == voxridge::ErrorCode::interrupted) throw Rcpp::internal::InterruptedException();
    raise(condition_of(error.code()), error.what(), error.where(), error.found());
  } catch (const std::bad_alloc&) {
    raise("memory", "There is not enough memory for this call.");
  } catch (const std::exception& error) {
    raise("internal", error.what());
  }
}

}  // namespace

Session::Session(const Rcpp::List& control)
    : n_threads_(Rcpp::as<int>(control["n_threads"])),
      memory_bytes_(Rcpp::as<double>(control["memory_bytes"])),
      gpu_bytes_(control.containsElementNamed("gpu_bytes") ? Rcpp::as<double>(control["gpu_bytes"]) : 0),
      gpu_limit_(control.containsElementNamed("gpu_limit") ? Rcpp::as<double>(control["gpu_limit"]) : R_PosInf),
      report_(control.containsElementNamed("progress") ? static_cast<SEXP>(control["progress"]) : R_NilValue) {}

voxridge::Control Session::control(const std::atomic<bool>* stop, voxridge::Progress* progress) const {
  voxridge::Control out;
  out.stop = stop;
  out.progress = progress;
  out.n_threads = n_threads_;
  out.memory_bytes = memory_bytes_;
  if (gpu_bytes_ > 0) {
    out.device = voxridge::DeviceKind::cuda;
    out.gpu_memory = voxridge::make_cuda_memory(gpu_bytes_, gpu_limit_);
    out.memory_bytes = std::min(memory_bytes_, gpu_bytes_);
  }
  return out;
}

void Session::run(const std::function<void(const voxridge::Control&)>& job) {
  std::atomic<bool> stop{false};
  voxridge::Progress progress;
  std::mutex lock;
  std::condition_variable ended;
  bool done = false;
  std::exception_ptr failure;
  std::thread worker([&] {
    std::exception_ptr caught;
    try {
      const voxridge::BlasThreads blas(1);  // the core raises it where a threaded BLAS pays
      job(control(&stop, &progress));
    } catch (...) {
      caught = std::current_exception();
    }
    const std::lock_guard<std::mutex> guard(lock);
    failure = caught;
    done = true;
    ended.notify_one();
  });
  const auto wait = [&](bool for_good) {
    std::unique_lock<std::mutex> guard(lock);
    if (for_good) {
      ended.wait(guard, [&] { return done; });
    } else {
      ended.wait_for(guard, kPoll, [&] { return done; });
    }
    return done;
  };
  try {
    while (!wait(false)) {
      if (interrupt_pending()) stop = true;
      if (Rf_isNull(report_) || stop) continue;
      const Rcpp::Function report(report_);
      const double done_steps = static_cast<double>(progress.done), total = static_cast<double>(progress.total);
      if (total > 0) report(done_steps, total);
    }
  } catch (...) {  // the progress function failed: the job must end first
    stop = true;
    wait(true);
    worker.join();
    throw;
  }
  worker.join();
  if (failure) translate(failure);
}

void Session::run_here(const std::function<void(const voxridge::Control&)>& job) {
  std::atomic<bool> stop{false};
  voxridge::Control here = control(&stop, nullptr);
  const std::thread::id main_thread = std::this_thread::get_id();
  auto asked = std::chrono::steady_clock::now();
  here.poll = [&] {
    if (std::this_thread::get_id() != main_thread || std::chrono::steady_clock::now() - asked < kPoll) return;
    asked = std::chrono::steady_clock::now();
    if (interrupt_pending()) stop = true;
  };
  with_conditions([&] {
    const voxridge::BlasThreads blas(1);
    job(here);
  });
}

void with_conditions(const std::function<void()>& job) {
  try {
    job();
  } catch (const voxridge::Error&) {
    translate(std::current_exception());
  } catch (const std::bad_alloc&) {
    translate(std::current_exception());
  }
}

}  // namespace voxridge_r
