# From the checkpoints of a distributed run to its result.

# What core_ridge_cv() returns for all targets, and: log (a data frame, one row per batch), missing_units.
join_batches <- function(run, units, targets, alphas, options) {
  spec <- run$spec
  t <- spec$t
  raw <- list(alpha_index = rep(NA_integer_, t), constant_targets = integer(), missing_units = integer())
  kind <- options$cv_scores
  n_folds <- max(1L, length(spec$folds$test))
  if (kind != "none") {
    raw$cv_scores <- array(NA_real_, c(if (kind == "all") n_folds, length(alphas), t))
  }
  if (options$fit_intercept && options$coefs != "none") raw$intercept <- rep(NA_real_, t)
  per_target <- if (kind == "all") n_folds * length(alphas) else length(alphas)
  logs <- list()
  for (unit in units) {
    one <- read_checkpoint(run, "batches", unit)
    if (is.null(one)) {
      raw$missing_units <- c(raw$missing_units, unit)
      next
    }
    range <- batch_range(spec, unit)
    columns <- seq(range[1L], range[2L])
    raw$alpha_index[columns] <- one$alpha_index
    if (kind != "none") raw$cv_scores[seq((range[1L] - 1) * per_target + 1, range[2L] * per_target)] <- one$cv_scores
    if (!is.null(raw$intercept) && !is.null(one$intercept)) raw$intercept[columns] <- one$intercept
    raw$constant_targets <- c(raw$constant_targets, as.integer(one$constant_targets + range[1L] - 1))
    raw$info <- raw$info %||% one$info
    raw$totals <- add_columns(raw$totals, one$tile_totals)
    logs <- c(logs, list(data.frame(batch = unit, first = range[1L], last = range[2L], one$log)))
  }
  raw$log <- do.call(rbind, logs)
  raw
}

# Tile after tile, as a single process adds them.
add_columns <- function(total, columns) {
  total <- total %||% numeric(nrow(columns))
  for (j in seq_len(ncol(columns))) total <- total + columns[, j]
  total
}

# One alpha for all targets, and the coefficients at it.
refit_shared <- function(run, raw, units, alphas, options, call) {
  best <- which(raw$totals == max(raw$totals, na.rm = TRUE))
  chosen <- best[which.max(alphas[best])]
  raw$alpha_index[!is.na(raw$alpha_index)] <- chosen
  if (options$coefs == "none") return(raw)
  write_whole(alphas[chosen], file.path(run$dir, "chosen.rds"), call)
  raw$left <- run_stage(run, "refits", units, "Coefficients", call)
  for (unit in setdiff(units, raw$left$unit)) {
    range <- batch_range(run$spec, unit)
    one <- read_checkpoint(run, "refits", unit)
    if (!is.null(raw$intercept)) raw$intercept[seq(range[1L], range[2L])] <- one$intercept
  }
  raw
}

# The coefficients of all batches as one store: their files are its segments. Batches that are missing are NA there, in
# files of another name; NULL where these cannot be written.
joined_coefs <- function(run, stage, p, units, targets, options) {
  call <- rlang::current_env()
  tryCatch(join_segments(run, stage, p, units, targets, options, call), voxridge_error_file = function(cnd) NULL)
}

join_segments <- function(run, stage, p, units, targets, options, call) {
  rows <- if (options$coefs == "dual") run$spec$Y$rows else p
  paths <- coef_path(run$dir, units)
  facts <- lapply(units, function(unit) read_checkpoint(run, stage, unit)$coefs)
  for (k in which(vapply(facts, is.null, NA))) {
    range <- batch_range(run$spec, units[k])
    paths[k] <- file.path(run$dir, "coefs", sprintf("missing_%06d.f32", units[k]))
    facts[[k]] <- write_missing_coefs(paths[k], rows, range[2L] - range[1L] + 1, call)
  }
  ranges <- vapply(units, function(unit) batch_range(run$spec, unit), numeric(2L))
  flawed <- Map(function(found, first) found$nonfinite + first - 1, facts, ranges[1L, ])
  segments <- data.frame(path = paths, first = ranges[1L, ], cols = ranges[2L, ] - ranges[1L, ] + 1)
  store <- new_store(
    file.path(run$dir, "coefs", "coefs.f32"), rows, run$spec$t, "float32", names = targets$names, segments = segments,
    facts = list(checksums = unlist(lapply(facts, `[[`, "checksums")), nonfinite = as.integer(unlist(flawed))),
    rounding = max(vapply(facts, `[[`, 0, "rounding"))
  )
  write_description(store, call)
  store
}

write_missing_coefs <- function(path, rows, cols, call) {
  writer <- run_core(core_store_writer(path, rows, cols, TRUE), call)
  control <- core_control(1L)
  for (first in seq(1, cols, by = STRIPE)) {
    run_core(core_store_write(writer, first, matrix(NA_real_, rows, min(STRIPE, cols - first + 1)), control), call)
  }
  run_core(core_store_finish(writer), call)
}

# ---- what is missing -------------------------------------------------------------------------

missing_range <- function(run, units) {
  as.integer(unlist(lapply(units, function(unit) {
    range <- batch_range(run$spec, unit)
    seq(range[1L], range[2L])
  })))
}

# For stages that everything after them needs.
complete_stage <- function(run, stage, units, label, call) {
  left <- run_stage(run, stage, units, label, call)
  if (nrow(left)) abort_incomplete(left, run, NULL, integer(), call)
}

incomplete_lines <- function(left) {
  messages <- ifelse(is.na(left$message), "no word from its worker", left$message)
  lines <- paste0("unit ", left$unit, ": ", messages)
  escape(stats::setNames(utils::head(lines, 3L), rep("x", min(3L, length(lines)))))
}

abort_incomplete <- function(left, run, partial, missing, call) {
  again <- if (run$temporary) {
    "Give {.arg dir}, and the same call goes on with what is done."
  } else {
    "The same call goes on with what is done; {.file {file.path(run$dir, 'failed')}} has all messages."
  }
  what <- if (length(missing)) {
    "results for all targets, not without {length(missing)} of {run$spec$t} ({first_few(missing)})"
  } else {
    "all of its factors or coefficients, not without {nrow(left)} of the units of work"
  }
  abort(
    c(paste0("After {run$settings$retries} retr{?y/ies} the run must have ", what, "."), incomplete_lines(left),
      i = again),
    "incomplete",
    partial = partial, missing_targets = missing, messages = left, call = call
  )
}

report_incomplete <- function(left, run, out, missing, call) {
  if (run$settings$on_failure == "error") abort_incomplete(left, run, out, missing, call)
  warn(
    c("{length(missing)} of {run$spec$t} targets are missing and are NA ({first_few(missing)}).",
      incomplete_lines(left)),
    "incomplete",
    missing_targets = missing, messages = left
  )
}
