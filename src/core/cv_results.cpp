#include "cv_results.h"

#include <algorithm>
#include <string>

#include "arma_view.h"

namespace voxridge {

CvResults::CvResults(const Targets& targets, const RidgeCvOptions& options, RidgeCvOutputs& out)
    : targets_(targets), options_(options), out_(out) {
  out_.constant.assign(targets.y.cols, 0);
  out_.tile_totals.zeros(n_alphas(), tile_count(targets));
}

void CvResults::add_fold(TileRange tile, int64_t fold, int64_t n_folds, const arma::mat& scores,
                         const std::vector<char>& constant) {
  for (int64_t j = 0; j < tile.cols; ++j) {
    const int64_t target = tile.first + j;
    const bool skip = skipped(targets_, target);
    if (constant[j] && !skip) out_.constant[target] = 1;
    if (out_.fold_scores == nullptr) continue;
    double* to = out_.fold_scores + fold + target * n_alphas() * n_folds;
    for (int64_t a = 0; a < n_alphas(); ++a) to[a * n_folds] = skip ? targets_.missing : scores(a, j);
  }
}

void CvResults::choose(TileRange tile, const FoldMeans& means) {
  arma::subview_col<double> total = out_.tile_totals.col(tile.first / kTileCols);
  total.zeros();
  StoreWriter* const store = out_.score_store;
  arma::mat stored(store != nullptr ? n_alphas() : 0, tile.cols, arma::fill::none);
  for (int64_t j = 0; j < tile.cols; ++j) {
    const int64_t target = tile.first + j;
    const double* scores = means.mean().colptr(j);
    const bool skip = skipped(targets_, target);
    out_.alpha_index[target] = -1;
    if (store != nullptr || out_.mean_scores != nullptr) {
      double* const to = store != nullptr ? stored.colptr(j) : out_.mean_scores + target * n_alphas();
      skip ? std::fill_n(to, n_alphas(), targets_.missing) : std::copy_n(scores, n_alphas(), to);
    }
    if (skip) continue;
    total += means.mean().col(j);
    const int64_t chosen =
        options_.conservative ? conservative_alpha(means, j, options_.alphas) : best_alpha(scores, options_.alphas);
    if (chosen < 0) {
      throw Error(ErrorCode::invalid_argument,
                  "Target " + std::to_string(targets_.before + target + 1) +
                      " has no score that is a number. Rescale `Y` if its squares overflow.");
    }
    out_.alpha_index[target] = static_cast<int>(chosen);
  }
  if (store != nullptr) store->write(tile.first, view_of(stored));
}

// Tiles are added in their order, so the sum does not depend on which thread was first.
void CvResults::choose_shared() {
  arma::vec total(n_alphas(), arma::fill::zeros);
  for (arma::uword k = 0; k < out_.tile_totals.n_cols; ++k) total += out_.tile_totals.col(k);
  const int64_t chosen = best_alpha(total.memptr(), options_.alphas);
  for (int64_t target = 0; target < targets_.y.cols; ++target) {
    if (out_.alpha_index[target] >= 0) out_.alpha_index[target] = static_cast<int>(chosen);
  }
}

std::vector<double> CvResults::chosen_alphas(TileRange tile) const {
  std::vector<double> alphas(tile.cols, options_.alphas[0]);
  for (int64_t j = 0; j < tile.cols; ++j) {
    const int index = out_.alpha_index[tile.first + j];
    if (index >= 0) alphas[j] = options_.alphas[index];
  }
  return alphas;
}

}  // namespace voxridge
