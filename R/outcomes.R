# Binary outcomes and weights of samples, in the forms that people have them, brought into the one form that the
# logistic functions take.

# list(y, levels, positive, type, is_vector): `y` as double from 0 to 1, a vector or n x T, names kept.
#
# A vector is 0/1, logical, a two-level factor or proportions; a matrix, 0/1, logical or proportions, is n x T targets;
# a data frame or list holds a vector per target. `levels` are the two values in their order, `positive` the one that
# counts as 1, `type` is "factor", "logical" or "number"; of a data frame or list: a 2 x T matrix and vectors over the
# targets. `positive` as an argument: NULL, or a level of each factor, one for all or one per target. With
# `na_targets = "skip"` values that are not finite stay; the sizes of X and y are for the caller to compare.
as_outcome <- function(y, positive = NULL, arg = rlang::caller_arg(y), call = rlang::caller_env(),
                       na_targets = "error") {
  force(arg)
  if (is.list(y)) return(outcome_columns(y, positive, arg, call, na_targets))
  type <- outcome_type(y, arg, call)
  if (type == "factor") {
    levels <- levels(y)
    positive <- as_positive_level(positive, levels, arg, call)
  } else {
    refuse_positive(positive, y, arg, call)
    levels <- if (type == "logical") c("FALSE", "TRUE") else c("0", "1")
    positive <- levels[2L]
  }
  y <- outcome_values(y, type, positive, arg, call)
  check_outcome_values(y, arg, call, na_targets)
  list(y = y, levels = levels, positive = positive, type = type, is_vector = !is.matrix(y))
}

# The same for functions of a single target.
as_outcome_vector <- function(y, positive = NULL, arg = rlang::caller_arg(y), call = rlang::caller_env()) {
  force(arg)
  if (length(dim(y)) < 2L && !is.list(y)) return(as_outcome(y, positive, arg, call))
  found <- describe(y)
  advice <- if (length(dim(y)) == 2L && ncol(y) == 2L && is_count(y)) {
    TRIALS_ADVICE
  } else {
    "One target at a time: {.code {arg}[, 1]} is the first column of a matrix, {.code {arg}[[1]]} that of a data frame."
  }
  abort(c("{.arg {arg}} must be a vector with a value per sample, not {found}.", i = advice), "y_form", found = found,
        call = call)
}

outcome_type <- function(y, arg, call) {
  if (is.factor(y)) {
    check_two_levels(y, arg, call)
    return("factor")
  }
  if (length(dim(y)) > 1L) {
    if (is.matrix(y) && is.character(y)) refuse_outcome(y, outcome_advice(y, arg), arg, call)
    return(if (is.logical(y)) "logical" else "number")
  }
  if (!(is.numeric(y) || is.logical(y)) || is.object(y)) refuse_outcome(y, outcome_advice(y, arg), arg, call)
  if (is.logical(y)) "logical" else "number"
}

outcome_values <- function(y, type, positive, arg, call) {
  if (length(dim(y)) > 1L) return(as_double_matrix(y, arg = arg, call = call))
  if (!length(y)) {
    abort("{.arg {arg}} must have a value per sample, not none.", "shape", found = 0L, call = call)
  }
  stats::setNames(as.double(if (type == "factor") as.integer(y) == match(positive, levels(y)) else y), names(y))
}

refuse_outcome <- function(y, advice, arg, call, found = describe(y), where = NULL) {
  abort(
    c("{.arg {arg}} must be 0/1, logical, a factor of two levels, or proportions from 0 to 1, not {found}.",
      i = advice),
    "y_form",
    found = found, where = where, call = call
  )
}

outcome_advice <- function(y, arg) {
  if (!is.character(y)) return("Convert it first, for example with {.fn as.numeric} or {.fn factor}.")
  values <- sort(unique(as.vector(y)))
  # plain words only, since the text goes through cli
  if (length(values) == 2L && is.null(dim(y)) && all(grepl("^[[:alnum:] _.-]+$", values))) {
    levels <- paste(dQuote(values, FALSE), collapse = ", ")
    return(paste0("Use {.code factor({arg}, levels = c(", levels, "))}; the second level counts as 1."))
  }
  "Use a factor, or compare with the class that counts as 1: {.code {arg} == \"class\"}."
}

# ---- factors ---------------------------------------------------------------------------------

check_two_levels <- function(y, arg, call) {
  k <- nlevels(y)
  if (k == 2L) return(invisible(y))
  used <- nlevels(droplevels(y))
  found <- sprintf("a factor of %d level%s", k, plural(k))
  advice <- if (used == 2L) {
    "Two of its levels are in use: {.code droplevels({arg})}."
  } else if (k < 2L) {
    "Give it both levels: {.code factor({arg}, levels = c(\"no\", \"yes\"))}; the second counts as 1."
  } else {
    "Compare with the class that counts as 1: {.code {arg} == levels({arg})[2]}."
  }
  refuse_outcome(y, advice, arg, call, found)
}

as_positive_level <- function(positive, levels, arg, call) {
  if (is.null(positive)) return(levels[2L])
  if (rlang::is_string(positive) && positive %in% levels) return(as.vector(positive))
  found <- describe(positive)
  abort(
    c("{.arg positive} must be a level of {.arg {arg}} ({.or {.val {levels}}}) or NULL, not {found}.",
      i = "It names the level that counts as 1; NULL is the second."),
    "argument",
    expected = levels, found = found, call = call
  )
}

refuse_positive <- function(positive, y, arg, call) {
  if (is.null(positive)) return(invisible())
  found <- describe(positive)
  kind <- if (is.logical(y)) "TRUE" else "1"
  abort(
    c("{.arg positive} must be NULL where {.arg {arg}} is not a factor, not {found}.",
      i = "It names a level; of other outcomes {kind} is the positive one."),
    "conflict",
    found = found, call = call
  )
}

# ---- several targets -------------------------------------------------------------------------

# A data frame or list with a vector per target.
outcome_columns <- function(y, positive, arg, call, na_targets) {
  sizes <- vapply(y, NROW, 0L)
  if (!length(y) || any(sizes != sizes[1L])) {
    found <- if (length(y)) paste(first_few(sizes), "values") else "none"
    abort("{.arg {arg}} must have a column per target, all of one length, not {found}.", "shape", found = sizes,
          call = call)
  }
  factors <- vapply(y, is.factor, NA)
  check_positive_number(positive, length(y), any(factors), arg, call)
  positives <- if (is.null(positive)) list(NULL) else as.list(positive)
  positives <- rep_len(positives, length(y))
  positives[!factors] <- list(NULL)
  labels <- if (is.null(names(y))) sprintf("%s[[%d]]", arg, seq_along(y)) else paste0(arg, "$", names(y))
  columns <- Map(function(column, positive, label) {
    if (is.list(column) || length(dim(column)) > 1L) refuse_outcome(column, "One vector per target.", label, call)
    as_outcome(column, positive, label, call, na_targets)
  }, unname(as.list(y)), positives, labels)
  values <- do.call(cbind, lapply(columns, function(column) unname(column$y)))
  rows <- if (is.data.frame(y) && is.character(attr(y, "row.names"))) attr(y, "row.names") else names(y[[1L]])
  if (!is.null(rows) || !is.null(names(y))) dimnames(values) <- list(rows, names(y))
  each <- function(part, value) stats::setNames(vapply(columns, `[[`, value, part), names(y))
  levels <- vapply(columns, `[[`, character(2L), "levels")
  colnames(levels) <- names(y)
  list(y = values, levels = levels, positive = each("positive", ""), type = each("type", ""), is_vector = FALSE)
}

check_positive_number <- function(positive, n_targets, any_factor, arg, call) {
  if (is.null(positive)) return(invisible())
  if (!any_factor) refuse_positive(positive, NULL, arg, call)
  if (is.character(positive) && length(positive) %in% c(1L, n_targets)) return(invisible())
  found <- describe(positive)
  abort("{.arg positive} must be NULL, one level, or one per target ({n_targets}), not {found}.", "argument",
        expected = c(1L, n_targets), found = found, call = call)
}

# ---- values ----------------------------------------------------------------------------------

check_outcome_values <- function(y, arg, call, na_targets) {
  if (na_targets != "skip") {
    advice <- c(i = "Drop these samples first.")
    if (is.matrix(y)) check_finite_columns(y, arg, "target", outcome_na_advice(), call)
    else check_finite_vector(y, arg, call, advice)
  }
  if (min(y, 0, na.rm = TRUE) >= 0 && max(y, 1, na.rm = TRUE) <= 1) return(invisible(y))
  bad <- which(is.finite(y) & (y < 0 | y > 1))
  if (!length(bad)) return(invisible(y))
  column <- if (is.matrix(y)) (bad[1L] - 1L) %/% nrow(y) + 1L
  values <- if (is.null(column)) y else y[, column]
  form <- wrong_form(values[is.finite(values)], is_counts_pair(y))
  place <- if (!is.null(column)) paste(" in column", column_labels(column, colnames(y)))
  refuse_outcome(y, form$advice, arg, call, paste0(form$found, place), where = unname(bad))
}

outcome_na_advice <- function() {
  c(i = "Drop these targets, or skip them with {.code na_targets = \"skip\"} in {.fn fit_logistic_ridge}.")
}

is_count <- function(x) (is.numeric(x) || is.logical(x)) && !anyNA(x) && all(x >= 0 & x == round(x))

is_counts_pair <- function(y) is.matrix(y) && ncol(y) == 2L && is_count(y)

TRIALS_ADVICE <- "For counts of successes and failures use successes / trials as {.arg {arg}}, with
                  {.code weights = trials}."

# What numbers outside 0 to 1 look like, and what to do about it.
wrong_form <- function(values, is_pair = FALSE) {
  range <- format(range(values), trim = TRUE, digits = 6L)
  if (all(values %in% c(-1, 1))) return(list(found = "-1/+1", advice = "Use {.code ({arg} + 1) / 2}."))
  if (is_pair) return(list(found = "counts", advice = TRIALS_ADVICE))
  if (all(values %in% 1:2)) return(list(found = "1/2", advice = "Use {.code {arg} - 1}."))
  if (is_count(values)) {
    return(list(found = paste("counts from", range[1L], "to", range[2L]),
                advice = TRIALS_ADVICE))
  }
  advice <- if (min(values) >= 0 && max(values) <= 100) {
    "Use {.code {arg} / 100} if these are percentages."
  } else {
    "1 is the class whose probability is forecast, 0 the other."
  }
  list(found = paste("values from", range[1L], "to", range[2L]), advice = advice)
}

# ---- weights ---------------------------------------------------------------------------------

# One weight per sample, relative: a double vector of length n. NULL is equal weights, 1 each.
as_weights <- function(weights, n, arg = rlang::caller_arg(weights), call = rlang::caller_env()) {
  force(arg)
  if (is.null(weights)) return(rep(1, n))
  if (!is.numeric(weights) || is.object(weights) || length(dim(weights)) > 1L) {
    found <- describe(weights)
    abort("{.arg {arg}} must be a numeric vector with a weight per sample, or NULL, not {found}.", "weights",
          found = found, call = call)
  }
  if (length(weights) != n) {
    abort("{.arg {arg}} must have a value per sample ({n}), not {length(weights)}.", "weights", expected = n,
          found = length(weights), call = call)
  }
  weights <- as.double(weights)
  check_elements(weights, weights >= 0, "at least 0", "A weight of 0 leaves a sample out.", "weights", arg, call)
  if (any(weights > 0) && is.finite(sum(weights))) return(weights)
  found <- if (any(weights > 0)) "a sum that overflows" else "all 0"
  abort("{.arg {arg}} must have a positive, finite sum, not {found}.", "weights", found = found, call = call)
}
