// Random weights of bands. Draw i depends on the key and on i only, so a longer search begins with the shorter one's
// candidates, on any machine with any number of threads.
#pragma once

#include <cstdint>
#include <vector>

namespace voxridge {

// Dirichlet(concentration, ..., concentration): gamma variates over their sum, in logarithms, so that small
// concentrations give zeros and never 0 / 0 (gamma variates: Marsaglia and Tsang 2000, doi:10.1145/358407.358414).
std::vector<double> dirichlet(int64_t n_bands, double concentration, uint64_t key, uint64_t index);

// 10^(u - 0.5), u uniform.
double alpha_jitter(uint64_t key, uint64_t index);

}  // namespace voxridge
