#include "alpha_grid.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace voxridge {

namespace {

constexpr int64_t kSampledEigenvalues = 100;
constexpr double kReachable = 1e-14;  // no combination of rounded numbers is better
constexpr double kWorthwhile = 0.95;  // of the grid: with more nodes than this the plain search is as fast

// Columns = alphas; rows = h, h^2 for each sampled eigenvalue, and the constant. h = (lambda + a0) / (lambda + alpha),
// or with an anchor (alpha + anchor) / (lambda + alpha), each divided by its largest value over the grid.
arma::mat sample_functions(const std::vector<double>& alphas, double smallest, double largest, double anchor) {
  const auto [a0, a1] = std::minmax_element(alphas.begin(), alphas.end());
  const double step = std::log(largest / smallest) / static_cast<double>(kSampledEigenvalues - 1);
  arma::mat f(2 * kSampledEigenvalues + 1, alphas.size());
  for (int64_t i = 0; i < kSampledEigenvalues; ++i) {
    const double lambda = smallest * std::exp(step * static_cast<double>(i));
    const double top = std::max((*a0 + anchor) / (lambda + *a0), (*a1 + anchor) / (lambda + *a1));
    for (size_t a = 0; a < alphas.size(); ++a) {
      const double h =
          anchor > 0 ? (alphas[a] + anchor) / (lambda + alphas[a]) / top : (lambda + *a0) / (lambda + alphas[a]);
      f(2 * i, a) = h;
      f(2 * i + 1, a) = h * h;
    }
  }
  f.row(2 * kSampledEigenvalues).ones();
  return f;
}

// Columns in the order in which they add most, until what is left of every column is below the tolerance.
std::vector<int64_t> pivot_columns(arma::mat rest, double tolerance) {
  std::vector<int64_t> chosen;
  while (chosen.size() < rest.n_cols) {
    const arma::rowvec largest = arma::max(arma::abs(rest), 0);
    const arma::uword next = largest.index_max();
    if (largest[next] <= tolerance) break;
    chosen.push_back(static_cast<int64_t>(next));
    const arma::vec direction = arma::normalise(rest.col(next));
    for (int pass = 0; pass < 2; ++pass) rest -= direction * (direction.t() * rest);  // twice is enough
    rest.col(next).zeros();
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

AlphaNodes all_nodes(const std::vector<double>& alphas) {
  AlphaNodes out;
  out.nodes.resize(alphas.size());
  std::iota(out.nodes.begin(), out.nodes.end(), 0);
  out.weights.eye(alphas.size(), alphas.size());
  return out;
}

namespace {

// Penalties of 0 are nodes of their own, so that nothing else is made of theirs: without any penalty a sum may be
// larger than all others by any factor.
AlphaNodes with_zeros(const std::vector<double>& alphas, const AlphaNodes& positive) {
  if (positive.all()) return all_nodes(alphas);
  AlphaNodes out;
  out.anchor = positive.anchor;
  std::vector<int64_t> places;  // of the positive penalties
  for (size_t a = 0; a < alphas.size(); ++a) {
    if (alphas[a] > 0) places.push_back(static_cast<int64_t>(a));
  }
  for (const int64_t node : positive.nodes) out.nodes.push_back(places[node]);
  for (size_t a = 0; a < alphas.size(); ++a) {
    if (alphas[a] == 0) out.nodes.push_back(static_cast<int64_t>(a));
  }
  std::sort(out.nodes.begin(), out.nodes.end());
  out.weights.zeros(alphas.size(), out.nodes.size());
  const auto column = [&](int64_t place) {
    return std::lower_bound(out.nodes.begin(), out.nodes.end(), place) - out.nodes.begin();
  };
  for (size_t i = 0; i < places.size(); ++i) {
    for (size_t k = 0; k < positive.nodes.size(); ++k) {
      out.weights(places[i], column(places[positive.nodes[k]])) = positive.weights(i, k);
    }
  }
  for (size_t a = 0; a < alphas.size(); ++a) {
    if (alphas[a] == 0) out.weights(a, column(static_cast<int64_t>(a))) = 1;
  }
  return out;
}

}  // namespace

AlphaNodes choose_nodes(const std::vector<double>& alphas, double smallest, double largest, double tolerance,
                        bool relative) {
  const auto [low, high] = std::minmax_element(alphas.begin(), alphas.end());
  if (*low == 0) {
    std::vector<double> positive;
    std::copy_if(alphas.begin(), alphas.end(), std::back_inserter(positive), [](double alpha) { return alpha > 0; });
    if (positive.size() < 4) return all_nodes(alphas);
    return with_zeros(alphas, choose_nodes(positive, smallest, largest, tolerance, relative));
  }
  // Eigenvalues far outside the grid look alike: their functions are 1 / alpha or constant to first order.
  double floor = std::max(smallest, 1e-5 * *low);
  double ceiling = std::min(largest, 1e5 * *high);
  if (floor > ceiling) std::swap(floor, ceiling);
  if (alphas.size() < 4 || !(floor > 0) || !std::isfinite(ceiling)) return all_nodes(alphas);
  AlphaNodes out;
  if (relative) {
    // Sums scaled by (alpha + anchor)^2 vary over the grid by up to the square of this factor, and have to be right
    // beside their own size everywhere.
    out.anchor = std::sqrt(floor * ceiling);
    const double varies = std::max((out.anchor + *low) / (floor + *low), (ceiling + *low) / (out.anchor + *low));
    tolerance /= varies * varies;
    if (tolerance < kReachable) return all_nodes(alphas);
  }
  const arma::mat functions = sample_functions(alphas, floor, ceiling, out.anchor);
  const std::vector<int64_t> chosen = pivot_columns(functions, tolerance);
  if (static_cast<double>(chosen.size()) > kWorthwhile * static_cast<double>(alphas.size())) return all_nodes(alphas);
  out.nodes = chosen;
  const arma::mat skeleton = functions.cols(arma::conv_to<arma::uvec>::from(chosen));
  arma::mat q, r, weights;
  if (!arma::qr_econ(q, r, skeleton)) return all_nodes(alphas);
  if (!arma::solve(weights, arma::trimatu(r), q.t() * functions, arma::solve_opts::fast)) return all_nodes(alphas);
  out.weights = weights.t();
  for (size_t k = 0; k < chosen.size(); ++k) {
    out.weights.row(chosen[k]).zeros();
    out.weights(chosen[k], k) = 1;
  }
  return out;
}

}  // namespace voxridge
