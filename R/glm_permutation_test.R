#' Permutation tests of contrasts in a linear model
#'
#' Tests contrasts of the coefficients of a linear model in every column (voxel), with nuisance variables accounted for
#' by the method of Freedman and Lane.
#'
#' Each contrast splits the design into a tested and a nuisance part. The residuals of the nuisance model are permuted
#' (or have their signs flipped) and the whole model is fitted again: that is what each permutation amounts to, computed
#' from the part of the tested variables that is orthogonal to the nuisance. With random permutations p is close to
#' exact, without nuisance other than the constant it is exact. How p and its corrections are counted: see
#' [one_sample_permutation_test()].
#'
#' `scheme = "shuffle"` assumes that errors are exchangeable, `"flip"` that they are independent and symmetric.
#' Shuffling cannot test an intercept. All contrasts see the same permutations.
#'
#' @inheritParams one_sample_permutation_test
#' @param Y n x v numeric matrix, or a vector, as in [one_sample_permutation_test()].
#' @param design n x k numeric matrix (or data frame of numeric columns), finite: one column per regressor, the constant
#'   included; none is added.
#' @param contrasts A numeric vector of length k: a t test of the weighted sum of coefficients; an r x k matrix: an F
#'   test of r such sums at once; or a named list of these.
#' @param scheme `"shuffle"` (the default) permutes samples, `"flip"` flips their signs.
#' @param alternative,two_sided As in [one_sample_permutation_test()]; F tests have one direction.
#'
#' @returns As [one_sample_permutation_test()]; for a list of contrasts a list of these with its names. `statistic` is t
#'   or F; `estimate` the value of the contrast, or for F the partial R2 (the share of the residual variance of the
#'   nuisance model that the tested part explains); `df` one number or, for F, two. `diagnostics$degenerate` is the
#'   number of permuted columns that lay in the space of the nuisance: they count as extreme.
#' @inheritSection voxridge_threads Threads
#' @inheritSection one_sample_permutation_test Devices
#' @section Errors:
#' As [one_sample_permutation_test()]; `voxridge_error_not_estimable` for contrasts that the nuisance part explains,
#' that are not independent, or that shuffling does not change; `voxridge_error_shape` for fewer than 1 degree of
#' freedom; `voxridge_error_conflict` for one-sided F tests. Message `voxridge_message_no_constant`.
#' @section Invariants:
#' A design of a constant and one variable gives the p of [correlation_permutation_test()], up to ties. Changing the
#' sign of a contrast swaps `"greater"` and `"less"`. Collinear nuisance columns and the scale of a column change no p.
#' @references
#' Freedman, D., Lane, D. (1983). A nonstochastic interpretation of reported significance levels. Journal of Business
#' and Economic Statistics 1, 292-298. \doi{10.1080/07350015.1983.10509354}
#'
#' Winkler, A. M., Ridgway, G. R., Webster, M. A., Smith, S. M., Nichols, T. E. (2014). Permutation inference for the
#' general linear model. NeuroImage 92, 381-397. \doi{10.1016/j.neuroimage.2014.01.060}
#' @seealso [correlation_permutation_test()], [two_sample_permutation_test()] without nuisance.
#' @examples
#' set.seed(1)
#' age <- rnorm(30)
#' score <- rnorm(30) + age
#' Y <- matrix(rnorm(30 * 40), 30, 40) + age
#' Y[, 1] <- Y[, 1] + 2 * score
#' design <- cbind(constant = 1, age, score)
#' test <- glm_permutation_test(Y, design, c(0, 0, 1), n_permutations = 1000, seed = 1, n_threads = 2)
#' test
#' @export
glm_permutation_test <- function(Y, design, contrasts, scheme = c("shuffle", "flip"), n_permutations = 10000,
                                 alternative = c("two.sided", "greater", "less"), two_sided = c("abs", "double"),
                                 exact = c("auto", "never", "always"), blocks = NULL,
                                 block_type = c("within", "whole"), permutations = NULL,
                                 enhance = NULL, mask = attr(Y, "mask"), tail_fit = FALSE, sequential = NULL,
                                 na = c("exclude", "error"), return_null = FALSE, seed = NULL,
                                 n_threads = NULL, device = "cpu", progress = interactive()) {
  call <- rlang::current_env()
  settings <- permutation_settings(setting(n_permutations, !missing(n_permutations)), alternative, two_sided, exact,
                                   blocks, block_type, permutations, return_null, seed, n_threads, device,
                                   progress, call)
  settings <- correction_settings(settings, enhance, setting(mask, !missing(mask)), tail_fit, sequential, NCOL(Y), call)
  scheme <- as_choice(scheme, c("shuffle", "flip"))
  tested <- as_tested(Y, na, call = call)
  n <- nrow(tested$Y)
  design <- as_features(design, "design", call)
  check_same_rows(design, n, "design", "Y", call)
  single <- !is.list(contrasts)
  contrasts <- as_contrasts(contrasts, design, settings, call)
  rows <- rearrangements(if (scheme == "flip") "flips" else "orders", n, settings, call = call)
  tell_constant(design)
  parts <- Map(function(C, name) contrast_design(design, C, name, rows, call), contrasts, names(contrasts))
  # one seed for all, so that contrasts see the same permutations
  if (length(parts) > 1L && is.null(settings$permutations) && is.null(settings$seed)) settings$seed <- as_key(NULL)
  out <- lapply(parts, function(part) run_permutation_test(tested, part, rows, settings, call))
  if (single) out[[1L]] else out
}

# A named list of k x r matrices.
as_contrasts <- function(contrasts, design, settings, call) {
  if (!is.list(contrasts) || is.data.frame(contrasts)) contrasts <- list(contrast = contrasts)
  labels <- names(contrasts)
  if (!length(contrasts) || is.null(labels) || anyNA(labels) || any(labels == "") || anyDuplicated(labels)) {
    abort(
      c("{.arg contrasts} must be a vector, a matrix or a list with a name for each contrast, not
         {describe(contrasts)}{if (length(contrasts)) ' without such names'}.",
        i = "For example {.code list(group = c(0, 1), age = c(0, 0, 1))}."),
      "argument",
      found = labels, call = call
    )
  }
  k <- ncol(design)
  out <- Map(function(x, label) {
    arg <- if (identical(labels, "contrast")) "contrasts" else paste0("contrasts$", label)
    as_contrast(x, k, arg, settings, call)
  }, contrasts, labels)
  out
}

as_contrast <- function(x, k, arg, settings, call) {
  values <- if (is.matrix(x)) ncol(x) else length(x)
  if (!is.numeric(x) || is.object(x) || length(dim(x)) > 2L || values != k || !length(x) || !all(is.finite(x))) {
    found <- describe(x)
    abort(
      c("{.arg {arg}} must be {k} finite numbers, one per column of {.arg design}, or a matrix of such rows,
         not {found}.",
        i = "A vector gives a t test, a matrix of several rows an F test."),
      "argument",
      expected = k, found = x, call = call
    )
  }
  C <- if (is.matrix(x)) t(x) else matrix(as.double(x), k, 1L)
  if (ncol(C) > 1L && settings$alternative != "two.sided") {
    abort("{.arg alternative} must be {.val two.sided} for an F test ({.arg {arg}}), not
           {.val {settings$alternative}}.", "conflict", found = settings$alternative, call = call)
  }
  found <- rank_of(unit_columns(C)$A)
  if (found < ncol(C)) {
    abort("{.arg {arg}} must have {ncol(C)} independent row{?s}, none of them zero, not rank {found}: it is not
           estimable.", "not_estimable", expected = ncol(C), found = found, call = call)
  }
  unname(C)
}

# ---- the parts of a design -------------------------------------------------------------------

DESIGN_TOLERANCE <- 1e-8

# An orthonormal basis of the columns of A, singular values below the tolerance (relative to `size`) left out.
orthonormal <- function(A, size = NULL) {
  if (!ncol(A)) return(A)
  parts <- svd(A, nv = 0L)
  parts$u[, parts$d > DESIGN_TOLERANCE * (size %||% max(parts$d)), drop = FALSE]
}

rank_of <- function(A) {
  d <- svd(A, 0L, 0L)$d
  sum(d > DESIGN_TOLERANCE * max(d))
}

# What is left of A outside the space of the orthonormal Q.
outside <- function(A, Q) {
  for (twice in 1:2) A <- A - Q %*% crossprod(Q, A)
  A
}

largest_values <- function(A) apply(abs(A), 2L, max)

# A with columns of unit norm, whatever their unit of measurement: list(A, size), the norm as two factors, as it may be
# beyond a double. Columns next to 0 become 0.
unit_columns <- function(A) {
  largest <- largest_values(A)
  A[, largest < .Machine$double.xmin] <- 0
  largest[largest < .Machine$double.xmin] <- 1
  A <- sweep(A, 2L, largest, "/")
  norm <- sqrt(colSums(A^2))
  norm[norm == 0] <- 1
  list(A = sweep(A, 2L, norm, "/"), size = list(largest, norm))
}

# The design of a contrast C (k x r) of coefficients: with C0 an orthonormal basis of the complement of C, nuisance D C0
# and tested part D C (C'C)^-1, whose coefficients are C'beta. Columns of D are brought to one size first. Of several
# contrasts only the space that they span matters.
contrast_design <- function(D, C, label, rows, call) {
  n <- nrow(D)
  r <- ncol(C)
  unit <- largest_values(C)
  C <- sweep(C, 2L, unit, "/")
  scaled <- unit_columns(D)
  D <- scaled$A
  C <- C / scaled$size[[1L]] / scaled$size[[2L]]
  unit_again <- largest_values(C)
  C <- sweep(C, 2L, unit_again, "/")
  if (r > 1L) C <- orthonormal(C)
  if (ncol(C) < r) abort_not_estimable(label, C, D, call)
  complement <- qr.Q(qr(C), complete = TRUE)[, -seq_len(r), drop = FALSE]
  Q <- orthonormal(D %*% complement)
  X <- D %*% C %*% solve(crossprod(C))
  left <- outside(X, Q)
  x <- orthonormal(left, size = max(sqrt(colSums(X^2)), .Machine$double.xmin))
  if (ncol(x) < r) abort_not_estimable(label, C, D, call)
  if (r == 1L) x <- left / sqrt(sum(left^2))
  df <- n - ncol(Q) - r
  if (df < 1L) {
    abort(
      c("{.arg design} must leave at least 1 degree of freedom, not {n} rows for {ncol(Q) + r} independent columns."),
      "shape",
      expected = ncol(Q) + r + 1L, found = n, call = call
    )
  }
  kept <- kept_directions(rows, n)
  split <- split_nuisance(Q, kept)
  if (split$n_fixed < split_nuisance(orthonormal(D), kept)$n_fixed) abort_kept(label, rows, call)
  new_permutation_design(
    if (r == 1L) "Linear model t" else "Linear model F", if (r == 1L) "t" else "f", n,
    df = as.double(df), x = x, nuisance = split$Q, n_fixed = split$n_fixed,
    scale = unit[1L] * unit_again[1L] / sqrt(sum(left^2)),
    symmetric = rows$kind == "flips"
  )
}

# Directions that no rearrangement changes. Where a model has them they must be nuisance: what shuffling keeps, such as
# the mean, it cannot test.
kept_directions <- function(rows, n) {
  if (rows$kind == "flips") return(matrix(0, n, 0L))
  if (is.null(rows$block)) return(matrix(1 / sqrt(n), n, 1L))
  # means of blocks; of the k-th samples of all blocks where these move whole
  set <- if (rows$whole) stats::ave(seq_len(n), rows$block, FUN = seq_along) else rows$block
  sizes <- tabulate(set)
  out <- matrix(0, n, length(sizes))
  out[cbind(seq_len(n), set)] <- 1 / sqrt(sizes[set])
  out
}

# Q turned so that directions in the space of `kept` come first: list(Q, n_fixed).
split_nuisance <- function(Q, kept) {
  if (!ncol(Q) || !ncol(kept)) return(list(Q = Q, n_fixed = 0L))
  parts <- svd(crossprod(kept, Q), nu = 0L, nv = ncol(Q))
  n_fixed <- sum(parts$d > 1 - 1e-12)
  list(Q = Q %*% parts$v, n_fixed = n_fixed)
}

abort_not_estimable <- function(label, C, D, call) {
  where <- which(rowSums(C != 0) > 0)
  columns <- first_few(column_labels(where, colnames(D)))
  abort(
    c("{.arg contrasts} must be estimable, not explained by the other columns of {.arg design} ({label}: column
       {columns}).",
      i = "Leave out the columns that repeat what these say."),
    "not_estimable",
    found = label, where = where, call = call
  )
}

abort_kept <- function(label, rows, call) {
  where <- if (is.null(rows$block)) "" else if (rows$whole) " from block to block" else " in each block"
  kept <- paste0("constant", where)
  abort(
    c("{.arg contrasts} must be of what shuffling changes, not of what is {kept} ({label}): it is not estimable so.",
      i = "Use {.code scheme = \"flip\"} to test an intercept."),
    "not_estimable",
    found = label, call = call
  )
}

tell_constant <- function(design) {
  n <- nrow(design)
  basis <- orthonormal(unit_columns(design)$A)
  constant <- matrix(1 / sqrt(n), n, 1L)
  if (sum(outside(constant, basis)^2) <= DESIGN_TOLERANCE^2) return(invisible())
  inform(
    c("{.arg design} has no constant column, and none is added.",
      i = "{.code cbind(1, design)} has one."),
    "no_constant"
  )
}
