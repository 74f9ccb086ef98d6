#' Fit ridge-penalised logistic regression
#'
#' Fits logistic regression with an L2 penalty to one or many binary targets, over a path of penalties, chooses among
#' them by cross-validation, and says how far the answer can be from the optimum.
#'
#' @section Model:
#'
#' With weights scaled to sum 1, the fit minimises over b and beta
#'
#' \deqn{\sum_i w_i \{y_i \log(1 + e^{-\eta_i}) + (1 - y_i) \log(1 + e^{\eta_i})\} +
#'   \frac{\lambda}{2} \sum_j q_j (s_j \beta_j)^2, \quad \eta_i = o_i + b + x_i'\beta}
#'
#' with \eqn{s_j} the weighted standard deviation of feature j (divisor: the sum of weights) for `standardize = TRUE`
#' and 1 otherwise, and \eqn{q_j} the `penalty`. The intercept b is never penalised. Coefficients are for `X` as it was
#' given; that of a constant feature is 0. The answer does not depend on the sum of the weights, and a weight of 2 is a
#' row that occurs twice.
#'
#' The loss is an average: one lambda corresponds to alpha = n lambda where the loss is a sum. The same model has
#' * in glmnet (`alpha = 0`) the same lambda and `standardize`, with penalty factors all equal; glmnet rescales others
#'   to mean 1, so use lambda times their mean there;
#' * in scikit-learn `C = 1 / (lambda W)`, W the sum of the weights after class weights, given as `C`; its features have
#'   to be scaled by hand;
#' * in liblinear none: it penalises the intercept.
#'
#' @section Certificate:
#'
#' Without its intercept, which is minimised out, the objective is strongly convex, so the gradient bounds the distance
#' to the optimum: \eqn{||\gamma - \gamma^*|| \le ||g|| / \lambda} with \eqn{\gamma_j = \sqrt{q_j} s_j \beta_j}. A fit
#' ends where this bound is `tol` times \eqn{||\gamma||}, not where steps get small. `diagnostics` has, per target and
#' penalty, `bound` (that distance), `gap` (objective less its minimum, at most), `prob_bound` (error of any fitted
#' probability, at most), `gradient`, `iterations`, and `status`: `"converged"`, `"rounding"` (the gradient is nothing
#' but rounding, as happens for lambda below about 1e-8: the bounds hold as they are) or `"max_iter"`, with a warning.
#'
#' `margin` is the smallest logit on the side of its class (offset and prior left out). Where it is positive, a plane
#' separates the classes: `separable` is TRUE, without a penalty there is no estimate, and lambda alone sets the size of
#' the coefficients. A margin of 0 or less proves nothing, so `separable` is then NA.
#'
#' @section Cross-validation:
#'
#' The score of a fold is the mean of its held-out rows, weighted by `weights` (without class weights); folds count by
#' the weight that they hold out, as in glmnet; `se` is the standard error over folds. `"log_loss"` is in nats (half of
#' glmnet's deviance) and takes probabilities as they are, never clipped. `"auc"` is undefined, NA, where a fold holds
#' out one class: such folds are left out. With `fold_scaling = "global"` the scales \eqn{s_j} come from all rows: they
#' set the units of the penalty, nothing else, and one Gram matrix serves all folds. `"fold"` learns them anew from the
#' training rows.
#'
#' @section Solvers:
#'
#' `"auto"` goes by shape, so a fit can be repeated: for p <= n and p <= 2000, `"primal"`, Newton steps for each target,
#' or, from 8 targets on, `"batch"`, L-BFGS for all targets with one preconditioner; for p > n and n <= 5000,
#' `"dual"`, Newton steps on the products of samples, or, from 8 targets on, `"rotate"`, the batch on their
#' eigenvectors; else `"matrix_free"`, L-BFGS and conjugate gradients. They agree within the certificate.
#' `diagnostics$reason` says which rule chose.
#'
#' @inheritParams solve_ridge_cv
#' @param X n x p numeric matrix, rows are samples, no NA. Integer and logical matrices and data frames of numeric
#'   columns are converted (one copy).
#' @param y One target: 0/1, logical, a factor of two levels, or proportions from 0 to 1 (with the numbers of trials as
#'   `weights`), of length n. Several targets: an n x t matrix of these, never counts of successes and failures, or a
#'   data frame or list of vectors. No NA, but see `na_targets`.
#' @param lambda NULL (the default) for a grid of 50 values in units of the data (degrees of freedom from 0.5 up to 0.99
#'   of the rank, over at most four orders of magnitude of the largest curvature); one number for a single fit; or
#'   several for a path. All greater than 0; they are sorted, largest first.
#' @param cv Folds, as in [cv_folds()], without `"gcv"`; or NULL for the path alone. A number cuts contiguous blocks,
#'   within each class where there is a single target. The default is 5, and NULL for a single `lambda`.
#' @param weights NULL (the default) for equal weights, or n numbers of at least 0. Only their ratios matter; 0 leaves
#'   a row out of fit, scales and scores.
#' @param offset NULL (the default), or n numbers (for several targets also an n x t matrix) added to the logits; then
#'   [predict()][predict.voxridge_logistic] needs `newoffset`.
#' @param class_weights NULL (the default); `"balanced"` for classes of equal weight; or two numbers greater than 0
#'   named by class. Only for outcomes that are all 0 or 1.
#' @param positive NULL (the default) for the second level of a factor, or the level that counts as 1.
#' @param penalty NULL (the default) for 1 for each feature, or p numbers greater than 0.
#' @param standardize TRUE (the default) to penalise coefficients of features with standard deviation 1; FALSE to take
#'   the features as they are.
#' @param fold_scaling `"global"` (the default) or `"fold"`, see section Cross-validation.
#' @param fit_intercept TRUE (the default) to fit an unpenalised intercept per target; FALSE for none, with features
#'   that are scaled but not centred.
#' @param criterion `"log_loss"` (the default), `"brier"`, `"auc"` or `"accuracy"`.
#' @param choose `"min"` (the default) for the best mean score, ties to the larger penalty; `"1se"` for the largest
#'   penalty within one standard error of it.
#' @param local_lambda TRUE (the default) to choose a penalty per target; FALSE for one for all, by the mean score over
#'   targets (in each fold, those that it has a score for). Not with class weights of several targets.
#' @param prior NULL (the default), or the prevalence of 1 where the model will be used, between 0 and 1, one or one
#'   per target: shifts the intercept by the difference of the logits of `prior` and the weighted prevalence here. See
#'   [prior_correct()]. Scores and held-out predictions are those without it.
#' @param na_targets `"error"` (the default) or `"skip"` for targets with NA, NaN or Inf, or with a single class, which
#'   then come back as NA.
#' @param keep_path TRUE to keep the coefficients of all penalties; FALSE (the default) keeps the chosen ones.
#' @param keep_history TRUE to keep the objective at the start and after each iteration, per target and penalty. FALSE
#'   by default.
#' @param keep `"data"` (the default) keeps `X` and `y`, without copying them, for `fitted()` and `residuals()`;
#'   `"none"` does not.
#' @param tol Number between 0 and 1: where to stop, see section Certificate.
#' @param max_iter Whole number of Newton steps, at most, per target and penalty.
#' @param solver `"auto"` (the default), or one of section Solvers.
#' @param device `"cpu"` (the default) or `"auto"`; there is no GPU code for this model yet.
#'
#' @returns An object of class `voxridge_logistic` and `voxridge_fit`: a plain list that can be saved. For a vector `y`
#'   the dimension of targets is dropped.
#' * `coefs` (p x t), `intercept` (t; with the shift of `prior`), `best_lambda` (t), `C` (t; scikit-learn's),
#'   `final_loss` (t; weighted mean log-loss of the training rows), `iterations` (t), `converged` (t).
#' * `lambda` (l, descending), `prior_shift` (t), `prevalence` (t; weighted), `null_loss` (t; log-loss of the
#'   prevalence).
#' * `cv`: NULL, or a list of `scores` (folds x l x t), `mean`, `se` (l x t), `lambda_min`, `lambda_1se` (t), `at_edge`
#'   (t; whether `lambda_min` is an end of the grid), `best_score` (t; mean at `best_lambda`), `predictions` (n x t;
#'   held-out logits at `best_lambda`), `folds` (a list as in [fit_ridge()]), `criterion`.
#' * `path`: NULL, or a list of `coefs` (p x l x t) and `intercept` (l x t), without the shift of `prior`.
#' * `diagnostics`: a list of `table`, a data frame with a row per target and penalty (see section Certificate),
#'   `chosen`, the same for the chosen penalties, made again from `coefs` themselves, `history` (a list, or NULL),
#'   `solver`, `reason`, `backend`, `constant_features`, `skipped_targets`, `seconds`.
#' * `levels`, `positive`, `features`, `targets`, `center`, `scale` (p; with class weights of several targets p x t),
#'   `penalty`, `has_offset`, `weight_sum`, `dims`, `is_vector`, `fit_intercept`, `standardize`, `choose`, `data`.
#'
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#'
#' `voxridge_error_y_form` (outcomes in another form), `voxridge_error_single_class`, `voxridge_error_single_class_fold`
#' (both classes need weight, in every training fold), `voxridge_error_lambda`, `voxridge_error_penalty`,
#' `voxridge_error_weights`, `voxridge_error_offset`, `voxridge_error_prior`, `voxridge_error_nonfinite`,
#' `voxridge_error_shape`, `voxridge_error_type`, `voxridge_error_folds`, `voxridge_error_score`,
#' `voxridge_error_argument`, `voxridge_error_conflict`, `voxridge_error_memory`, `voxridge_error_too_large`,
#' `voxridge_error_device_unsupported`. Warnings: `voxridge_warning_not_converged`; `voxridge_warning_lambda_at_edge`
#' where over 5 % of the targets have their best score at an end of the grid (of the default grid, only at the smallest
#' penalty and where p >= n); `voxridge_warning_single_class` for targets that were skipped. See [voxridge-conditions].
#' @section Invariants:
#'
#' All solvers give the same answer within the certificate. Swapping `positive` swaps the sign of all coefficients.
#' Adding a constant to a feature, multiplying it (with `standardize = TRUE`) or all weights by one leaves probabilities
#' unchanged.
#' @references
#' le Cessie, S., van Houwelingen, J. C. (1992). Ridge estimators in logistic regression. Applied Statistics 41(1),
#' 191-201. \doi{10.2307/2347628}
#'
#' Friedman, J., Hastie, T., Tibshirani, R. (2010). Regularization paths for generalized linear models via coordinate
#' descent. Journal of Statistical Software 33(1). \doi{10.18637/jss.v033.i01}
#'
#' Boehning, D., Lindsay, B. G. (1988). Monotonicity of quadratic-approximation algorithms. Annals of the Institute of
#' Statistical Mathematics 40, 641-663. \doi{10.1007/BF00049423}
#' @seealso [predict.voxridge_logistic()] and the other verbs, [reliability_curve()], [log_loss()], [prior_correct()].
#' @examples
#' set.seed(1)
#' X <- matrix(rnorm(100 * 10), 100)
#' y <- X[, 1] + rnorm(100) > 0
#' fit <- fit_logistic_ridge(X, y, n_threads = 2)
#' fit
#' round(coef(fit), 2)
#' log_loss(y, fit$cv$predictions, scale = "logit")
#' @export
fit_logistic_ridge <- function(X, y, lambda = NULL, cv = if (length(lambda) == 1L) NULL else 5, weights = NULL,
                               offset = NULL, class_weights = NULL, positive = NULL, penalty = NULL,
                               standardize = TRUE, fold_scaling = c("global", "fold"), fit_intercept = TRUE,
                               criterion = c("log_loss", "brier", "auc", "accuracy"), choose = c("min", "1se"),
                               local_lambda = TRUE, prior = NULL, na_targets = c("error", "skip"), keep_path = FALSE,
                               keep_history = FALSE, keep = c("data", "none"), tol = 1e-8, max_iter = 100L,
                               solver = "auto", device = "cpu", n_threads = NULL, progress = interactive()) {
  call <- rlang::current_env()
  started <- proc.time()[["elapsed"]]
  settings <- list(
    standardize = as_flag(standardize),
    scale_per_fold = as_choice(fold_scaling, c("global", "fold")) == "fold",
    fit_intercept = as_flag(fit_intercept),
    criterion = as_choice(criterion, BINARY_CRITERIA),
    choose = as_choice(choose, c("min", "1se")),
    local_lambda = as_flag(local_lambda),
    keep_path = as_flag(keep_path),
    keep_history = as_flag(keep_history),
    keep = as_keep(keep, call),
    tol = as_share(tol),
    max_iter = as_count(max_iter)
  )
  na_targets <- as_choice(na_targets, c("error", "skip"))
  solver <- as_choice(solver, LOGISTIC_SOLVERS)
  backend <- refuse_gpu(device, "fit_logistic_ridge", call)
  X <- as_features(X)
  n <- nrow(X)
  outcome <- as_outcome(y, positive, na_targets = na_targets)
  Y <- logistic_targets(outcome, n, call)
  lambda <- as_lambdas(lambda, call)
  weights <- as_weights(weights, n)
  design <- list(
    X = X,
    Y = Y,
    offset = as_offset(offset, n, ncol(Y), call),
    weights = weights,
    penalty = as_feature_penalty(penalty, ncol(X), call),
    folds = logistic_folds(cv, Y, outcome, call),
    lambda = lambda
  )
  design$skip <- single_class_targets(Y, weights, outcome$is_vector, na_targets, call)
  classes <- as_class_weights(class_weights, Y, weights, outcome, design$skip, settings$local_lambda, call)
  check_fold_criterion(settings$criterion, design$folds, call)
  check_training_classes(design, call)
  check_held_out_classes(design, settings, call)
  prior <- if (!is.null(prior)) rep_len(as_prevalence(prior, ncol(Y)), ncol(Y))
  route <- logistic_route(solver, n, ncol(X), ncol(Y) - length(design$skip), call)
  check_logistic_memory(design, settings, route$route, call)
  bar <- start_progress(progress, "Logistic regression")
  on.exit(bar$close())
  control <- core_control(n_threads, bar$report, call)
  solved <- run_core(solve_logistic(design, classes, settings, route, control), call)
  new_voxridge_logistic(solved, design, outcome, classes, prior, settings, route, backend, started)
}

BINARY_CRITERIA <- c("log_loss", "brier", "auc", "accuracy")
LOGISTIC_SOLVERS <- c("auto", "primal", "dual", "rotate", "batch", "matrix_free")
N_LAMBDAS <- 50L

# ---- solving ---------------------------------------------------------------------------------

# With class weights every target has its own weights, scales and preconditioner: one after the other.
solve_logistic <- function(design, classes, settings, route, control) {
  options <- c(settings, list(route = route$route))
  solve <- function(Y, offset, weights, skip, lambda) {
    core_logistic(design$X, Y, offset, weights, design$weights, design$penalty, design$folds[c("train", "test")],
                  lambda %||% double(), N_LAMBDAS, skip, options, control)
  }
  if (is.null(classes)) return(solve(design$Y, design$offset, design$weights, design$skip, design$lambda))
  lambda <- design$lambda
  if (is.null(lambda) && ncol(design$Y) > 1L) {
    lambda <- core_logistic_grid(design$X, design$weights, design$penalty, N_LAMBDAS, options, control)
  }
  each <- lapply(seq_len(ncol(design$Y)), function(j) {
    skip <- if (j %in% design$skip) 1L else integer()
    solve(design$Y[, j, drop = FALSE], target_offset(design$offset, j), classes$weights[, j], skip, lambda)
  })
  bind_logistic(each)
}

target_offset <- function(offset, j) if (is.null(offset)) NULL else offset[, j, drop = FALSE]

# Answers for single targets as one for all: targets are the last dimension of everything.
bind_logistic <- function(each) {
  if (length(each) == 1L) return(each[[1L]])
  out <- each[[1L]]
  bind <- function(parts) {
    if (is.null(parts[[1L]])) return(NULL)
    dims <- dim(parts[[1L]])
    values <- if (is.list(parts[[1L]])) unlist(parts, recursive = FALSE) else unlist(parts)
    if (is.null(dims)) values else array(values, c(dims[-length(dims)], length(parts)))
  }
  for (name in setdiff(names(out), c("lambda", "center", "scale", "path", "chosen"))) {
    out[name] <- list(bind(lapply(each, `[[`, name)))
  }
  for (name in c("center", "scale")) out[[name]] <- do.call(cbind, lapply(each, `[[`, name))
  for (part in c("path", "chosen")) {
    for (name in names(out[[part]])) out[[part]][[name]] <- bind(lapply(each, function(one) one[[part]][[name]]))
  }
  out
}

# ---- the object ------------------------------------------------------------------------------

new_voxridge_logistic <- function(solved, design, outcome, classes, prior, settings, route, backend, started) {
  t <- ncol(design$Y)
  names <- list(features = colnames(design$X), samples = rownames(design$X) %||% rownames(design$Y),
                targets = colnames(design$Y), folds = design$folds$labels)
  vector <- outcome$is_vector
  per_target <- function(x) with_names(x, names$targets)
  fit_weights <- classes$weights %||% matrix(design$weights, length(design$weights), t)
  prevalence <- colSums(fit_weights * design$Y) / colSums(fit_weights)
  raw_prevalence <- colSums(design$weights * design$Y) / sum(design$weights)
  shift <- rep(0, t)
  if (!is.null(prior)) {
    shift <- as_logits(prior, "probability") - as_logits(skipped_as_na(prevalence, design$skip), "probability")
  }
  best <- solved$best
  out <- list(
    format = FIT_FORMAT,
    coefs = name_rows_targets(solved$coefs, names$features, names$targets, vector),
    intercept = per_target(solved$intercept + shift),
    prior_shift = per_target(shift),
    best_lambda = per_target(solved$lambda[best]),
    lambda = solved$lambda,
    C = per_target(1 / (solved$lambda[best] * colSums(fit_weights))),
    final_loss = per_target(skipped_as_na(solved$chosen$loss, design$skip)),
    iterations = per_target(skipped_as_na(solved$chosen$iterations, design$skip)),
    converged = per_target(skipped_as_na(solved$chosen$status < 2, design$skip)),
    prevalence = per_target(prevalence),
    null_loss = per_target(binary_entropy(raw_prevalence)),
    cv = logistic_cv(solved, design, names, vector, settings),
    path = logistic_coef_path(solved, names, vector),
    diagnostics = logistic_diagnostics(solved, design, names, route, backend, settings),
    levels = outcome$levels, positive = outcome$positive, outcome_type = outcome$type,
    features = names$features, targets = names$targets,
    center = name_scales(solved$center, names), scale = name_scales(solved$scale, names),
    penalty = design$penalty, has_offset = !is.null(design$offset),
    weight_sum = colSums(fit_weights)[seq_len(if (is.null(classes)) 1L else t)],
    dims = c(n = nrow(design$X), p = ncol(design$X), t = t), is_vector = vector,
    fit_intercept = settings$fit_intercept, standardize = settings$standardize, choose = settings$choose,
    data = if (settings$keep == "data") design[c("X", "Y", "offset", "weights")]
  )
  out$diagnostics$seconds <- proc.time()[["elapsed"]] - started
  out <- structure(out, class = c("voxridge_logistic", "voxridge_fit"))
  report_logistic(out, is.null(design$lambda))
  out
}

# A value per feature, or with class weights one per feature and target.
name_scales <- function(x, names) {
  if (is.matrix(x)) with_dimnames(x, list(names$features, names$targets)) else with_names(x, names$features)
}

skipped_as_na <- function(x, skip) {
  x[skip] <- NA
  x
}

# Log-loss of a forecast that is the prevalence itself.
binary_entropy <- function(p) {
  term <- function(p) ifelse(p > 0, -p * log(p), 0)
  term(p) + term(1 - p)
}

logistic_cv <- function(solved, design, names, vector, settings) {
  if (is.null(design$folds$test)) return(NULL)
  t <- ncol(design$Y)
  folds <- design$folds
  l <- length(solved$lambda)
  per_target <- function(x) with_names(x, names$targets)
  scores <- solved$scores
  dimnames(scores) <- if (!is.null(names$folds) || !is.null(names$targets)) list(names$folds, NULL, names$targets)
  lambda_targets <- function(x) if (vector) as.vector(x) else with_dimnames(x, list(NULL, names$targets))
  list(
    scores = if (vector) array(scores, dim(scores)[1:2], dimnames(scores)[1:2]) else scores,
    mean = lambda_targets(solved$mean),
    se = lambda_targets(solved$se),
    lambda_min = per_target(solved$lambda[solved$best_min]),
    lambda_1se = per_target(solved$lambda[solved$best_1se]),
    at_edge = per_target(if (l == 1L) rep(NA, t) else solved$best_min %in% c(1L, l) & !is.na(solved$best_min)),
    best_score = per_target(solved$mean[cbind(solved$best, seq_len(t))]),
    predictions = name_rows_targets(solved$predictions, names$samples, names$targets, vector),
    folds = c(list(kind = folds$kind, n = length(folds$test)),
              folds[c("labels", "id", "train", "test", "partition")]),
    criterion = settings$criterion
  )
}

logistic_coef_path <- function(solved, names, vector) {
  if (is.null(solved$path_coefs)) return(NULL)
  coefs <- solved$path_coefs
  intercept <- solved$path_intercept
  if (vector) {
    coefs <- matrix(coefs, nrow(coefs), dimnames = if (!is.null(names$features)) list(names$features, NULL))
    return(list(coefs = coefs, intercept = as.vector(intercept)))
  }
  list(coefs = with_dimnames(coefs, list(names$features, NULL, names$targets)),
       intercept = with_dimnames(intercept, list(NULL, names$targets)))
}

LOGISTIC_STATUS <- c("converged", "rounding", "max_iter")

logistic_diagnostics <- function(solved, design, names, route, backend, settings) {
  t <- ncol(design$Y)
  labels <- names$targets %||% seq_len(t)
  used <- setdiff(seq_len(t), design$skip)
  table <- certificate_table(solved$path, labels, solved$lambda, used)
  chosen <- certificate_table(lapply(solved$chosen, function(x) if (length(x)) matrix(x, 1L) else x), labels,
                              solved$lambda[solved$best], used)
  history <- if (settings$keep_history) solved$path$history
  list(table = table, chosen = chosen, history = history, solver = route$route, reason = route$reason,
       backend = backend$name, constant_features = which(rowSums(as.matrix(solved$scale) != 0) == 0),
       skipped_targets = design$skip)
}

# A row per target and penalty; the penalties of `chosen` are one per target.
certificate_table <- function(from, labels, lambda, used) {
  rows <- nrow(from$bound)
  columns <- function(x) as.vector(x[, used, drop = FALSE])
  margin <- columns(from$margin)
  table <- list(
    target = rep(labels[used], each = rows),
    lambda = if (rows == 1L && length(lambda) > 1L) lambda[used] else rep(lambda, times = length(used)),
    iterations = as.integer(columns(from$iterations)),
    loss = columns(from$loss),
    objective = columns(from$objective),
    gradient = columns(from$gradient),
    bound = columns(from$bound),
    gap = columns(from$gap),
    prob_bound = columns(from$prob_bound),
    size = columns(from$size),
    status = LOGISTIC_STATUS[columns(from$status) + 1],
    separable = ifelse(margin > 0, TRUE, NA),
    margin = margin
  )
  # data.frame() takes as long as a fit
  structure(table, class = "data.frame", row.names = .set_row_names(length(margin)))
}
