#include "banded_shared.h"

#include <algorithm>
#include <cstdio>

#include "banded_refit.h"
#include "budget.h"
#include "factor_files.h"
#include "threads.h"

namespace voxridge {

namespace {

std::string factor_path(const std::string& folder, int64_t candidate) {
  char name[40];
  std::snprintf(name, sizeof name, "/candidate_%06lld.factor", static_cast<long long>(candidate + 1));
  return folder + name;
}

}  // namespace

void write_banded_factors(const Features& features, const Bands& bands, const Folds& folds,
                          const BandedCvOptions& options, const std::vector<int64_t>& candidates,
                          const std::string& folder, const Control& control) {
  const BlasThreads blas(1);
  const BandGrams grams(features, bands, folds, kBandGramShare * control.memory_bytes, control);
  Control inside = control;
  inside.n_threads = options.factor_threads;
  control.expect(static_cast<int64_t>(candidates.size()));
  for (const int64_t candidate : candidates) {
    const std::vector<double> alphas = options.candidate_alphas(candidate);
    Factors factors(grams, folds, options.gammas[candidate], *std::min_element(alphas.begin(), alphas.end()), inside);
    write_factor(factor_path(folder, candidate), *factors.full(inside));
    control.advance(1);
  }
}

template <class T>
void refit_banded_from_files(const Features& features, const Bands& bands, const Folds& folds, const Targets& targets,
                             const BandedCvOptions& options, const std::string& folder, BandedCvOutputs& out,
                             const Control& control) {
  const std::unique_ptr<Device<T>> device = make_device<T>(control);
  const TileSource<T> source(*device, features, folds, targets, choose_form(features, folds), control);
  banded_refit<T>(
      source, bands, options,
      [&](int64_t candidate, const Control&) {
        return std::make_shared<const Factor>(read_factor(factor_path(folder, candidate)));
      },
      out, control);
}

template void refit_banded_from_files<float>(const Features&, const Bands&, const Folds&, const Targets&,
                                             const BandedCvOptions&, const std::string&, BandedCvOutputs&,
                                             const Control&);
template void refit_banded_from_files<double>(const Features&, const Bands&, const Folds&, const Targets&,
                                              const BandedCvOptions&, const std::string&, BandedCvOutputs&,
                                              const Control&);

}  // namespace voxridge
