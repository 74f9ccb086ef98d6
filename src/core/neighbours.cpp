#include "neighbours.h"

#include <cstdlib>

namespace voxridge {

Neighbours neighbours_of(const std::array<int64_t, 3>& dim, const std::vector<int64_t>& position, int connectivity) {
  const int most = connectivity == 6 ? 1 : connectivity == 18 ? 2 : 3;  // axes along which a neighbour may differ
  std::vector<int> place(dim[0] * dim[1] * dim[2], -1);
  for (size_t j = 0; j < position.size(); ++j) place[position[j]] = static_cast<int>(j);
  Neighbours out;
  out.start.push_back(0);
  for (const int64_t at : position) {
    const int64_t i = at % dim[0], j = at / dim[0] % dim[1], k = at / (dim[0] * dim[1]);
    for (int64_t dk = -1; dk <= 1; ++dk) {
      for (int64_t dj = -1; dj <= 1; ++dj) {
        for (int64_t di = -1; di <= 1; ++di) {
          const int64_t axes = std::abs(di) + std::abs(dj) + std::abs(dk);
          if (axes == 0 || axes > most) continue;
          const int64_t x = i + di, y = j + dj, z = k + dk;
          if (x < 0 || y < 0 || z < 0 || x >= dim[0] || y >= dim[1] || z >= dim[2]) continue;
          const int other = place[x + dim[0] * (y + dim[1] * z)];
          if (other >= 0) out.place.push_back(other);
        }
      }
    }
    out.start.push_back(static_cast<int64_t>(out.place.size()));
  }
  return out;
}

}  // namespace voxridge
