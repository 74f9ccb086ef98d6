// Small masks of odd shapes, and which of their voxels touch, by looking at every pair.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>

#include "common.h"
#include "core/neighbours.h"

namespace voxridge_test {

struct SmallMask {
  std::array<int64_t, 3> dim;
  std::vector<int64_t> position;
  int64_t size() const { return static_cast<int64_t>(position.size()); }
};

// About `share` of the voxels of a box.
inline SmallMask scattered_mask(const std::array<int64_t, 3>& dim, double share, uint64_t seed) {
  SmallMask out = {dim, {}};
  const arma::mat x = normal_matrix(dim[0] * dim[1] * dim[2], 1, seed);
  const arma::vec sorted = arma::sort(x.col(0));
  const auto kept = static_cast<arma::uword>(share * static_cast<double>(x.n_rows - 1));
  for (arma::uword i = 0; i < x.n_rows; ++i) {
    if (x(i, 0) <= sorted(kept)) out.position.push_back(static_cast<int64_t>(i));
  }
  return out;
}

inline SmallMask full_mask(const std::array<int64_t, 3>& dim) {
  SmallMask out = {dim, {}};
  for (int64_t i = 0; i < dim[0] * dim[1] * dim[2]; ++i) out.position.push_back(i);
  return out;
}

inline bool touch(const SmallMask& mask, int64_t a, int64_t b, int connectivity) {
  const int64_t p = mask.position[a], q = mask.position[b], row = mask.dim[0], slice = row * mask.dim[1];
  const int64_t apart[3] = {std::abs(p % row - q % row), std::abs(p % slice / row - q % slice / row),
                            std::abs(p / slice - q / slice)};
  const int64_t sum = apart[0] + apart[1] + apart[2];
  const int64_t most = connectivity == 6 ? 1 : connectivity == 18 ? 2 : 3;
  return sum > 0 && sum <= most && std::max({apart[0], apart[1], apart[2]}) == 1;
}

// The first voxel of the cluster of each voxel that is on, -1 for the others: labels are spread until nothing changes.
inline std::vector<int64_t> flood(const SmallMask& mask, const std::vector<char>& on, int connectivity) {
  const int64_t v = mask.size();
  std::vector<int64_t> label(v, -1);
  for (int64_t j = 0; j < v; ++j) label[j] = on[j] ? j : -1;
  for (bool changed = true; changed;) {
    changed = false;
    for (int64_t a = 0; a < v; ++a) {
      for (int64_t b = 0; b < v; ++b) {
        if (!on[a] || !on[b] || label[b] >= label[a] || !touch(mask, a, b, connectivity)) continue;
        label[a] = label[b];
        changed = true;
      }
    }
  }
  return label;
}

inline std::vector<int64_t> sizes_of(const std::vector<int64_t>& label) {
  std::vector<int64_t> size(label.size(), 0);
  for (const int64_t l : label) {
    if (l >= 0) ++size[l];
  }
  return size;
}

}  // namespace voxridge_test
