// Ridge regression for many targets: what can be asked and what is given back.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "control.h"
#include "factor.h"
#include "features.h"
#include "fold_search.h"
#include "folds.h"
#include "loo.h"
#include "refit.h"
#include "score.h"
#include "tiles.h"

namespace voxridge {

enum class CvKind { kfold, loo, gcv };

// For whom factors are made that lie in files.
struct FactorDemand {
  CvKind cv = CvKind::kfold;
  Score score = Score::r2;
  Coefs coefs = Coefs::none;
  double smallest_alpha = 0;
};

// Everything that depends on X and the folds alone. Made once, it serves any number of calls with other targets.
class RidgePreparation {
 public:
  // X must outlive the preparation. The folds are empty for closed-form cross-validation and fixed penalties.
  RidgePreparation(MatrixView<double> x, Folds folds, bool intercept, const Control& control);

  const Features& features() const { return features_; }
  const Folds& folds() const { return folds_; }

  // Factors good enough for this smallest penalty. They live as long as somebody holds them, whatever other calls do.
  std::shared_ptr<Factors> factors(double smallest_alpha, const Control& control);
  void cache_single(const Control& control);

  // Makes all factors now and keeps them for later calls.
  void keep_factors(const Control& control);

  // Factors that several processes share (factor_files.h): each makes share `share` of `n_shares` of those in demand
  // and writes them into `folder`. Returns which they are in all; `kind`: of what kind. `n_threads`: as in a single
  // process that would make all of them, so that they have the same bits.
  std::vector<int64_t> write_factors(const FactorDemand& demand, const std::string& folder, int64_t share,
                                     int64_t n_shares, int n_threads, FactorKind& kind, const Control& control);

  // Takes them from there, and keeps what calls make of them.
  void read_factors(const FactorKind& kind, const std::vector<int64_t>& which, const std::string& folder);

  // Runs a call. At its end the factors of the folds are freed, unless they are to be kept; where the GPU had not
  // enough memory, so is all that lies there, for the next attempt.
  template <class Call>
  void serve(const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::gpu_out_of_memory) leave_gpu();
      throw;
    }
    finish();
  }

  // All features on a device of its own, as long as the preparation lives; nothing where they do not fit.
  template <class T>
  MatrixView<T> resident(Device<T>& device, const Control& control);

  // What calls leave on such a device for later ones, or anywhere where the factors come from files; else nullptr.
  template <class T>
  KeptSearch<T>* kept_search(const Device<T>& device);

  // The factor of all rows on the device, from an earlier call where it is there.
  template <class T>
  std::shared_ptr<const FactorOnDevice<T>> put_full(Device<T>& device, Factors& factors, Coefs kind,
                                                    const Control& control);

 private:
  void finish();
  void leave_gpu();

  template <class T>
  struct Resident {
    Buffer<T> memory;
    MatrixView<T> view;
    KeptSearch<T> search;
    std::shared_ptr<const FactorOnDevice<T>> full;
    Coefs kind = Coefs::none;  // that `full` serves
  };
  template <class T>
  Resident<T>& on_device();

  bool keep_ = false;
  bool keep_search_ = false;  // on the CPU, too
  Folds folds_;
  Features features_;
  std::shared_ptr<Factors> gram_factors_, svd_factors_;  // either, or both for a preparation that serves many calls
  Resident<float> single_;
  Resident<double> double_;
};

struct RidgeCvOptions {
  std::vector<double> alphas;
  CvKind cv = CvKind::kfold;
  bool local_alpha = true;
  bool conservative = false;
  Score score = Score::r2;
  UserScore user;
  int64_t targets_batch = 0;  // 0: as many as the memory allows
  int64_t targets_batch_refit = 0;
  int64_t alphas_batch = 0;

  FoldSearchOptions search() const { return {score, user, conservative, targets_batch, alphas_batch}; }
};

struct RidgeCvOutputs {
  int* alpha_index = nullptr;          // t, 0-based; -1 for skipped targets
  double* fold_scores = nullptr;       // folds x alphas x t, or nullptr
  double* mean_scores = nullptr;       // alphas x t, or nullptr
  StoreWriter* score_store = nullptr;  // takes the mean scores, tile by tile, in place of `mean_scores`
  CoefOutputs coefs;
  std::vector<char> constant;  // t: constant over the held-out rows of some fold
  arma::mat tile_totals;       // alphas x tiles: sums of the mean scores of the targets of each tile
  // What was done:
  Form form = Form::dual;
  Route route = Route::eigen;
  int64_t n_nodes = 0;
  int64_t passes = 0;
};

// Penalties by cross-validation, then coefficients on all rows. T: precision of the target loop.
template <class T>
void ridge_cv(RidgePreparation& preparation, const Targets& targets, const RidgeCvOptions& options, RidgeCvOutputs& out,
              const Control& control);

// Coefficients at given penalties (one, or one per target).
template <class T>
void ridge_fit(RidgePreparation& preparation, const Targets& targets, const std::vector<double>& alphas,
               CoefOutputs& out, const Control& control);

// Out-of-fold predictions at given penalties (one, or one per target).
struct RidgePredictOutputs {
  MatrixSpan<double> predictions;  // n x t, the caller's rows; rows in no fold are left as they are
  double* scores = nullptr;        // folds x t
  std::vector<char> constant;
};
template <class T>
void ridge_predict_cv(RidgePreparation& preparation, const Targets& targets, const std::vector<double>& alphas,
                      Score score, const UserScore& user, RidgePredictOutputs& out, const Control& control);

}  // namespace voxridge
