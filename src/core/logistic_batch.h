// Ridge-penalised logistic regression of many targets at once: L-BFGS (Nocedal and Wright 2006, algorithm 7.4) whose
// first approximation of the inverse Hessian is one for all of them (logistic_preconditioner.h). Products with the
// features are made for all targets that are not yet done; every target has its own step length and certificate.
#pragma once

#include <vector>

#include "logistic_newton.h"
#include "logistic_preconditioner.h"
#include "scaled_features.h"

namespace voxridge {

// Columns of `points` (features x targets), of `linear` (Z gamma, rows x targets) and `losses` are where the targets
// start and where they end. Targets that need more than max_iterations, or are left when few still move, have the
// status max_iterations: Newton's method finishes them from there.
std::vector<LogisticCertificate> logistic_batch(const ScaledFeatures& features,
                                                const std::vector<LogisticTarget>& targets,
                                                Preconditioner& preconditioner, const arma::vec& row_norms,
                                                double lambda, const LogisticOptions& options, int max_iterations,
                                                arma::mat& points, arma::mat& linear, std::vector<LogisticLoss>& losses,
                                                const Control& control);

}  // namespace voxridge
