#include "passes.h"

#include <algorithm>
#include <numeric>

namespace voxridge {

namespace {

int64_t inner_of(const Factors& factors, const Fold& fold) {
  return factors.form() == Form::primal ? factors.inner() : static_cast<int64_t>(fold.train.size());
}

// Bytes of one node's operator of each fold, in double, as it is made.
std::vector<double> operator_bytes(const Factors& factors, const Folds& folds) {
  std::vector<double> bytes;
  for (const Fold& fold : folds.folds) {
    bytes.push_back(8.0 * static_cast<double>(inner_of(factors, fold)) * static_cast<double>(fold.test.size() + 1));
  }
  return bytes;
}

// Whole products where at least one is allowed.
int64_t whole_products(int64_t nodes, int64_t product) {
  return nodes < product ? nodes : nodes / product * product;
}

class Planner {
 public:
  explicit Planner(double room) : room_(room), passes_(1) {}

  // Nodes first .. last - 1 of folds first_fold .. last_fold - 1, which need `bytes`, into one pass, `batch` at a time.
  void add(int64_t first_fold, int64_t last_fold, int64_t first, int64_t last, int64_t batch, double bytes) {
    if (used_ > 0 && used_ + bytes > room_) {
      passes_.emplace_back();
      used_ = 0;
    }
    used_ += bytes;
    for (int64_t f = first_fold; f < last_fold; ++f) {
      for (int64_t node = first; node < last; node += batch) {
        passes_.back().push_back({f, node, std::min(batch, last - node)});
      }
    }
  }

  std::vector<OperatorPass> passes() && { return std::move(passes_); }

 private:
  double room_, used_ = 0;
  std::vector<OperatorPass> passes_;
};

}  // namespace

std::vector<OperatorPass> plan_passes(const Factors& factors, const Folds& folds, Score score, int64_t n_nodes,
                                      int64_t alphas_batch, double room) {
  const std::vector<double> bytes = operator_bytes(factors, folds);
  Planner planner(room);
  // The inverse of all rows at a node serves all folds; a fold's own factor serves all its nodes.
  const bool by_node = leaves_folds_out(factors, score);
  const int64_t n_groups = by_node ? 1 : folds.count(), folds_per_group = by_node ? folds.count() : 1;
  for (int64_t group = 0; group < n_groups; ++group) {
    const double per_node = by_node ? std::accumulate(bytes.begin(), bytes.end(), 0.0) : bytes[group];
    const Fold& fold = folds.folds[group];
    const int64_t product = nodes_per_product(static_cast<int64_t>(fold.test.size()), inner_of(factors, fold));
    const int64_t most = whole_products(fitting(room, per_node, 1, n_nodes), product);
    const int64_t batch = alphas_batch > 0 ? std::max(product, whole_products(alphas_batch, product)) : n_nodes;
    for (int64_t first = 0; first < n_nodes; first += most) {
      const int64_t last = std::min(first + most, n_nodes);
      planner.add(group, group + folds_per_group, first, last, batch, per_node * static_cast<double>(last - first));
    }
  }
  return std::move(planner).passes();
}

}  // namespace voxridge
