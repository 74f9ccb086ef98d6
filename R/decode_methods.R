#' Results of decoding
#'
#' Print, summarise and tabulate what [decode()] returns.
#'
#' @param x,object A result of [decode()].
#' @param metric NULL (the default) for the first metric, or the name of another that was computed.
#' @param ... No further arguments.
#'
#' @returns
#' * `print()`: `x`, invisibly.
#' * `summary()`: a list of class `summary.voxridge_decode` with its own `print()`: `metric`, `chance`, `scores`
#'   (quantiles of the score over locations), `folds` (data frame: `fold`, `n` of held-out samples, mean `score` over
#'   locations), `confusion` (table of `truth` and `guess`, of classes at a single location with kept predictions; else
#'   NULL), `best` (data frame of the best locations, at most `getOption("voxridge.print_max", 5)`: `location`, `size`,
#'   `score`, with a mask `x`, `y`, `z` in mm, with permutations `p`, `p_fwer`), `failures` (counts by reason).
#' * `tidy()`: data frame with a row per location, fold and metric: `location` (name, or number of the voxel), `fold`
#'   (name or number), `metric`, `score`. Folds vary fastest.
#' * `glance()`: data frame of one row: `model`, `n`, `n_voxels`, `n_locations`, `n_folds`, `metric`, `chance`
#'   (balanced; NA for numbers), `score_min`, `score_mean`, `score_max`, `p_fwer_min` (NA without permutations),
#'   `n_failed` (locations without a score), `backend`, `seconds`.
#' @section Errors:
#' `voxridge_error_argument`, `voxridge_error_memory`, `voxridge_error_old_object`. See [voxridge-conditions].
#' @section Invariants:
#' Means of `tidy()` over folds are `score`.
#' @examples
#' set.seed(1)
#' y <- rep(c("a", "b", "c"), 8)
#' X <- matrix(rnorm(24 * 20), 24) + outer(match(y, letters), rep(0:1, c(16, 4)))
#' fit <- decode(X, y, cv = rep(1:4, each = 6), n_threads = 2)
#' summary(fit)
#' head(tidy(fit))
#' glance(fit)
#' @name voxridge_decode
NULL

#' @rdname voxridge_decode
#' @export
print.voxridge_decode <- function(x, ...) {
  rlang::check_dots_empty()
  validate_decode(x)
  print_fields(decode_title(x), c(decode_design_words(x), decode_score_words(x), decode_null_words(x),
                                  decode_failure_words(x)))
  invisible(x)
}

decode_title <- function(x) {
  dims <- vapply(x$dims, format_count, "")
  model <- c(ridge = "ridge", logistic = "logistic regression", user = "a function")[[x$model]]
  what <- if (is.null(x$levels)) "values" else paste(length(x$levels), "classes")
  sprintf("Decoding of %s by %s: %s samples x %s voxels", what, model, dims[["n"]], dims[["p"]])
}

decode_design_words <- function(x) {
  unused <- x$dims[["n"]] - x$diagnostics$n_rows_used
  folds <- paste0(x$dims[["folds"]], " folds", if (unused) paste0("; ", format_count(unused), " samples in none"))
  excluded <- table(factor(x$excluded$reason, c("constant", "non-finite")))
  excluded <- excluded[excluded > 0L]
  scaled <- c(none = "", global = "; voxels scaled by all samples", fold = "; voxels scaled by training samples")
  c(
    where = where_words(x$where),
    if (length(excluded)) {
      c("left out" = paste0(paste(format_count(as.vector(excluded)), names(excluded), collapse = ", "), " voxels"))
    },
    folds = folds,
    if (!is.null(x$alphas)) c(alpha = paste0(decode_alpha_words(x), scaled[[x$scale]]))
  )
}

decode_alpha_words <- function(x) {
  if (is.null(x$alpha)) return(format_numbers(x$alphas))
  ends <- format_numbers(range(x$alphas))
  sprintf("%d from %s to %s, chosen in each training set; median %s", length(x$alphas), ends[1L], ends[2L],
          format_numbers(stats::median(x$alpha, na.rm = TRUE)))
}

# Per metric; quartiles where there are several locations, and the best of these with its place.
decode_score_words <- function(x) {
  chance <- if (!is.null(x$chance)) {
    c(chance = sprintf("%s (balanced), %s (largest class)", format_numbers(x$chance[["balanced"]]),
                       format_numbers(x$chance[["majority"]])))
  }
  words <- vapply(x$metrics, function(metric) {
    score <- x$score[, metric]
    if (all(is.na(score))) return("undefined in every fold")
    if (x$dims[["locations"]] == 1L) return(decode_single_words(x, metric))
    quartiles <- format_numbers(stats::quantile(score, c(0.25, 0.5, 0.75), na.rm = TRUE, names = FALSE))
    sprintf("quartiles %s; best %s at %s", paste(quartiles, collapse = ", "),
            format_numbers(score[best_location(score, metric)]), place_words(x, best_location(score, metric)))
  }, "")
  c(chance, words)
}

decode_single_words <- function(x, metric) {
  folds <- x$scores[, 1L, metric]
  folds <- folds[!is.na(folds)]
  sprintf("%s, folds from %s to %s", format_numbers(x$score[1L, metric]), format_numbers(min(folds)),
          format_numbers(max(folds)))
}

best_location <- function(score, metric) if (metric == "mse") which.min(score) else which.max(score)

# "V1", or "voxel 12 at (3, -10, 4) mm".
place_words <- function(x, k) {
  label <- location_labels(x)[k]
  if (!is.null(x$locations$names)) return(encodeString(label))
  mm <- location_mm(x, k)
  paste0(if (is.null(x$locations$centers)) "location " else "voxel ", label,
         if (!is.null(mm)) paste0(" at (", paste(format_numbers(mm), collapse = ", "), ") mm"))
}

# k x 3, or NULL where the place is not known.
location_mm <- function(x, k) {
  if (is.null(x$locations$centers) || is.null(x$mask$affine)) return(NULL)
  mask <- x$mask
  mask$index <- mask$index[x$locations$centers[k]]
  order <- order(mask$index)
  mask$index <- mask$index[order]
  mask$n <- length(mask$index)
  out <- coordinates(mask)
  out[order, ] <- out
  out
}

decode_null_words <- function(x) {
  if (is.null(x$p)) return(NULL)
  how <- if (x$exact) {
    paste0("all ", format_count(x$n_permutations), " arrangements of labels (exact)")
  } else {
    paste0(format_count(x$n_permutations), ", seed ", format(x$seed, digits = 16L))
  }
  metric <- x$metrics[1L]
  tested <- sum(!is.na(x$p[, metric]))
  result <- if (tested == 1L) {
    sprintf("p = %s; mean under the null %s", format_numbers(x$p[!is.na(x$p[, metric]), metric]),
            format_numbers(x$null_mean[!is.na(x$p[, metric]), metric]))
  } else {
    passed <- vapply(x[c("p", "p_fwer", "q_fdr")], function(p) sum(p[, metric] <= 0.05, na.rm = TRUE), 0L)
    sprintf("p <= 0.05 at %s of %s locations, p_fwer at %s, q_fdr at %s", format_count(passed[["p"]]),
            format_count(tested), format_count(passed[["p_fwer"]]), format_count(passed[["q_fdr"]]))
  }
  c(permutations = paste0(how, ", within ", x$permute_within), result = result)
}

decode_failure_words <- function(x) {
  if (!nrow(x$failures)) return(NULL)
  counts <- sort(table(x$failures$reason), decreasing = TRUE)
  whole <- sum(rowSums(!is.na(x$score)) == 0L)
  words <- paste(sprintf("%s (%s)", names(counts), format_count(as.vector(counts))), collapse = ", ")
  c(failures = paste0(words, if (whole) paste0("; no score at ", count_label(whole, "location"))))
}

# ---- summary, tables -------------------------------------------------------------------------

as_metric <- function(metric, x, call, arg = "metric") {
  if (is.null(metric)) return(x$metrics[1L])
  as_choice(metric, x$metrics, arg = arg, call = call)
}

#' @rdname voxridge_decode
#' @export
summary.voxridge_decode <- function(object, metric = NULL, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_decode(object, "object", call)
  metric <- as_metric(metric, object, call)
  score <- object$score[, metric]
  folds <- object$folds
  numbers <- seq_len(object$dims[["folds"]])
  structure(
    list(
      title = decode_title(object),
      metric = metric,
      chance = object$chance,
      scores = stats::quantile(score, na.rm = TRUE),
      folds = data.frame(
        fold = rownames(object$scores) %||% numbers,
        n = tabulate(folds, length(numbers)),
        score = rowMeans(matrix(object$scores[, , metric], length(numbers)), na.rm = TRUE)
      ),
      confusion = confusion_table(object),
      best = best_locations(object, metric, score, print_max()),
      failures = table(object$failures$reason)
    ),
    class = "summary.voxridge_decode"
  )
}

# Counts of truth and guess at a single location; NULL without kept predictions.
confusion_table <- function(x) {
  if (is.null(x$levels) || is.null(x$predictions) || x$dims[["locations"]] != 1L) return(NULL)
  guess <- as.vector(x$predictions)
  table(truth = factor(rep(as.vector(x$y), length.out = length(guess)), x$levels), guess = factor(guess, x$levels))
}

best_locations <- function(x, metric, score, n) {
  order <- order(if (metric == "mse") score else -score, na.last = NA)
  top <- utils::head(order, n)
  out <- data.frame(location = location_labels(x)[top], size = unname(x$size[top]), score = unname(score[top]))
  mm <- if (length(top)) location_mm(x, top)
  if (!is.null(mm)) out <- cbind(out, mm)
  if (!is.null(x$p)) out <- cbind(out, p = unname(x$p[top, metric]), p_fwer = unname(x$p_fwer[top, metric]))
  out
}

#' @export
print.summary.voxridge_decode <- function(x, ...) {
  rlang::check_dots_empty()
  cat(x$title, "\n", sep = "")
  several <- nrow(x$best) > 1L
  if (several) {
    cat(x$metric, " over locations:\n", sep = "")
    print(x$scores, digits = 3L)
    cat("Best locations:\n")
    print(x$best, row.names = FALSE, digits = 3L)
  }
  cat(if (several) "Mean over locations, by fold:\n" else paste0(x$metric, " by fold:\n"))
  print(utils::head(x$folds, 20L), row.names = FALSE, digits = 3L)
  if (nrow(x$folds) > 20L) cat("... with", nrow(x$folds) - 20L, "more folds\n")
  if (!is.null(x$confusion)) print(x$confusion)
  if (length(x$failures)) print(x$failures, dnn = NULL)
  invisible(x)
}

#' @rdname voxridge_decode
#' @export
tidy.voxridge_decode <- function(x, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_decode(x, "x", call)
  size <- dim(x$scores)
  check_table_memory(prod(size), 4, call)
  data.frame(
    location = rep(rep(location_labels(x), each = size[1L]), size[3L]),
    fold = rep(rownames(x$scores) %||% seq_len(size[1L]), size[2L] * size[3L]),
    metric = rep(x$metrics, each = size[1L] * size[2L]),
    score = as.vector(x$scores)
  )
}

#' @rdname voxridge_decode
#' @export
glance.voxridge_decode <- function(x, metric = NULL, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_decode(x, "x", call)
  metric <- as_metric(metric, x, call)
  score <- x$score[, metric]
  score <- score[!is.na(score)]
  of <- function(fun) if (length(score)) fun(score) else NA_real_
  p <- if (!is.null(x$p_fwer)) x$p_fwer[, metric]
  data.frame(
    model = x$model, n = x$diagnostics$n_rows_used, n_voxels = x$dims[["p"]] - nrow(x$excluded),
    n_locations = x$dims[["locations"]], n_folds = x$dims[["folds"]], metric = metric,
    chance = if (is.null(x$chance)) NA_real_ else x$chance[["balanced"]],
    score_min = of(min), score_mean = of(mean), score_max = of(max),
    p_fwer_min = if (length(p) && !all(is.na(p))) min(p, na.rm = TRUE) else NA_real_,
    n_failed = x$dims[["locations"]] - length(score), backend = x$backend, seconds = x$diagnostics$seconds
  )
}

# ---- maps ------------------------------------------------------------------------------------

# Elements with a value per location, besides the names of metrics.
DECODE_MAPS <- c("p", "p_fwer", "q_fdr", "counts", "null_mean", "size")

# For brain_map(): a value, or a row of values, per voxel.
decode_element <- function(x, what, call) {
  by_location <- x$locations$kind != "all" && (!is.null(x$locations$parcel) || !is.null(x$locations$centers))
  choices <- c(if (by_location) c(x$metrics, "pooled", DECODE_MAPS), "weights", "patterns")
  choices <- choices[choices %in% c(x$metrics, "size") | !vapply(choices, function(name) is.null(x[[name]]), NA)]
  what <- what %||% if (length(choices)) choices[1L]
  if (rlang::is_string(what) && what %in% choices) {
    if (what %in% c("weights", "patterns")) return(t(as.matrix(x[[what]]))[, , drop = ncol(x[[what]]) == 1L])
    values <- if (what %in% x$metrics) x$score[, what] else x[[what]]
    return(at_voxels(x, values, call))
  }
  found <- if (is.null(what)) "NULL" else describe(what)
  choice <- if (length(choices)) "one of {.or {.val {choices}}}" else "left out: there are no maps"
  abort(
    c(paste0("{.arg what} must be ", choice, ", not {found}."),
      i = if (x$locations$kind == "all") "The whole brain has one score; its maps are weights and patterns."),
    "argument",
    expected = choices, found = what, call = call
  )
}
