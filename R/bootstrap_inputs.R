# Inputs of the bootstrap: data or a fit, blocks, the caller's own resamples.

check_given <- function(given, call) {
  if (!given[["Y"]]) {
    abort(
      c("{.arg Y} must be given: samples x targets.", i = "A fit of {.fn fit_ridge} as {.arg X} has its own."),
      "type",
      call = call
    )
  }
  if (given[["alphas"]]) return(invisible(given))
  abort(
    c("{.arg alphas} must be given: one penalty, or one per target.", i = "{.fn solve_ridge_cv} chooses penalties."),
    "alphas",
    call = call
  )
}

# list(X, Y, alphas, fit_intercept) of a fit that can be made again from its rows.
fit_to_resample <- function(fit, given, call) {
  validate_fit(fit, "X", call)
  if (any(given)) {
    arg <- names(given)[given][1L]
    abort("{.arg {arg}} must be left out where {.arg X} is a fit, which has its own.", "conflict", call = call)
  }
  problem <- if (is_banded(fit)) {
    c("of bands", "Scale the bands by the square roots of their weights, and pass the matrix.")
  } else if (fit$standardize) {
    c("with {.code standardize = TRUE}", "Scale the columns first, and pass the matrix.")
  } else if (length(skipped_by_fit(fit))) {
    c("with skipped targets", "Fit the targets without missing values.")
  }
  if (!is.null(problem)) {
    abort(c(paste0("{.arg X} must be a matrix or a fit of {.fn fit_ridge}, not a fit ", problem[1L], "."),
            i = problem[2L]), "type", found = class(fit)[1L], call = call)
  }
  check_kept(fit, c("features", "Y"), call, "X")
  Y <- fit$data$Y
  if (!is.null(fit$mask)) attr(Y, "mask") <- fit$mask
  list(X = fit$data$X, Y = if (fit$is_vector) Y[, 1L] else Y, alphas = unname(fit$best_alphas),
       fit_intercept = fit$fit_intercept)
}

check_resampled_rows <- function(X, call) {
  if (nrow(X) > 1L) return(invisible(X))
  abort(
    c("{.arg X} must have at least 2 rows, not 1.", i = "Rows are samples; they are drawn with replacement."),
    "shape",
    expected = 2L, found = 1L, call = call
  )
}

# The samples to predict, in the columns of X, or NULL.
as_new_rows <- function(X_new, X, what, call) {
  if (what == "predictions") {
    if (!is.null(X_new)) return(newdata_matrix(X_new, colnames(X), ncol(X), "X_new", call))
    abort(
      c("{.arg X_new} must be a numeric matrix with {.code what = \"predictions\"}, not NULL.",
        i = "Rows are samples to predict."),
      "type",
      call = call
    )
  }
  if (is.null(X_new)) return(NULL)
  abort(
    c("{.arg X_new} must be NULL with {.code what = \"weights\"}, not {describe(X_new)}.",
      i = "Use {.code what = \"predictions\"}."),
    "conflict",
    found = describe(X_new), call = call
  )
}

# What the core draws: list(n_boot, block, seed, resamples, table). `n_boot` is a setting(value, given).
as_draws <- function(n_boot, blocks, resamples, seed, n, call) {
  if (!is.null(seed)) as_key(seed, call)
  if (!is.null(resamples)) {
    refuse <- function(arg, found) {
      abort("{.arg {arg}} must be left out where {.arg resamples} are given, not {found}.", "conflict",
            found = found, call = call)
    }
    if (n_boot$given) refuse("n_boot", describe(n_boot$value))
    if (!is.null(blocks)) refuse("blocks", describe(blocks))
    if (!is.null(seed)) refuse("seed", describe(seed))
    resamples <- as_resamples(resamples, n, call)
    return(list(n_boot = check_boot_number(nrow(resamples), "resamples", call), block = NULL, seed = 0,
                resamples = resamples, table = NULL))
  }
  count <- check_boot_number(as_count(n_boot$value, arg = "n_boot", call = call), "n_boot", call)
  drawn <- as_drawn_blocks(blocks, n, call)
  list(n_boot = count, block = drawn$block, seed = as_key(seed, call), resamples = NULL, table = drawn$table)
}

check_boot_number <- function(n_boot, arg, call) {
  if (n_boot < 10L) {
    abort(
      c(paste0("{.arg {arg}} must ", if (arg == "n_boot") "be" else "have", " at least 10",
               if (arg != "n_boot") " rows", ", not {n_boot}."),
        i = "Standard deviations and percentiles of so few resamples say nothing; 1000 is usual."),
      "argument",
      expected = 10L, found = n_boot, call = call
    )
  }
  if (n_boot < 100L) {
    warn(
      c("{n_boot} resamples are few: percentiles are all but the extremes of the resamples.",
        i = "Use at least 100; 1000 is usual."),
      "few_resamples",
      found = n_boot
    )
  }
  n_boot
}

# n_boot x n integers.
as_resamples <- function(resamples, n, call) {
  ok <- is.matrix(resamples) && is.numeric(resamples) && !is.object(resamples) && ncol(resamples) == n &&
    nrow(resamples) > 0L
  if (!ok) {
    found <- describe(resamples)
    abort(
      c("{.arg resamples} must be a matrix with a row per resample and a column per sample ({n}), not {found}.",
        i = "Its elements are the rows drawn, from 1 to {n}."),
      "argument",
      expected = n, found = found, call = call
    )
  }
  bad <- which(!(resamples %in% seq_len(n)))
  if (length(bad)) {
    where <- c(row = row(resamples)[bad[1L]], column = col(resamples)[bad[1L]])
    found <- format(resamples[bad[1L]])
    abort(
      "{.arg resamples} must hold row numbers from 1 to {n}, not {found} in row {where[1]}, column {where[2]}.",
      "argument",
      expected = n, found = resamples[bad[1L]], where = where, call = call
    )
  }
  storage.mode(resamples) <- "integer"
  resamples
}

# list(block, table): the block of each sample, counted from 1, and a data frame of the blocks; NULL without blocks.
as_drawn_blocks <- function(blocks, n, call) {
  if (is.null(blocks)) return(NULL)
  if (length(dim(blocks)) == 1L) blocks <- as.vector(blocks)
  check_block_labels(blocks, n, call)
  labels <- unique(as.vector(blocks))
  if (length(labels) == 1L) {
    abort(
      c("{.arg blocks} must name at least 2 blocks, not 1: every resample would be the data themselves.",
        i = "Without runs to draw, divide the samples into long stretches that are all but independent."),
      "argument",
      expected = 2L, found = 1L, call = call
    )
  }
  block <- match(as.vector(blocks), labels)
  list(block = block, table = data.frame(block = as.character(labels), size = tabulate(block)))
}

check_bootstrap_memory <- function(settings, n_boot, outputs, t, call) {
  cells <- 8 * as.double(outputs) * t
  size <- paste(format_count(outputs), "x", format_count(t))
  results <- stats::setNames(length(BOOTSTRAP_MAPS) * cells, paste0("results (6 x ", size, ")"))
  if (settings$return_samples) results[paste0("samples (", format_count(n_boot), " x ", size, ")")] <- cells * n_boot
  check_result_memory(results, "Resample fewer targets per call, or leave {.arg return_samples} out.", call)
}

# Data that were cleaned run by run say themselves that their rows depend on each other.
tell_rows_drawn <- function(blocks, resamples, data) {
  if (!is.null(blocks) || !is.null(resamples)) return(invisible())
  cleaned <- Filter(function(x) !is.null(attr(x, "runs", exact = TRUE)), data)
  if (!length(cleaned)) return(invisible())
  inform(
    c("Single rows are drawn, but {.arg {names(cleaned)[1]}} was cleaned run by run: its rows depend on each other and
       intervals are too narrow.",
      i = "Draw whole runs: {.code blocks = runs}, with the runs given to {.fn clean_runs}."),
    "rows_drawn"
  )
}
