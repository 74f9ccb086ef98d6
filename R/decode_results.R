# The result of decode(): what the core, or the loop in R, found, with names, in the order of the rows of X.

DECODE_FIELDS <- c("scores", "score", "failures", "locations", "dims", "metrics", "folds")

# `parts`: list(data, outcome, folds, places, plan, settings, decoder, backend), as decode() made them.
new_voxridge_decode <- function(raw, parts, started, call) {
  folds <- parts$folds
  places <- parts$places
  metrics <- parts$settings$metrics
  labels <- places$names
  levels <- parts$outcome$levels
  scores <- array(raw$scores, c(length(folds$test), places$n, length(metrics)), list(folds$labels, labels, metrics))
  failures <- all_failures(raw, parts)
  check_any_location(scores, failures, places, call)
  out <- list(
    format = FIT_FORMAT,
    scores = scores,
    score = fold_means(scores),
    pooled = matrix(raw$pooled, places$n, dimnames = list(labels, metrics)),
    predictions = rows_of_predictions(raw$predictions, parts),
    decision = rows_of_decisions(raw$decision, parts),
    folds = fold_of_rows(folds, rownames(parts$data$X)),
    alpha = if (!is.null(raw$alpha)) matrix(raw$alpha, ncol = places$n, dimnames = list(folds$labels, labels))
  )
  out <- c(out, decode_maps(raw, parts))
  if (!is.null(parts$plan)) {
    out <- c(out, permutation_results(raw, parts$plan, metrics, labels, is.na(out$score)))
  }
  out <- c(out, list(
    size = with_names(as.integer(raw$size), labels),
    failures = failures,
    excluded = excluded_columns(raw$voxel_state),
    chance = if (!is.null(levels)) c(balanced = 1 / length(levels), majority = max(tabulate(parts$outcome$codes)) /
                                       length(parts$outcome$codes)),
    levels = levels,
    y = parts$outcome$all,
    metrics = metrics,
    model = parts$decoder$word,
    alphas = if (parts$decoder$word != "user") parts$settings$alphas,
    scale = parts$settings$scale,
    locations = places[c("kind", "n", "names", "parcel", "centers")],
    where = parts$settings$where,
    mask = places$mask,
    dims = c(n = nrow(parts$data$X), p = ncol(parts$data$X), locations = places$n, folds = length(folds$test)),
    backend = parts$backend,
    diagnostics = list(n_rows_used = length(folds$rows), n_threads = parts$settings$n_threads,
                       seconds = proc.time()[["elapsed"]] - started)
  ))
  names(out$locations) <- c("kind", "n", "names", "parcel", "centers")
  structure(out, class = "voxridge_decode")
}

validate_decode <- function(fit, arg = "x", call = rlang::caller_env()) {
  good <- is.list(fit) && identical(fit[["format"]], FIT_FORMAT) && all(DECODE_FIELDS %in% names(fit))
  if (good) return(invisible(fit))
  abort_old_fit(fit, arg, call, "a result of {.fn decode}", "Decode again.")
}

# Means over the folds that have a score: locations x metrics.
fold_means <- function(scores) {
  size <- dim(scores)
  means <- colMeans(matrix(scores, size[1L]), na.rm = TRUE)
  means[is.nan(means)] <- NA_real_
  matrix(means, size[2L], dimnames = dimnames(scores)[2:3])
}

# ---- out-of-fold predictions -----------------------------------------------------------------

# Where each row of the core's predictions (fold after fold) goes: list(row, repeats, n_repeats) in rows of X.
held_out_places <- function(folds) {
  inner <- unlist(folds$test)
  occurrence <- integer(length(inner))
  order <- order(inner)
  sorted <- inner[order]
  occurrence[order] <- sequence(rle(sorted)$lengths)
  list(row = folds$rows[inner], repeats = occurrence, n_repeats = max(occurrence))
}

# From fold after fold to rows of X: `values` is held-out rows x anything; the repeats are the last dimension.
spread_rows <- function(values, folds) {
  at <- held_out_places(folds)
  size <- dim(values)
  columns <- prod(size[-1L])
  out <- array(values[NA_integer_], c(folds$n_rows, columns, at$n_repeats))
  values <- matrix(values, size[1L])
  for (r in seq_len(at$n_repeats)) {
    some <- at$repeats == r
    out[at$row[some], , r] <- values[some, ]
  }
  array(out, c(folds$n_rows, size[-1L], if (at$n_repeats > 1L) at$n_repeats))
}

# n (x locations) (x repeats): of a single location a factor or numbers, of several the names of classes or numbers.
rows_of_predictions <- function(predictions, parts) {
  if (is.null(predictions)) return(NULL)
  places <- parts$places
  out <- spread_rows(matrix(predictions, ncol = places$n), parts$folds)
  rows <- rownames(parts$data$X)
  levels <- parts$outcome$levels
  if (places$kind == "all" && length(dim(out)) == 2L) {
    out <- if (is.null(levels)) out[, 1L] else factor(levels[out[, 1L]], levels)
    return(if (is.null(rows)) out else stats::setNames(out, rows))
  }
  if (!is.null(levels)) out <- array(levels[out], dim(out))
  if (places$kind == "all") dim(out) <- dim(out)[-2L]
  name_outcomes(out, rows, if (places$kind != "all") list(places$names))
}

# n x columns (x locations) (x repeats); columns are classes, or the second class of two.
rows_of_decisions <- function(decision, parts) {
  if (is.null(decision) || is.null(parts$outcome$levels)) return(NULL)
  places <- parts$places
  columns <- decision_columns(parts$outcome$levels)
  out <- spread_rows(array(decision, c(length(decision) / length(columns) / places$n, length(columns), places$n)),
                     parts$folds)
  if (places$kind == "all") dim(out) <- dim(out)[-3L]
  name_outcomes(out, rownames(parts$data$X), c(list(columns), if (places$kind != "all") list(places$names)))
}

name_outcomes <- function(x, rows, others) {
  names <- vector("list", length(dim(x)))
  if (!is.null(rows)) names[[1L]] <- rows
  for (k in seq_along(others)) if (!is.null(others[[k]])) names[[k + 1L]] <- others[[k]]
  with_dimnames(x, names)
}

decision_columns <- function(levels) if (length(levels) == 2L) levels[2L] else levels

# The fold in which each row was held out, NA for none: n, or n x repeats.
fold_of_rows <- function(folds, rows) {
  number <- rep(seq_along(folds$test), lengths(folds$test))
  out <- spread_rows(matrix(number), folds)
  if (length(dim(out)) == 2L) return(with_names(out[, 1L], rows))
  with_dimnames(matrix(out, folds$n_rows), list(rows, NULL))
}

# ---- weights ---------------------------------------------------------------------------------

# voxels x columns (x folds) in the order of X, NA for voxels that are in no location or that were left out.
decode_maps <- function(raw, parts) {
  if (!parts$settings$weights || is.null(raw$weights)) return(NULL)
  places <- parts$places
  p <- ncol(parts$data$X)
  at <- if (places$kind == "all") seq_len(p) else places$core$voxel
  columns <- decision_columns(parts$outcome$levels)
  names <- list(parts$data$names, columns)
  k <- max(1L, length(columns))
  spread <- function(x, folds = NULL) {
    size <- c(p, k, folds)
    out <- matrix(NA_real_, p, k * max(1L, folds))
    out[at, ] <- matrix(x, length(at))
    out[raw$voxel_state != 0L, ] <- NA
    with_dimnames(array(out, size), c(names, if (!is.null(folds)) list(parts$folds$labels)))
  }
  list(
    weights = spread(raw$weights),
    fold_weights = if (!is.null(raw$fold_weights)) spread(raw$fold_weights, length(parts$folds$test)),
    patterns = if (!is.null(raw$patterns)) spread(raw$patterns)
  )
}

# ---- failures --------------------------------------------------------------------------------

FAILURE_WORDS <- c(
  too_small = "fewer usable voxels than min_voxels",
  constant = "every voxel is constant in the training set",
  not_finite = "no voxel is finite",
  class_missing = "the training set lacks a class",
  one_class = "the training set has one class",
  singular = "the factorisation failed",
  undefined = "a metric is undefined in the fold",
  user_error = "the function failed"
)

# data.frame(location, fold, reason, detail), both numbers; a location of NA means all of them.
all_failures <- function(raw, parts) {
  found <- raw$failures
  none <- data.frame(location = integer(), fold = integer(), reason = character(), detail = character())
  out <- if (length(found$location)) {
    detail <- found$detail %||% rep(NA_character_, length(found$location))
    data.frame(location = as.integer(found$location), fold = as.integer(found$fold),
               reason = as.character(found$reason), detail = as.character(detail))
  } else {
    none
  }
  out <- out[out$reason != "class_missing", ]
  small <- out$reason == "too_small"
  size <- raw$size[out$location[small]]
  out$detail[small] <- sprintf("%d voxel%s of at least %d", size, ifelse(size == 1L, "", "s"),
                               parts$settings$where$min_voxels)
  missing <- is.na(out$detail)
  out$detail[missing] <- FAILURE_WORDS[out$reason[missing]]
  out <- rbind(shared_failures(out, parts$places$n), missing_classes(parts))
  out <- out[order(out$location, out$fold, na.last = FALSE), ]
  rownames(out) <- NULL
  out
}

# What holds for every location in a fold is said once.
shared_failures <- function(failures, n) {
  if (n < 2L || !nrow(failures)) return(failures)
  key <- paste(failures$fold, failures$reason)
  shared <- names(which(tapply(failures$location, key, function(x) length(unique(x))) == n))
  keep <- !key %in% shared | is.na(failures$fold) | failures$reason == "user_error"
  first <- !keep & !duplicated(key)
  failures$location[first] <- NA_integer_
  failures[keep | first, ]
}

missing_classes <- function(parts) {
  levels <- parts$outcome$levels
  if (is.null(levels)) return(NULL)
  rows <- lapply(seq_along(parts$folds$train), function(fold) {
    lacking <- setdiff(seq_along(levels), parts$outcome$codes[parts$folds$train[[fold]]])
    if (!length(lacking) || length(lacking) >= length(levels) - 1L) return(NULL)
    data.frame(location = NA_integer_, fold = fold, reason = "class_missing",
               detail = paste("no", paste(levels[lacking], collapse = ", "), "in the training set"))
  })
  do.call(rbind, rows)
}

# Errors where nothing at all could be decoded.
check_any_location <- function(scores, failures, places, call) {
  if (!all(is.na(scores))) return(invisible(scores))
  table <- sort(table(failures$reason), decreasing = TRUE)
  words <- sprintf("%s (%s): %s", names(table), format_count(as.vector(table)), FAILURE_WORDS[names(table)])
  detail <- failures$detail[failures$reason == "user_error"][1L]
  if (length(detail) && !is.na(detail)) words <- c(words, paste("First message:", detail))
  words <- escape(words)
  abort(
    c("{.arg where} must have a location that can be decoded, not none of {format_count(places$n)}.",
      stats::setNames(words, rep("i", length(words)))),
    "no_location",
    found = table, where = failures, call = call
  )
}
