#' Bootstrap of ridge weights and predictions
#'
#' How much the weights of a ridge regression, or its predictions of other samples, change when the samples are drawn
#' anew: means, standard deviations and intervals over bootstrap resamples.
#'
#' Each resample draws as many rows of `X` and `Y` as there are, with replacement, and ridge regression is fitted to
#' them at the given penalties. With counts d of the rows, D = diag(d), n_b = sum(d), xbar = X'd / n_b and
#' Xc = X - 1 xbar', the weights of resample b are
#'
#' W_b = (Xc' D Xc + alpha I)^-1 Xc' D Y
#'
#' and the predictions of rows z are d'Y / n_b + (z - xbar)' W_b; without an intercept xbar and d'Y / n_b are 0. These
#' are the fits to the drawn rows, found without fitting each target anew. Percentiles are those of
#' [stats::quantile()], type 7, over all resamples; the numbers of all resamples together are only kept where they are
#' asked for.
#'
#' Resampling rows takes them as independent of each other. **Samples of fMRI are not**: neighbouring volumes share
#' slow noise, and intervals from single rows are too narrow. Give the run of each sample in `blocks`, so that whole
#' runs are drawn. There must be enough of them: of G runs there are choose(2 G - 1, G) different resamples, 10 for
#' three runs and 92,378 for ten.
#'
#' Penalties are fixed. If they were chosen with the same data, the spread that comes from the choice is not part of the
#' intervals. Ridge weights are shrunk towards 0, and so are the intervals around them: they tell how stable the weights
#' are, not where weights without a penalty would lie.
#'
#' @param X n x p numeric matrix, rows are samples, no NA. Or a fit of [fit_ridge()] that kept its data: then its `X`,
#'   `Y`, penalties and intercept are used, and none of these may be given.
#' @param Y n x t numeric matrix, rows are samples, no NA; or a numeric vector of length n, which is one target.
#' @param alphas One penalty, or one per target; numeric, finite and at least 0, see section Penalty.
#' @param what `"weights"` (the default), or `"predictions"` of `X_new`.
#' @param X_new n_new x p numeric matrix, no NA: samples to predict, with the columns of `X` (by name where both have
#'   names). Only for `what = "predictions"`; NULL (the default) otherwise.
#' @param n_boot Whole number of resamples, at least 10; a warning is given below 100. The default is 1000.
#' @param conf Number between 0 and 1: share of the resamples inside the interval. The default is 0.95.
#' @param interval `"percentile"` (the default): percentiles (1 - conf) / 2 and (1 + conf) / 2 of the resamples.
#'   `"normal"`: mean plus and minus qnorm((1 + conf) / 2) standard deviations.
#' @param fit_intercept TRUE (the default) to fit an unpenalised intercept per target, FALSE for none.
#' @param blocks NULL (the default) draws single rows; a label for each of the n samples, no NA, draws whole blocks, as
#'   many as there are: see Details. Blocks may differ in size, and so may then resamples.
#' @param resamples NULL (the default), or an n_boot x n matrix of row numbers from 1 to n: the rows of each resample,
#'   in place of draws. `n_boot`, `blocks` and `seed` are then left out.
#' @param return_samples TRUE to return the numbers of all resamples too. FALSE is the default.
#' @param seed NULL (the default) draws from R's generator, so `set.seed()` works; a whole number from 0 to 2^53 - 1
#'   gives the same resamples always and leaves R's generator alone. The first resamples do not depend on how many
#'   follow.
#' @param device `"cpu"` (the default), `"gpu"` (an error where there is none) or `"auto"`: the GPU where the products
#'   with the targets are predicted to take the CPU more than a second and the GPU less, by rates that are measured once
#'   per R process. The GPU makes these products; factors of the resamples and percentiles are the CPU's work always,
#'   which is why it is often done as soon without a GPU. Answers agree to rounding.
#' @inheritParams solve_ridge_cv
#'
#' @returns An object of class `voxridge_bootstrap`: a list of
#' * `estimate`: the fit to the data, p x t weights or n_new x t predictions; vectors for a vector `Y`. Of the same
#'   shape, over resamples:
#' * `mean`, `sd` (over n_boot - 1), `z` (mean / sd; NaN where both are 0, as for a constant feature), `lower`, `upper`.
#' * `n_boot`; `seed`, which gives the same resamples again (NULL with `resamples`); `backend`, `"armadillo"` or
#'   `"cuda"`.
#' * `samples`: n_boot x p x t (n_new in place of p; n_boot x p for a vector `Y`), or NULL.
#' * `what`, `conf`, `interval`, `fit_intercept`; `alphas`, as given; `dims`: n, p, t; `blocks`: data frame of `block`
#'   and `size`, or NULL; `mask`: the brain mask that `Y` carries, or NULL, for [brain_map()].
#' * `diagnostics`: a list of `rank_deficient` (number of resamples that do not determine all weights at a penalty of 0:
#'   their weights are those of minimum norm), `n_threads`, `passes` over the resamples, `seconds`.
#'
#' Names of columns and of new samples are kept. There are methods for [print()], [summary()] and [tidy()], see
#' [voxridge_bootstrap].
#' @inheritSection voxridge-penalty Penalty
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' `voxridge_error_type`, `voxridge_error_shape`, `voxridge_error_nonfinite`, `voxridge_error_alphas`,
#' `voxridge_error_argument`, `voxridge_error_newdata` (`X_new` with other columns than `X`), `voxridge_error_conflict`
#' (`resamples` beside draws, `X_new` beside weights, data beside a fit), `voxridge_error_no_data`,
#' `voxridge_error_memory` (results over half of the free memory), `voxridge_error_device_unavailable`,
#' `voxridge_error_gpu_out_of_memory`, `voxridge_error_device_failed`. A warning `voxridge_warning_few_resamples` is
#' given below 100 resamples, a message `voxridge_message_rows_drawn` for data that were cleaned run by run and no
#' `blocks`. See [voxridge-conditions].
#' @section Invariants:
#' `estimate` is the fit of [ridge_svd()] (without an intercept). The numbers of a resample are those of a fit to its
#' rows. Results depend on the seed, not on threads, memory or the other targets. Scaling `X` by a and `alphas` by a^2
#' scales weights by 1 / a and leaves `z` alone. Blocks of one sample each are single rows.
#' @references
#' Efron, B. (1979). Bootstrap methods: another look at the jackknife. Annals of Statistics 7(1), 1-26.
#' \doi{10.1214/aos/1176344552}
#'
#' Davison, A. C., Hinkley, D. V. (1997). Bootstrap methods and their application. Cambridge University Press.
#' \doi{10.1017/CBO9780511802843}
#'
#' Hyndman, R. J., Fan, Y. (1996). Sample quantiles in statistical packages. The American Statistician 50(4), 361-365.
#' \doi{10.1080/00031305.1996.10473566}
#' @source Weights of rows with counts: Hoerl and Kennard (1970), \doi{10.1080/00401706.1970.10488634}. Draws:
#'   Philox4x32-10, Salmon et al. (2011), \doi{10.1145/2063384.2063405}.
#' @seealso [solve_ridge_cv()] and [fit_ridge()], which choose penalties.
#' @examples
#' data <- simulate_encoding(n = 120, p = 6, t = 4, n_runs = 12, seed = 1)
#' boot <- bootstrap_ridge(data$X, data$Y, alphas = 10, n_boot = 200, blocks = data$runs, seed = 1,
#'                         n_threads = 2)
#' boot
#' round(boot$z, 1)
#' head(tidy(boot), 3)
#'
#' fit <- fit_ridge(data$X, data$Y, cv = data$runs, n_threads = 2)
#' new <- bootstrap_ridge(fit, what = "predictions", X_new = data$X[1:3, ], n_boot = 200,
#'                        blocks = data$runs, seed = 1, n_threads = 2)
#' round(new$upper - new$lower, 2)
#' @export
bootstrap_ridge <- function(X, Y, alphas, what = c("weights", "predictions"), X_new = NULL, n_boot = 1000, conf = 0.95,
                            interval = c("percentile", "normal"), fit_intercept = TRUE, blocks = NULL,
                            resamples = NULL, return_samples = FALSE, seed = NULL, device = "cpu", n_threads = NULL,
                            progress = interactive()) {
  call <- rlang::current_env()
  started <- proc.time()[["elapsed"]]
  given <- c(Y = !missing(Y), alphas = !missing(alphas), fit_intercept = !missing(fit_intercept))
  if (inherits(X, "voxridge_fit")) {
    from <- fit_to_resample(X, given, call)
    X <- from$X
    Y <- from$Y
    alphas <- from$alphas
    fit_intercept <- from$fit_intercept
  } else {
    check_given(given, call)
  }
  settings <- list(
    what = as_choice(what, c("weights", "predictions")),
    conf = as_share(conf),
    interval = as_choice(interval, c("percentile", "normal")),
    fit_intercept = as_flag(fit_intercept),
    return_samples = as_flag(return_samples)
  )
  X <- as_features(X)
  check_resampled_rows(X, call)
  backend <- solver_backend(device, call = call)
  targets <- as_targets(Y, nrow(X), call = call)
  alphas <- as_alphas(alphas, sizes = c(1L, ncol(targets$Y)))
  X_new <- as_new_rows(X_new, X, settings$what, call)
  draws <- as_draws(setting(n_boot, !missing(n_boot)), blocks, resamples, seed, nrow(X), call)
  outputs <- if (is.null(X_new)) ncol(X) else nrow(X_new)
  check_bootstrap_memory(settings, draws$n_boot, outputs, ncol(targets$Y), call)
  bar <- start_progress(progress, "Resamples", call)
  on.exit(bar$close())
  n_threads <- resolve_threads(n_threads, call)
  tell_rows_drawn(blocks, resamples, list(X = X, Y = targets$Y))

  tails <- c(lower = (1 - settings$conf) / 2, upper = (1 + settings$conf) / 2)
  names <- list(outputs = if (is.null(X_new)) colnames(X) else rownames(X_new), targets = targets$names)
  options <- c(tails, list(
    reach = if (settings$interval == "normal") stats::qnorm(tails[["upper"]]) else 0,
    fit_intercept = settings$fit_intercept, samples = settings$return_samples, names = names
  ))
  penalties <- if (length(unique(alphas)) == 1L) alphas[1L] else alphas
  backend <- bootstrap_backend(backend, nrow(X), ncol(X), ncol(targets$Y), outputs, draws$n_boot,
                               length(penalties) == 1L, n_threads, call)
  done <- on_device(backend, n_threads, bar$report, function(control) {
    core_bootstrap_ridge(X, targets$Y, X_new, penalties, draws, options, control)
  }, call)
  raw <- done$value
  maps <- lapply(raw[BOOTSTRAP_MAPS], name_rows_targets, names$outputs, names$targets, targets$is_vector)
  structure(
    c(maps, list(
      n_boot = draws$n_boot,
      seed = if (is.null(resamples)) draws$seed,
      backend = done$backend$name,
      samples = name_samples(raw$samples, names, targets$is_vector),
      what = settings$what,
      conf = settings$conf,
      interval = settings$interval,
      fit_intercept = settings$fit_intercept,
      alphas = alphas,
      dims = c(n = nrow(X), p = ncol(X), t = ncol(targets$Y)),
      blocks = draws$table,
      mask = target_mask(Y),
      diagnostics = list(
        rank_deficient = raw$rank_deficient, n_threads = n_threads, passes = raw$passes,
        seconds = proc.time()[["elapsed"]] - started
      )
    )),
    class = "voxridge_bootstrap"
  )
}

# Elements with a value per weight, or prediction, and target.
BOOTSTRAP_MAPS <- c("estimate", "mean", "sd", "z", "lower", "upper")

# n_boot x outputs x targets; the last dimension goes for a vector y.
name_samples <- function(samples, names, is_vector) {
  if (is.null(samples)) return(NULL)
  if (!is_vector) return(with_dimnames(samples, list(NULL, names$outputs, names$targets)))
  matrix(samples, nrow(samples), dimnames = if (!is.null(names$outputs)) list(NULL, names$outputs))
}
