#' Out-of-fold predictions of ridge regression
#'
#' Predicts every sample by a model fitted without its fold, for given penalties.
#'
#' Nothing is selected: to choose penalties without looking at the test samples, choose them inside each training set,
#' for example with [solve_ridge_cv()].
#'
#' @inheritParams solve_ridge_cv
#' @param X n x p numeric matrix, rows are samples, no NA; or the result of [prepare_ridge()].
#' @param alphas One penalty, or one per target; numeric, finite and at least 0, see section Penalty.
#' @param cv Folds, see [cv_folds()]. Each sample may be held out at most once; `"gcv"` has no predictions. The default
#'   is 5 contiguous blocks.
#' @param score_func `"r2"` (the default), `"neg_mse"`, `"correlation"`, or a function of `(y_true, y_pred)`; as in
#'   [solve_ridge_cv()].
#'
#' @returns A list:
#' * `predictions`: n x t, NA for samples that are in no test set; a vector of length n for a vector `Y`.
#' * `folds`: integer, n; the fold in which each sample was held out, NA for none.
#' * `scores`: folds x targets; one per fold for a vector `Y`. `cv = "loo"` has one row, the score of all predictions
#'   together.
#' * `backend`: `"armadillo"` or `"cuda"`.
#' * `diagnostics`: a list of `constant_targets` and `skipped_targets` (positions) and `info` (as in
#'   [solve_ridge_cv()]).
#'
#' Skipped targets are NA. Names of rows and columns are kept, fold labels name the rows of `scores`.
#' @inheritSection voxridge-penalty Penalty
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' Those of [solve_ridge_cv()]; `voxridge_error_folds` also for folds that hold out a sample more than once, and for
#' `"gcv"`. See [voxridge-conditions].
#' @section Invariants:
#' A fold's predictions are those of a model fitted to its training rows alone. `scores` are the scores of `predictions`
#' on each fold. Results do not depend on threads or on the other targets.
#' @references
#' Hoerl, A. E., Kennard, R. W. (1970). Ridge regression: biased estimation for nonorthogonal problems. Technometrics
#' 12(1), 55-67. \doi{10.1080/00401706.1970.10488634}
#' @examples
#' data <- simulate_encoding(n = 80, p = 12, t = 5, seed = 1)
#' out <- cross_val_predict_ridge(data$X, data$Y, alphas = 10, cv = data$runs, n_threads = 2)
#' round(out$scores, 2)
#' dim(out$predictions)
#' @export
cross_val_predict_ridge <- function(X, Y, alphas, cv = 5, fit_intercept = FALSE, score_func = "r2",
                                    na_targets = c("error", "skip"), precision = c("double", "single"),
                                    device = "cpu", max_gpu_memory_gb = NULL, n_threads = NULL,
                                    progress = interactive()) {
  call <- rlang::current_env()
  if (missing(alphas)) {
    abort(
      c("{.arg alphas} must be given: one penalty, or one per target.", i = "{.fn solve_ridge_cv} chooses penalties."),
      "alphas"
    )
  }
  na_targets <- as_choice(na_targets, c("error", "skip"))
  score <- as_score(score_func, call)
  backend <- solver_backend(device, precision, max_gpu_memory_gb, call)
  design <- as_design(X, setting(cv, !missing(cv)), setting(fit_intercept, !missing(fit_intercept)), call)
  targets <- as_targets(Y, nrow(design$X), na_targets, call = call, stream = TRUE)
  alphas <- as_alphas(alphas, sizes = c(1L, ncol(targets$Y)))
  check_whole_runs(design$folds, list(X = design$X, Y = targets$Y), call)
  check_held_out_once(design$folds, call)
  check_score_folds(score, design$folds, call)
  check_prediction_memory(design, targets, call)
  bar <- start_progress(progress, "Out-of-fold predictions", call)
  on.exit(bar$close())
  # the products of one penalty
  work <- ridge_work(nrow(design$X), ncol(design$X), ncol(targets$Y), 1, n_folds(design$folds), "none",
                     backend$precision)
  backend <- settle_backend(backend, work, n_threads, call)
  out <- on_device(backend, n_threads, bar$report, function(control) {
    predict_folds(design, targets, alphas, score, backend, control, call)
  }, call)
  finish_predictions(out$value, design, targets, result_names(design, targets), out$backend)
}

# The core's list(predictions, scores, constant_targets, info), on checked inputs.
predict_folds <- function(design, targets, alphas, score, backend, control, call) {
  options <- list(
    fit_intercept = design$fit_intercept, score = score$word, single = backend$precision == "single",
    skip = targets$skip, names = result_names(design, targets)
  )
  pointer <- design_pointer(design, control, call)
  run_core(
    core_ridge_predict_cv(design$X, targets$Y, pointer, core_folds(design$folds), alphas, options, control, score$fun),
    call
  )
}

check_held_out_once <- function(folds, call, arg = "cv") {
  if (folds$kind == "gcv") {
    abort(
      c("{.arg {arg}} must make held-out predictions, not be {.val gcv}.", i = "Use {.code cv = \"loo\"} or folds."),
      "folds",
      call = call
    )
  }
  if (!is.null(folds$id)) return(invisible(folds))
  times <- tabulate(unlist(folds$test))
  where <- which(times > 1L)
  shown <- first_few(where)
  abort(
    c("{.arg {arg}} must hold out each sample at most once, not {length(where)} more often (row{?s} {shown}).",
      i = "A sample has one prediction here. Run repeated folds in separate calls."),
    "folds",
    where = where, call = call
  )
}

check_prediction_memory <- function(design, targets, call) {
  n <- nrow(design$X)
  t <- ncol(targets$Y)
  results <- 8 * as.double(t) * c(n, n_folds(design$folds))
  names(results) <- c(paste0("predictions (", format_count(n), " x ", format_count(t), ")"), "scores")
  check_result_memory(results, "Predict fewer targets per call.", call)
}

finish_predictions <- function(raw, design, targets, names, backend) {
  labels <- if (nrow(raw$scores) == length(names$folds)) names$folds
  constant <- raw$constant_targets
  list(
    predictions = name_rows_targets(raw$predictions, names$samples, names$targets, targets$is_vector),
    folds = with_names(design$folds$id, names$samples),
    scores = name_rows_targets(raw$scores, labels, names$targets, targets$is_vector),
    backend = backend$name,
    diagnostics = list(
      constant_targets = with_names(constant, names$targets[constant]),
      skipped_targets = with_names(targets$skip, names$targets[targets$skip]),
      info = raw$info
    )
  )
}
