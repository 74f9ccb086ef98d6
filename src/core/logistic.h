// Ridge-penalised logistic regression of binary targets along a path of penalties, with cross-validation.
//
//   F(b, beta) = sum_i w_i [ y_i softplus(-eta_i) + (1 - y_i) softplus(eta_i) ] + lambda / 2 sum_j q_j (s_j beta_j)^2,
//   eta_i = offset_i + b + x_i'beta,  sum_i w_i = 1,  s_j the weighted standard deviation (divisor 1) or 1
//
// (le Cessie and van Houwelingen 1992, doi:10.2307/2347628). Everything works on z_ij = (x_ij - m_j) / (s_j sqrt(q_j)).
// The route depends on shapes alone:
//   primal       p <= n, p <= 2000, fewer than 8 targets   Newton in the space of the features
//   batch        p <= n, p <= 2000, 8 targets or more      L-BFGS with one preconditioner for all, then Newton
//   dual         p > n, n <= 5000, fewer than 8 targets    Newton in the space of the samples, one K = ZZ' for all
//   rotate       p > n, n <= 5000, 8 targets or more       K = U D U', then as batch on U D^1/2
//   matrix_free  otherwise                                 L-BFGS, then Newton by conjugate gradients
// Targets go in groups, folds and groups side by side on the threads; neither threads nor memory change an answer.
#pragma once

#include <string>
#include <vector>

#include "binary_scores.h"
#include "folds.h"
#include "logistic_fold.h"
#include "view.h"

namespace voxridge {

enum class LambdaChoice { min, one_se };

struct LogisticCvOptions {
  LogisticOptions solver;
  LogisticRoute route = LogisticRoute::primal;
  bool standardize = true;
  bool scale_per_fold = false;  // else the scales of all rows serve every fold
  BinaryScore criterion = BinaryScore::log_loss;
  LambdaChoice choose = LambdaChoice::min;
  bool local_lambda = true;
  bool keep_path = false;
};

// Where answers go; arrays are column-major, in the order of their dimensions, and nullptr where not wanted. Skipped
// targets are left as they are.
struct LogisticOutputs {
  int* best = nullptr;                            // t: index of lambda
  double* scores = nullptr;                       // folds x lambdas x t
  double* mean = nullptr;                         // lambdas x t
  double* se = nullptr;                           // lambdas x t
  int* best_min = nullptr;                        // t
  int* best_1se = nullptr;                        // t
  MatrixSpan<double> predictions;                 // n x t: held-out logits at the chosen lambda
  MatrixSpan<double> coefs;                       // p x t, for the features as they are
  double* intercepts = nullptr;                   // t
  double* path_coefs = nullptr;                   // p x lambdas x t
  double* path_intercepts = nullptr;              // lambdas x t
  std::vector<LogisticCertificate> certificates;  // lambdas x t, of the fits to all rows
  std::vector<LogisticCertificate> chosen;        // t, made again from the coefficients themselves
};

// Which route serves n rows, p features and t targets, and the rule that says so.
struct RouteChoice {
  LogisticRoute route;
  std::string reason;
};
RouteChoice choose_route(int64_t n, int64_t p, int64_t t);
std::string route_name(LogisticRoute route);

class LogisticRidge {
 public:
  // `data` must outlive this.
  LogisticRidge(const LogisticData& data, std::vector<Fold> folds, const LogisticCvOptions& options,
                const Control& control);

  // The default grid, from features and weights alone. See lambda_grid.h.
  std::vector<double> default_lambdas(int64_t n, const Control& control) const;

  // `lambdas` > 0, descending. Without folds nothing is chosen: `best` is the last.
  void run(const std::vector<double>& lambdas, LogisticOutputs& out, const Control& control) const;

  const Scales& scales() const { return scales_; }

 private:
  // Targets that are solved together, and what is kept of them until their penalties are chosen.
  struct Group {
    std::vector<int64_t> targets;
    std::vector<arma::cube> held_out;  // per fold: held-out rows x targets x lambdas, logits
    arma::cube points;                 // of the fits to all rows: features or samples x targets x lambdas
    arma::mat intercepts;              // targets x lambdas
  };

  int64_t dimensions() const;
  double job_bytes() const;
  std::vector<Group> make_groups() const;
  void run_fold(const Group& group, size_t fold, const std::vector<double>& lambdas, double* scores,
                arma::cube* held_out, const Control& control) const;
  void run_all_rows(Group& group, const std::vector<double>& lambdas, LogisticOutputs& out,
                    const Control& control) const;
  void choose(const std::vector<int64_t>& targets, int64_t n_lambdas, LogisticOutputs& out) const;
  void predict(const Group& group, LogisticOutputs& out) const;
  void refit(const Group& group, const std::vector<double>& lambdas, LogisticOutputs& out,
             const Control& control) const;

  const LogisticData& data_;
  const std::vector<Fold> folds_;
  const LogisticCvOptions options_;
  RowList rows_;  // of weight
  Scales scales_;
  LogisticView view_;
  std::vector<double> fold_weights_;  // held out by each, in score weights
};

}  // namespace voxridge
