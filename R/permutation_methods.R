#' Results of permutation tests
#'
#' Print, summarise and tabulate what the permutation tests return.
#'
#' @param x,object A result of [one_sample_permutation_test()], [two_sample_permutation_test()],
#'   [correlation_permutation_test()] or [glm_permutation_test()].
#' @param level Number between 0 and 1: how small p must be to count. The default is 0.05.
#' @param ... No further arguments.
#'
#' @returns
#' * `print()`: `x`, invisibly.
#' * `summary()`: a list of class `summary.voxridge_permutation_test` with its own `print()`: `test`, `n`, `n_columns`,
#'   `n_excluded` (by reason), `n_permutations`, `exact`, `seed`, `min_p`, `level`, `passed` (how many columns have `p`,
#'   `p_fwer`, `q_fdr` up to `level`), `threshold` (statistics beyond it have `p_fwer` up to `level`; two values with
#'   `two_sided = "double"`), `enhanced` (a line on clusters or TFCE, or NULL), `tail_fitted` (how many columns have
#'   `p_fwer` from a fitted tail, or NULL), `largest` (data frame: the columns of the smallest `p_fwer`, at most
#'   `getOption("voxridge.print_max", 5)`).
#' * `tidy()`: data frame with a row per column of the data: `column` (name or number), `estimate`, `statistic`, `p`,
#'   `p_fwer`, `q_fdr`, `excluded` (the reason, or NA).
#' @section Errors:
#' `voxridge_error_argument`. See [voxridge-conditions].
#' @section Invariants:
#' `tidy()` holds the numbers of the result, in their order.
#' @examples
#' set.seed(1)
#' Y <- matrix(rnorm(15 * 30), 15, 30) + rep(c(2, 0), c(15 * 2, 15 * 28))
#' test <- one_sample_permutation_test(Y, n_permutations = 1000, seed = 1, n_threads = 2)
#' summary(test)
#' head(tidy(test), 3)
#' @name voxridge_permutation_test
NULL

#' @rdname voxridge_permutation_test
#' @export
print.voxridge_permutation_test <- function(x, ...) {
  rlang::check_dots_empty()
  s <- summarise_permutations(x, 0.05)
  cat(permutation_head(s), sep = "\n")
  cat(permutation_passed(s), sep = "\n")
  note <- fdr_note(x)
  if (length(note)) cat(note, sep = "\n")
  invisible(x)
}

#' @rdname voxridge_permutation_test
#' @export
summary.voxridge_permutation_test <- function(object, level = 0.05, ...) {
  rlang::check_dots_empty()
  summarise_permutations(object, as_level(level))
}

#' @export
print.summary.voxridge_permutation_test <- function(x, ...) {
  rlang::check_dots_empty()
  cat(permutation_head(x), sep = "\n")
  cat(permutation_passed(x), sep = "\n")
  if (!anyNA(x$threshold)) {
    cat("Threshold of the statistic, FWER ", x$level, ": ", paste(format_numbers(x$threshold), collapse = ", "), "\n",
        sep = "")
  }
  if (nrow(x$largest)) print(x$largest, row.names = FALSE, digits = 3L)
  invisible(x)
}

#' @rdname voxridge_permutation_test
#' @export
tidy.voxridge_permutation_test <- function(x, ...) {
  rlang::check_dots_empty()
  reason <- rep(NA_character_, length(x$statistic))
  reason[x$excluded$column] <- x$excluded$reason
  numbers <- lapply(unclass(x)[c("estimate", "statistic", "p", "p_fwer", "q_fdr")], unname)
  data.frame(column = names(x$statistic) %||% seq_along(x$statistic), numbers, excluded = reason)
}

# Elements with a value per voxel.
PERMUTATION_MAPS <- c("statistic", "estimate", "p", "p_fwer", "q_fdr", "counts", "draws", "tfce", "p_tfce",
                      "p_tfce_fwer", "cluster_labels")

as_level <- function(level, call = rlang::caller_env()) {
  if (is_number(level) && level > 0 && level < 1) return(as.double(level))
  found <- describe(level)
  abort("{.arg level} must be a number between 0 and 1, not {found}.", "argument", found = found, call = call)
}

summarise_permutations <- function(x, level) {
  shown <- getOption("voxridge.print_max", 5)
  table <- tidy.voxridge_permutation_test(x)
  order <- order(table$p_fwer, table$p, -abs(table$statistic))
  structure(
    list(
      test = x$test,
      n = x$n,
      n_columns = length(x$p),
      n_excluded = table(factor(x$excluded$reason, unique(x$excluded$reason))),
      n_permutations = x$n_permutations,
      exact = x$exact,
      scheme = x$scheme,
      alternative = x$alternative,
      blocks = x$blocks,
      sequential = x$sequential,
      seed = x$seed,
      min_p = x$min_p,
      level = level,
      passed = vapply(x[c("p", "p_fwer", "q_fdr")], function(p) sum(p <= level, na.rm = TRUE), 0L),
      threshold = maximum_threshold(x, level),
      enhanced = enhanced_words(x, level),
      tail_fitted = if (!is.null(x$tail_fitted)) sum(x$tail_fitted, na.rm = TRUE),
      largest = table[utils::head(order[!is.na(table$p[order])], shown), names(table) != "excluded"]
    ),
    class = "summary.voxridge_permutation_test"
  )
}

# What clusters or TFCE show, where they were asked for.
enhanced_words <- function(x, level) {
  if (is.null(x$enhance)) return(NULL)
  tfce <- x$enhance$kind == "tfce"
  p <- if (tfce) x$p_tfce_fwer[!is.na(x$p_tfce_fwer)] else x$clusters$p_fwer
  sprintf("%s <= %s: %s of %s %s", if (tfce) "p_tfce_fwer" else "clusters$p_fwer", format(level),
          format_count(sum(p <= level)), format_count(length(p)),
          if (tfce) "(TFCE, family-wise error)" else paste0("clusters (", x$enhance$kind, ", family-wise error)"))
}

# The value that the statistic must exceed for p_fwer <= level: (b + 1) / (m + 1) <= level, or b / M <= level. NA where
# no value would do. The lowest value for "less"; c(lower, upper) where both directions count.
maximum_threshold <- function(x, level) {
  one <- function(maxima, level) {
    m <- length(maxima)
    allowed <- floor(if (x$exact) level * m + 1e-9 else level * (m + 1) - 1 + 1e-9)
    # the data are one of all arrangements
    if (allowed < x$exact || anyNA(maxima)) return(NA_real_)
    sort(maxima, decreasing = TRUE)[allowed + 1]
  }
  if (is.matrix(x$max_null)) {
    return(c(lower = -one(-x$max_null[, "less"], level / 2), upper = one(x$max_null[, "greater"], level / 2)))
  }
  if (x$alternative == "less") -one(-x$max_null, level) else one(x$max_null, level)
}

permutation_head <- function(s) {
  direction <- if (s$alternative == "two.sided") "two-sided" else s$alternative
  size <- paste0("n = ", s$n, ", ", count_label(s$n_columns, "column"))
  moved <- if (s$scheme == "flip") "sign flips" else "shuffles"
  how <- if (s$exact) {
    paste0("all ", format_count(s$n_permutations), " ", moved, " (exact)")
  } else {
    paste0(format_count(s$n_permutations), " ", moved,
           if (is.null(s$seed)) " given by the caller" else paste0(", seed ", format(s$seed, digits = 16L)))
  }
  blocks <- if (!is.null(s$blocks)) paste0(" in ", nrow(s$blocks), " blocks")
  excluded <- if (sum(s$n_excluded)) {
    paste0("Excluded: ", paste(format_count(s$n_excluded), names(s$n_excluded), collapse = ", "))
  }
  stopped <- if (!is.null(s$sequential)) {
    paste0("Sequential: a column stops after ", format_count(s$sequential), " permutation", plural(s$sequential),
           " as extreme as the data")
  }
  c(paste0(s$test, " permutation test (", direction, "): ", size), paste0("Permutations: ", how, blocks),
    paste0("Smallest possible p: ", format(signif(s$min_p, 3L))), stopped, excluded)
}

permutation_passed <- function(s) {
  words <- c(p = "uncorrected", p_fwer = "family-wise error", q_fdr = "false discovery rate")
  if (!is.null(s$sequential)) words <- words[names(words) != "p_fwer"]
  if (!is.null(s$tail_fitted)) words[["p_fwer"]] <- paste0(words[["p_fwer"]], "; ", format_count(s$tail_fitted),
                                                           " from the fitted tail")
  lines <- sprintf("%s <= %s: %s of %s (%s)", format(names(words)), format(s$level),
                   format_count(s$passed[names(words)]), format_count(s$n_columns - sum(s$n_excluded)), words)
  c(lines, s$enhanced)
}

# Where a single column could never reach q <= 0.05.
fdr_note <- function(x) {
  tested <- sum(!is.na(x$p))
  needed <- ceiling(20 * x$min_p * tested)
  if (needed <= 1) return(NULL)
  paste0("q_fdr <= 0.05 needs at least ", format_count(needed), " columns of the smallest p")
}
