#include "neighbourhoods.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "error.h"

namespace voxridge {

void WholeNeighbourhood::members(int64_t, std::vector<int>& columns) const {
  columns.resize(n_);
  std::iota(columns.begin(), columns.end(), 0);
}

void ListedNeighbourhoods::members(int64_t location, std::vector<int>& columns) const {
  columns.assign(voxel_ + start_[location], voxel_ + start_[location + 1]);
  for (int& column : columns) --column;
}

std::vector<std::array<int, 3>> sphere_offsets(const Affine3& a, double radius_mm, const std::array<int64_t, 3>& dim) {
  const auto minor = [&](int i, int j) {  // cofactor of element (i, j)
    const int r = (i + 1) % 3, s = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
    return a[r][c] * a[s][d] - a[r][d] * a[s][c];
  };
  const double det = a[0][0] * minor(0, 0) + a[0][1] * minor(0, 1) + a[0][2] * minor(0, 2);
  const double reach = radius_mm * std::sqrt(1 + 1e-6);
  int most[3];
  for (int i = 0; i < 3; ++i) {  // row i of the inverse is column i of the cofactors over the determinant
    const double length = std::hypot(minor(0, i) / det, minor(1, i) / det, minor(2, i) / det) * reach;
    if (!std::isfinite(length)) {
      throw Error(ErrorCode::invalid_argument, "the affine has no inverse, or the radius is not finite");
    }
    most[i] = static_cast<int>(std::min(std::floor(length), static_cast<double>(dim[i] - 1)));
  }
  std::vector<std::array<int, 3>> out;
  for (int z = -most[2]; z <= most[2]; ++z) {
    for (int y = -most[1]; y <= most[1]; ++y) {
      for (int x = -most[0]; x <= most[0]; ++x) {
        double square = 0;
        for (int i = 0; i < 3; ++i) {
          const double along = a[i][0] * x + a[i][1] * y + a[i][2] * z;
          square += along * along;
        }
        if (square <= radius_mm * radius_mm * (1 + 1e-6)) out.push_back({x, y, z});
      }
    }
  }
  return out;
}

Spheres::Spheres(const std::array<int64_t, 3>& dim, const std::vector<int64_t>& place, const Affine3& affine,
                 double radius_mm, std::vector<int> centers)
    : dim_(dim), place_(place), centers_(std::move(centers)), offsets_(sphere_offsets(affine, radius_mm, dim)) {
  column_at_.assign(dim[0] * dim[1] * dim[2], -1);
  for (size_t j = 0; j < place.size(); ++j) column_at_[place[j]] = static_cast<int>(j);
}

void Spheres::members(int64_t location, std::vector<int>& columns) const {
  columns.clear();
  const int64_t at = place_[centers_[location]], plane = dim_[0] * dim_[1];
  const int64_t x = at % dim_[0], y = at % plane / dim_[0], z = at / plane;
  for (const Offset& d : offsets_) {
    const int64_t i = x + d[0], j = y + d[1], k = z + d[2];
    if (i < 0 || i >= dim_[0] || j < 0 || j >= dim_[1] || k < 0 || k >= dim_[2]) continue;
    const int column = column_at_[i + dim_[0] * j + plane * k];
    if (column >= 0) columns.push_back(column);
  }
}

}  // namespace voxridge
