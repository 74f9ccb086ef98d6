#' Results of the bootstrap
#'
#' Print, summarise and tabulate what [bootstrap_ridge()] returns.
#'
#' @param x,object A result of [bootstrap_ridge()].
#' @param ... No further arguments.
#'
#' @returns
#' * `print()`: `x`, invisibly.
#' * `summary()`: a list of class `summary.voxridge_bootstrap` with its own `print()`: `title`, `what`, `n_boot`,
#'   `conf`, `n_intervals`, `n_excluding` (intervals that do not hold 0), `sd` (quantiles), `rank_deficient`, `largest`
#'   (data frame: the rows of `tidy()` of the largest absolute `z`, at most `getOption("voxridge.print_max", 5)`).
#' * `tidy()`: data frame with a row per weight (or new sample) and target, weights varying fastest: `target`, `term`
#'   (or `sample`), `estimate`, `mean`, `sd`, `z`, `lower`, `upper`. Names where there are names, numbers otherwise.
#' @section Errors:
#' `voxridge_error_memory` (a table over half of the free memory). See [voxridge-conditions].
#' @section Invariants:
#' `tidy()` holds the numbers of the result, in their order.
#' @examples
#' data <- simulate_encoding(n = 60, p = 4, t = 3, seed = 1)
#' boot <- bootstrap_ridge(data$X, data$Y, alphas = 5, n_boot = 100, seed = 1, n_threads = 2)
#' summary(boot)
#' head(tidy(boot), 4)
#' @name voxridge_bootstrap
NULL

#' @rdname voxridge_bootstrap
#' @export
print.voxridge_bootstrap <- function(x, ...) {
  rlang::check_dots_empty()
  info <- x$diagnostics
  deficient <- info$rank_deficient
  print_fields(bootstrap_title(x), c(
    resamples = bootstrap_draws(x),
    alphas = paste(unique(format_numbers(range(x$alphas))), collapse = " to "),
    intercept = if (x$fit_intercept) "yes" else "no",
    intervals = paste0(format_numbers(100 * x$conf, 4L), " %, ", x$interval),
    if (x$what == "weights") c("without 0" = excluding_zero(x)),
    if (deficient > 0) {
      c("rank deficient" = paste(format_count(deficient), "resamples with weights of minimum norm"))
    },
    computed = sprintf("%s (%s), %d thread%s, %s s", x$backend, backend_device(x$backend), info$n_threads,
                       plural(info$n_threads), format_numbers(info$seconds, 2L))
  ))
  invisible(x)
}

bootstrap_title <- function(x) {
  dims <- vapply(x$dims, format_count, "")
  of <- if (x$what == "weights") "weights" else paste("predictions of", count_rows(x), "samples")
  sprintf("Bootstrap of ridge %s: %s samples x %s feature%s x %s target%s", of, dims[["n"]], dims[["p"]],
          plural(x$dims[["p"]]), dims[["t"]], plural(x$dims[["t"]]))
}

count_rows <- function(x) format_count(NROW(x$estimate))

# What was drawn. Single rows are said to be what they are taken for.
bootstrap_draws <- function(x) {
  count <- format_count(x$n_boot)
  if (is.null(x$seed)) return(paste(count, "given by the caller"))
  seed <- paste("seed", format(x$seed, digits = 16L))
  if (!is.null(x$blocks)) return(sprintf("%s of %d whole blocks, %s", count, nrow(x$blocks), seed))
  sprintf("%s of single rows, taken as independent (see `blocks`), %s", count, seed)
}

excluding_zero <- function(x) {
  sprintf("%s of %s intervals", format_count(count_excluding(x)), format_count(length(x$lower)))
}

count_excluding <- function(x) sum(x$lower > 0 | x$upper < 0, na.rm = TRUE)

#' @rdname voxridge_bootstrap
#' @export
summary.voxridge_bootstrap <- function(object, ...) {
  rlang::check_dots_empty()
  z <- abs(as.vector(object$z))
  top <- utils::head(order(z, decreasing = TRUE, na.last = NA), print_max())
  structure(
    list(
      title = bootstrap_title(object),
      what = object$what,
      n_boot = object$n_boot,
      conf = object$conf,
      n_intervals = length(object$lower),
      n_excluding = count_excluding(object),
      sd = stats::quantile(object$sd, na.rm = TRUE),
      rank_deficient = object$diagnostics$rank_deficient,
      largest = bootstrap_table(object, top)
    ),
    class = "summary.voxridge_bootstrap"
  )
}

#' @rdname voxridge_bootstrap
#' @export
print.summary.voxridge_bootstrap <- function(x, ...) {
  rlang::check_dots_empty()
  print_fields(x$title, c(
    resamples = format_count(x$n_boot),
    "without 0" = sprintf("%s of %s intervals of %s %%", format_count(x$n_excluding), format_count(x$n_intervals),
                          format_numbers(100 * x$conf, 4L)),
    sd = paste(names(x$sd), format_numbers(x$sd), collapse = "  "),
    if (x$rank_deficient > 0) c("rank deficient" = format_count(x$rank_deficient))
  ))
  if (nrow(x$largest)) print(x$largest, row.names = FALSE, digits = 3L)
  invisible(x)
}

#' @rdname voxridge_bootstrap
#' @export
tidy.voxridge_bootstrap <- function(x, ...) {
  rlang::check_dots_empty()
  check_table_memory(length(x$estimate), 8, rlang::current_env())
  bootstrap_table(x, seq_along(x$estimate))
}

# The rows of the table that stand at these places of the results.
bootstrap_table <- function(x, places) {
  estimate <- x$estimate
  rows <- NROW(estimate)
  row <- (places - 1L) %% rows + 1L
  target <- (places - 1L) %/% rows + 1L
  labels <- (if (is.matrix(estimate)) rownames(estimate) else names(estimate)) %||% seq_len(rows)
  targets <- colnames(estimate) %||% seq_len(x$dims[["t"]])
  out <- data.frame(target = targets[target], term = labels[row])
  if (x$what == "predictions") names(out)[2L] <- "sample"
  cbind(out, lapply(unclass(x)[BOOTSTRAP_MAPS], function(map) as.vector(map)[places]))
}
