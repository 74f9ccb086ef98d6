# From the checkpoints of a distributed banded search to its result.

# What core_banded_cv() returns for all candidates: they are gone through in their order, as a single process does.
join_candidates <- function(run, units, targets, options, call) {
  spec <- run$spec
  t <- spec$t
  best <- list(score = rep(NA_real_, t), gamma_index = rep(NA_integer_, t), alpha_index = rep(NA_integer_, t))
  shared <- list(score = NA_real_, candidate = NA_integer_)
  out <- list(constant_targets = integer(), left = data.frame(unit = integer(), message = character()))
  if (options$cv_scores != "none") out$cv_scores <- matrix(NA_real_, nrow(spec$gammas), t)
  logs <- list()
  for (unit in units) {
    one <- read_checkpoint(run, "search", unit)
    own <- candidate_range(spec, unit)
    if (!is.null(out$cv_scores)) out$cv_scores[own, ] <- one$cv_scores
    for (k in seq_along(own)) {
      if (spec$local_alpha) {
        best <- take_candidate(best, own[k], one$cv_scores[k, ], one$every_alpha[k, ], options)
      } else if (beats(one$shared_means[k], shared$score, options)) {
        shared <- list(score = one$shared_means[k], candidate = own[k], alphas = one$every_alpha[k, ])
      }
    }
    out$constant_targets <- one$constant_targets
    out$info <- join_info(out$info, one$info)
    logs <- c(logs, list(data.frame(batch = unit, first = own[1L], last = own[length(own)], one$log)))
  }
  out$log <- do.call(rbind, logs)
  if (!spec$local_alpha) {
    best$gamma_index[] <- shared$candidate
    best$alpha_index <- shared$alphas %||% best$alpha_index
    best$gamma_index[is.na(best$alpha_index)] <- NA_integer_
  }
  check_every_choice(best$gamma_index, spec$skip, call)
  c(out, best[c("gamma_index", "alpha_index")])
}

# By more than machine epsilon, of 1 or of the score where it has units.
beats <- function(score, best, options) {
  epsilon <- if (options$single) 2^-23 else .Machine$double.eps
  unit <- if (options$score %in% c("r2", "correlation")) 1 else abs(best)
  better <- is.na(best) | (score > best & (is.infinite(best) | score > best + epsilon * unit))
  !is.na(score) & better
}

take_candidate <- function(best, candidate, score, alpha, options) {
  better <- which(beats(score, best$score, options))
  best$score[better] <- score[better]
  best$gamma_index[better] <- candidate
  best$alpha_index[better] <- alpha[better]
  best
}

join_info <- function(info, one) {
  if (is.null(info)) return(one)
  info$n_nodes <- max(info$n_nodes, one$n_nodes)
  info$passes <- info$passes + one$passes
  if (one$factorisation == "svd") info$factorisation <- "svd"
  info
}

check_every_choice <- function(chosen, skip, call) {
  without <- setdiff(which(is.na(chosen)), skip)
  if (!length(without)) return(invisible(chosen))
  abort(
    c("{.arg Y} must have targets whose scores are numbers, not target {without[1L]}.",
      i = "Rescale {.arg Y} if its squares overflow."),
    "argument",
    where = without, call = call
  )
}

# Coefficients of the chosen candidates, as a store.
distribute_refits <- function(run, raw, design, targets, options, call) {
  spec <- run$spec
  winners <- sort(unique(raw$gamma_index))
  choice <- list(winners = winners, gamma_index = raw$gamma_index, alpha_index = raw$alpha_index)
  write_whole(choice, file.path(run$dir, "choice.rds"), call)
  complete_stage(run, "winners", seq_len(min(spec$n_shares, length(winners))), "Factors", call)
  units <- seq_len(ceiling(spec$t / spec$width))
  raw$left <- run_stage(run, "refits", units, "Coefficients", call)
  if (options$fit_intercept) raw$intercept <- rep(NA_real_, spec$t)
  for (unit in setdiff(units, raw$left$unit)) {
    range <- batch_range(spec, unit)
    if (options$fit_intercept) {
      raw$intercept[seq(range[1L], range[2L])] <- read_checkpoint(run, "refits", unit)$intercept
    }
  }
  raw$coefs <- joined_coefs(run, "refits", sum(design$bands$sizes), units, targets, options)
  raw
}
