// Long work on a background thread, so that R stays able to interrupt it: the job sees a stop flag and a progress
// counter only, the main thread polls R for interrupts and relays progress. The job has always ended before R is told
// of an interrupt or an error.
#pragma once

#include <Rcpp.h>

#include <functional>

#include "core/control.h"

namespace voxridge_r {

// The settings of `control` (n_threads, memory_bytes, progress, gpu_bytes, gpu_limit), see R/ridge_inputs.R.
class Session {
 public:
  explicit Session(const Rcpp::List& control);

  // Runs the job and turns what it throws into a classed R condition.
  void run(const std::function<void(const voxridge::Control&)>& job);

  // The same on the main thread, for jobs that call back into R.
  void run_here(const std::function<void(const voxridge::Control&)>& job);

  void run(const std::function<void(const voxridge::Control&)>& job, bool calls_r) {
    calls_r ? run_here(job) : run(job);
  }

 private:
  voxridge::Control control(const std::atomic<bool>* stop, voxridge::Progress* progress) const;

  int n_threads_;
  double memory_bytes_;
  double gpu_bytes_, gpu_limit_;  // for this call, 0 for the CPU; for it and what earlier ones have left on the GPU
  SEXP report_;  // function(done, total), or NULL; protected by `control`
};

// Runs a short job on the main thread and turns errors of the core into classed R conditions.
void with_conditions(const std::function<void()>& job);

}  // namespace voxridge_r
