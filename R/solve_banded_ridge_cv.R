#' Banded ridge regression: a penalty per feature space and target, chosen by cross-validation
#'
#' Chooses, for every target, how much weight each of several feature spaces ("bands") gets and how large the common
#' penalty is, and fits ridge regression with them.
#'
#' A candidate is a vector of weights, one per band: gamma. The columns of band b are multiplied by the square root of
#' gamma_b, and ridge regression is fitted on all of them together, which is the same as a penalty of alpha / gamma_b
#' for band b. A band of weight 0 is left out. Every candidate is tried with every value of `alphas`, over the same
#' folds. A candidate's score for a target is the unweighted mean over folds at its best penalty (ties go to the larger
#' one). A candidate wins when it beats the best one before it by more than machine epsilon (times that score for scores
#' with units), so among equals the first wins. The final fit uses all samples. Coefficients are for the features as
#' they were given.
#'
#' Candidates are drawn from Dirichlet distributions, where the weights of a candidate sum to 1: candidate i takes the
#' i-th of `concentration`, over and over, and the first candidate is always equal weights. The first candidates do not
#' depend on how many follow. Given gammas are used as they are: they need not sum to 1.
#'
#' @inheritSection solve_ridge_cv Scores
#' @inheritParams solve_ridge_cv
#' @param Xs The bands: a named list of n x p_b numeric matrices, rows are samples, no NA (a numeric vector of length n
#'   is a band of one column); or one n x p matrix, with `bands`. Integer and logical matrices and data frames of
#'   numeric columns are converted. The matrices of a list are used in place, those of a matrix are copied.
#' @param bands NULL (the default) where `Xs` is a list; where it is a matrix, the band of each of its p columns: a
#'   factor, whose levels give the order of the bands, or text or numbers, whose first appearance does. Columns of a
#'   band need not be neighbours.
#' @param n_iter The number of candidates to draw (100 by default); or their weights, a numeric matrix of gammas, finite
#'   and at least 0, candidates x bands. Column names, where there are any, must be those of the bands.
#' @param concentration Numeric vector, finite and greater than 0: concentrations of the Dirichlet distributions. 1
#'   draws weights evenly, smaller values favour few bands. The default alternates between 0.1 and 1. Not with given
#'   gammas.
#' @param alphas Numeric vector of penalties, finite and at least 0, in any order; see section Penalty. The default is
#'   narrow: [alpha_grid()] makes one in units of the data.
#' @param search `"random"`: candidates are tried as they are drawn or given. There is no other way so far.
#' @param jitter_alphas TRUE multiplies all penalties of a candidate by a factor of its own, 10^(u - 0.5) with u uniform
#'   between 0 and 1: a finer grid for the same work. FALSE (the default): the penalties are values of `alphas`.
#' @param seed NULL draws from R's generator, so `set.seed()` works; a whole number from 0 to 2^53 - 1 gives the same
#'   candidates always and leaves R's generator alone.
#' @param local_alpha TRUE (the default) chooses a candidate and a penalty per target, FALSE one of each for all: those
#'   with the best mean over targets.
#' @param conservative TRUE takes, per target and candidate, the largest penalty whose mean score exceeds the best mean
#'   minus its standard deviation over folds (divisor: number of folds); that penalty's score is the candidate's. Only
#'   with `local_alpha = TRUE` and at least 2 folds.
#' @param return_coefs `"primal"` (the default) returns p x t coefficients, `"dual"` n x t (the coefficients of band b
#'   are `gammas[b, j] * crossprod(X_b, dual[, j])` for target j), `"none"` returns none.
#' @param return_cv_scores `"all"` (the default) and `"mean"` return the score of every candidate, `"none"` returns
#'   none.
#'
#' @returns A list:
#' * `deltas`: bands x targets; log(gamma / alpha), minus the log of each band's penalty. -Inf for a band of weight 0.
#' * `cv_scores`: candidates x targets; mean score over folds of each candidate at its own best penalty; absent for
#'   `return_cv_scores = "none"`.
#' * `backend`: `"armadillo"` or `"cuda"`.
#' * `coefs`: p x t, rows in the order of the user's columns (those of a list one band after the other), or n x t for
#'   `return_coefs = "dual"`; absent for `"none"`. Exactly 0 for a band of weight 0.
#' * `intercept`: numeric, t; only with `fit_intercept = TRUE` and coefficients.
#' * `gammas`: bands x targets; the weights chosen.
#' * `best_alphas`: numeric, t; the chosen values of `alphas`, bit for bit without jitter.
#' * `penalties`: bands x targets; alpha / gamma, Inf for a band of weight 0.
#' * `candidates`: candidates x bands; the gammas tried.
#' * `bands`: factor, p; the band of each row of primal coefficients, named after the features.
#' * `diagnostics`: a list of `alpha_index` (position in `alphas`, t), `gamma_index` (row of `candidates`, t),
#'   `share_at_edge` (share of targets that chose the `smallest` and the `largest` of `alphas`; constant and skipped
#'   targets do not count; NA for a single value), `share_at_edge_by_band` (bands x ends: the share of a band's weight,
#'   gamma_b over the sum of gamma, that lies with targets at that end; NA for a band without weight),
#'   `unused_candidates` (rows that no target chose), `constant_targets` and `skipped_targets` (positions), `seed` (the
#'   key of the random numbers, where any were drawn; giving it as `seed` draws the same), `info` (what was computed
#'   how: `form`, `factorisation`, `n_nodes`, `precision`, `n_threads`, `passes`, `coefs`, `fit_intercept`).
#'
#' Bands name the rows of `deltas`, `gammas` and `penalties`, targets the columns. Where only some matrices of a list
#' have column names, the columns of the others are called after their band: `motion[1]`, `motion[2]`. For a vector `Y`
#' the target dimension is dropped: `deltas`, `gammas` and `penalties` are vectors over bands, `cv_scores` one over
#' candidates. Skipped targets are NA.
#'
#' @inheritSection voxridge-penalty Penalty
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' `voxridge_error_bands` (names missing or repeated, bands without columns, labels that do not fit the columns),
#' `voxridge_error_gammas` (given weights that are negative, not finite, all 0 in a row, or not one per band); otherwise
#' those of [solve_ridge_cv()], with its warning `voxridge_warning_alpha_at_edge`. `voxridge_error_memory`: results over
#' half of the free memory are refused before any work; `return_cv_scores = "none"` and `return_coefs = "none"` need
#' none for scores and coefficients, whatever the number of candidates. See [voxridge-conditions].
#' @section Invariants:
#' One band, or given gammas of 1, is [solve_ridge_cv()]. Drawn candidates give the same answer when they are given.
#' Results do not depend on batches, threads, the order of targets or the other targets (`local_alpha = TRUE`), nor on
#' whether bands come as a list or as a matrix. Exchanging bands together with their gammas exchanges their results.
#' Scaling a band by a and its gammas by 1 / a^2 scales its coefficients by 1 / a and changes nothing else; scaling all
#' gammas and `alphas` by the same factor changes no coefficient. The same seed gives the same candidates.
#' @references
#' Dupre la Tour, T., Eickenberg, M., Nunez-Elizalde, A. O., Gallant, J. L. (2022). Feature-space selection with banded
#' ridge regression. NeuroImage 264, 119728. \doi{10.1016/j.neuroimage.2022.119728}
#'
#' Nunez-Elizalde, A. O., Huth, A. G., Gallant, J. L. (2019). Voxelwise encoding models with non-spherical multivariate
#' normal priors. NeuroImage 197, 482-492. \doi{10.1016/j.neuroimage.2019.04.012}
#' @seealso [solve_ridge_cv()] for one penalty per target, [r2_split()] and [r2_unique()] for what each band explains.
#' @examples
#' data <- simulate_encoding(n = 80, p = 30, t = 5, n_bands = 3, seed = 1)
#' fit <- solve_banded_ridge_cv(data$Xs, data$Y, n_iter = 20, alphas = 10^(-2:4), cv = data$runs,
#'                              seed = 1, n_threads = 2)
#' round(fit$deltas, 1)
#' round(apply(fit$cv_scores, 2, max), 2)
#' # the same features as one matrix, and candidates of one's own: each band alone, and all together
#' gammas <- rbind(diag(3), 1 / 3)
#' fit <- solve_banded_ridge_cv(data$X, data$Y, bands = data$truth$band, n_iter = gammas,
#'                              alphas = 10^(-2:4), cv = data$runs, n_threads = 2)
#' round(fit$cv_scores, 2)
#' round(r2_split(fit, data$Xs, data$Y), 2)
#' @export
solve_banded_ridge_cv <- function(Xs, Y, bands = NULL, n_iter = 100, concentration = c(0.1, 1), alphas = c(0.1, 1, 10),
                                  cv = 5, search = "random", jitter_alphas = FALSE, seed = NULL, local_alpha = TRUE,
                                  score_func = "r2", fit_intercept = FALSE, conservative = FALSE,
                                  n_targets_batch = NULL, n_targets_batch_refit = NULL, n_alphas_batch = NULL,
                                  Y_in_cpu = TRUE, return_coefs = c("primal", "dual", "none"),
                                  return_cv_scores = c("all", "mean", "none"), na_targets = c("error", "skip"),
                                  precision = c("double", "single"), device = "cpu", max_gpu_memory_gb = NULL,
                                  n_threads = NULL, progress = interactive()) {
  call <- rlang::current_env()
  as_flag(Y_in_cpu)
  na_targets <- as_choice(na_targets, c("error", "skip"))
  alphas <- as_alphas(alphas)
  score <- as_score(score_func, call)
  options <- search_options(local_alpha, conservative, n_targets_batch, n_targets_batch_refit, n_alphas_batch,
                            return_coefs, return_cv_scores, call)
  as_choice(search, "random")
  jitter_alphas <- as_flag(jitter_alphas)
  concentration <- setting(concentration, !missing(concentration))
  backend <- solver_backend(device, precision, max_gpu_memory_gb, call)
  design <- band_design(as_bands(Xs, bands, call), cv, fit_intercept, call)
  n_iter <- as_n_iter(n_iter, design$bands$names)
  concentration <- as_concentration(concentration, n_iter)
  targets <- as_targets(Y, design$n, na_targets, call = call, arg_x = "Xs", stream = TRUE)
  check_score_folds(score, design$folds, call)
  check_conservative(options, design$folds, call)
  check_band_memory(design, targets, n_candidates(n_iter), options, call)
  check_jittered(alphas, jitter_alphas, call)
  candidates <- draw_candidates(n_iter, concentration, jitter_alphas, seed, design$bands$names)
  search_bands(design, targets, alphas, candidates, score, options, backend, n_threads, progress, call)
}

# The largest factor of a jittered grid is 10^0.5.
check_jittered <- function(alphas, jitter_alphas, call) {
  largest <- max(alphas)
  if (!jitter_alphas || is.finite(largest * 10^0.5)) return(invisible(alphas))
  abort(
    "{.arg alphas} must be finite with {.code jitter_alphas = TRUE}, which may multiply {largest} by 3.2.",
    "alphas",
    found = largest, call = call
  )
}

band_design <- function(bands, cv, fit_intercept, call) {
  n <- nrow(bands$Xs[[1L]])
  list(
    bands = bands,
    n = n,
    folds = as_folds(cv, n, call = call),
    fit_intercept = as_flag(fit_intercept, call = call)
  )
}

check_band_memory <- function(design, targets, n_candidates, options, call) {
  t <- as.double(ncol(targets$Y))
  n_bands <- length(design$bands$names)
  results <- c(
    coef_bytes(design$n, sum(as.double(design$bands$sizes)), t, options$coefs),
    cv_scores = if (options$cv_scores == "none") 0 else 8 * n_candidates * t,
    "weights and penalties" = 8 * 3 * n_bands * t,
    candidates = 8 * as.double(n_candidates) * n_bands
  )
  names(results)[2L] <- paste0("cv_scores (", format_count(n_candidates), " x ", format_count(t), ")")
  advice <- paste(
    "Use {.code return_cv_scores = \"none\"}, {.code return_coefs = \"dual\"} or {.code \"none\"},",
    "fewer candidates, or fewer targets per call."
  )
  check_result_memory(results, advice, call)
}

# The search itself, on checked inputs.
search_bands <- function(design, targets, alphas, candidates, score, options, backend, n_threads, progress, call) {
  bands <- design$bands
  check_whole_runs(design$folds, c(cleaned_bands(bands), list(Y = targets$Y)), call)
  p <- sum(as.double(bands$sizes))
  work <- ridge_work(design$n, p, ncol(targets$Y), length(alphas), n_folds(design$folds), options$coefs,
                     backend$precision, n_candidates = nrow(candidates$gammas))
  backend <- settle_backend(backend, work, n_threads, call)
  options$cv_scores <- if (options$cv_scores == "none") "none" else "mean"
  options <- c(options, list(
    fit_intercept = design$fit_intercept,
    score = score$word,
    single = backend$precision == "single",
    skip = targets$skip,
    column_order = bands$order,
    names = list(
      features = bands$features, samples = rownames(targets$Y) %||% bands$samples, targets = targets$names
    )
  ))
  bar <- start_progress(progress, "Banded ridge search", call)
  on.exit(bar$close())
  out <- on_device(backend, n_threads, bar$report, function(control) {
    core_banded_cv(bands$Xs, targets$Y, core_folds(design$folds), alphas, candidates$gammas, candidates$jitter,
                   options, control, score$fun)
  }, call)
  finish_band_search(out$value, options, design, targets, alphas, candidates, out$backend)
}

# ---- the result ------------------------------------------------------------------------------

finish_band_search <- function(raw, options, design, targets, alphas, candidates, backend) {
  bands <- design$bands
  names <- options$names
  name_bands <- function(x) name_rows_targets(x, bands$names, names$targets, targets$is_vector)
  gammas <- t(unname(candidates$gammas)[raw$gamma_index, , drop = FALSE])
  best_alphas <- alphas[raw$alpha_index] * candidates$jitter[raw$gamma_index]
  out <- list(deltas = name_bands(band_deltas(gammas, best_alphas)))
  out$cv_scores <- name_cv_scores(raw$cv_scores, names, targets$is_vector)
  out$backend <- backend$name
  out$coefs <- name_coefs(raw$coefs, options$coefs, names, targets$is_vector)
  if (!is.null(raw$intercept)) out$intercept <- with_names(raw$intercept, names$targets)
  out$gammas <- name_bands(gammas)
  out$best_alphas <- with_names(best_alphas, names$targets)
  out$penalties <- name_bands(band_penalties(gammas, best_alphas))
  out$candidates <- candidates$gammas
  out$bands <- band_factor(bands)
  out$diagnostics <- band_diagnostics(raw, targets, alphas, gammas, candidates, options, bands$names)
  warn_alpha_at_edge(out$diagnostics, alphas, ncol(targets$Y), "alpha_grid(Xs)")
  out
}

# log(gamma / alpha), without overflow; -Inf wherever gamma is 0, whatever alpha is.
band_deltas <- function(gammas, alphas) {
  deltas <- log(gammas) - rep(log(alphas), each = nrow(gammas))
  deltas[which(gammas == 0)] <- -Inf
  deltas
}

band_penalties <- function(gammas, alphas) {
  penalties <- rep(alphas, each = nrow(gammas)) / gammas
  penalties[which(gammas == 0)] <- Inf
  penalties
}

band_diagnostics <- function(raw, targets, alphas, gammas, candidates, options, bands) {
  plain <- search_diagnostics(raw, targets, alphas)
  counted <- counted_targets(raw, targets)
  chosen <- alphas[raw$alpha_index[counted]]
  by_band <- band_share_at_edge(gammas[, counted, drop = FALSE], chosen, alphas)
  rownames(by_band) <- bands
  c(
    plain["alpha_index"],
    list(gamma_index = with_names(raw$gamma_index, targets$names)),
    plain["share_at_edge"],
    list(share_at_edge_by_band = by_band,
         unused_candidates = setdiff(seq_len(nrow(candidates$gammas)), raw$gamma_index)),
    plain[c("constant_targets", "skipped_targets")],
    if (!is.null(candidates$seed)) list(seed = candidates$seed),
    list(info = c(plain$info, options[c("coefs", "fit_intercept")]))
  )
}

# Per band and end of the grid: the share of the band's weight that lies with the targets that chose this end.
band_share_at_edge <- function(gammas, chosen, alphas) {
  weights <- gammas / rep(colSums(gammas), each = nrow(gammas))
  edges <- range(alphas)
  shares <- vapply(edges, function(edge) {
    rowSums(weights[, chosen == edge, drop = FALSE]) / rowSums(weights)
  }, numeric(nrow(gammas)))
  shares <- matrix(shares, nrow(gammas), dimnames = list(NULL, c("smallest", "largest")))
  shares[is.nan(shares) | edges[1L] == edges[2L]] <- NA
  shares
}
