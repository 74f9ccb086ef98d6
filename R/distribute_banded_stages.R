# Stages of a distributed banded search: ranges of candidates are scored on all targets, then the candidates that have
# won targets are factored once, then batches of targets get their coefficients.

prepare_bands <- function(run, control) {
  spec <- run$spec
  list(Xs = lapply(spec$Xs, read_shared, control = control), Y = validate_store(spec$Y),
       score = as_score(spec$score))
}

# The same memory for every worker: it decides what is computed side by side, which last bits may depend on.
banded_control <- function(run, control) {
  control$memory_bytes <- run$spec$memory_bytes
  control
}

# First and last candidate of a unit.
candidate_range <- function(spec, unit) {
  first <- (unit - 1) * spec$candidate_width + 1
  seq(first, min(first + spec$candidate_width - 1, nrow(spec$gammas)))
}

search_candidates <- function(context, run, unit, control) {
  spec <- run$spec
  options <- spec$options
  options[c("coefs", "cv_scores", "every_candidate")] <- list("none", "mean", TRUE)
  options$skip <- spec$skip
  own <- candidate_range(spec, unit)
  core_banded_cv(context$Xs, context$Y, spec$folds, spec$alphas, spec$gammas[own, , drop = FALSE], spec$jitter[own],
                 options, banded_control(run, control), context$score$fun)
}

# A unit is a share of the winners, of as many shares as there were workers at first.
factor_winners <- function(context, run, unit, control) {
  spec <- run$spec
  winners <- readRDS(file.path(run$dir, "choice.rds"))$winners
  own <- share_of(winners, unit, spec$n_shares)
  core_write_banded_factors(context$Xs, spec$folds, spec$alphas, spec$gammas, spec$jitter, spec$options, own,
                            file.path(run$dir, "factors"), banded_control(run, control))
  list(files = file_sizes(run, sprintf("factors/candidate_%06d.factor", own)))
}

prepare_choice <- function(run, control) {
  c(prepare_bands(run, control), list(choice = readRDS(file.path(run$dir, "choice.rds"))))
}

refit_bands <- function(context, run, unit, control) {
  spec <- run$spec
  range <- batch_range(spec, unit)
  columns <- seq(range[1L], range[2L])
  options <- spec$options
  options$skip <- in_range(spec$skip, range)
  window <- store_window(context$Y, range[1L], length(columns))
  out <- core_banded_refit(context$Xs, window, spec$folds, spec$alphas, spec$gammas, spec$jitter, options,
                           context$choice$gamma_index[columns], context$choice$alpha_index[columns],
                           file.path(run$dir, "factors"), banded_control(run, control))
  out$coefs <- write_columns(out$coefs, coef_path(run$dir, unit), control)
  out$files <- file_sizes(run, coef_file_name(unit))
  out
}

# Some columns as a file of float32.
write_columns <- function(x, path, control) {
  call <- rlang::current_env()
  writer <- run_core(core_store_writer(path, nrow(x), ncol(x), TRUE), call)
  run_core(core_store_write(writer, 1, x, control), call)
  run_core(core_store_finish(writer), call)
}

BANDED_STAGES <- list(
  search = list(prepare = prepare_bands, work = search_candidates),
  winners = list(prepare = prepare_bands, work = factor_winners),
  refits = list(prepare = prepare_choice, work = refit_bands)
)
