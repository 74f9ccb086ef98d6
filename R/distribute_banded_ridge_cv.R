#' Banded ridge regression over several processes or machines
#'
#' Does the work of [solve_banded_ridge_cv()] on the workers of the current [future::plan()], with the same answer.
#'
#' The workers share out the candidates, not the targets: every candidate is factored once, by one of them, and scored
#' on all targets. Then the candidates that have won targets are factored for the coefficients, each once, and batches
#' of targets get theirs. What is finished lies in `dir`, as in [distribute_ridge_cv()].
#'
#' @inheritParams solve_banded_ridge_cv
#' @inheritParams distribute_ridge_cv
#' @param seed NULL (the default) draws the candidates of a new run from R's generator; a run that is in `dir` goes on
#'   with its own. A whole number from 0 to 2^53 - 1 gives the same candidates always.
#' @param memory_gb NULL (the default), or the working memory of one worker in GB. The first call of a run decides; NULL
#'   is half of the free memory of this machine, shared by the workers.
#' @param n_candidates_batch NULL (the default: four batches per worker), or how many candidates a worker scores between
#'   two checkpoints. `Y` is read once for each batch.
#' @param n_targets_batch NULL (the default: at least four batches per worker, of at most 8192 targets), or how many
#'   targets make a batch of coefficients; rounded up to a multiple of 512.
#' @param return_cv_scores `"mean"` (the default) returns the score of every candidate, candidates x targets; `"none"`
#'   none.
#' @param on_failure `"error"` (the default): work that is missing after all retries raises an error. `"partial"`: where
#'   only coefficients are missing, a warning, and NA for them. Scores of all candidates are always needed.
#'
#' @returns The list of [solve_banded_ridge_cv()]; `coefs` is a [target_store()] of float32; and `dir`,
#'   `missing_targets` (targets without coefficients) as in [distribute_ridge_cv()], `diagnostics$batches` with one row
#'   per batch of candidates (`batch`, `first`, `last` candidate, `host`, `pid`, `attempt`, `n_threads`, `seconds`).
#'
#' @inheritSection voxridge-penalty Penalty
#' @inheritSection distribute_ridge_cv Errors
#' @section Invariants: The same bits for any plan, number of workers, width of batches, order, death of workers and
#'   resumption, and the same as [solve_banded_ridge_cv()] with the same memory, for one kind of processor and BLAS and
#'   one number of threads of the driver; to rounding otherwise.
#' @references
#' Dupre la Tour, T., Eickenberg, M., Nunez-Elizalde, A. O., Gallant, J. L. (2022). Feature-space selection with banded
#' ridge regression. NeuroImage 264, 119728. \doi{10.1016/j.neuroimage.2022.119728}
#' @seealso [distribute_ridge_cv()], [solve_banded_ridge_cv()].
#' @examples
#' data <- simulate_encoding(n = 80, p = 30, t = 5, n_bands = 3, seed = 1)
#' future::plan(future::sequential)  # on a laptop: plan(multisession, workers = 2)
#' fit <- distribute_banded_ridge_cv(data$Xs, data$Y, n_iter = 20, alphas = 10^(-2:4),
#'                                   cv = data$runs, seed = 1, n_threads = 2)
#' round(fit$deltas, 1)
#' @export
distribute_banded_ridge_cv <- function(Xs, Y, bands = NULL, n_iter = 100, concentration = c(0.1, 1),
                                       alphas = c(0.1, 1, 10), cv = 5, jitter_alphas = FALSE, seed = NULL,
                                       local_alpha = TRUE, score_func = "r2", fit_intercept = FALSE,
                                       conservative = FALSE, return_coefs = c("none", "primal", "dual"),
                                       return_cv_scores = c("mean", "none"), na_targets = c("error", "skip"),
                                       precision = c("double", "single"), dir = NULL, memory_gb = NULL,
                                       n_candidates_batch = NULL, n_targets_batch = NULL, retries = 2, resume = TRUE,
                                       on_failure = c("error", "partial"), n_threads = NULL,
                                       progress = interactive()) {
  call <- rlang::current_env()
  na_targets <- as_choice(na_targets, c("error", "skip"))
  alphas <- as_alphas(alphas)
  score <- as_score(score_func, call)
  options <- search_options(local_alpha, conservative, NULL, NULL, NULL, as_choice(return_coefs, COEF_KINDS),
                            as_choice(return_cv_scores, c("mean", "none")), call)
  jitter_alphas <- as_flag(jitter_alphas)
  dir <- as_run_folder(dir, call)
  if (!is.null(seed)) seed <- as_key(seed, call)
  settings <- run_settings(memory_gb, n_targets_batch, retries, resume, on_failure, n_threads, progress, call)
  settings$n_candidates_batch <- as_count(n_candidates_batch, null_ok = TRUE)
  concentration <- setting(concentration, !missing(concentration))
  backend <- solver_backend("cpu", precision, NULL, call)
  design <- band_design(as_bands(Xs, bands, call), cv, fit_intercept, call)
  n_iter <- as_n_iter(n_iter, design$bands$names)
  concentration <- as_concentration(concentration, n_iter)
  targets <- as_targets(Y, design$n, na_targets, call = call, arg_x = "Xs", stream = TRUE)
  check_whole_runs(design$folds, c(cleaned_bands(design$bands), list(Y = targets$Y)), call)
  check_score_folds(score, design$folds, call)
  check_conservative(options, design$folds, call)
  check_score_columns(score, design, call)
  check_jittered(alphas, jitter_alphas, call)
  check_forks(call)
  check_target_names(targets$names, options, call)
  needs <- score_needs(score_func)
  in_memory <- utils::modifyList(options, list(coefs = "none"))
  check_band_memory(design, targets, n_candidates(n_iter), in_memory, call)
  sizes <- design$bands$sizes
  check_worker_memory(settings, design$n, sum(sizes), n_folds(design$folds), call)
  drawn <- list(n_iter = n_iter, concentration = concentration, jitter = jitter_alphas, seed = seed)
  options <- c(options, list(fit_intercept = design$fit_intercept, score = score$word,
                             single = backend$precision == "single"))
  identity <- c(
    list(kind = "banded", Xs = rlang::hash(lapply(unname(design$bands$Xs), values_identity)), Xs_rows = design$n,
         Xs_columns = unname(sizes), columns_order = rlang::hash(design$bands$order), candidates = rlang::hash(drawn)),
    shared_identity(targets, design, alphas, options, score_func, needs)
  )
  make_data <- function(dir) {
    Xs <- lapply(seq_along(design$bands$Xs), function(b) {
      shared_store(design$bands$Xs[[b]], file.path(dir, "data", sprintf("X_%03d.f64", b)), call)
    })
    list(Xs = Xs, Y = shared_store(targets$Y, file.path(dir, "data", "Y.f64"), call))
  }
  run <- open_run(dir, identity, settings$resume, make_data, call = call, make_spec = function() {
    candidates <- draw_candidates(n_iter, concentration, jitter_alphas, seed, design$bands$names, call)
    band_spec(design, targets, alphas, candidates, score_func, options, settings, call)
  })
  run$needs <- needs
  run$settings <- settings
  on.exit(if (run$temporary && options$coefs == "none") unlink(run$dir, recursive = TRUE))
  fit_candidates(run, design, targets, alphas, options, backend, call)
}

band_spec <- function(design, targets, alphas, candidates, score_func, options, settings, call) {
  plan <- plan_batches(targets, settings, call, 8 * max(design$n, sum(design$bands$sizes)))
  n <- nrow(candidates$gammas)
  slots <- n_slots(n, call)
  threads <- resolve_threads(settings$n_threads, call)
  keep <- worker_options(options)
  # as a single process with all candidates would have it
  keep$factor_threads <- if (n >= threads) 1L else threads
  keep["column_order"] <- list(design$bands$order)
  list(
    kind = "banded", t = ncol(targets$Y), width = plan$width,
    candidate_width = settings$n_candidates_batch %||% max(1, floor(n / (4 * slots))),
    skip = targets$skip, alphas = alphas, folds = core_folds(design$folds), score = score_func,
    local_alpha = options$local_alpha, options = keep, gammas = unname(candidates$gammas), jitter = candidates$jitter,
    seed = candidates$seed, n_shares = n_slots(n, call), n_threads = threads,
    memory_bytes = settings$memory_bytes %||%
      (memory_budget_bytes(call) / if (settings$share_memory) plan$slots else 1)
  )
}

fit_candidates <- function(run, design, targets, alphas, options, backend, call) {
  spec <- run$spec
  units <- seq_len(ceiling(nrow(spec$gammas) / spec$candidate_width))
  complete_stage(run, "search", units, "Candidates", call)
  raw <- join_candidates(run, units, targets, options, call)
  if (options$coefs != "none") raw <- distribute_refits(run, raw, design, targets, options, call)
  options$names <- list(features = design$bands$features, targets = targets$names,
                        samples = rownames(targets$Y) %||% design$bands$samples)
  candidates <- list(gammas = spec$gammas, jitter = spec$jitter, seed = spec$seed)
  dimnames(candidates$gammas) <- list(NULL, design$bands$names)
  coefs <- raw$coefs
  raw["coefs"] <- list(NULL)
  out <- finish_band_search(raw, options, design, targets, alphas, candidates, backend)
  out$coefs <- coefs
  out$diagnostics$batches <- raw$log
  if (!run$temporary || options$coefs != "none") out$dir <- run$dir
  out$missing_targets <- missing_range(run, raw$left$unit)
  if (length(out$missing_targets)) report_incomplete(raw$left, run, out, out$missing_targets, call)
  out
}
