#include "decoding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "decoding_location.h"
#include "decoding_metrics.h"
#include "decoding_permutations.h"
#include "decoding_tally.h"
#include "decoding_weights.h"
#include "permutation_columns.h"
#include "threads.h"

namespace voxridge {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kSlab = 16;  // locations that a thread takes at a time

// What one thread works with.
struct Worker {
  std::unique_ptr<LocationSolver> solver;
  LocationFit fit;
  LocationWeights weights;
  LabelPermutations::Scratch scratch;
  std::vector<int> members, columns;
  std::vector<double> largest;  // permutations x metrics
  std::vector<DecodingFailureRow> failures;
};

class Decoding {
 public:
  Decoding(const DecodingProblem& problem, const Neighbourhoods& locations, const DecodingOptions& options,
           DecodingOutputs& out, const Control& control)
      : problem_(problem),
        locations_(locations),
        options_(options),
        out_(out),
        design_(problem, options),
        table_(describe_voxels(problem, design_, options.scale, control)) {
    std::copy(table_.state.begin(), table_.state.end(), out.voxel_state);
    n_locations_ = locations.count();
    n_metrics_ = static_cast<int64_t>(options.metrics.size());
    if (options.n_permutations > 0) {
      permutations_ = std::make_unique<LabelPermutations>(design_, options, control);
      tally_ = std::make_unique<PermutationTally>(*permutations_, options, n_locations_, out);
    }
    for (const DesignFold& fold : design_.folds) {
      for (const int64_t place : fold.test) {
        test_label_.push_back(design_.classifies() ? design_.label[place] : 0);
        test_value_.push_back(design_.classifies() ? 0 : problem.values[design_.order[place]]);
      }
    }
    note_design();
  }

  void run(const Control& control) {
    const bool alone = n_locations_ == 1;
    Control inside = control;
    if (!alone) inside.n_threads = 1;
    const int n_workers = alone ? 1 : control.n_threads;
    std::vector<Worker> workers(std::max(1, n_workers));
    control.expect(n_locations_);
    const BlasThreads blas(1);
    parallel_for((n_locations_ + kSlab - 1) / kSlab, n_workers, [&](int64_t slab, int w) {
      Worker& worker = workers[w];
      if (worker.solver == nullptr) start(worker, inside);
      for (int64_t l = slab * kSlab; l < std::min(n_locations_, (slab + 1) * kSlab); ++l) {
        control.check_stop();
        run_location(l, worker, inside);
        control.advance(1);
      }
    });
    finish(workers);
  }

 private:
  ScoredRows rows_of(int64_t first, int64_t count, const arma::mat& decision) const {
    ScoredRows rows;
    rows.n = count;
    rows.n_classes = design_.n_classes;
    rows.label = test_label_.data() + first;
    rows.value = test_value_.data() + first;
    rows.decision = decision.memptr() + first;
    rows.ld = static_cast<int64_t>(decision.n_rows);
    return rows;
  }
  int64_t n_test() const { return design_.test_start.back(); }

  // What is so at every location.
  void note_design() {
    for (int64_t f = 0; f < design_.n_folds(); ++f) {
      const DesignFold& fold = design_.folds[f];
      const bool missing = std::count(fold.missing.begin(), fold.missing.end(), 1) > 0;
      if (fold.one_class) {
        out_.failures.push_back({-1, f, DecodingFailure::one_class});
      } else if (missing) {
        out_.failures.push_back({-1, f, DecodingFailure::class_missing});
      }
      const ScoredRows rows = rows_of(design_.test_start[f], static_cast<int64_t>(fold.test.size()), arma::mat());
      bool possible = true;
      for (const DecodingMetric metric : options_.metrics) possible = possible && score_possible(metric, rows);
      impossible_.push_back(!possible);
      if (!possible) out_.failures.push_back({-1, f, DecodingFailure::undefined});
    }
  }

  void start(Worker& worker, const Control& control) {
    worker.solver = std::make_unique<LocationSolver>(problem_, design_, options_, table_, control);
    if (tally_ != nullptr) worker.largest = tally_->none();
  }

  // The voxels of a location that can be used, or why it cannot be.
  DecodingFailure find_columns(int64_t l, Worker& worker) {
    locations_.members(l, worker.members);
    worker.columns.clear();
    bool nonfinite = false;
    for (const int column : worker.members) {
      if (table_.state[column] == static_cast<int>(ColumnState::used)) worker.columns.push_back(column);
      if (table_.state[column] == static_cast<int>(ColumnState::nonfinite)) nonfinite = true;
    }
    out_.size[l] = static_cast<int>(worker.columns.size());
    if (worker.columns.empty() && nonfinite) return DecodingFailure::not_finite;
    if (worker.columns.empty() && !worker.members.empty()) return DecodingFailure::constant;
    const bool few = static_cast<int64_t>(worker.columns.size()) < std::max<int64_t>(1, options_.min_voxels);
    return few ? DecodingFailure::too_small : DecodingFailure::none;
  }

  void run_location(int64_t l, Worker& worker, const Control& control) {
    LocationFit& fit = worker.fit;
    const int64_t k = design_.n_folds();
    const DecodingFailure reason = find_columns(l, worker);
    if (reason != DecodingFailure::none) {
      worker.failures.push_back({l, -1, reason});
      fit.failed.assign(k, reason);
      fit.alpha.assign(k, kMissing);
      fit.decision.set_size(n_test(), design_.decisions());
      fit.decision.fill(kMissing);
    } else {
      worker.solver->run(worker.columns, permutations_ != nullptr ? permutations_->padded() : 0, fit);
      for (int64_t f = 0; f < k; ++f) {
        if (fit.failed[f] != DecodingFailure::none && fit.failed[f] != DecodingFailure::one_class) {
          worker.failures.push_back({l, f, fit.failed[f]});
        }
      }
    }
    write_scores(l, worker);
    write_decisions(l, fit);
    if (out_.weights != nullptr) write_weights(l, reason == DecodingFailure::none, worker, control);
    if (permutations_ != nullptr) write_permutations(l, reason == DecodingFailure::none, worker, control);
  }

  void write_scores(int64_t l, Worker& worker) {
    const LocationFit& fit = worker.fit;
    const int64_t k = design_.n_folds();
    std::vector<char> skip(n_test(), 0);
    bool any = false;
    for (int64_t f = 0; f < k; ++f) {
      const int64_t first = design_.test_start[f], count = design_.test_start[f + 1] - first;
      const bool failed = fit.failed[f] != DecodingFailure::none;
      if (failed) std::fill_n(skip.begin() + first, count, 1);
      any = any || !failed;
      bool undefined = false;
      for (int64_t m = 0; m < n_metrics_; ++m) {
        double& score = out_.scores[f + k * (l + n_locations_ * m)];
        score = failed ? kMissing : decoding_score(options_.metrics[m], rows_of(first, count, fit.decision));
        undefined = undefined || (!failed && std::isnan(score));
      }
      if (undefined && !impossible_[f]) worker.failures.push_back({l, f, DecodingFailure::undefined});
    }
    for (int64_t m = 0; m < n_metrics_; ++m) {
      ScoredRows rows = rows_of(0, n_test(), fit.decision);
      rows.skip = skip.data();
      out_.pooled[l + n_locations_ * m] = any ? decoding_score(options_.metrics[m], rows) : kMissing;
    }
  }

  void write_decisions(int64_t l, const LocationFit& fit) {
    const int64_t n = n_test(), columns = design_.decisions(), k = design_.n_folds();
    if (out_.alpha != nullptr) std::copy(fit.alpha.begin(), fit.alpha.end(), out_.alpha + k * l);
    if (out_.decision != nullptr) std::copy(fit.decision.begin(), fit.decision.end(), out_.decision + n * columns * l);
    if (out_.values != nullptr) std::copy_n(fit.decision.memptr(), n, out_.values + n * l);
    if (out_.classes == nullptr) return;
    const ScoredRows rows = rows_of(0, n, fit.decision);
    for (int64_t f = 0; f < k; ++f) {
      const bool failed = fit.failed[f] != DecodingFailure::none;
      for (int64_t h = design_.test_start[f]; h < design_.test_start[f + 1]; ++h) {
        out_.classes[h + n * l] = failed ? 0 : 1 + decided_class(rows, h);
      }
    }
  }

  void write_weights(int64_t l, bool usable, Worker& worker, const Control& control) {
    const int64_t columns = design_.decisions(), k = design_.n_folds(), rows = out_.n_members;
    const int64_t offset = first_member(l);
    if (usable) {
      const WeightsWanted wanted{true, out_.fold_weights != nullptr, out_.patterns != nullptr};
      location_weights(*worker.solver, design_, worker.fit, wanted, worker.weights, control);
    }
    int64_t next = 0;
    for (size_t i = 0; i < worker.members.size(); ++i) {
      const int64_t row = offset + static_cast<int64_t>(i);
      const bool used = usable && table_.state[worker.members[i]] == static_cast<int>(ColumnState::used);
      for (int64_t c = 0; c < columns; ++c) {
        out_.weights[row + rows * c] = used ? worker.weights.weights(next, c) : kMissing;
        if (out_.patterns != nullptr) {
          out_.patterns[row + rows * c] = used ? worker.weights.patterns(next, c) : kMissing;
        }
        for (int64_t f = 0; f < k && out_.fold_weights != nullptr; ++f) {
          out_.fold_weights[row + rows * (c + columns * f)] = used ? worker.weights.folds(next, c, f) : kMissing;
        }
      }
      next += used;
    }
  }

  int64_t first_member(int64_t l) const {
    const auto* lists = dynamic_cast<const ListedNeighbourhoods*>(&locations_);
    return lists != nullptr ? lists->start()[l] : 0;
  }

  void write_permutations(int64_t l, bool usable, Worker& worker, const Control& control) {
    const auto& failed = worker.fit.failed;
    usable = usable && std::count(failed.begin(), failed.end(), DecodingFailure::none) > 0;
    if (usable) permutations_->score(worker.fit, worker.scratch, control);
    tally_->add(l, usable ? worker.scratch.scores.data() : nullptr, worker.largest.data());
  }

  void finish(std::vector<Worker>& workers) {
    for (Worker& worker : workers) {
      out_.failures.insert(out_.failures.end(), worker.failures.begin(), worker.failures.end());
    }
    std::sort(out_.failures.begin(), out_.failures.end(), [](const DecodingFailureRow& a, const DecodingFailureRow& b) {
      if (a.location != b.location) return a.location < b.location;
      return a.fold != b.fold ? a.fold < b.fold : a.reason < b.reason;
    });
    if (permutations_ == nullptr) return;
    std::vector<double> largest = tally_->none();
    for (const Worker& worker : workers) {
      for (size_t i = 0; i < worker.largest.size(); ++i) largest[i] = std::max(largest[i], worker.largest[i]);
    }
    tally_->finish(largest);
  }

  const DecodingProblem& problem_;
  const Neighbourhoods& locations_;
  const DecodingOptions& options_;
  DecodingOutputs& out_;
  const DecodingDesign design_;
  const VoxelTable table_;
  std::unique_ptr<LabelPermutations> permutations_;
  std::unique_ptr<PermutationTally> tally_;
  int64_t n_locations_ = 0, n_metrics_ = 0;
  std::vector<double> test_value_;
  std::vector<int> test_label_;
  std::vector<char> impossible_;  // per fold: some metric cannot be defined there
};

}  // namespace

void decode(const DecodingProblem& problem, const Neighbourhoods& locations, const DecodingOptions& options,
            DecodingOutputs& out, const Control& control) {
  Decoding(problem, locations, options, out, control).run(control);
}

}  // namespace voxridge
