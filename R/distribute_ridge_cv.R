#' Cross-validated ridge regression over several processes or machines
#'
#' Does the work of [solve_ridge_cv()] on the workers of the current [future::plan()], with the same answer.
#'
#' `X` is factored once, by the workers; then each gets a list of batches of targets and reads the factors and its
#' targets from a folder, `dir`. No data are sent along. A finished batch is a file there, so nothing is done twice: not
#' where a worker or a machine dies, and not where R itself is killed: the same call with the same `dir` goes on, in any
#' R session and under any plan.
#'
#' Factoring once is what distinguishes this from fitting each batch of targets as a problem of its own, whose cost
#' grows with the number of batches: with as many batches as workers both take the same time.
#'
#' Under `plan(sequential)` the work is done here, which needs no more memory than one worker and leaves checkpoints,
#' too. The vignette `vignette("cluster", package = "voxridge")` leads from one laptop to a cluster.
#'
#' @inheritParams solve_ridge_cv
#' @param X n x p numeric matrix, rows are samples, no NA.
#' @param Y n x t numeric matrix, which is written into `dir` for the workers; or a [target_store()] whose files all
#'   workers reach under the same path.
#' @param score_func `"r2"` (the default), `"neg_mse"`, `"correlation"`, or a function of `(y_true, y_pred)` that scores
#'   every column by itself and draws no random numbers. The variables and packages it needs go to the workers with it.
#' @param return_coefs `"none"` (the default), `"primal"` or `"dual"`. Coefficients come as a [target_store()] of
#'   float32 in `dir`.
#' @param return_cv_scores `"mean"` (the default) returns alphas x targets scores, `"all"` folds x alphas x targets,
#'   `"none"` none.
#' @param dir NULL (the default), or a folder for the run, empty or with this run, which all workers reach under the
#'   same path; it is made if its parent folder is there. NULL is for workers on this machine: a folder of this R
#'   session.
#' @param memory_gb NULL (the default), or the working memory of one worker in GB, beyond `X`, its factors and results.
#'   NULL is half of the free memory there, shared by the workers where they are processes of one machine.
#' @param n_targets_batch NULL (the default: at least four batches per worker, of at most 8192 targets), or how many
#'   targets make a batch; rounded up to a multiple of 512. A run that is in `dir` keeps its batches.
#' @param retries Whole number: how often units of work that failed are dealt again. The default is 2. In the last round
#'   they go one by one, with half the memory.
#' @param resume TRUE (the default) goes on with the run that is in `dir`. FALSE refuses a folder with a run.
#' @param on_failure `"error"` (the default): targets that are missing after all retries raise an error, whose field
#'   `partial` has the result of the others. `"partial"`: a warning, and NA for them; one alpha for all needs the scores
#'   of all, though.
#' @param n_threads NULL (the default: all cores that the worker's scheduler or plan grants it), or the number of
#'   threads of each worker. Workers times threads should be the number of cores.
#' @param progress TRUE shows a progress bar on the console (stderr); never in scripts, tests and knitr.
#'
#' @returns The list of [solve_ridge_cv()], and:
#' * `dir`: the folder of the run; NULL where it was not given and holds no coefficients.
#' * `missing_targets`: integer; targets without a result, none unless `on_failure = "partial"`.
#' * `diagnostics$batches`: data frame, one row per batch: `batch`, `first`, `last` (targets), `host`, `pid`, `attempt`,
#'   `n_threads`, `seconds`.
#'
#' @inheritSection voxridge-penalty Penalty
#' @section Errors: Those of [solve_ridge_cv()], and `voxridge_error_dir_not_writable`, `voxridge_error_dir_not_shared`
#'   (workers that do not see `dir`), `voxridge_error_manifest_mismatch` (`dir` has another run; every difference is
#'   named), `voxridge_error_incomplete` (fields `partial`, `missing_targets`, `messages`), `voxridge_error_fork_unsafe`
#'   (`plan(multicore)` with a BLAS that does not survive a fork), `voxridge_error_worker_version`,
#'   `voxridge_error_blas_self_test` (the BLAS of the workers computes wrongly), `voxridge_error_memory_budget`. An
#'   error of the data in a worker ends the run at once. Warnings `voxridge_warning_incomplete`,
#'   `voxridge_warning_checkpoint` (a damaged file), `voxridge_warning_second_driver`, `voxridge_warning_run_versions`,
#'   `voxridge_warning_blas_self_test`. See [voxridge-conditions].
#' @section Invariants:
#' The same bits for any plan, number of workers, width of batches, order, death of workers and resumption, and the same
#' as [solve_ridge_cv()] (its `coefs_path` where there are coefficients), for one kind of processor and BLAS and one
#' number of threads for the factors, that of the driver; to rounding otherwise. Every target is in one batch, the last
#' one included.
#' @references
#' Ahmadi, S., Bellec, P., Glatard, T. (2024). Scaling up ridge regression for brain encoding in a massive individual
#' fMRI dataset. arXiv 2403.19421. \doi{10.48550/arXiv.2403.19421}
#'
#' Bengtsson, H. (2021). A unifying framework for parallel and distributed processing in R using futures. The R Journal
#' 13(2), 208-227. \doi{10.32614/RJ-2021-048}
#' @seealso [distribute_banded_ridge_cv()], [solve_ridge_cv()], [target_store()].
#' @examples
#' data <- simulate_encoding(n = 80, p = 12, t = 600, seed = 1)
#' future::plan(future::sequential)  # on a laptop: plan(multisession, workers = 2)
#' dir <- tempfile()
#' fit <- distribute_ridge_cv(data$X, data$Y, alphas = alpha_grid(data$X), cv = data$runs,
#'                            dir = dir, n_threads = 2)
#' fit$diagnostics$batches[, c("batch", "first", "last", "attempt")]
#' # again: nothing is left to do
#' again <- distribute_ridge_cv(data$X, data$Y, alphas = alpha_grid(data$X), cv = data$runs,
#'                              dir = dir, n_threads = 2)
#' identical(fit$best_alphas, again$best_alphas)
#' @export
distribute_ridge_cv <- function(X, Y, alphas = c(0.1, 1, 10), cv = 5, local_alpha = TRUE, score_func = "r2",
                                fit_intercept = FALSE, conservative = FALSE,
                                return_coefs = c("none", "primal", "dual"),
                                return_cv_scores = c("mean", "all", "none"), na_targets = c("error", "skip"),
                                precision = c("double", "single"), dir = NULL, memory_gb = NULL,
                                n_targets_batch = NULL, retries = 2, resume = TRUE,
                                on_failure = c("error", "partial"), n_threads = NULL, progress = interactive()) {
  call <- rlang::current_env()
  na_targets <- as_choice(na_targets, c("error", "skip"))
  alphas <- as_alphas(alphas)
  score <- as_score(score_func, call)
  options <- search_options(local_alpha, conservative, NULL, NULL, NULL, as_choice(return_coefs, COEF_KINDS),
                            as_choice(return_cv_scores, SCORE_KINDS), call)
  dir <- as_run_folder(dir, call)
  settings <- run_settings(memory_gb, n_targets_batch, retries, resume, on_failure, n_threads, progress, call)
  backend <- solver_backend("cpu", precision, NULL, call)
  design <- as_design(X, setting(cv, TRUE), setting(fit_intercept, TRUE), call)
  targets <- as_targets(Y, nrow(design$X), na_targets, call = call, stream = TRUE)
  check_whole_runs(design$folds, list(X = design$X, Y = targets$Y), call)
  check_score_folds(score, design$folds, call)
  check_conservative(options, design$folds, call)
  check_score_columns(score, design, call)
  check_forks(call)
  check_target_names(targets$names, options, call)
  needs <- score_needs(score_func)
  options <- c(options, list(fit_intercept = design$fit_intercept, score = score$word,
                             single = backend$precision == "single", store_type = "float32"))
  check_search_memory(design, targets, length(alphas), c(options, store_path = "in dir"), call)
  check_worker_memory(settings, nrow(design$X), ncol(design$X), n_folds(design$folds), call)
  plan <- plan_batches(targets, settings, call)
  identity <- c(
    list(kind = "ridge", X = values_identity(design$X), X_rows = nrow(design$X), X_columns = ncol(design$X)),
    shared_identity(targets, design, alphas, options, score_func, needs)
  )
  make_data <- function(dir) {
    list(X = shared_store(design$X, file.path(dir, "data", "X.f64"), call),
         Y = shared_store(targets$Y, file.path(dir, "data", "Y.f64"), call))
  }
  run <- open_run(dir, identity, settings$resume, make_data, call = call, make_spec = function() {
    list(kind = "ridge", t = ncol(targets$Y), width = plan$width, skip = targets$skip, alphas = alphas,
         folds = core_folds(design$folds), score = score_func, local_alpha = options$local_alpha,
         options = worker_options(options), n_shares = factor_shares(design, score, plan$slots),
         n_threads = resolve_threads(n_threads, call))
  })
  run$needs <- needs
  run$settings <- settings
  on.exit(if (run$temporary && options$coefs == "none") unlink(run$dir, recursive = TRUE))
  complete_stage(run, "factors", seq_len(run$spec$n_shares), "Factors", call)
  fit_batches(run, design, targets, alphas, options, backend, call)
}

COEF_KINDS <- c("none", "primal", "dual")
SCORE_KINDS <- c("mean", "all", "none")

worker_options <- function(options) {
  options$names <- list()
  options[c("local_alpha", "conservative", "n_targets_batch", "n_targets_batch_refit", "n_alphas_batch", "coefs",
            "cv_scores", "fit_intercept", "score", "single", "names")]
}

fit_batches <- function(run, design, targets, alphas, options, backend, call) {
  units <- seq_len(ceiling(run$spec$t / run$spec$width))
  left <- run_stage(run, "batches", units, "Batches", call)
  raw <- join_batches(run, units, targets, alphas, options)
  if (!options$local_alpha && nrow(left)) {
    # one alpha for all needs the scores of all
    abort_incomplete(left, run, NULL, missing_range(run, left$unit), call)
  }
  if (!options$local_alpha) raw <- refit_shared(run, raw, units, alphas, options, call)
  if (!is.null(raw$left)) left <- raw$left
  missing <- missing_range(run, left$unit)
  unknown <- missing_range(run, raw$missing_units)
  if (options$coefs != "none") {
    stage <- if (options$local_alpha) "batches" else "refits"
    raw$coefs <- joined_coefs(run, stage, ncol(design$X), units, targets, options)
  }
  counted <- targets
  counted$skip <- sort(union(targets$skip, unknown))
  options$store_path <- if (options$coefs != "none") run$dir
  options$names <- result_names(design, targets)
  out <- finish_search(raw, options, counted, alphas, backend)
  out$diagnostics$skipped_targets <- with_names(targets$skip, targets$names[targets$skip])
  out$diagnostics$batches <- raw$log
  if (!run$temporary || options$coefs != "none") out$dir <- run$dir
  out$missing_targets <- missing
  if (length(missing)) report_incomplete(left, run, out, missing, call)
  out
}
