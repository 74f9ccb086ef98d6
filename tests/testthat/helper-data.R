# Small problems, one per class, and where the real data are.

# Y = X B + noise, with signal and noise of like size.
random_problem <- function(n, p, t, seed, noise = 1) {
  withr::with_seed(seed, {
    X <- matrix(rnorm(n * p), n, p)
    B <- matrix(rnorm(p * t), p, t) / sqrt(p)
    Y <- X %*% B + noise * matrix(rnorm(n * t), n, t)
  })
  list(X = X, Y = Y)
}

# The classes every option is tried on.
problem_classes <- function(seed = 1L) {
  constant_column <- random_problem(30, 6, 4, seed + 4L)
  constant_column$X[, 3L] <- 2
  rank_deficient <- random_problem(30, 8, 4, seed + 5L)
  rank_deficient$X[, 7L] <- rank_deficient$X[, 1L]
  rank_deficient$X[, 8L] <- rank_deficient$X[, 2L] - 2 * rank_deficient$X[, 3L]
  list(
    "n > p" = random_problem(40, 7, 5, seed),
    "n < p" = random_problem(24, 60, 5, seed + 1L),
    "n = p" = random_problem(20, 20, 3, seed + 2L),
    "t = 1" = random_problem(30, 12, 1, seed + 3L),
    "constant column" = constant_column,
    "rank deficient" = rank_deficient
  )
}

# Warnings about the ends of the alpha grid do not matter to a test of numbers.
muffle_edge <- function(expr) {
  withCallingHandlers(expr, voxridge_warning_alpha_at_edge = function(w) invokeRestart("muffleWarning"))
}

solve_quietly <- function(...) muffle_edge(solve_ridge_cv(..., progress = FALSE))

# Largest difference over the largest expected value (at least 1). The default is what the reference cases use:
# a few hundred operations on well-conditioned numbers of size one leave 1e-13; 1e-9 leaves room for another BLAS.
expect_close <- function(got, want, tolerance = 1e-9) {
  got <- unname(got)
  want <- unname(want)
  size <- function(x) if (is.null(dim(x))) length(x) else dim(x)
  sizes <- vapply(list(got, want), function(x) paste(format(size(x)), collapse = " x "), "")
  testthat::expect(identical(size(got), size(want)), paste0("is ", sizes[1L], ", not ", sizes[2L]))
  error <- max(abs(as.vector(got) - as.vector(want))) / max(1, abs(want))
  testthat::expect(isTRUE(error <= tolerance), sprintf("the largest difference is %.2g, over %.0g", error, tolerance))
  invisible(got)
}

# A classed error of the package whose first line names the argument in code marks. `pattern`: what else it says.
expect_refused <- function(expr, arg, pattern = NULL) {
  cnd <- testthat::expect_error(expr, class = "voxridge_error")
  if (!inherits(cnd, "voxridge_error")) return(invisible(cnd))
  text <- cli::ansi_strip(conditionMessage(cnd))
  testthat::expect_match(class(cnd)[1L], "^voxridge_error_[a-z_]+$")
  testthat::expect_match(text, paste0("`(", arg, ")`"))
  for (one in pattern) testthat::expect_match(text, one)
  invisible(cnd)
}

# A file of the folder that VOXRIDGE_TEST_DATA names; the test is skipped where there is none.
test_data <- function(...) {
  folder <- Sys.getenv("VOXRIDGE_TEST_DATA")
  testthat::skip_if(!nzchar(folder), "VOXRIDGE_TEST_DATA is unset")
  path <- file.path(folder, ...)
  testthat::skip_if(!file.exists(path), paste(file.path(...), "is not in VOXRIDGE_TEST_DATA"))
  path
}
