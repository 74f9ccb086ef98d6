#include "decoding.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace voxridge_test {

DecodingProblem DecodingCase::problem() const {
  DecodingProblem out;
  out.x = view_of(x);
  if (!classes.empty()) {
    out.classes = classes.data();
    out.n_classes = n_classes;
  } else {
    out.values = values.data();
  }
  out.folds = folds;
  out.partition = partition;
  return out;
}

int64_t DecodingCase::n_test() const {
  int64_t n = 0;
  for (const Fold& fold : folds) n += static_cast<int64_t>(fold.test.size());
  return n;
}

DecodingCase class_case(int64_t n, int64_t p, int n_classes, int64_t k, uint64_t seed) {
  DecodingCase out;
  out.x = normal_matrix(n, p, seed);
  const arma::mat pattern = 0.7 * normal_matrix(n_classes, p, seed + 1000);
  for (int64_t i = 0; i < n; ++i) {
    out.classes.push_back(1 + static_cast<int>(i % n_classes));
    out.x.row(i) += pattern.row(i % n_classes);
  }
  out.n_classes = n_classes;
  out.folds = contiguous_folds(n, k);
  out.partition = true;
  out.options.alphas = {1.0};
  out.options.min_voxels = 1;
  out.options.metrics = {DecodingMetric::accuracy};
  return out;
}

DecodingCase value_case(int64_t n, int64_t p, int64_t k, uint64_t seed) {
  DecodingCase out = class_case(n, p, 2, k, seed);
  out.classes.clear();
  out.n_classes = 0;
  const arma::mat y = out.x * normal_matrix(p, 1, seed + 2000) / std::sqrt(static_cast<double>(p)) +
                      0.5 * normal_matrix(n, 1, seed + 3000) + 3;
  out.values.assign(y.begin(), y.end());
  out.options.metrics = {DecodingMetric::r, DecodingMetric::r2, DecodingMetric::mse};
  return out;
}

DecodingResult run_decoding(const DecodingCase& c, int n_threads, const Neighbourhoods* locations) {
  std::unique_ptr<Neighbourhoods> own;
  std::vector<int> members;
  int64_t n_members = static_cast<int64_t>(c.x.n_cols);
  if (locations == nullptr && c.lists.empty()) {
    own = std::make_unique<WholeNeighbourhood>(n_members);
  } else if (locations == nullptr) {
    std::vector<int64_t> start = {0};
    for (const std::vector<int>& list : c.lists) {
      for (const int column : list) members.push_back(column + 1);
      start.push_back(static_cast<int64_t>(members.size()));
    }
    n_members = start.back();
    own = std::make_unique<ListedNeighbourhoods>(start, members.data());
  }
  const Neighbourhoods& where = locations != nullptr ? *locations : *own;
  const arma::uword k = c.folds.size(), l = where.count(), m = c.options.metrics.size(), h = c.n_test();
  const arma::uword columns = c.decisions(), draws = c.options.n_permutations;
  DecodingResult out;
  out.scores.set_size(k, l, m);
  out.pooled.set_size(l, m);
  out.size.resize(l);
  out.state.resize(c.x.n_cols);
  out.decision.set_size(h, columns, l);
  out.alpha.set_size(k, l);
  DecodingOutputs to;
  to.scores = out.scores.memptr();
  to.pooled = out.pooled.memptr();
  to.size = out.size.data();
  to.voxel_state = out.state.data();
  to.decision = out.decision.memptr();
  to.alpha = out.alpha.memptr();
  if (!c.classes.empty()) {
    out.classes.set_size(h, l);
    to.classes = out.classes.memptr();
  } else {
    out.values.set_size(h, l);
    to.values = out.values.memptr();
  }
  if (locations == nullptr) {
    out.weights.set_size(n_members, columns);
    out.patterns.set_size(n_members, columns);
    out.fold_weights.set_size(n_members, columns, k);
    to.weights = out.weights.memptr();
    to.patterns = out.patterns.memptr();
    to.fold_weights = out.fold_weights.memptr();
    to.n_members = n_members;
  }
  if (draws > 0) {
    out.counts.set_size(l, m);
    out.max_counts.set_size(l, m);
    out.max_null.set_size(draws, m);
    out.null_mean.set_size(l, m);
    to.counts = out.counts.memptr();
    to.max_counts = out.max_counts.memptr();
    to.max_null = out.max_null.memptr();
    to.null_mean = out.null_mean.memptr();
  }
  Control control;
  control.n_threads = n_threads;
  decode(c.problem(), where, c.options, to, control);
  out.failures = to.failures;
  return out;
}

bool DecodingResult::same_bits_as(const DecodingResult& other) const {
  const auto same = [](const auto& a, const auto& b) {
    return a.n_elem == b.n_elem &&
           (a.n_elem == 0 || std::memcmp(a.memptr(), b.memptr(), a.n_elem * sizeof(*a.memptr())) == 0);
  };
  return same(scores, other.scores) && same(pooled, other.pooled) && same(classes, other.classes) &&
         same(values, other.values) && same(decision, other.decision) && same(alpha, other.alpha) &&
         same(weights, other.weights) && same(patterns, other.patterns) && same(fold_weights, other.fold_weights) &&
         same(counts, other.counts) && same(max_counts, other.max_counts) && same(max_null, other.max_null) &&
         same(null_mean, other.null_mean) && size == other.size && state == other.state;
}

arma::mat refit(const arma::mat& x, const arma::mat& y, const Fold& fold, double alpha, bool scale,
                arma::mat* weights) {
  const arma::uvec train = arma::conv_to<arma::uvec>::from(fold.train);
  const arma::uvec test = arma::conv_to<arma::uvec>::from(fold.test);
  arma::mat xt = x.rows(train), xb = x.rows(test), yt = y.rows(train);
  const arma::rowvec offset = xt.row(0);  // first, so that large offsets cost no digits
  xt.each_row() -= offset;
  xb.each_row() -= offset;
  const arma::rowvec mean = arma::mean(xt, 0), y_mean = arma::mean(yt, 0);
  xt.each_row() -= mean;
  xb.each_row() -= mean;
  yt.each_row() -= y_mean;
  arma::rowvec sd(x.n_cols, arma::fill::ones);
  if (scale) {
    sd = arma::sqrt(arma::mean(arma::square(xt), 0));
    sd.elem(arma::find(sd == 0)).ones();
    xt.each_row() /= sd;
    xb.each_row() /= sd;
  }
  arma::mat b;
  if (alpha < 1e-6) {  // a Gram matrix would hold no digits
    arma::mat u, v;
    arma::vec s;
    arma::svd_econ(u, s, v, xt);
    arma::vec w(s.n_elem, arma::fill::zeros);
    for (arma::uword k = 0; k < s.n_elem; ++k) {
      if (s[k] > 100 * arma::datum::eps * s[0]) w[k] = s[k] / (s[k] * s[k] + alpha);
    }
    b = v * arma::diagmat(w) * u.t() * yt;
  } else if (xt.n_cols <= xt.n_rows) {
    b = arma::solve(xt.t() * xt + alpha * arma::eye(xt.n_cols, xt.n_cols), xt.t() * yt);
  } else {
    b = xt.t() * arma::solve(xt * xt.t() + alpha * arma::eye(xt.n_rows, xt.n_rows), yt);
  }
  arma::mat out = xb * b;
  out.each_row() += y_mean;
  if (weights != nullptr) {
    *weights = b;
    weights->each_col() /= sd.t();
  }
  return out;
}

arma::mat plain_targets(const DecodingCase& c) {
  if (c.classes.empty()) return arma::mat(c.values);
  arma::mat y(c.x.n_rows, c.decisions());
  for (arma::uword i = 0; i < y.n_rows; ++i) {
    for (arma::uword j = 0; j < y.n_cols; ++j) {
      y(i, j) = c.classes[i] == (c.n_classes > 2 ? static_cast<int>(j) + 1 : 2) ? 1 : -1;
    }
  }
  return y;
}

arma::mat plain_decisions(const DecodingCase& c, const std::vector<double>& alphas) {
  arma::mat x = c.x;
  if (c.options.scale == VoxelScale::global) {
    x.each_row() -= arma::mean(x, 0).eval();
    x.each_row() /= arma::stddev(x, 1, 0).eval();
  }
  arma::mat out;
  for (size_t f = 0; f < c.folds.size(); ++f) {
    const double alpha = alphas[alphas.size() > 1 ? f : 0];
    out = arma::join_cols(out, refit(x, plain_targets(c), c.folds[f], alpha, c.options.scale == VoxelScale::fold));
  }
  return out;
}

double relative_difference(const arma::mat& a, const arma::mat& b) {
  return largest_difference(a, b) / arma::abs(b).max();
}

}  // namespace voxridge_test
