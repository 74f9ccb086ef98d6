#include "lambda_grid.h"

#include <algorithm>
#include <cmath>

namespace voxridge {

namespace {

double degrees_of_freedom(const arma::vec& values, double lambda) {
  double sum = 0;
  for (const double d : values) sum += d / (d + lambda);
  return sum;
}

// The penalty that leaves so many degrees of freedom, by bisection of its logarithm.
double penalty_for(const arma::vec& values, double wanted) {
  const double top = values.max();
  double low = std::log(top * 1e-20), high = std::log(top * static_cast<double>(values.n_elem) / wanted * 2);
  for (int k = 0; k < 200 && high - low > 1e-12; ++k) {
    const double middle = (low + high) / 2;
    (degrees_of_freedom(values, std::exp(middle)) > wanted ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

}  // namespace

std::vector<double> lambda_grid(const arma::vec& values, int64_t n) {
  const double top = values.is_empty() ? 0 : values.max();
  double first = 1, last = 1e-4;  // features that are all constant: any penalty does
  if (top > 0) {
    const double size = static_cast<double>(values.n_elem);
    const arma::vec kept = values.elem(arma::find(values > size * arma::datum::eps * top));
    const double rank = static_cast<double>(kept.n_elem);
    first = penalty_for(kept, std::min(0.5, rank / 100));
    last = std::max(penalty_for(kept, 0.99 * rank), 1e-4 * top);
  }
  std::vector<double> out(n, first);
  for (int64_t k = 1; k < n; ++k) {
    out[k] = std::exp(std::log(first) +
                      (std::log(last) - std::log(first)) * static_cast<double>(k) / static_cast<double>(n - 1));
  }
  return out;
}

}  // namespace voxridge
