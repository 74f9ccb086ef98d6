#include "banded_refit.h"

#include <algorithm>
#include <type_traits>

#include "arma_view.h"
#include "budget.h"
#include "threads.h"

namespace voxridge {

namespace {

std::vector<int64_t> winners_of(const int* gamma_index, int64_t n_targets) {
  std::vector<int64_t> winners(gamma_index, gamma_index + n_targets);
  std::sort(winners.begin(), winners.end());
  winners.erase(std::unique(winners.begin(), winners.end()), winners.end());
  if (!winners.empty() && winners[0] < 0) winners.erase(winners.begin());
  return winners;
}

// Columns of a tile as a tile of their own, and their results back to where they belong.
template <class T>
void refit_some(const TileSource<T>& source, const Refit<T>& refit, const Tile<T>& tile, const RowList& columns,
                const std::vector<double>& alphas, const std::vector<int64_t>& which, const CoefOutputs& all) {
  Tile<T> part;
  source.select(tile, columns, part);
  arma::mat coefs(all.coefs.rows, columns.size(), arma::fill::none);
  std::vector<double> intercept(columns.size());
  refit.run(part, alphas, which, {all.kind, span_of(coefs), all.intercept == nullptr ? nullptr : intercept.data()});
  for (size_t j = 0; j < columns.size(); ++j) {
    std::copy_n(coefs.colptr(j), coefs.n_rows, all.coefs.col(columns[j]));
    if (all.intercept != nullptr) all.intercept[columns[j]] = intercept[j];
  }
}

// Targets that chose one of these candidates.
template <class T>
void refit_group(const TileSource<T>& source, const Refit<T>& refit, const std::vector<int64_t>& winners,
                 const BandedCvOptions& options, const BandedCvOutputs& out) {
  std::vector<int64_t> place(options.gammas.size(), -1);  // in the group
  for (size_t k = 0; k < winners.size(); ++k) place[winners[k]] = static_cast<int64_t>(k);
  const auto place_of = [&](int64_t target) {
    const int candidate = out.gamma_index[target];
    return candidate < 0 ? -1 : place[candidate];
  };
  std::vector<int64_t> tiles;
  for (int64_t target = 0; target < source.targets().y.cols; ++target) {
    const int64_t tile = target / kTileCols;
    if (place_of(target) >= 0 && (tiles.empty() || tiles.back() != tile)) tiles.push_back(tile);
  }
  source.control().expect(static_cast<int64_t>(tiles.size()));
  const int64_t batch = options.targets_batch_refit > 0 ? options.targets_batch_refit : options.targets_batch;
  for_each_tile<T>(source, tiles, batch, [&](Tile<T>& tile) {
    RowList columns;
    std::vector<int64_t> which;
    std::vector<double> alphas;
    for (int64_t j = 0; j < tile.cols; ++j) {
      const int64_t k = place_of(tile.first + j);
      if (k < 0) continue;
      columns.push_back(j);
      which.push_back(k);
      alphas.push_back(options.candidate_alphas(winners[k])[out.alpha_index[tile.first + j]]);
    }
    const CoefOutputs all = out.coefs.columns(tile.first, tile.cols);
    if (static_cast<int64_t>(columns.size()) == tile.cols) {
      refit.run(tile, alphas, which, all);
    } else {
      refit_some(source, refit, tile, columns, alphas, which, all);
    }
    source.control().advance(1);
  });
}

}  // namespace

template <class T>
void banded_refit(const TileSource<T>& source, const Bands& bands, const BandedCvOptions& options,
                  const std::function<std::shared_ptr<const Factor>(int64_t candidate, const Control&)>& factor,
                  BandedCvOutputs& out, const Control& control) {
  const int64_t n_targets = source.targets().y.cols;
  const std::vector<int64_t> winners = winners_of(out.gamma_index, n_targets);
  const Features& features = source.features();
  const double inner = static_cast<double>(source.form() == Form::primal ? features.cols() : features.rows());
  const double bytes = (8 + (std::is_same_v<T, float> ? 4 : 0)) * inner * inner;
  const int64_t n_winners = static_cast<int64_t>(winners.size());
  const int64_t group = fitting(kFactorShare * control.memory_bytes, bytes, 1, std::max<int64_t>(1, n_winners));
  for (int64_t first = 0; first < n_winners; first += group) {
    const std::vector<int64_t> some(winners.begin() + first, winners.begin() + std::min(first + group, n_winners));
    std::vector<std::shared_ptr<const Factor>> factors(some.size());
    std::vector<std::vector<double>> weights;
    for (const int64_t candidate : some) weights.push_back(options.gammas[candidate]);
    for_each_job(static_cast<int64_t>(some.size()), control,
                 [&](int64_t k, const Control& inside) { factors[k] = factor(some[k], inside); });
    refit_group(source, Refit<T>(source, factors, bands, weights, out.coefs.kind), some, options, out);
  }
  write_missing(source.targets(), 0, n_targets, out.coefs);
}

void reorder_rows(MatrixSpan<double> coefs, const RowList& order, const Control& control) {
  parallel_for(coefs.cols, control.n_threads, [&](int64_t j, int) {
    if (j % 256 == 0) control.check_stop();
    const std::vector<double> column(coefs.col(j), coefs.col(j) + coefs.rows);
    for (int64_t k = 0; k < coefs.rows; ++k) coefs.col(j)[order[k]] = column[k];
  });
}

#define VOXRIDGE_INSTANTIATE(T)                                                                               \
  template void banded_refit<T>(const TileSource<T>&, const Bands&, const BandedCvOptions&,                   \
                                const std::function<std::shared_ptr<const Factor>(int64_t, const Control&)>&, \
                                BandedCvOutputs&, const Control&);
VOXRIDGE_INSTANTIATE(float)
VOXRIDGE_INSTANTIATE(double)

}  // namespace voxridge
