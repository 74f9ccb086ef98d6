# New data for a fit, whatever form they come in: names first, then counts.

# list(parts, samples): one checked matrix per band, columns in the order of the fit; row names or NULL.
newdata_parts <- function(fit, newdata, bands, call) {
  if (inherits(newdata, "voxridge_prepared")) newdata <- validate_prepared(newdata, call)$X
  if (!is_banded(fit)) {
    X <- newdata_matrix(newdata, fit$features, fit$dims[["p"]], "newdata", call)
    return(list(parts = list(X), samples = rownames(X)))
  }
  parts <- if (is.list(newdata) && !is.data.frame(newdata)) {
    if (!is.null(bands)) {
      abort("{.arg bands} must be left out where {.arg newdata} is a list, whose elements are the bands.", "conflict",
            call = call)
    }
    newdata_bands(fit, unclass(newdata), call)
  } else if (is.null(bands)) {
    X <- newdata_matrix(newdata, names(fit$bands), fit$dims[["p"]], "newdata", call)
    lapply(part_rows(fit), function(j) X[, j, drop = FALSE])
  } else {
    X <- as_features(newdata, "newdata", call)
    labels <- band_labels(bands, ncol(X), call, "newdata")
    columns <- split(seq_len(ncol(X)), factor(labels$names[labels$id], labels$names))
    newdata_bands(fit, lapply(columns, function(j) X[, j, drop = FALSE]), call)
  }
  list(parts = parts, samples = Find(Negate(is.null), lapply(parts, rownames)))
}

newdata_matrix <- function(X, features, p, arg, call) {
  X <- as_features(X, arg, call)
  order <- match_columns(colnames(X), ncol(X), features, p, arg, "column", call)
  if (is.null(order)) X else X[, order, drop = FALSE]
}

# The bands of a list in the order of the fit.
newdata_bands <- function(fit, newdata, call) {
  order <- match_columns(names(newdata) %||% character(length(newdata)), length(newdata), levels(fit$bands),
                         nlevels(fit$bands), "newdata", "band", call)
  if (!is.null(order)) newdata <- newdata[order]
  args <- sub("^Xs", "newdata", band_args(levels(fit$bands)))
  rows <- part_rows(fit)
  names <- lapply(rows, function(j) names(fit$bands)[j])
  parts <- unname(Map(function(X, features, j, arg) {
    if (is.atomic(X) && is.null(dim(X)) && is.numeric(X) && length(j) == 1L) X <- cbind(X, deparse.level = 0L)
    newdata_matrix(X, features, length(j), arg, call)
  }, newdata, names, rows, args))
  for (b in seq_along(parts)) check_same_rows(parts[[b]], nrow(parts[[1L]]), args[b], args[1L], call)
  parts
}

# The places of the fit's columns among those found, NULL where they are in order already. `what`: "column", "band" or
# "target".
match_columns <- function(found, n_found, expected, n_expected, arg, what, call) {
  if (is.null(found) || is.null(expected)) {
    if (n_found == n_expected) return(NULL)
    abort(
      c("{.arg {arg}} must have the {n_expected} {what}{cli::qty(n_expected)}{?s} of the fit, not {n_found}."),
      "newdata",
      expected = n_expected, found = n_found, call = call
    )
  }
  if (identical(as.vector(found), as.vector(expected))) return(NULL)
  missing <- setdiff(expected, found)
  unknown <- setdiff(found, expected)
  again <- unique(c(found[duplicated(found)], expected[duplicated(expected)]))
  if (!length(missing) && !length(unknown) && !length(again)) return(match(expected, found))
  abort_columns(missing, unknown, again, arg, what, call)
}

abort_columns <- function(missing, unknown, again, arg, what, call) {
  listed <- function(text, names) if (length(names)) c(i = paste0(text, first_few(encodeString(names, quote = "\""))))
  abort(
    c("{.arg {arg}} must have the {what}s of the fit by name, not others.",
      listed("Missing: ", escape(missing)), listed("Not in the fit: ", escape(unknown)),
      listed("More than once: ", escape(again))),
    "newdata",
    expected = missing, found = unknown, where = what, call = call
  )
}

# Targets for a fit, samples x targets, in the order of the fit; those that the fit skipped may be anything.
newdata_targets <- function(fit, Y, n, call) {
  skip <- skipped_by_fit(fit)
  targets <- as_target_matrix(Y, n, call = call, arg_x = "newdata")
  order <- match_columns(targets$names, ncol(targets$Y), fit$targets, fit$dims[["t"]], "Y", "target", call)
  if (!is.null(order)) targets$Y <- targets$Y[, order, drop = FALSE]
  counted <- setdiff(core_nonfinite_columns(targets$Y), skip)
  if (length(counted)) {
    shown <- first_few(column_labels(counted, fit$targets))
    abort(
      c("{.arg Y} must be finite, not NA, NaN or Inf in {length(counted)} of {fit$dims[['t']]} target{?s} ({shown}).",
        i = "Only targets that the fit skipped may have them."),
      "nonfinite",
      found = length(counted), where = counted, call = call
    )
  }
  targets$Y
}
