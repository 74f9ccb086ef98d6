// Ridge-penalised logistic regressions on some rows along a path of penalties, each started where the last has ended.
#pragma once

#include <functional>
#include <vector>

#include "logistic_newton.h"
#include "scaled_features.h"

namespace voxridge {

// How a path is solved; logistic.h says which shape takes which.
enum class LogisticRoute { primal, dual, rotate, batch, matrix_free };

// Some rows, seen as features or, in the dual, as products of samples.
struct LogisticRows {
  const ScaledFeatures* features = nullptr;
  const arma::mat* kernel = nullptr;
  std::vector<LogisticTarget> targets;
  arma::vec row_norms;
  const arma::vec* weights = nullptr;  // the same for all targets, sum 1
};

struct LogisticSolution {
  arma::mat points;  // features (or samples) x targets: gamma, or a of gamma = Z'a
  arma::mat linear;  // rows x targets: Z gamma
  std::vector<LogisticLoss> losses;
  std::vector<LogisticCertificate> certificates;
};

// Calls on_lambda(index, solution) for each lambda, in descending order.
void logistic_path(const LogisticRows& rows, LogisticRoute route, const std::vector<double>& lambdas,
                   const LogisticOptions& options, const Control& control,
                   const std::function<void(size_t index, const LogisticSolution&)>& on_lambda);

}  // namespace voxridge
