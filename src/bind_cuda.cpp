// The CUDA plugin and the device behind it.
#include <Rcpp.h>

#include <string>

#include "core/cuda_plugin.h"
#include "core/device_rates.h"
#include "r_session.h"

// [[Rcpp::export]]
Rcpp::List core_cuda_info(std::string plugin) {
  voxridge::set_cuda_plugin(plugin);
  const voxridge_cuda_info info = voxridge::cuda_info();
  return Rcpp::List::create(
      Rcpp::Named("available") = info.available != 0, Rcpp::Named("reason") = info.reason,
      Rcpp::Named("name") = info.name, Rcpp::Named("driver") = info.driver_version,
      Rcpp::Named("runtime") = info.runtime_version, Rcpp::Named("n_devices") = info.device_count,
      Rcpp::Named("device") = info.device, Rcpp::Named("major") = info.major, Rcpp::Named("minor") = info.minor,
      Rcpp::Named("fp64_ratio") = info.fp64_ratio, Rcpp::Named("memory_total") = info.memory_total,
      Rcpp::Named("memory_free") = info.memory_free, Rcpp::Named("architectures") = info.architectures,
      Rcpp::Named("libraries") = info.libraries);
}

// [[Rcpp::export]]
std::string core_cuda_solver(std::string plugin) {
  voxridge::set_cuda_plugin(plugin);
  return voxridge::cuda_solver();
}

// Opens a session, the first thing that a device in trouble refuses, and closes it. For tests.
// [[Rcpp::export]]
void core_cuda_try(std::string plugin) {
  voxridge_r::with_conditions([&] {
    voxridge::set_cuda_plugin(plugin);
    std::string text;
    const voxridge_cuda_table* const table = voxridge::cuda_table(&text);
    if (table == nullptr) voxridge::check_cuda(VOXRIDGE_UNAVAILABLE, text);
    char failure[512] = "";
    voxridge_cuda_session* session = nullptr;
    const int code = table->open(&session, failure, static_cast<int>(sizeof failure));
    voxridge::check_cuda(code, failure);
    table->close(session);
  });
}

// c(flops, bytes) per second of the device that `control` names, see core/device_rates.h.
// [[Rcpp::export]]
Rcpp::NumericVector core_device_rates(bool single, const Rcpp::List& control) {
  voxridge::DeviceRates rates;
  voxridge_r::Session(control).run([&](const voxridge::Control& control) {
    rates = single ? voxridge::measure_rates<float>(control) : voxridge::measure_rates<double>(control);
  });
  return Rcpp::NumericVector::create(Rcpp::Named("flops") = rates.flops, Rcpp::Named("bytes") = rates.bytes);
}
