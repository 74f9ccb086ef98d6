// Factors of a preparation that several processes share.
#include <cstdio>

#include "factor_files.h"
#include "ridge.h"
#include "search.h"
#include "threads.h"

namespace voxridge {

namespace {

std::string factor_path(const std::string& folder, int64_t which) {
  char name[32];
  std::snprintf(name, sizeof name, "/fold_%04d.factor", static_cast<int>(which + 1));  // 0: all rows
  return folder + name;
}

std::vector<int64_t> in_demand(const Factors& factors, const FactorDemand& demand) {
  const bool closed_form = demand.cv != CvKind::kfold;
  const bool from_full = closed_form || leaves_folds_out(factors, demand.score);
  std::vector<int64_t> which;
  if (from_full || demand.coefs != Coefs::none) which.push_back(kAllRows);
  for (int64_t f = 0; f < factors.folds().count() && !from_full; ++f) which.push_back(f);
  return which;
}

}  // namespace

std::vector<int64_t> RidgePreparation::write_factors(const FactorDemand& demand, const std::string& folder,
                                                     int64_t share, int64_t n_shares, int n_threads, FactorKind& kind,
                                                     const Control& control) {
  const std::shared_ptr<Factors> made = factors(demand.smallest_alpha, control);
  kind = made->kind();
  const std::vector<int64_t> all = in_demand(*made, demand);
  std::vector<int64_t> own;
  for (size_t k = share; k < all.size(); k += n_shares) own.push_back(all[k]);
  // A threaded BLAS where the single process would use it, and only there.
  const bool threaded = jobs_side_by_side(all.size(), n_threads) == 1;
  Control inside = control;
  if (threaded) inside.n_threads = n_threads;
  control.expect(static_cast<int64_t>(own.size()));
  made->make(own, threaded ? 1 : control.n_threads, inside, [&](int64_t f, FoldFactor factor) {
    f == kAllRows ? write_factor(factor_path(folder, f), static_cast<const Factor&>(factor))
                  : write_factor(factor_path(folder, f), factor);
    control.advance(1);
  });
  return all;
}

void RidgePreparation::read_factors(const FactorKind& kind, const std::vector<int64_t>& which,
                                    const std::string& folder) {
  keep_ = keep_search_ = true;
  const auto read = std::make_shared<Factors>(features_, folds_, kind);
  for (const int64_t f : which) read->put(f, read_factor(factor_path(folder, f)));
  (kind.route == Route::svd ? svd_factors_ : gram_factors_) = read;
}

}  // namespace voxridge
