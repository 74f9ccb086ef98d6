#include "row_cells.h"

#include <algorithm>
#include <map>
#include <utility>

namespace voxridge {

void RowCells::add_fold(const RowList& train, const RowList& test) {
  std::vector<int32_t> role(cell_.size(), 0);
  for (const int64_t row : train) ++role[row];
  for (const int64_t row : test) role[row] = -1;
  std::map<std::pair<int32_t, int32_t>, int32_t> places;  // old cell and role -> new cell
  std::vector<std::vector<int32_t>> roles;
  for (size_t row = 0; row < cell_.size(); ++row) {
    const auto [found, is_new] = places.emplace(std::pair(cell_[row], role[row]), static_cast<int32_t>(roles.size()));
    if (is_new) {
      roles.push_back(roles_[cell_[row]]);
      roles.back().push_back(role[row]);
    }
    cell_[row] = found->second;
  }
  roles_ = std::move(roles);
}

std::vector<double> RowCells::training(int64_t fold) const {
  std::vector<double> weights;
  for (const std::vector<int32_t>& role : roles_) weights.push_back(std::max(0, role[fold]));
  return weights;
}

std::vector<double> RowCells::held_out(int64_t fold) const {
  std::vector<double> weights;
  for (const std::vector<int32_t>& role : roles_) weights.push_back(role[fold] < 0 ? 1 : 0);
  return weights;
}

std::vector<Piece> RowCells::pieces(int64_t row, int64_t n_rows, std::vector<double>& before) const {
  std::vector<Piece> out;
  for (int64_t first = 0; first < n_rows; first += kBlockRows) {
    std::map<int64_t, Piece> of_cell;
    for (int64_t i = first; i < std::min(first + kBlockRows, n_rows); ++i) {
      const int64_t cell = cell_[row + i];
      of_cell.try_emplace(cell, Piece{cell, {}, before[cell]}).first->second.rows.push_back(i);
    }
    for (auto& [cell, piece] : of_cell) {
      before[cell] += static_cast<double>(piece.rows.size());
      out.push_back(std::move(piece));
    }
  }
  return out;
}

}  // namespace voxridge
