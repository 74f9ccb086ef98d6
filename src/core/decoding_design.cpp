#include "decoding_design.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "error.h"
#include "permutation_columns.h"
#include "score.h"
#include "threads.h"

namespace voxridge {

namespace {

RowList mapped(const RowList& rows, const std::vector<int64_t>& to) {
  RowList out(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    out[i] = rows[i] >= 0 && rows[i] < static_cast<int64_t>(to.size()) ? to[rows[i]] : -1;
    if (out[i] < 0) throw Error(ErrorCode::invalid_argument, "a fold names a row that is not there");
  }
  return out;
}

// Do the held-out sets of these folds partition the rows, each trained on all the others?
bool is_partition(const RowList& rows, const std::vector<DesignFold>& folds) {
  size_t n = 0;
  RowList tested;
  for (const DesignFold& fold : folds) {
    n += fold.test.size();
    tested.insert(tested.end(), fold.test.begin(), fold.test.end());
    RowList both = fold.train;
    both.insert(both.end(), fold.test.begin(), fold.test.end());
    std::sort(both.begin(), both.end());
    if (both != rows) return false;
  }
  std::sort(tested.begin(), tested.end());
  return n == rows.size() && tested == rows;
}

}  // namespace

DesignFold DecodingDesign::make_fold(RowList train, RowList test) const {
  DesignFold out;
  out.train = std::move(train);
  out.test = std::move(test);
  out.mean.zeros(y.n_cols);
  RowList both = out.train;
  both.insert(both.end(), out.test.begin(), out.test.end());
  std::sort(both.begin(), both.end());
  out.complement = both == row_range(0, n());
  for (arma::uword c = 0; c < y.n_cols; ++c) {
    // of codes: a whole number over a whole number, so that a balanced training set has the mean 0 exactly
    double sum = 0;
    for (const int64_t i : out.train) sum += y(i, c);
    out.mean[c] = sum / static_cast<double>(out.train.size());
  }
  if (!classifies()) return out;
  out.missing.assign(n_classes, 1);
  for (const int64_t i : out.train) out.missing[label[i]] = 0;
  out.one_class = std::count(out.missing.begin(), out.missing.end(), 0) < 2;
  return out;
}

DecodingDesign::DecodingDesign(const DecodingProblem& problem, const DecodingOptions& options)
    : n_classes(problem.classes != nullptr ? problem.n_classes : 0), partition(problem.partition) {
  std::vector<int64_t> where(problem.x.rows, -1);
  for (const Fold& fold : problem.folds) {
    for (const RowList* rows : {&fold.train, &fold.test}) {
      for (const int64_t row : *rows) {
        if (row < 0 || row >= problem.x.rows) {
          throw Error(ErrorCode::invalid_argument, "a fold names a row that is not there");
        }
        where[row] = 0;
      }
    }
  }
  for (int64_t row = 0; row < problem.x.rows; ++row) {
    if (where[row] < 0) continue;
    where[row] = static_cast<int64_t>(used.size());
    used.push_back(row);
  }
  std::vector<Fold> among_used;
  for (const Fold& fold : problem.folds) among_used.push_back({mapped(fold.train, where), mapped(fold.test, where)});
  const Folds arranged = arrange_folds(static_cast<int64_t>(used.size()), std::move(among_used), partition);
  place_of_used.resize(used.size());
  for (size_t i = 0; i < used.size(); ++i) {
    order.push_back(used[arranged.order[i]]);
    place_of_used[arranged.order[i]] = static_cast<int64_t>(i);
  }
  for (int64_t i = 0; i < n(); ++i) in_order = in_order && order[i] == order[0] + i;
  y.set_size(n(), classifies() ? std::max(1, n_classes > 2 ? n_classes - 1 : 1) : 1);
  if (classifies()) {
    for (int64_t i = 0; i < n(); ++i) {
      label.push_back(problem.classes[order[i]] - 1);
      if (label[i] < 0 || label[i] >= n_classes) throw Error(ErrorCode::invalid_argument, "a class is out of range");
      for (arma::uword c = 0; c < y.n_cols; ++c) {
        y(i, c) = label[i] == (n_classes > 2 ? static_cast<int>(c) : 1) ? 1 : -1;
      }
    }
  } else {
    const double origin = problem.values[order[0]];
    for (int64_t i = 0; i < n(); ++i) y(i, 0) = problem.values[order[i]] - origin;
    const double mean = arma::mean(y.col(0));
    y -= mean;
    shift = origin + mean;
  }
  test_start.push_back(0);
  for (const Fold& fold : arranged.folds) {
    folds.push_back(make_fold(fold.train, fold.test));
    test_start.push_back(test_start.back() + static_cast<int64_t>(fold.test.size()));
  }
  if (options.alphas.size() < 2) return;
  if (static_cast<int64_t>(options.inner.size()) != n_folds()) {
    throw Error(ErrorCode::internal, "there are not as many lists of inner folds as folds");
  }
  for (int64_t i = 0; i < static_cast<int64_t>(where.size()); ++i) {
    if (where[i] >= 0) where[i] = place_of_used[where[i]];
  }
  for (int64_t f = 0; f < n_folds(); ++f) {
    std::vector<DesignFold> here;
    for (const Fold& fold : options.inner[f]) {
      here.push_back(make_fold(mapped(fold.train, where), mapped(fold.test, where)));
    }
    RowList rows = folds[f].train;
    std::sort(rows.begin(), rows.end());
    inner_partition.push_back(is_partition(rows, here));
    inner.push_back(std::move(here));
  }
}

VoxelTable describe_voxels(const DecodingProblem& problem, const DecodingDesign& design, VoxelScale scale,
                           const Control& control) {
  constexpr int64_t chunk = 256;
  const int64_t v = problem.x.cols, n = design.n();
  VoxelTable out;
  out.state.assign(v, static_cast<int>(ColumnState::used));
  out.origin.assign(v, 0);
  out.mean.assign(v, 0);
  out.constant.assign(v, 0);
  if (scale == VoxelScale::global) out.factor.assign(v, 1);
  parallel_for((v + chunk - 1) / chunk, control.n_threads, [&](int64_t item, int) {
    control.check_stop();
    for (int64_t j = item * chunk; j < std::min(v, (item + 1) * chunk); ++j) {
      const double* x = problem.x.col(j);
      bool finite = true;
      for (const int64_t row : design.used) finite = finite && std::isfinite(x[row]);
      if (!finite) {
        out.state[j] = static_cast<int>(ColumnState::nonfinite);
        continue;
      }
      const double origin = x[design.used[0]];
      double sum = 0, square = 0;
      for (const int64_t row : design.used) sum += x[row] - origin;
      const double mean = sum / static_cast<double>(n);
      for (const int64_t row : design.used) square += (x[row] - origin - mean) * (x[row] - origin - mean);
      if (is_constant(square, origin + mean, n)) {
        out.state[j] = static_cast<int>(ColumnState::constant);
        continue;
      }
      out.origin[j] = origin;
      out.mean[j] = mean;
      if (!out.factor.empty()) out.factor[j] = 1 / std::sqrt(square / static_cast<double>(n));
      for (const DesignFold& fold : design.folds) {
        const double first = x[design.order[fold.train[0]]];
        const auto same = [&](int64_t place) { return x[design.order[place]] == first; };
        if (std::all_of(fold.train.begin(), fold.train.end(), same)) out.constant[j] = 1;
      }
    }
  });
  return out;
}

template <class RowAt>
void LocationVoxels::fill(int64_t n_rows, int64_t first, int64_t count, RowAt row_at, arma::mat& to) const {
  to.set_size(n_rows, count);
  if (to.is_empty()) return;
  for (int64_t j = 0; j < count; ++j) {
    const int column = (*columns_)[first + j];
    const double* from = x_.col(column);
    double* put = to.colptr(j);
    const double origin = table_.origin[column], mean = table_.mean[column];
    const double factor = table_.factor.empty() ? 1 : table_.factor[column];
    for (int64_t i = 0; i < n_rows; ++i) put[i] = (from[row_at(i)] - origin - mean) * factor;
  }
}

void LocationVoxels::gather(int64_t first, int64_t count, arma::mat& to) const {
  const int64_t* order = design_.order.data();
  if (design_.in_order) {
    const int64_t start = order[0];
    return fill(
        design_.n(), first, count, [=](int64_t i) { return start + i; }, to);
  }
  fill(
      design_.n(), first, count, [=](int64_t i) { return order[i]; }, to);
}

void LocationVoxels::gather(const RowList& places, int64_t first, int64_t count, arma::mat& to) const {
  const int64_t *order = design_.order.data(), *place = places.data();
  fill(
      static_cast<int64_t>(places.size()), first, count, [=](int64_t i) { return order[place[i]]; }, to);
}

bool LocationVoxels::constant_in(const RowList& places) const {
  for (const int column : *columns_) {
    if (!table_.constant[column]) return false;
  }
  for (const int column : *columns_) {
    const double* x = x_.col(column);
    for (const int64_t place : places) {
      if (x[design_.order[place]] != x[design_.order[places[0]]]) return false;
    }
  }
  return true;
}

}  // namespace voxridge
