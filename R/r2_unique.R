#' What only one band explains
#'
#' Unique variance of each band: how much the R2 of out-of-fold predictions falls when the band is left out.
#'
#' For every target, the candidate and the penalty of the fit are kept, and ridge regression is fitted to every training
#' set twice: with all bands, and without the band. The penalties of the other bands stay the same. The answer is the
#' difference of the two R2 on the held-out samples, averaged over folds. It is 0 for a band of weight 0, and can be
#' negative for a band that does harm. Where no band is left, the model predicts the training mean, or 0 without an
#' intercept.
#'
#' Penalties that were chosen with the same samples favour the fit a little: for an unbiased answer choose them on other
#' samples.
#'
#' @inheritParams r2_split
#' @inheritParams cross_val_predict_ridge
#' @param fit A fit of [fit_banded_ridge()], or the result of [solve_banded_ridge_cv()]: its `gammas` and `best_alphas`
#'   are used. Coefficients are not needed.
#' @param fit_intercept NULL (the default) does as the fit did; TRUE or FALSE.
#'
#' @returns Bands x targets, named; a vector over bands for a vector `Y`. NA for targets that the fit skipped.
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' Those of [r2_split()], and of [cross_val_predict_ridge()] for `cv`. See [voxridge-conditions].
#' @section Invariants:
#' A band of weight 0 has 0. The order of bands and targets does not matter, nor whether bands come as a list or as a
#' matrix.
#' @references
#' Dupre la Tour, T., Eickenberg, M., Nunez-Elizalde, A. O., Gallant, J. L. (2022). Feature-space selection with banded
#' ridge regression. NeuroImage 264, 119728. \doi{10.1016/j.neuroimage.2022.119728}
#'
#' Nunez-Elizalde, A. O., Huth, A. G., Gallant, J. L. (2019). Voxelwise encoding models with non-spherical multivariate
#' normal priors. NeuroImage 197, 482-492. \doi{10.1016/j.neuroimage.2019.04.012}
#' @seealso [r2_split()], whose parts sum to the score of all bands.
#' @examples
#' data <- simulate_encoding(n = 80, p = 20, t = 4, n_bands = 2, seed = 1)
#' fit <- solve_banded_ridge_cv(data$Xs, data$Y, n_iter = 10, alphas = 10^(-2:4), cv = data$runs,
#'                              seed = 1, n_threads = 2)
#' round(r2_unique(fit, data$Xs, data$Y, cv = data$runs, n_threads = 2), 2)
#' @export
r2_unique <- function(fit, Xs, Y, bands = NULL, cv = 5, fit_intercept = NULL, n_threads = NULL,
                      progress = interactive()) {
  call <- rlang::current_env()
  weights <- fit_weights(fit, call)
  in_fit <- fit[["bands"]]
  given <- match_bands(as_bands(Xs, bands, call), fit, length(in_fit), names(in_fit), call)
  n <- nrow(given$Xs[[1L]])
  folds <- as_folds(cv, n)
  info <- fit[["diagnostics"]][["info"]]
  fit_intercept <- if (is.null(fit_intercept)) isTRUE(info[["fit_intercept"]]) else as_flag(fit_intercept)
  score <- as_score("r2")
  check_held_out_once(folds, call)
  check_score_folds(score, folds)
  skip <- which(is.na(weights$alphas))
  targets <- fit_targets(Y, n, length(weights$alphas), skip, call)
  backend <- backend_for("cpu")

  groups <- same_columns(weights$gammas, setdiff(seq_along(weights$alphas), skip))
  active <- lapply(groups, function(block) which(weights$gammas[, block[1L]] > 0))
  bar <- start_progress(progress, "Unique variance", call)
  on.exit(bar$close())
  control <- core_control(n_threads, call = call)
  done <- 0
  # mean R2 over folds of the targets in `block`, with these bands only
  score_with <- function(block, bands) {
    X <- scaled_bands(given$Xs[bands], weights$gammas[bands, block[1L]], n)
    design <- list(X = X, folds = folds, fit_intercept = fit_intercept, prepared = NULL)
    part <- list(Y = targets$Y[, block, drop = FALSE], names = NULL, skip = integer())
    raw <- predict_folds(design, part, weights$alphas[block], score, backend, control, call)
    done <<- done + 1
    if (!is.null(bar$report)) bar$report(done, sum(lengths(active)) + length(groups))
    colMeans(raw$scores)
  }
  out <- matrix(NA_real_, length(given$names), length(weights$alphas))
  for (g in seq_along(groups)) {
    block <- groups[[g]]
    out[, block] <- 0
    full <- score_with(block, active[[g]])
    for (b in active[[g]]) out[b, block] <- full - score_with(block, setdiff(active[[g]], b))
  }
  name_rows_targets(out, given$names, targets$names %||% colnames(fit$gammas), targets$is_vector)
}

# list(gammas, alphas) of a banded fit: bands x t and t, bands in the order of the fit.
fit_weights <- function(fit, call) {
  check_fit_list(fit, call)
  gammas <- as.matrix(fit[["gammas"]] %||% NA)
  alphas <- as.vector(fit[["best_alphas"]])
  known <- is.factor(fit[["bands"]]) && is.numeric(gammas) && is.numeric(alphas) && ncol(gammas) == length(alphas) &&
    nrow(gammas) == nlevels(fit[["bands"]])
  if (known) return(list(gammas = unname(gammas), alphas = alphas))
  abort(
    c("{.arg fit} must be the result of {.fn solve_banded_ridge_cv}, with {.code gammas}, {.code best_alphas} and
       {.code bands}, not a list without them.",
      i = "A fit of {.fn solve_ridge_cv} has no penalties of bands."),
    "type",
    call = call
  )
}

# Columns j in groups of equal x[, j].
same_columns <- function(x, j) {
  keys <- do.call(paste, lapply(seq_len(nrow(x)), function(i) match(x[i, j], unique(x[i, j]))))
  unname(split(j, match(keys, unique(keys))))
}

# The bands side by side, scaled by the roots of their weights. No band at all is one column of zeros, from which ridge
# regression predicts the training mean, or 0 without an intercept.
scaled_bands <- function(Xs, gammas, n) {
  if (!length(Xs)) return(matrix(0, n, 1L))
  do.call(cbind, unname(Map(function(X, gamma) X * sqrt(gamma), Xs, gammas)))
}
