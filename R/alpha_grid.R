#' Penalties in units of the data
#'
#' Log-spaced penalties in units of the mean eigenvalue of the centred Gram matrix of `X`.
#'
#' The unit is the sum of squares of `X` after its column means are removed, divided by the smaller of the numbers of
#' rows and columns, which is the mean eigenvalue of the smaller of `X X'` and `X' X`. So a grid has the same meaning
#' for features of any scale and number.
#'
#' @param X n x p numeric matrix, rows are samples, no NA; or a list of such matrices with the same rows (feature
#'   spaces, which count as one wide matrix); or the result of [prepare_ridge()].
#' @param n Whole number of penalties.
#' @param span Two numbers greater than 0, the smaller first: the smallest and largest penalty, in that unit.
#'
#' @returns A numeric vector of length `n`, increasing.
#' @inheritSection voxridge-penalty Penalty
#' @section Errors:
#' `voxridge_error_type`, `voxridge_error_shape`, `voxridge_error_nonfinite`, `voxridge_error_argument`, also where all
#' columns of `X` are constant. See [voxridge-conditions].
#' @section Invariants:
#' Scaling `X` by a scales the grid by a^2; adding a constant to a column changes nothing. A list of
#' matrices has the grid of the matrices side by side.
#' @examples
#' X <- matrix(rnorm(200), 20)
#' signif(alpha_grid(X, n = 5), 3)
#' @export
alpha_grid <- function(X, n = 20, span = c(1e-3, 1e5)) {
  call <- rlang::current_env()
  n <- as_count(n)
  if (!is.numeric(span) || length(span) != 2L || !all(is.finite(span)) || span[1L] <= 0 || span[2L] < span[1L]) {
    found <- if (is.numeric(span)) toString(format(span, trim = TRUE)) else describe(span)
    abort("{.arg span} must be two numbers greater than 0, the smaller first, not {found}.", "argument", found = found)
  }
  parts <- grid_features(X, call)
  p <- sum(vapply(parts, function(part) as.double(ncol(part)), 0))
  unit <- sum(vapply(parts, function(part) sum(centred_squares(part)), 0)) / min(nrow(parts[[1L]]), p)
  if (unit == 0) {
    abort(
      c("{.arg X} must have a column that varies, not only constant ones.",
        i = "With constant features every penalty gives the same answer."),
      "argument"
    )
  }
  exp(seq(log(span[1L]), log(span[2L]), length.out = n)) * unit
}

# The features as a list of checked matrices with the same rows.
grid_features <- function(X, call) {
  if (inherits(X, "voxridge_prepared")) return(list(validate_prepared(X, call)$X))
  if (inherits(X, "voxridge_bands")) return(X$Xs)
  if (!is.list(X) || is.data.frame(X)) return(list(as_features(X, call = call)))
  if (!length(X)) abort("{.arg X} must have at least one matrix, not be an empty list.", "shape", call = call)
  args <- if (is.null(names(X))) sprintf("X[[%d]]", seq_along(X)) else sub("^Xs", "X", band_args(names(X)))
  parts <- unname(Map(function(part, arg) band_matrix(part, arg, arg, call), unclass(X), args))
  for (i in seq_along(parts)) check_same_rows(parts[[i]], nrow(parts[[1L]]), args[i], args[1L], call)
  parts
}

# Per column the sum of squares about the mean, 0 where it is nothing but rounding. Two passes per block of columns,
# without a centred copy of the matrix.
centred_squares <- function(X, block = 256L) {
  starts <- seq(1L, ncol(X), by = block)
  unlist(lapply(starts, function(start) {
    part <- X[, start:min(start + block - 1L, ncol(X)), drop = FALSE]
    squares <- colSums((part - rep(colMeans(part), each = nrow(part)))^2)
    squares[squares <= (nrow(X) * .Machine$double.eps)^2 * colSums(part^2)] <- 0
    squares
  }), use.names = FALSE)
}
