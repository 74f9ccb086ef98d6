#' Make folds for cross-validation
#'
#' Assigns each sample to a fold, in blocks, at random, balanced over classes or without splitting groups.
#'
#' Samples of one run of a scanner are not independent: give runs as `groups`, or pass the run labels themselves as
#' `cv`, so that no run is in both parts. Without `shuffle`, folds are contiguous blocks (the first `n mod k` one
#' larger), within each class where `stratify = TRUE`. Groups go, largest first, to the fold that has the fewest samples
#' so far, or with `stratify` to the fold that most lacks their classes.
#'
#' @section The argument `cv`:
#' All solvers take, as `cv`,
#' * a whole number k: k contiguous blocks, the first `n mod k` one larger;
#' * a label per sample (number, string, factor, no NA), for example its run or the result of `cv_folds()`: each label
#'   is held out once, in the order of factor levels or sorted labels;
#' * a list of vectors of held-out rows (1-based), which must hold out every sample once;
#' * a list of `list(train = rows, test = rows)`: `train` may repeat rows (bootstraps), `test` may not, they must not
#'   share rows, and they need not cover all samples;
#' * an object of the package rsample;
#' * `"loo"`: leave-one-out in closed form, or `"gcv"`: generalised cross-validation. Neither refits anything.
#'
#' @param y One value per sample: the response or classes (numeric, integer, logical, string or factor; only its length
#'   matters unless `stratify = TRUE`), or a matrix with a row per sample.
#' @param k Whole number of folds, from 2 to the number of samples (or groups).
#' @param stratify TRUE to give all folds the same mix of the classes in `y`, which then is a factor, string, logical
#'   or whole numbers, without NA. FALSE (the default) ignores the values of `y`.
#' @param groups NULL (the default), or a label per sample, no NA: samples with the same label share a fold.
#' @param shuffle TRUE to assign at random instead of in blocks.
#' @param seed NULL draws from R's generator, so `set.seed()` works; a whole number from 0 to 2^53 - 1 gives the same
#'   folds always and leaves R's generator alone. Only with `shuffle = TRUE`.
#'
#' @returns An integer vector with the fold of each sample, from 1 to `k`; pass it as `cv`.
#' @section Errors:
#' `voxridge_error_folds` (`k` too small or large, NA labels), `voxridge_error_argument`, `voxridge_error_conflict`
#' (`seed` without `shuffle`), `voxridge_error_type` (continuous `y` with `stratify`); a warning
#' `voxridge_warning_rare_class` for a class with fewer than `k` samples. See [voxridge-conditions].
#' @section Invariants:
#' Every fold has a sample. Without groups, sizes of folds differ by at most one, and so do, with `stratify`, the
#' numbers of samples of a class. With groups, no group is in two folds. The same `seed` gives the same folds.
#' @examples
#' table(cv_folds(1:22, k = 5))
#' classes <- rep(c("face", "house"), c(12, 8))
#' table(classes, cv_folds(classes, k = 4, stratify = TRUE, shuffle = TRUE, seed = 1))
#' runs <- rep(1:6, each = 10)
#' table(runs, cv_folds(runs, k = 3, groups = runs))
#' @export
cv_folds <- function(y, k = 5, stratify = FALSE, groups = NULL, shuffle = FALSE, seed = NULL) {
  call <- rlang::current_env()
  stratify <- as_flag(stratify)
  shuffle <- as_flag(shuffle)
  if (!shuffle && !is.null(seed)) {
    abort(
      c("{.arg seed} must be NULL without shuffling, not {describe(seed)}.", i = "Add {.code shuffle = TRUE}."),
      "conflict"
    )
  }
  n <- NROW(y)
  if (n < 2L) {
    abort(
      c("{.arg y} must have a value per sample, at least 2, not {n}.",
        i = "For folds of {.code n} samples use {.code cv_folds(seq_len(n))}."),
      "folds",
      found = n
    )
  }
  classes <- if (stratify) as_classes(y, call) else factor(rep(1L, n))
  order <- if (shuffle) order(draw(n, as_key(seed), "fold_order")) else seq_len(n)
  if (is.null(groups)) {
    k <- as_fold_count(k, n, "k", call)
    warn_rare_classes(classes, k)
    return(stratified_id(classes, k, order))
  }
  grouped_id(as_groups(groups, n, call), classes, k, order, call)
}

as_classes <- function(y, call) {
  if (!is.atomic(y) || !is.null(dim(y)) || is.double(y) && any(y != round(y), na.rm = TRUE)) {
    found <- if (is.atomic(y) && is.null(dim(y))) "continuous values" else describe(y)
    abort(
      c("{.arg y} must be classes with {.code stratify = TRUE}, not {found}.",
        i = "Cut it into classes first, for example with {.fn cut}."),
      "type",
      found = found, call = call
    )
  }
  check_labels(y, "y", call)
  droplevels(factor(y))
}

as_groups <- function(groups, n, call) {
  if (!is.atomic(groups) || length(dim(groups)) > 1L || length(groups) != n) {
    found <- describe(groups)
    abort(
      "{.arg groups} must have a label per sample ({n}), not be {found}.",
      "shape",
      expected = n, found = found, call = call
    )
  }
  check_labels(groups, "groups", call)
  factor(groups, levels = unique(groups))
}

warn_rare_classes <- function(classes, k) {
  counts <- table(classes)
  rare <- names(counts)[counts < k]
  if (!length(rare)) return(invisible())
  shown <- first_few(rare)
  warn(
    c("{length(rare)} class{?es} with fewer samples than folds ({k}): {shown}.", i = "Some folds will lack them."),
    "rare_class",
    where = rare
  )
}

# Folds are dealt out cyclically along the samples sorted by class: that fixes how many of each class every fold gets.
stratified_id <- function(classes, k, order) {
  n <- length(classes)
  dealt <- table(sort(classes), rep_len(seq_len(k), n))
  id <- integer(n)
  for (class in levels(classes)) {
    members <- order[classes[order] == class]
    id[members] <- rep(seq_len(k), dealt[class, ])
  }
  if (nlevels(classes) == 1L) id[order] <- contiguous_id(n, k)
  id
}

grouped_id <- function(groups, classes, k, order, call) {
  n_groups <- nlevels(groups)
  if (!is_number(k) || k != round(k) || k < 2 || k > n_groups) {
    found <- describe(k)
    abort(
      "{.arg k} must be a number of folds from 2 to the number of groups ({n_groups}), not {found}.",
      "folds",
      expected = c(2L, n_groups), found = found, call = call
    )
  }
  counts <- unclass(table(groups, classes))
  first <- match(levels(groups), as.character(groups)[order])
  sequence <- order(-rowSums(counts), first)
  wanted <- colSums(counts) / k
  have <- matrix(0, k, ncol(counts))
  fold <- integer(n_groups)
  for (step in seq_along(sequence)) {
    group <- sequence[step]
    empty <- rowSums(have) == 0
    must_fill <- sum(empty) >= n_groups - step + 1L
    cost <- rowSums(sweep(have, 2L, counts[group, ], "+")^2 - have^2 - 2 * rep(wanted * counts[group, ], each = k))
    cost[must_fill & !empty] <- Inf
    fold[group] <- which.min(cost)
    have[fold[group], ] <- have[fold[group], ] + counts[group, ]
  }
  fold[as.integer(groups)]
}
