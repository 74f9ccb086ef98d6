# Answers of permutation tests beyond counts of all permutations: sequential stopping, and the settings of the rest.

# Settings of the corrections that all tests share. `mask` is a setting(value, given).
correction_settings <- function(settings, enhance, mask, tail_fit, sequential, v, call) {
  settings$tail_fit <- as_flag(tail_fit, arg = "tail_fit", call = call)
  settings$sequential <- as_count(sequential, null_ok = TRUE, arg = "sequential", call = call)
  settings$enhance <- as_enhancement(enhance, call)
  settings$mask <- enhancement_mask(settings$enhance, mask, v, call)
  if (!is.null(settings$enhance) && settings$return_null) {
    abort("{.arg return_null} must be FALSE where {.arg enhance} is given, not TRUE.", "conflict", found = TRUE,
          call = call)
  }
  if (!is.null(settings$sequential)) check_sequential(settings, call)
  settings
}

# What needs every permutation of every column.
check_sequential <- function(settings, call) {
  refuse <- function(arg, must, found, why) {
    abort(c("{.arg {arg}} must be {must} where {.arg sequential} is given, not {found}.", i = why), "conflict",
          found = found, call = call)
  }
  if (settings$exact == "always") {
    refuse("exact", "\"auto\" or \"never\"", "\"always\"", "Enumerated rearrangements come in no random order.")
  }
  if (settings$return_null) {
    refuse("return_null", "FALSE", "TRUE", "Columns that stop see no further permutations.")
  }
  if (!is.null(settings$enhance)) {
    refuse("enhance", "NULL", "a map statistic", "Maps need every permutation of every column.")
  }
  if (settings$tail_fit) {
    refuse("tail_fit", "FALSE", "TRUE", "The maximum over columns needs every permutation of every column.")
  }
  invisible(settings)
}

# Besag and Clifford's p in the place of that of all permutations: h / l for a column whose h-th permutation as extreme
# as the data is the l-th, otherwise (b + 1) / (m + 1). Of two directions, twice the smaller one.
as_sequential_result <- function(out, parts, h) {
  m <- as.double(out$n_permutations)
  p <- vapply(parts, function(part) {
    ifelse(part$counts >= h, h / part$draws, (part$counts + 1) / (m + 1))
  }, numeric(length(out$p)))
  dim(p) <- c(length(out$p), length(parts))
  used <- parts[[1L]]$state == 0L
  smaller <- if (length(parts) == 2L) 1L + (p[, 2L] < p[, 1L]) else rep(1L, nrow(p))
  pick <- function(what) {
    values <- vapply(parts, `[[`, integer(nrow(p)), what)
    dim(values) <- dim(p)
    ifelse(used, values[cbind(seq_len(nrow(p)), smaller)], NA_integer_)
  }
  out$p[] <- ifelse(used, pmin(1, length(parts) * p[cbind(seq_len(nrow(p)), smaller)]), NA_real_)
  out$p_fwer[] <- NA_real_
  out$q_fdr[] <- stats::p.adjust(out$p, "BH")
  out$counts[] <- pick("counts")
  # list(): keeps the element
  out[c("p_ci", "max_null")] <- list(NULL)
  out$draws <- with_names(pick("draws"), names(out$p))
  out$sequential <- h
  out$diagnostics$degenerate <- NA_real_
  out
}
