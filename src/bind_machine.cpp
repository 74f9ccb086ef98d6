// What this machine and its BLAS offer; checks and random numbers that run over whole vectors.
#include <Rcpp.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>

#include "core/blas_test.h"
#include "core/memory.h"
#include "core/philox.h"
#include "core/symbols.h"
#include "core/threads.h"

// [[Rcpp::export]]
Rcpp::IntegerVector core_nonfinite_columns(const Rcpp::NumericMatrix& x) {
  Rcpp::IntegerVector found;
  for (int j = 0; j < x.ncol(); ++j) {
    const double* column = REAL(x) + static_cast<R_xlen_t>(j) * x.nrow();
    double sums[8] = {};  // 0 * x is NaN for NA, NaN and Inf and 0 for every other number
    for (int i = 0; i < x.nrow(); ++i) sums[i % 8] += 0 * column[i];
    if (std::any_of(sums, sums + 8, [](double sum) { return std::isnan(sum); })) found.push_back(j + 1);
  }
  return found;
}

// [[Rcpp::export]]
double core_memory_available() {
  const double bytes = voxridge::memory_available();
  return std::isnan(bytes) ? NA_REAL : bytes;
}

// [[Rcpp::export]]
double core_memory_peak() {
  const double bytes = voxridge::memory_peak();
  return std::isnan(bytes) ? NA_REAL : bytes;
}

// [[Rcpp::export]]
Rcpp::List core_blas_info() {
  const voxridge::BlasInfo info = voxridge::blas_info();
  return Rcpp::List::create(Rcpp::Named("vendor") = info.vendor,
                            Rcpp::Named("threads_controlled") = info.threads_controlled,
                            Rcpp::Named("threads") = info.threads, Rcpp::Named("single") = info.single,
                            Rcpp::Named("parallel") = info.parallel,
                            Rcpp::Named("library") = voxridge::library_of("dgemm_"),
                            Rcpp::Named("hardware_threads") = static_cast<int>(std::thread::hardware_concurrency()));
}

// The errors of the BLAS, in units of its precision, and whether they are small enough.
// [[Rcpp::export]]
Rcpp::List core_test_blas(int n_threads) {
  const voxridge::BlasVerdict verdict = voxridge::test_blas(n_threads);
  return Rcpp::List::create(Rcpp::Named("plain") = verdict.plain, Rcpp::Named("threaded") = verdict.threaded,
                            Rcpp::Named("good") = std::max(verdict.plain, verdict.threaded) <= voxridge::kGoodBlas);
}

// [[Rcpp::export]]
Rcpp::NumericVector core_philox(double n, double key, int stream, std::string kind) {
  const voxridge::Philox generator(static_cast<uint64_t>(key), static_cast<uint64_t>(stream));
  const R_xlen_t size = static_cast<R_xlen_t>(n);
  Rcpp::NumericVector out(size);
  const bool normal = kind == "normal";
  for (R_xlen_t i = 0; i < size; i += 2) {
    const uint64_t index = static_cast<uint64_t>(i / 2);
    const std::array<double, 2> pair = normal ? generator.normal_pair(index) : generator.uniform_pair(index);
    out[i] = pair[0];
    if (i + 1 < size) out[i + 1] = pair[1];
  }
  return out;
}
