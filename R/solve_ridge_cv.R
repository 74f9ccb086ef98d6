#' Ridge regression with a penalty per target, chosen by cross-validation
#'
#' Chooses a penalty from a grid for every target, or one for all, and fits ridge regression with it.
#'
#' Each fold is predicted by a model of the other samples; column means, where an intercept is fitted, are those of the
#' training samples only. A penalty's score is the unweighted mean over folds. The largest mean wins, ties go to the
#' larger penalty. The final fit uses all samples.
#'
#' @section Scores:
#' Per target, on held-out samples: `"r2"` is 1 - SSE / SST, SST about the held-out mean; `"neg_mse"` is minus the mean
#' squared error; `"correlation"` is Pearson's r. A target that is constant on the held-out samples has `"r2"` and
#' `"correlation"` 0 there and is listed in `diagnostics$constant_targets`; so has a constant prediction for
#' `"correlation"`. With `cv = "loo"` the score is that of all n held-out predictions together. `cv = "gcv"` allows
#' `"r2"` and `"neg_mse"`. Folds that test a single sample allow `"neg_mse"` or a function.
#'
#' A function gets two matrices, `y_true` and `y_pred` (held-out samples x targets, a block of targets at a time), and
#' returns one number per column; larger is better. A function that returns a single number for several columns is
#' called with the two vectors of each column instead.
#'
#' @param X n x p numeric matrix, rows are samples, no NA; or the result of [prepare_ridge()]; or a [target_store()] of
#'   samples x features, see section Features in files of [solve_ridge_cv()]. Integer and logical matrices and data
#'   frames of numeric columns are converted (one copy); sparse matrices are refused.
#' @param Y n x t numeric matrix, rows are samples, columns are targets; or a numeric vector of length n, which is one
#'   target and gives vectors back; or a [target_store()], read as it is needed. NA, NaN and Inf: see `na_targets`.
#' @param alphas Numeric vector of penalties, finite and at least 0, in any order; see section Penalty. The default is
#'   narrow: [alpha_grid()] makes one in units of the data.
#' @param cv Folds: a number (contiguous blocks), a label per sample (its run), a list of held-out rows, a list of
#'   `list(train =, test =)`, an rsample object, `"loo"` or `"gcv"`. See [cv_folds()]. The default is 5 blocks.
#' @param local_alpha TRUE (the default) chooses a penalty per target, FALSE one for all: that with the best mean over
#'   targets.
#' @param score_func `"r2"` (the default), `"neg_mse"`, `"correlation"`, or a function of `(y_true, y_pred)`. See
#'   section Scores.
#' @param fit_intercept TRUE to fit an unpenalised intercept per target. FALSE (the default): none.
#' @param conservative TRUE takes, per target, the largest penalty whose mean score exceeds the best mean minus its
#'   standard deviation over folds (divisor: number of folds). Only with `local_alpha = TRUE` and at least 2 folds.
#' @param n_targets_batch,n_targets_batch_refit,n_alphas_batch NULL (the default) derives them from the memory budget,
#'   see [device_memory_budget()]; or a whole number of targets, or penalties, to process at a time. They never change
#'   an answer.
#' @param Y_in_cpu TRUE (the default) keeps `Y` in the memory of the host and sends it to a GPU in blocks. It makes no
#'   difference on the CPU.
#' @param return_coefs `"primal"` (the default) returns p x t coefficients, `"dual"` n x t (the coefficients are
#'   `crossprod(X, dual)`), `"none"` returns none.
#' @param return_cv_scores `"all"` (the default) returns scores per fold, `"mean"` their means over folds, `"none"`
#'   none.
#' @param na_targets `"error"` (the default) refuses NA, NaN and Inf in `Y`; `"skip"` leaves such targets out: they
#'   come back as NA and influence nothing.
#' @param precision `"double"` (the default), or `"single"` for products with the targets in single precision, about
#'   twice as fast. Factorisations are always double. Without single precision in the BLAS, double is used and said so
#'   once.
#' @param device `"cpu"` (the default), `"gpu"` (an error where there is none) or `"auto"`, the one that is predicted to
#'   be faster, see [resolve_backend()]. Answers agree to rounding.
#' @param max_gpu_memory_gb NULL (nine tenths of what is free, less 0.5 GB) or a limit in GB for the GPU; not with
#'   `device = "cpu"`.
#' @param coefs_path NULL (the default) returns coefficients in memory; or a new file, where they are written as a
#'   [target_store()] of float32, features (or samples) x targets.
#' @param scores_path NULL (the default) returns scores in memory; or a new file, where the means over folds are written
#'   as a [target_store()] of float64, alphas x targets.
#' @param n_threads NULL (the default, see [voxridge_threads]) or a whole number of threads.
#' @param progress TRUE shows a progress bar on the console (stderr); never in scripts, tests and knitr.
#'
#' @returns A list:
#' * `best_alphas`: numeric, t; the chosen values of `alphas`, bit for bit.
#' * `coefs`: p x t, or n x t for `return_coefs = "dual"`; absent for `"none"`; a store with `coefs_path`.
#' * `cv_scores`: folds x alphas x targets, or alphas x targets for `return_cv_scores = "mean"`; absent for `"none"`.
#'   `"loo"` and `"gcv"` count as one fold. A store with `scores_path`.
#' * `backend`: `"armadillo"` or `"cuda"`.
#' * `intercept`: numeric, t; only with `fit_intercept = TRUE`.
#' * `diagnostics`: a list of `alpha_index` (position in `alphas`, t), `share_at_edge` (share of targets that chose the
#'   `smallest` and the `largest` value; constant and skipped targets do not count; NA for a single value),
#'   `constant_targets` and `skipped_targets` (positions), `info` (what was computed how: `form`, `factorisation`,
#'   `n_nodes`, `precision`, `n_threads`, `passes`).
#'
#' For a vector `Y` the target dimension is dropped: `coefs` is a vector, `cv_scores` folds x alphas. Names of columns
#' and rows are kept, and fold labels name the first dimension of `cv_scores`. Skipped targets are NA.
#'
#' @section Features in files:
#' A [target_store()] as `X`, of fewer features than samples, is read by ranges of samples, and so is a store as `Y`:
#' neither needs to fit into memory, however many samples there are. The answer is that of the matrix. Sums of products
#' of the features in every fold are kept (8 p^2 bytes each, and about three times as much for the factors of a fold),
#' and those of features and targets for as many targets as the memory budget allows, see [device_memory_budget()];
#' `X` is read once for each such group of targets, and twice with `local_alpha = FALSE` where there are several groups.
#' Folds that overlap need such sums for every set of samples that all folds treat alike.
#'
#' Work is in double precision on the CPU. The scores are `"r2"` and `"neg_mse"`, `cv` anything but `"loo"`, and
#' `return_coefs` not `"dual"`. Penalties must be greater than 1e-7 of the largest eigenvalue of `crossprod(X)` (of the
#' centred features with an intercept) less the smallest. An error says what is not served: `as.matrix(X)` then takes
#' the features into memory.
#'
#' @inheritSection voxridge-penalty Penalty
#' @inheritSection voxridge_threads Threads
#' @section Errors: `voxridge_error_type`, `voxridge_error_shape`, `voxridge_error_nonfinite` (data);
#'   `voxridge_error_alphas`, `voxridge_error_folds`, `voxridge_error_score`, `voxridge_error_argument`,
#'   `voxridge_error_conflict` (settings); `voxridge_error_memory` (results over half of the free memory, or sums of
#'   products of features in a file over the memory budget: refused before any work);
#'   `voxridge_error_device_unavailable`, `voxridge_error_device_unsupported`, `voxridge_error_gpu_out_of_memory`,
#'   `voxridge_error_device_failed`; `voxridge_error_store_format`, `voxridge_error_store_corrupt`,
#'   `voxridge_error_store_truncated` (stores); `voxridge_error_leakage` (folds that split the runs of data that
#'   [clean_runs()] cleaned). A warning `voxridge_warning_alpha_at_edge` is given when over 5 % of the targets chose an
#'   end of the grid. See [voxridge-conditions].
#' @section Invariants:
#' Results do not depend on batches, threads, the order of targets or the other targets (`local_alpha = TRUE`). Scaling
#' `X` by a and `alphas` by a^2 scales coefficients by 1 / a and leaves scores unchanged. Adding a constant to `Y`
#' changes only the intercept where there is one. A fold's scores are those of a model fitted to its training rows
#' alone. Features in a file give the scores of the matrix (to 1e-10) and its choices; the size of the memory budget
#' changes no bit.
#' @references
#' Chan, T. F., Golub, G. H., LeVeque, R. J. (1983). Algorithms for computing the sample variance: analysis and
#' recommendations. The American Statistician 37(3), 242-247. \doi{10.1080/00031305.1983.10483115}
#'
#' Hoerl, A. E., Kennard, R. W. (1970). Ridge regression: biased estimation for nonorthogonal problems. Technometrics
#' 12(1), 55-67. \doi{10.1080/00401706.1970.10488634}
#'
#' Golub, G. H., Heath, M., Wahba, G. (1979). Generalized cross-validation as a method for choosing a good ridge
#' parameter. Technometrics 21(2), 215-223. \doi{10.1080/00401706.1979.10489751}
#'
#' Dupre la Tour, T., Eickenberg, M., Nunez-Elizalde, A. O., Gallant, J. L. (2022). Feature-space selection with banded
#' ridge regression. NeuroImage 264, 119728. \doi{10.1016/j.neuroimage.2022.119728}
#' @seealso [ridge_cv()] for one shared penalty, [cross_val_predict_ridge()] for out-of-fold predictions,
#'   [prepare_ridge()] to reuse the work on `X`.
#' @examples
#' data <- simulate_encoding(n = 80, p = 12, t = 5, seed = 1)
#' fit <- solve_ridge_cv(data$X, data$Y, alphas = alpha_grid(data$X), cv = data$runs, n_threads = 2)
#' fit$best_alphas
#' dim(fit$coefs)
#' # mean score of every penalty, per target
#' round(apply(fit$cv_scores, c(2, 3), mean)[c(1, 10, 20), ], 2)
#' # the features in a file
#' X <- target_store(data$X, tempfile(fileext = ".f64"), type = "float64")
#' filed <- solve_ridge_cv(X, data$Y, alphas = alpha_grid(data$X), cv = data$runs, n_threads = 2)
#' identical(filed$best_alphas, fit$best_alphas)
#' @export
solve_ridge_cv <- function(X, Y, alphas = c(0.1, 1, 10), cv = 5, local_alpha = TRUE, score_func = "r2",
                           fit_intercept = FALSE, conservative = FALSE, n_targets_batch = NULL,
                           n_targets_batch_refit = NULL, n_alphas_batch = NULL, Y_in_cpu = TRUE,
                           return_coefs = c("primal", "dual", "none"), return_cv_scores = c("all", "mean", "none"),
                           na_targets = c("error", "skip"), precision = c("double", "single"), device = "cpu",
                           max_gpu_memory_gb = NULL, coefs_path = NULL, scores_path = NULL, n_threads = NULL,
                           progress = interactive()) {
  call <- rlang::current_env()
  chosen_scores <- !missing(return_cv_scores)
  as_flag(Y_in_cpu)
  na_targets <- as_choice(na_targets, c("error", "skip"))
  alphas <- as_alphas(alphas)
  score <- as_score(score_func, call)
  options <- search_options(local_alpha, conservative, n_targets_batch, n_targets_batch_refit, n_alphas_batch,
                            return_coefs, return_cv_scores, call)
  options <- c(options, coef_file(coefs_path, options$coefs, call))
  options <- send_scores(options, scores_path, chosen_scores, call)
  backend <- solver_backend(device, precision, max_gpu_memory_gb, call)
  design <- as_design(X, setting(cv, !missing(cv)), setting(fit_intercept, !missing(fit_intercept)), call,
                      stream = TRUE)
  targets <- as_targets(Y, nrow(design$X), na_targets, call = call, stream = TRUE)
  search_ridge(design, targets, alphas, score, options, backend, n_threads, progress, call)
}

# The search itself, on checked inputs; solve_ridge_cv() documents the result.
search_ridge <- function(design, targets, alphas, score, options, backend, n_threads, progress, call) {
  if (is_store(design$X)) backend <- store_backend(score, options, backend, call)
  check_whole_runs(design$folds, list(X = design$X, Y = targets$Y), call)
  check_score_folds(score, design$folds, call)
  check_conservative(options, design$folds, call)
  check_search_memory(design, targets, length(alphas), options, call)
  work <- ridge_work(nrow(design$X), ncol(design$X), ncol(targets$Y), length(alphas), n_folds(design$folds),
                     options$coefs, backend$precision)
  backend <- settle_backend(backend, work, n_threads, call)
  options <- c(options, list(
    fit_intercept = design$fit_intercept,
    score = score$word,
    single = backend$precision == "single",
    skip = targets$skip,
    names = result_names(design, targets)
  ))
  bar <- start_progress(progress, "Ridge cross-validation", call)
  on.exit(bar$close())
  out <- on_device(backend, n_threads, bar$report, function(control) {
    folds <- core_folds(design$folds)
    if (is_store(design$X)) return(core_ridge_cv_from_file(design$X, targets$Y, folds, alphas, options, control))
    pointer <- design_pointer(design, control, call)
    core_ridge_cv(design$X, targets$Y, pointer, folds, alphas, options, control, score$fun)
  }, call)
  if (!is.null(options$store_path)) out$value$coefs <- coef_store(out$value$coefs, design, targets, options, call)
  if (!is.null(options$scores_path)) {
    out$value$cv_scores <- score_store(out$value$cv_scores, length(alphas), targets, options, call)
  }
  finish_search(out$value, options, targets, alphas, out$backend)
}

check_conservative <- function(options, folds, call) {
  if (!options$conservative) return(invisible())
  if (!options$local_alpha) {
    abort(
      c("{.arg conservative} must be FALSE with {.code local_alpha = FALSE}.",
        i = "A conservative choice is made per target: use {.code local_alpha = TRUE}."),
      "conflict",
      call = call
    )
  }
  if (n_folds(folds) < 2L) {
    found <- if (folds$kind == "kfold") "cv of a single fold" else paste0("cv = \"", folds$kind, "\"")
    abort(
      c("{.arg conservative} must be FALSE with {.code {found}}.",
        i = "A conservative choice needs the spread of scores over at least 2 folds."),
      "conflict",
      call = call
    )
  }
}

check_search_memory <- function(design, targets, n_alphas, options, call) {
  t <- ncol(targets$Y)
  layers <- c(all = as.double(n_folds(design$folds)), mean = 1, none = 0)[[options$cv_scores]]
  in_memory <- if (is.null(options$store_path)) options$coefs else "none"
  results <- c(coef_bytes(nrow(design$X), ncol(design$X), t, in_memory), cv_scores = 8 * layers * n_alphas * t)
  advice <- paste(
    "Use {.code return_coefs = \"dual\"} or {.code \"none\"}, {.arg coefs_path},",
    "{.arg scores_path}, {.code return_cv_scores = \"mean\"} or {.code \"none\"}, or fewer targets per call."
  )
  check_result_memory(results, advice, call)
}

# Bytes of the coefficients; the name says how many there are.
coef_bytes <- function(n, p, t, form) {
  rows <- c(primal = as.double(p), dual = n, none = 0)[[form]]
  stats::setNames(8 * rows * t, paste0("coefs (", format_count(rows), " x ", format_count(t), ")"))
}

# ---- the result ------------------------------------------------------------------------------

finish_search <- function(raw, options, targets, alphas, backend) {
  names <- options$names
  out <- list(best_alphas = with_names(alphas[raw$alpha_index], names$targets))
  out$coefs <- if (is.null(options$store_path)) {
    name_coefs(raw$coefs, options$coefs, names, targets$is_vector)
  } else {
    raw$coefs
  }
  out$cv_scores <- if (is.null(options$scores_path)) {
    name_cv_scores(raw$cv_scores, names, targets$is_vector)
  } else {
    raw$cv_scores
  }
  out$backend <- backend$name
  if (!is.null(raw$intercept)) out$intercept <- with_names(raw$intercept, names$targets)
  out$diagnostics <- search_diagnostics(raw, targets, alphas)
  warn_alpha_at_edge(out$diagnostics, alphas, ncol(targets$Y))
  out
}

search_diagnostics <- function(raw, targets, alphas) {
  constant <- raw$constant_targets
  list(
    alpha_index = with_names(raw$alpha_index, targets$names),
    share_at_edge = share_at_edge(alphas[raw$alpha_index[counted_targets(raw, targets)]], alphas),
    constant_targets = with_names(constant, targets$names[constant]),
    skipped_targets = with_names(targets$skip, targets$names[targets$skip]),
    info = raw$info
  )
}

# Constant and skipped targets do not count: they say nothing about a grid.
counted_targets <- function(raw, targets) {
  setdiff(seq_along(raw$alpha_index), c(raw$constant_targets, targets$skip))
}

share_at_edge <- function(chosen, alphas) {
  edges <- range(alphas)
  if (edges[1L] == edges[2L] || !length(chosen)) return(c(smallest = NA_real_, largest = NA_real_))
  c(smallest = mean(chosen == edges[1L]), largest = mean(chosen == edges[2L]))
}

EDGE_SHARE <- 0.05

# Zero is no edge: there is nothing below it. Written without cli's markup, which would cost more than many a small fit.
# `grid`: how alpha_grid() is called for these features.
warn_alpha_at_edge <- function(diagnostics, alphas, t, grid = "alpha_grid(X)") {
  share <- diagnostics$share_at_edge
  if (min(alphas) == 0) share[["smallest"]] <- 0
  if (anyNA(share) || sum(share) <= EDGE_SHARE) return(invisible())
  total <- t - length(diagnostics$constant_targets) - length(diagnostics$skipped_targets)
  percent <- format(signif(100 * share, 2L), trim = TRUE)
  ends <- c(
    if (share[["smallest"]] > 0) paste0(percent[1L], " % chose the smallest (", format(min(alphas)), ")"),
    if (share[["largest"]] > 0) paste0(percent[2L], " % chose the largest (", format(max(alphas)), ")")
  )
  no_signal <- if (share[["largest"]] > 0) " Targets without signal go to the largest of any grid."
  rlang::warn(
    c(
      sprintf("`alphas` may be too narrow: of %s target%s, %s.", format_count(total), if (total == 1) "" else "s",
              paste(ends, collapse = " and ")),
      i = paste0("Widen the grid, for example `alphas = ", grid, "`.", no_signal)
    ),
    class = c("voxridge_warning_alpha_at_edge", "voxridge_warning"),
    share_at_edge = diagnostics$share_at_edge
  )
}
