#include "tfce.h"

#include <algorithm>
#include <cmath>

namespace voxridge {

Tfce::Tfce(const Neighbours& neighbours, double E, double H)
    : neighbours_(neighbours),
      H_(H),
      size_power_(neighbours.size() + 1),
      parent_(neighbours.size(), -1),
      tree_(neighbours.size()),
      size_(neighbours.size()),
      last_(neighbours.size()),
      gathered_(neighbours.size()) {
  for (size_t size = 0; size < size_power_.size(); ++size) size_power_[size] = std::pow(static_cast<double>(size), E);
}

int Tfce::root_of(int j) {
  while (parent_[j] != j) {
    parent_[j] = parent_[parent_[j]];
    j = parent_[j];
  }
  return j;
}

// Down to the height of this power; the factor 1 / (H + 1) comes last.
void Tfce::bring(int root, double power) {
  gathered_[root] += size_power_[size_[root]] * (last_[root] - power);
  last_[root] = power;
}

double Tfce::run(const double* t, double sign, double* to) {
  order_.clear();
  hung_.clear();
  const int v = static_cast<int>(neighbours_.size());
  for (int j = 0; j < v; ++j) {
    if (sign * t[j] > 0) order_.emplace_back(-sign * t[j], j);  // the highest first
  }
  std::sort(order_.begin(), order_.end());
  for (const auto& entry : order_) {
    const int j = entry.second;
    const double h = -entry.first, power = H_ == 2 ? h * h * h : std::pow(h, H_ + 1);
    parent_[j] = j;
    size_[j] = 1;
    last_[j] = power;
    gathered_[j] = 0;
    int own = j;
    for (int64_t k = neighbours_.start[j]; k < neighbours_.start[j + 1]; ++k) {
      if (parent_[neighbours_.place[k]] < 0) continue;
      int other = root_of(neighbours_.place[k]);
      if (other == own) continue;
      bring(own, power);
      bring(other, power);
      if (size_[own] < size_[other]) std::swap(own, other);
      size_[own] += size_[other];
      gathered_[other] -= gathered_[own];
      parent_[other] = tree_[other] = own;
      hung_.push_back(other);
    }
  }
  for (const auto& entry : order_) {
    if (parent_[entry.second] == entry.second) bring(entry.second, 0);
  }
  // what was hung last is nearest to a root
  for (auto at = hung_.rbegin(); at != hung_.rend(); ++at) gathered_[*at] += gathered_[tree_[*at]];
  double largest = 0;
  for (const auto& entry : order_) {
    const double value = gathered_[entry.second] / (H_ + 1);
    largest = std::max(largest, value);
    to[entry.second] = sign * value;
    parent_[entry.second] = -1;
  }
  return largest;
}

}  // namespace voxridge
