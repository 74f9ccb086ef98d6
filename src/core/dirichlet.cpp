#include "dirichlet.h"

#include <algorithm>
#include <cmath>

#include "philox.h"

namespace voxridge {

namespace {

constexpr uint64_t kCandidateStream = 8, kJitterStream = 9;  // see RNG_STREAMS in R/random.R

// Logarithm of a Gamma(shape, 1) variate. Attempts of one variate take successive places from `first` on.
double log_gamma_variate(double shape, const Philox& random, uint64_t first) {
  // Gamma(shape) is Gamma(shape + 1) times U^(1 / shape).
  double boost = 0;
  if (shape < 1) {
    boost = std::log(random.uniform_pair(first)[0]) / std::max(shape, 1e-300);  // finite
    shape += 1;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (uint64_t place = first + 1;; place += 2) {
    const double x = random.normal_pair(place)[0], u = random.uniform_pair(place + 1)[0];
    const double v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return boost + std::log(d * v);
  }
}

}  // namespace

std::vector<double> dirichlet(int64_t n_bands, double concentration, uint64_t key, uint64_t index) {
  const Philox random(key, kCandidateStream);
  std::vector<double> draw(n_bands);
  for (int64_t b = 0; b < n_bands; ++b) {
    // 2^12 places for a variate (an attempt fails in under 5 % of cases), 2^20 bands, 2^32 candidates
    draw[b] = log_gamma_variate(concentration, random, index << 32 | static_cast<uint64_t>(b) << 12);
  }
  const double largest = *std::max_element(draw.begin(), draw.end());
  double sum = 0;
  for (double& x : draw) sum += x = std::exp(x - largest);
  for (double& x : draw) x /= sum;
  return draw;
}

double alpha_jitter(uint64_t key, uint64_t index) {
  return std::pow(10.0, Philox(key, kJitterStream).uniform_pair(index)[0] - 0.5);
}

}  // namespace voxridge
