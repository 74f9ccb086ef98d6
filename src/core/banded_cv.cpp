#include "banded_cv.h"

#include <algorithm>
#include <limits>
#include <mutex>

#include "banded_choice.h"
#include "banded_refit.h"
#include "budget.h"
#include "threads.h"

namespace voxridge {

std::vector<double> BandedCvOptions::candidate_alphas(int64_t candidate) const {
  std::vector<double> out = alphas;
  for (double& alpha : out) alpha *= alpha_factors[candidate];
  return out;
}

namespace {

template <class T>
class BandedCv {
 public:
  BandedCv(const Features& features, const Bands& bands, const Folds& folds, const Targets& targets,
           const BandedCvOptions& options, BandedCvOutputs& out, const Control& control)
      : bands_(bands),
        options_(options),
        search_options_(options.search()),
        out_(out),
        control_(control),
        device_(make_device<T>(control)),
        grams_(features, bands, folds, kBandGramShare * control.memory_bytes, control),
        source_(*device_, features, folds, targets, choose_form(features, folds), control),
        choice_(targets, options, std::numeric_limits<T>::epsilon(), out),
        kept_(n_candidates()) {
    factor_threads_ = options.factor_threads;
    if (factor_threads_ == 0) factor_threads_ = n_candidates() >= control.n_threads ? 1 : control.n_threads;
  }

  void run() {
    out_.form = source_.form();
    options_.cv == CvKind::kfold ? search_folds() : search_closed_form();
    choice_.finish();
    if (out_.coefs.kind == Coefs::none) return;
    banded_refit<T>(
        source_, bands_, options_,
        [this](int64_t candidate, const Control& control) {
          if (kept_[candidate] != nullptr) return kept_[candidate];
          const Control inside = for_factors(control);
          return factors_of(candidate, inside)->full(inside);
        },
        out_, control_);
  }

 private:
  int64_t n_candidates() const { return static_cast<int64_t>(options_.gammas.size()); }
  int64_t n_targets() const { return source_.targets().y.cols; }
  std::vector<int64_t> all_tiles() const { return row_range(0, tile_count(source_.targets())); }

  // Factors have the same bits however many candidates are at hand at a time.
  Control for_factors(Control control) const {
    control.n_threads = factor_threads_;
    return control;
  }
  std::shared_ptr<Factors> factors_of(int64_t candidate, const Control& control) const;
  int64_t most_at_a_time() const;
  void search_folds();
  SearchModel<T> make_model(const FoldSearch<T>& search, int64_t candidate, double room, const Control& control);
  void search_group(FoldSearch<T>& search, int64_t first, std::vector<SearchModel<T>>& models);
  void search_closed_form();
  void keep_for_refit(int64_t candidate, Factors& factors, const Control& control);

  const Bands& bands_;
  const BandedCvOptions& options_;
  const FoldSearchOptions search_options_;
  BandedCvOutputs& out_;
  const Control& control_;
  std::unique_ptr<Device<T>> device_;
  const BandGrams grams_;
  TileSource<T> source_;
  BandedChoice choice_;
  int factor_threads_;
  std::mutex lock_;
  std::vector<std::shared_ptr<const Factor>> kept_;  // of all rows, as far as the search has made them and they fit
};

template <class T>
std::shared_ptr<Factors> BandedCv<T>::factors_of(int64_t candidate, const Control& control) const {
  const std::vector<double> alphas = options_.candidate_alphas(candidate);
  return std::make_shared<Factors>(grams_, source_.folds(), options_.gammas[candidate],
                                   *std::min_element(alphas.begin(), alphas.end()), control);
}

// Factors of all rows that the search has made anyway wait for the refit where they fit.
template <class T>
void BandedCv<T>::keep_for_refit(int64_t candidate, Factors& factors, const Control& control) {
  const double inner = static_cast<double>(factors.inner());
  const bool fits = 8 * inner * inner * static_cast<double>(n_candidates()) <= kKeptShare * control_.memory_bytes;
  if (fits && out_.coefs.kind != Coefs::none) kept_[candidate] = factors.full(control);
}

// How many candidates' scores of all targets may wait for one alpha for all.
template <class T>
int64_t BandedCv<T>::most_at_a_time() const {
  if (options_.local_alpha) return n_candidates();
  const double scores = 8.0 * static_cast<double>(options_.alphas.size()) * static_cast<double>(n_targets());
  return fitting(kWaitingShare * control_.memory_bytes, scores, 1, n_candidates());
}

template <class T>
void BandedCv<T>::search_folds() {
  FoldSearch<T> search(source_, search_options_, control_);
  const double room = kOperatorShare * control_.memory_bytes;
  int64_t first = 0;
  while (first < n_candidates()) {
    std::vector<SearchModel<T>> models;
    double used = 0;
    const int64_t limit = std::min(n_candidates(), first + most_at_a_time());
    while (first + static_cast<int64_t>(models.size()) < limit) {
      const int64_t next = first + static_cast<int64_t>(models.size());
      const int64_t last = std::min<int64_t>(limit, next + control_.n_threads);
      const double share = room / static_cast<double>(last - next);
      // As large as the one before, as far as is known; one that got no operators goes alone.
      const double expected = models.empty() ? 0 : models.back().operators.empty() ? share : models.back().bytes;
      if (used + expected * static_cast<double>(last - next) > room) break;
      models.resize(models.size() + last - next);
      for_each_job(last - next, control_, [&](int64_t k, const Control& control) {
        models[next - first + k] = make_model(search, next + k, share, control);
      });
      for (int64_t candidate = next; candidate < last; ++candidate) used += models[candidate - first].bytes;
    }
    search_group(search, first, models);
    first += static_cast<int64_t>(models.size());
  }
  out_.passes = search.passes();
}

template <class T>
SearchModel<T> BandedCv<T>::make_model(const FoldSearch<T>& search, int64_t candidate, double room,
                                       const Control& outside) {
  const Control control = for_factors(outside);
  const std::shared_ptr<Factors> factors = factors_of(candidate, control);
  SearchModel<T> model = search.make_model(
      options_.candidate_alphas(candidate), [&] { return factors; }, room, control);
  model.factors = [this, candidate] { return factors_of(candidate, for_factors(control_)); };
  if (leaves_folds_out(*factors, options_.score)) keep_for_refit(candidate, *factors, control);
  const std::lock_guard<std::mutex> guard(lock_);
  out_.n_nodes = std::max(out_.n_nodes, static_cast<int64_t>(model.nodes.nodes.size()));
  if (factors->route() == Route::svd) out_.route = Route::svd;
  return model;
}

// Candidates from `first` on: those with operators together, each of the others alone.
template <class T>
void BandedCv<T>::search_group(FoldSearch<T>& search, int64_t first, std::vector<SearchModel<T>>& models) {
  choice_.begin(first, first + static_cast<int64_t>(models.size()));
  for (size_t from = 0, to; from < models.size(); from = to) {
    for (to = from + 1; to < models.size(); ++to) {
      if (models[from].operators.empty() || models[to].operators.empty()) break;
    }
    const std::vector<SearchModel<T>> some(std::make_move_iterator(models.begin() + from),
                                           std::make_move_iterator(models.begin() + to));
    search.run(
        some, all_tiles(),
        [&](size_t, int64_t, const Tile<T>& tile, const arma::mat&, const std::vector<char>& constant) {
          choice_.add_constant(tile.first, constant);
        },
        [&](size_t model, Tile<T>& tile, const FoldMeans& means) {
          choice_.add(first + static_cast<int64_t>(from + model), tile.first, means);
        });
  }
  choice_.end();
}

template <class T>
void BandedCv<T>::search_closed_form() {
  const ClosedForm kind = options_.cv == CvKind::loo ? ClosedForm::loo : ClosedForm::gcv;
  const double n = static_cast<double>(source_.features().rows());
  const double bytes = 8 * n * (2 * n + 2 * static_cast<double>(options_.alphas.size()));
  const int64_t group = fitting(kOperatorShare * control_.memory_bytes, bytes, 1, most_at_a_time());
  out_.n_nodes = static_cast<int64_t>(options_.alphas.size());
  for (int64_t first = 0; first < n_candidates(); first += group) {
    const int64_t last = std::min(first + group, n_candidates());
    std::vector<std::unique_ptr<ClosedFormSearch<T>>> searches(last - first);
    for_each_job(last - first, control_, [&](int64_t k, const Control& outside) {
      const int64_t candidate = first + k;
      const Control control = for_factors(outside);
      const std::shared_ptr<Factors> factors = factors_of(candidate, control);
      searches[k] = std::make_unique<ClosedFormSearch<T>>(source_, factors->full(control), kind, options_.score,
                                                          options_.user, options_.candidate_alphas(candidate));
      keep_for_refit(candidate, *factors, control);
      const std::lock_guard<std::mutex> guard(lock_);
      if (factors->route() == Route::svd) out_.route = Route::svd;
    });
    choice_.begin(first, last);
    control_.expect(static_cast<int64_t>(all_tiles().size()));
    for_each_tile<T>(source_, all_tiles(), options_.targets_batch, [&](Tile<T>& tile) {
      for (int64_t candidate = first; candidate < last; ++candidate) {
        control_.check_stop();
        std::vector<char> constant;
        FoldMeans means;
        means.add(searches[candidate - first]->scores(tile, constant));
        choice_.add_constant(tile.first, constant);
        choice_.add(candidate, tile.first, means);
      }
      control_.advance(1);
    });
    choice_.end();
    ++out_.passes;
  }
}

}  // namespace

template <class T>
void banded_cv(const Features& features, const Bands& bands, const Folds& folds, const Targets& targets,
               const BandedCvOptions& options, BandedCvOutputs& out, const Control& control) {
  BandedCv<T>(features, bands, folds, targets, options, out, control).run();
}

template void banded_cv<float>(const Features&, const Bands&, const Folds&, const Targets&, const BandedCvOptions&,
                               BandedCvOutputs&, const Control&);
template void banded_cv<double>(const Features&, const Bands&, const Folds&, const Targets&, const BandedCvOptions&,
                                BandedCvOutputs&, const Control&);

}  // namespace voxridge
