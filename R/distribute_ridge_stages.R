# Stages of a distributed ridge regression: factors are made once, then batches of targets are fitted with them.

run_stages <- function(kind) {
  switch(kind, ridge = RIDGE_STAGES, banded = BANDED_STAGES)
}

# Every n-th of some things, from the number of the unit on.
share_of <- function(all, unit, n_shares) all[seq_along(all) %% n_shares == unit %% n_shares]

# A unit is a share of the factors, of `spec$n_shares`.
prepare_factors <- function(run, control) list(X = read_shared(run$spec$X, control))

make_factors <- function(context, run, unit, control) {
  spec <- run$spec
  options <- c(spec$options[c("fit_intercept", "score", "coefs")],
               list(smallest_alpha = min(spec$alphas), n_threads = spec$n_threads))
  facts <- core_write_factors(context$X, spec$folds, options, file.path(run$dir, "factors"), unit - 1L, spec$n_shares,
                              control)
  own <- share_of(facts$which, unit, spec$n_shares)
  facts$files <- file_sizes(run, sprintf("factors/fold_%04d.factor", own + 1L))
  facts
}

# A unit is a batch of targets. The factors are read once, and what is made of them serves all batches of a worker.
prepare_batches <- function(run, control) {
  spec <- run$spec
  X <- read_shared(spec$X, control)
  facts <- read_checkpoint(run, "factors", 1L)
  pointer <- core_read_factors(X, spec$folds, spec$options["fit_intercept"], file.path(run$dir, "factors"), facts,
                               control)
  list(X = X, pointer = pointer, Y = validate_store(spec$Y), score = as_score(spec$score))
}

search_batch <- function(context, run, unit, control) {
  options <- run$spec$options
  options$local_alpha <- TRUE
  if (!run$spec$local_alpha) options$coefs <- "none"
  fit_batch(context, run, unit, run$spec$alphas, options, control)
}

# One alpha for all targets: coefficients at the alpha that the first pass has chosen.
refit_batch <- function(context, run, unit, control) {
  options <- run$spec$options
  options$cv_scores <- "none"
  chosen <- readRDS(file.path(run$dir, "chosen.rds"))
  fit_batch(context, run, unit, chosen, options, control)[c("coefs", "intercept", "files")]
}

fit_batch <- function(context, run, unit, alphas, options, control) {
  spec <- run$spec
  range <- batch_range(spec, unit)
  options$skip <- in_range(spec$skip, range)
  if (options$coefs != "none") options$store_path <- coef_path(run$dir, unit)
  options$store_type <- "float32"
  window <- store_window(context$Y, range[1L], range[2L] - range[1L] + 1)
  out <- core_ridge_cv(context$X, window, context$pointer, spec$folds, alphas, options, control, context$score$fun)
  if (options$coefs != "none") out$files <- file_sizes(run, coef_file_name(unit))
  out
}

coef_file_name <- function(unit) sprintf("coefs/unit_%06d.f32", unit)
coef_path <- function(dir, unit) file.path(dir, coef_file_name(unit))

# First and last target of a batch, and of these targets those that are listed, in the counting of the batch.
batch_range <- function(spec, unit) {
  first <- (unit - 1) * spec$width + 1
  c(first, min(first + spec$width - 1, spec$t))
}

in_range <- function(listed, range) as.integer(listed[listed >= range[1L] & listed <= range[2L]] - range[1L] + 1)

RIDGE_STAGES <- list(
  factors = list(prepare = prepare_factors, work = make_factors),
  batches = list(prepare = prepare_batches, work = search_batch),
  refits = list(prepare = prepare_batches, work = refit_batch)
)
