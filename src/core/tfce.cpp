#include "tfce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace voxridge {

namespace {

constexpr int kMostNeighbours = 26;  // of neighbours_of()
constexpr int kAhead = 12;
constexpr int kDigitBits = 11, kDigits = 3, kLowBits = 64 - kDigits * kDigitBits;

double number_of(uint64_t bits) {
  double out;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}

}  // namespace

Tfce::Tfce(const Neighbours& neighbours, double E, double H)
    : neighbours_(neighbours),
      H_(H),
      size_power_(neighbours.size() + 1),
      rank_(neighbours.size(), std::numeric_limits<int>::max()),
      parent_(neighbours.size()),
      cluster_(neighbours.size()) {
  for (size_t size = 0; size < size_power_.size(); ++size) size_power_[size] = std::pow(static_cast<double>(size), E);
}

// The highest first, equal ones by place. Three digits of 11 bits tell nearly all apart, the rest is sorted by runs.
void Tfce::sort() {
  const auto before = [](const Voxel& a, const Voxel& b) {
    return a.height != b.height ? a.height > b.height : a.place < b.place;
  };
  const size_t count = order_.size();
  other_.resize(count);
  constexpr size_t size = size_t{1} << kDigitBits;
  std::array<std::array<int, size>, kDigits> from = {};
  const auto digit = [](const Voxel& x, int k) { return ~(x.height >> (kLowBits + k * kDigitBits)) & (size - 1); };
  for (const Voxel& x : order_) {
    for (int k = 0; k < kDigits; ++k) ++from[k][digit(x, k)];
  }
  for (int k = 0; k < kDigits; ++k) {
    int total = 0;
    for (int& start : from[k]) total += std::exchange(start, total);
    for (const Voxel& x : order_) other_[from[k][digit(x, k)]++] = x;
    order_.swap(other_);
  }
  for (size_t begin = 0, end; begin < count; begin = end) {
    end = begin + 1;
    bool same = true;  // and then in order already
    for (; end < count && order_[end].height >> kLowBits == order_[begin].height >> kLowBits; ++end) {
      same = same && order_[end].height == order_[begin].height;
    }
    if (!same) std::sort(order_.begin() + begin, order_.begin() + end, before);
  }
}

int Tfce::root_of(int rank) {
  while (parent_[rank] != rank) {
    parent_[rank] = parent_[parent_[rank]];
    rank = parent_[rank];
  }
  return rank;
}

// Down to the height of this power; the factor 1 / (H + 1) comes last.
void Tfce::bring(Cluster& root, double power) const {
  root.gathered += size_power_[root.size] * (root.last - power);
  root.last = power;
}

// Lists of neighbours lie scattered in memory: they are asked for some voxels ahead, the first and the last of a list.
void Tfce::fetch(int rank) const {
  if (rank >= static_cast<int>(order_.size())) return;
  const int place = order_[rank].place;
  const int64_t begin = neighbours_.start[place], end = neighbours_.start[place + 1];
  if (begin == end) return;
  __builtin_prefetch(&neighbours_.place[begin]);
  __builtin_prefetch(&neighbours_.place[end - 1]);
}

// The next voxel joins the clusters of its neighbours.
void Tfce::enter(int rank, double power) {
  const int place = order_[rank].place;
  fetch(rank + kAhead);
  parent_[rank] = rank;
  cluster_[rank] = {power, 0, 1, -1};
  // without a branch: whether a neighbour is in is a toss-up
  int inside[kMostNeighbours], count = 0;
  for (int64_t k = neighbours_.start[place]; k < neighbours_.start[place + 1]; ++k) {
    inside[count] = rank_[neighbours_.place[k]];
    count += inside[count] < rank;
  }
  int own = rank;
  for (int k = 0; k < count; ++k) {
    if (parent_[inside[k]] == own) continue;
    int other = root_of(inside[k]);
    if (other == own) continue;
    bring(cluster_[own], power);
    bring(cluster_[other], power);
    if (cluster_[own].size < cluster_[other].size) std::swap(own, other);
    cluster_[own].size += cluster_[other].size;
    cluster_[other].gathered -= cluster_[own].gathered;
    cluster_[other].under = parent_[other] = own;
    hung_.push_back(other);
  }
}

double Tfce::run(const double* t, double sign, double* to) {
  order_.clear();
  hung_.clear();
  const int v = static_cast<int>(neighbours_.size());
  for (int j = 0; j < v; ++j) {
    const double height = sign * t[j];
    if (!(height > 0)) continue;
    Voxel voxel = {0, j};
    std::memcpy(&voxel.height, &height, sizeof height);
    order_.push_back(voxel);
  }
  sort();
  const int count = static_cast<int>(order_.size());
  for (int rank = 0; rank < count; ++rank) rank_[order_[rank].place] = rank;
  for (int rank = 0; rank < count; ++rank) {
    const double h = number_of(order_[rank].height);
    enter(rank, H_ == 2 ? h * h * h : std::pow(h, H_ + 1));
  }
  for (int rank = 0; rank < count; ++rank) {
    if (cluster_[rank].under < 0) bring(cluster_[rank], 0);
  }
  // what was hung last is nearest to a root
  for (auto at = hung_.rbegin(); at != hung_.rend(); ++at) {
    cluster_[*at].gathered += cluster_[cluster_[*at].under].gathered;
  }
  double largest = 0;
  for (int rank = 0; rank < count; ++rank) {
    const int place = order_[rank].place;
    const double value = cluster_[rank].gathered / (H_ + 1);
    largest = std::max(largest, value);
    to[place] = sign * value;
    rank_[place] = std::numeric_limits<int>::max();
  }
  return largest;
}

}  // namespace voxridge
