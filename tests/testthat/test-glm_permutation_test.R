linear <- quiet_test(glm_permutation_test)

# t (or F) of a contrast by least squares. `contrast`: a vector, or a matrix of rows.
refit_statistic <- function(D, Y, contrast) {
  C <- rbind(contrast)
  fit <- stats::lm.fit(D, Y)
  inverse <- solve(crossprod(D))
  df <- nrow(D) - ncol(D)
  variance <- colSums(as.matrix(fit$residuals)^2) / df
  value <- C %*% as.matrix(fit$coefficients)
  middle <- C %*% inverse %*% t(C)
  if (nrow(C) == 1L) return(as.vector(value) / sqrt(variance * middle[1L]))
  colSums(value * solve(middle, value)) / nrow(C) / variance
}

# Freedman and Lane, literally: residuals of the nuisance model, rearranged, and the whole model again. Place i of the
# design meets the residual of the sample that order[] puts there.
freedman_lane <- function(D, Y, contrast, rows, flip = FALSE) {
  C <- t(rbind(contrast))
  Z <- D %*% qr.Q(qr(C), complete = TRUE)[, -seq_len(ncol(C)), drop = FALSE]
  residuals <- if (ncol(Z)) Y - Z %*% qr.coef(qr(Z), Y) else Y
  t(apply(rows, 1L, function(row) {
    moved <- if (flip) row * residuals else residuals[order(row), , drop = FALSE]
    refit_statistic(D, moved, contrast)
  }))
}

a_design <- function(n, seed) withr::with_seed(seed, cbind(one = 1, age = rnorm(n), dose = rnorm(n), x = runif(n)))

test_that("t and F by shuffles and flips are literal refits", {
  Y <- withr::with_seed(1, matrix(rnorm(11 * 25), 11))
  D <- a_design(11L, 2)
  contrasts <- list(dose = c(0, 0, 1, 0), difference = c(0, 1, -1, 0.5), both = rbind(c(0, 1, 0, 0), c(0, 0, 2, 1)))
  for (scheme in c("shuffle", "flip")) {
    rows <- drawn_rows(if (scheme == "flip") "flips" else "orders", 11L, 60L, 3)
    for (contrast in contrasts) {
      null <- freedman_lane(D, Y, contrast, rows, scheme == "flip")
      observed <- refit_statistic(D, Y, contrast)
      tails <- if (is.matrix(contrast)) list(list()) else TEST_TAILS
      run <- function(...) linear(Y, D, contrast, scheme, n_permutations = 60, seed = 3, exact = "never", ...)
      if (is.matrix(contrast)) {
        got <- run(return_null = TRUE)
        expect_equal(got$p, oracle_p(null, observed, list(alternative = "greater"), exact = FALSE), tolerance = 1e-14)
        expect_equal(got$p_fwer, oracle_fwer(null, observed, list(alternative = "greater"), exact = FALSE),
                     tolerance = 1e-14)
        expect_equal(got$max_null, apply(null, 1L, max), tolerance = 1e-5)
      } else {
        expect_permutations(run, null, observed, exact = FALSE)
        got <- run(return_null = TRUE)
        expect_equal(got$max_null, apply(abs(null), 1L, max), tolerance = 1e-5)
      }
      expect_equal(got$statistic, observed, tolerance = 1e-11)
      expect_lt(max(abs(got$null - null)), 1e-5 * max(abs(null)))
      expect_identical(got$diagnostics$degenerate, 0)
    }
  }
})

test_that("everything enumerated, on tied data", {
  Y <- tied_data(6L, 30L, 4)
  Y <- Y[, apply(Y, 2L, stats::sd) > 0]
  D <- cbind(1, c(0, 0, 1, 1, 2, 2), c(1, 0, 1, 0, 0, 1))
  null <- freedman_lane(D, Y, c(0, 0, 1), all_orders(6L))
  observed <- refit_statistic(D, Y, c(0, 0, 1))
  # residuals of exact fits are not compared: their t is rounding
  kept <- is.finite(observed) & abs(observed) < 1e6 & colSums(!is.finite(null) | abs(null) > 1e6) == 0
  expect_gt(sum(kept), 20)
  run <- function(...) linear(Y[, kept], D, c(0, 0, 1), ...)
  expect_permutations(run, null[, kept], observed[kept])
  # within blocks, whose means are part of the design
  D <- cbind(rep(c(1, 0), c(3, 3)), rep(c(0, 1), c(3, 3)), c(1, 2, 4, 1, 3, 8))
  orders <- cbind(all_orders(3L)[rep(1:6, 6), ], 3 + all_orders(3L)[rep(1:6, each = 6), ])
  observed <- refit_statistic(D, Y, c(0, 0, 1))
  null <- freedman_lane(D, Y, c(0, 0, 1), orders)
  kept <- is.finite(observed) & abs(observed) < 1e6
  run <- function(...) linear(Y[, kept], D, c(0, 0, 1), blocks = rep(1:2, each = 3), ...)
  expect_permutations(run, null[, kept], observed[kept])
})

test_that("ties count where flipped residuals lie close to the space of the nuisance", {
  # rho of all flips in exact fractions would be rho of the data; 1 - g is 0.006, 0.021 and 0.053 there
  D <- list(cbind(1, c(1, 0, 2, 0, 2), c(-2, -2, -2, 2, 1), c(1, 1, 1, 2, -1)),
            cbind(1, c(1, 1, -2, -2, 0), c(2, 0, -1, -1, 2), c(1, 2, 0, 2, -1)),
            cbind(1, c(-1, 1, 1, 1, 0, 1), c(0, 0, 2, 0, -2, 2), c(1, 1, 1, 0, -2, -2)))
  y <- list(c(-2, -2, 0, -2, -2), c(1, 0, 2, 2, 2), c(-1, 0, 1, 0, -1, 1))
  contrast <- c(0, 0, 0, 1)
  for (k in 1:3) {
    correlation <- function(t) t / sqrt(length(y[[k]]) - 4 + t^2)
    Y <- cbind(y[[k]])
    null <- correlation(t(freedman_lane(D[[k]], Y, contrast, all_flips(nrow(Y)), flip = TRUE)))
    observed <- correlation(refit_statistic(D[[k]], Y, contrast))
    for (tail in TEST_TAILS) {
      got <- do.call(linear, c(list(Y, D[[k]], contrast, "flip"), tail))
      expect_equal(got$p, oracle_p(null, observed, tail), tolerance = 1e-14)
      expect_identical(got$p_fwer, got$p)
    }
  }
})

test_that("the unit of a column of the design or of a contrast does not matter", {
  Y <- withr::with_seed(1, matrix(rnorm(8 * 5), 8))
  D <- cbind(1, withr::with_seed(2, rnorm(8)), rep(0:1, 4))
  t_rows <- c(0, 1, 0)
  f_rows <- rbind(c(0, 1, 1), c(0, 1, 0))
  run <- function(size, contrast) {
    linear(sweep(D, 2L, size, "*"), Y = Y, contrasts = contrast, n_permutations = 99, seed = 1)
  }
  want <- list(run(c(1, 1, 1), t_rows), run(c(1, 1, 1), f_rows))
  for (size in list(c(1, 1e-200, 1e150), c(1e300, 1e300, 1e-300), c(1e-160, 1e7, 1e-160))) {
    got <- run(size, t_rows)
    expect_identical(got$p, want[[1L]]$p)
    expect_equal(got$estimate * size[2L], want[[1L]]$estimate, tolerance = 1e-12)
    expect_equal(got$statistic, want[[1L]]$statistic, tolerance = 1e-12)
    expect_equal(run(1, 1e-200 * t_rows)$estimate, 1e-200 * want[[1L]]$estimate, tolerance = 1e-12)
    got <- run(pmax(pmin(size, 1e3), 1e-3), f_rows * c(1e-250, 1e250))
    expect_identical(got$p, want[[2L]]$p)
    expect_equal(got$statistic, want[[2L]]$statistic, tolerance = 1e-8)
  }
  cnd <- expect_refused(run(c(1, 1e-320, 1), t_rows), "contrasts", "column 2")
  expect_s3_class(cnd, "voxridge_error_not_estimable")
})

test_that("whole blocks change places", {
  Y <- withr::with_seed(21, matrix(rnorm(12 * 20), 12))
  block <- rep(1:4, each = 3)
  D <- cbind(1, rep(c(-1, 0, 1), 4), rep(withr::with_seed(22, rnorm(4)), each = 3), withr::with_seed(23, rnorm(12)))
  orders <- t(apply(all_orders(4L), 1L, function(b) rep(3 * (b - 1), each = 3) + 1:3))
  for (contrast in list(c(0, 0, 1, 0), c(0, 0, 0, 1))) {
    null <- freedman_lane(D, Y, contrast, orders)
    run <- function(...) linear(Y, D, contrast, blocks = block, block_type = "whole", ...)
    expect_permutations(run, null, refit_statistic(D, Y, contrast))
  }
  # what is the same in every block is not changed
  expect_refused(linear(Y, D, c(0, 1, 0, 0), blocks = block, block_type = "whole"), "contrasts", "from block to block")
})

test_that("estimates are coefficients, F has a partial R2", {
  Y <- withr::with_seed(5, matrix(rnorm(14 * 6), 14, dimnames = list(NULL, letters[1:6])))
  D <- a_design(14L, 6)
  got <- linear(Y, D, list(t = c(0, 0, 2, -1), f = rbind(c(0, 1, 0, 0), c(0, 0, 0, 1))), n_permutations = 30, seed = 1)
  expect_named(got, c("t", "f"))
  coefs <- stats::lm.fit(D, Y)$coefficients
  expect_equal(got$t$estimate, colSums(c(0, 0, 2, -1) * coefs), tolerance = 1e-12)
  expect_identical(got$t$df, 10)
  expect_identical(got$f$df, c(2, 10))
  rest <- function(X) colSums(stats::lm.fit(X, Y)$residuals^2)
  expect_equal(got$f$estimate, 1 - rest(D) / rest(D[, c(1, 3)]), tolerance = 1e-12)
  expect_identical(got$f$alternative, "greater")
  expect_null(got$f$two_sided)
  expect_identical(got$t$seed, got$f$seed)
  # all contrasts see the same permutations
  alone <- linear(Y, D, c(0, 0, 2, -1), n_permutations = 30, seed = got$t$seed)
  expect_identical(alone$counts, got$t$counts)
  drawn <- withr::with_seed(1, linear(Y, D, list(a = c(0, 1, 0, 0), b = c(0, 0, 1, 0)), n_permutations = 30))
  expect_identical(drawn$a$seed, drawn$b$seed)
})

test_that("simple designs are the simple tests", {
  Y <- withr::with_seed(7, matrix(rnorm(16 * 80), 16))
  x <- withr::with_seed(8, rnorm(16))
  line <- linear(Y, cbind(1, x), c(0, 1), n_permutations = 200, seed = 1)
  correlation <- correlation_permutation_test(x, Y, n_permutations = 200, seed = 1, progress = FALSE)
  expect_identical(line$p, correlation$p)
  expect_identical(line$p_fwer, correlation$p_fwer)
  flips <- linear(Y, cbind(rep(1, 16)), 1, "flip", n_permutations = 200, seed = 1)
  sample <- one_sample_permutation_test(Y, n_permutations = 200, seed = 1, progress = FALSE)
  expect_identical(flips$p, sample$p)
  expect_equal(flips$statistic, sample$statistic, tolerance = 1e-12)
  expect_equal(flips$estimate, sample$estimate, tolerance = 1e-12)
})

test_that("laws: sign, scale and collinear nuisance, threads", {
  Y <- withr::with_seed(9, matrix(rnorm(18 * 150), 18))
  D <- a_design(18L, 10)
  run <- function(D, contrast = c(0, 0, 0, 1), ...) linear(Y, D, contrast, n_permutations = 200, seed = 2, ...)
  base <- run(D)
  expect_identical(run(D, -c(0, 0, 0, 1), alternative = "less")$p, run(D, alternative = "greater")$p)
  expect_identical(run(sweep(D, 2L, c(1, 1e-150, 1e150, 7), "*"))$counts, base$counts)
  expect_identical(run(cbind(D, D[, 2] - 3 * D[, 1], 0), c(0, 0, 0, 1, 0, 0))$counts, base$counts)
  for (n_threads in c(1, 5)) expect_identical(run(D, n_threads = n_threads)$max_null, base$max_null)
  # columns that the nuisance explains are left out, and touch no other
  more <- linear(cbind(D[, 2] * 2 + 1, Y, 5), D, c(0, 0, 0, 1), n_permutations = 200, seed = 2)
  expect_identical(more$excluded, data.frame(column = c(1L, 152L), reason = c("nuisance", "constant")))
  expect_identical(more$counts[2:151], base$counts)
  expect_identical(more$max_null, base$max_null)
})

test_that("with nuisance in the data the error rate holds", {
  # 400 columns of 30 samples, strongly driven by the nuisance, which is related to the tested variable
  z <- withr::with_seed(11, rexp(30))
  x <- withr::with_seed(12, z + rnorm(30))
  Y <- withr::with_seed(13, 3 * z + matrix(rexp(30 * 400), 30))
  p <- linear(Y, cbind(1, z, x), c(0, 0, 1), n_permutations = 999, seed = 1)$p
  for (level in c(0.05, 0.2, 0.5)) expect_lt(abs(mean(p <= level) - level), 4 * sqrt(level * (1 - level) / 400))
})

test_that("what cannot be estimated or shuffled is refused", {
  Y <- matrix(rnorm(40), 10)
  D <- a_design(10L, 14)
  doubled <- cbind(D, again = 2 * D[, 2] - D[, 1])
  cnd <- expect_refused(linear(Y, doubled, c(0, 1, 0, 0, 0)), "contrasts", "column.*age")
  expect_s3_class(cnd, "voxridge_error_not_estimable")
  expect_refused(linear(Y, doubled, c(0, 0, 0, 0, 1)), "contrasts", "again")
  expect_refused(linear(Y, D, c(1, 0, 0, 0)), "contrasts", "flip")
  expect_refused(linear(Y, D, rbind(c(0, 1, 0, 0), c(0, 2, 0, 0))), "contrasts", "rank 1")
  expect_refused(linear(Y, D, c(0, 0, 0, 0)), "contrasts", "zero")
  run <- rep(1:2, each = 5)
  expect_refused(linear(Y, cbind(1, run, D[, 2]), c(0, 1, 0), blocks = run), "contrasts", "constant in each block")
  expect_refused(linear(Y, D, c(0, 1)), "contrasts", "4 finite numbers")
  expect_refused(linear(Y, D, list(c(0, 1, 0, 0))), "contrasts", "name")
  expect_refused(linear(Y, D, list(a = c(0, 1, 0, NA))), "contrasts\\$a")
  expect_refused(linear(Y, D, rbind(c(0, 1, 0, 0), c(0, 0, 1, 0)), alternative = "less"), "alternative", "F test")
  expect_refused(linear(Y, D[-1, ], c(0, 1, 0, 0)), "design", "10")
  expect_refused(linear(Y[1:4, ], D[1:4, ], c(0, 1, 0, 0)), "design", "degree of freedom")
  expect_refused(linear(Y, D, c(0, 1, 0, 0), "permute"), "scheme")
  expect_message(glm_permutation_test(Y, D[, -1], c(1, 0, 0), n_permutations = 20, progress = FALSE),
                 class = "voxridge_message_no_constant")
})
