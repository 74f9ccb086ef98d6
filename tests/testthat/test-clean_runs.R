# Run by run and column by column; stats::poly() for the trend.
oracle_clean <- function(x, runs, detrend, scale, reference = rep(TRUE, nrow(x))) {
  for (run in unique(runs)) {
    rows <- runs == run
    for (j in seq_len(ncol(x))) {
      y <- x[rows, j]
      time <- seq_along(y)
      left <- if (is.null(detrend)) y
      else if (detrend == 0) y - mean(y)
      else unname(residuals(lm(y ~ poly(time, detrend))))
      within <- reference[rows]
      sd <- sqrt(mean((left[within] - mean(left[within]))^2))
      x[rows, j] <- switch(scale, none = left, sd = left / sd, z = (left - mean(left[within])) / sd)
    }
  }
  x
}

# Runs of 30, 21 and 17 samples with trends and an offset.
run_problem <- function(seed = 1, v = 5) {
  runs <- rep(c("b", "a", "c"), c(30, 21, 17))
  Y <- random_problem(68, 2, v, seed)$Y
  list(Y = Y + 50 + as.vector(scale(seq_len(68)))^2, runs = runs)
}

test_that("trends go and scales are one, as by linear models", {
  data <- run_problem()
  reference <- rep(c(TRUE, TRUE, FALSE, TRUE), 17)
  for (detrend in list(NULL, 0, 1, 2, 5)) {
    for (scale in c("none", "sd", "z")) {
      got <- clean_runs(data$Y, data$runs, detrend, scale)
      expect_close(got[, ], oracle_clean(data$Y, data$runs, detrend, scale))
      expect_identical(attr(got, "runs"), data$runs)
    }
    want <- oracle_clean(data$Y, data$runs, detrend, "z", reference)
    expect_close(clean_runs(data$Y, data$runs, detrend, "z", reference)[, ], want)
    expect_close(clean_runs(data$Y, factor(data$runs), detrend, "z", which(reference))[, ], want)
  }
  expect_identical(clean_runs(data$Y, data$runs), clean_runs(data$Y, data$runs, 1, "none"))
})

test_that("the basis is orthonormal and spans the polynomials, for long runs and high degrees", {
  for (n in c(7L, 121L, 20000L)) {
    for (degree in c(0L, 1L, 5L, if (n > 100L) 20L)) {
      Q <- trend_basis(n, degree)
      expect_identical(dim(Q), c(n, degree))
      expect_close(crossprod(cbind(1 / sqrt(n), Q)), diag(degree + 1L), 1e-12)
    }
  }
  # what is left of a polynomial of the degree is rounding
  time <- seq(-1, 1, length.out = 5000)
  y <- 1e4 + 300 * time - 20 * time^9 + 5 * time^12
  expect_lt(max(abs(clean_runs(y, rep(1, 5000), detrend = 12))), 1e-9)
})

test_that("adding a trend, scaling a column and cleaning again change nothing", {
  for (seed in 1:10) {
    data <- run_problem(seed, v = 3)
    time <- ave(seq_along(data$runs), data$runs, FUN = function(i) seq(-1, 1, length.out = length(i)))
    offset <- c(a = 5, b = -3, c = 100)[data$runs]
    moved <- 7 * (data$Y + offset * (1 + time - 2 * time^2))
    for (scale in c("sd", "z")) {
      clean <- clean_runs(data$Y, data$runs, 2, scale)
      expect_close(clean_runs(moved, data$runs, 2, scale)[, ], clean[, ])
      expect_close(clean_runs(clean, data$runs, 2, scale)[, ], clean[, ])
    }
  }
})

test_that("one run does not reach another", {
  data <- run_problem()
  changed <- data$Y
  changed[data$runs == "a", ] <- withr::with_seed(1, matrix(rexp(21 * 5, 1e-3), 21))
  others <- data$runs != "a"
  for (scale in c("none", "sd", "z")) {
    expect_identical(clean_runs(changed, data$runs, 2, scale)[others, ],
                     clean_runs(data$Y, data$runs, 2, scale)[others, ])
    # nor does it matter which other runs there are
    alone <- clean_runs(data$Y[data$runs == "c", ], rep(1, 17), 2, scale)
    expect_identical(clean_runs(data$Y, data$runs, 2, scale)[data$runs == "c", ], alone[, ])
  }
})

test_that("columns of which nothing is left come back as 0, not as NaN", {
  runs <- rep(1:2, c(9, 12))
  time <- c(1:9, 1:12)
  varying <- withr::with_seed(1, rnorm(21))
  Y <- cbind(1e5 / 3, 0, ifelse(runs == 1, pi, varying), ifelse(runs == 1, 1e6 + time / 7, varying), varying)
  for (scale in c("none", "sd", "z")) {
    clean <- clean_runs(Y, runs, 1, scale)
    expect_true(all(is.finite(clean)))
    expect_true(all(clean[, 1:2] == 0))
    expect_true(all(clean[runs == 1, 3:4] == 0))
    expect_true(all(clean[runs == 2, 3:5] != 0))
  }
  expect_true(all(clean_runs(Y, runs, NULL, "sd")[, 1:2] == 0))
  # a constant stays where nothing is asked for
  expect_identical(clean_runs(Y, runs, NULL, "none")[, ], Y)
  # constant at rest
  rest <- time <= 4
  z <- clean_runs(cbind(ifelse(rest, 2, varying)), runs, NULL, "z", rest)
  expect_true(all(z == 0))
})

test_that("blocks of columns make no difference", {
  Y <- random_problem(40, 2, 60000, seed = 2)$Y
  runs <- rep(1:2, each = 20)
  expect_gt(length(column_blocks(ncol(Y), 20)), 1L)
  clean <- clean_runs(Y, runs, 1, "sd")
  some <- c(1:3, 50000:50003, 60000L)
  expect_identical(clean[, some], clean_runs(Y[, some], runs, 1, "sd")[, ])
})

test_that("size, names and attributes are kept, the input is not written to", {
  Y <- matrix(as.double(1:30)^2, 10, dimnames = list(letters[1:10], c("u", "v", "w")))
  attr(Y, "mask") <- list(dim = c(3, 1, 1))
  before <- Y + 0
  clean <- clean_runs(Y, rep(1:2, each = 5))
  expect_identical(Y, before)
  expect_identical(dimnames(clean), dimnames(Y))
  expect_identical(attr(clean, "mask"), attr(Y, "mask"))
  expect_setequal(names(attributes(clean)), c("dim", "dimnames", "mask", "runs"))
  classed <- clean_runs(structure(Y, class = c("image_matrix", "matrix")), rep(1:2, each = 5))
  expect_s3_class(classed, "image_matrix")
  expect_identical(unclass(classed)[, ], clean[, ])
  y <- stats::setNames(c(1, 5, 2, 8), letters[1:4])
  expect_identical(clean_runs(y, rep(1, 4), 0), structure(c(a = -3, b = 1, c = -2, d = 4), runs = rep(1, 4)))
  whole <- clean_runs(matrix(c(1L, 5L, 2L, 8L)), rep(1, 4), 0)
  expect_identical(whole[, ], c(-3, 1, -2, 4))
  frame <- clean_runs(data.frame(a = c(1, 3), b = 2:1), rep("r", 2), 0)
  expect_identical(frame[, ], cbind(a = c(-1, 1), b = c(0.5, -0.5)))
})

test_that("memory beyond input and output stays small", {
  skip_on_cran()
  skip_on_os(c("windows", "mac"))
  code <- c(
    "status <- function() grep('VmHWM', readLines('/proc/self/status'), value = TRUE)",
    "peak <- function() as.numeric(gsub('[^0-9]', '', status()))",
    "Y <- matrix(0.5, 400, 30000)",
    "invisible(clean_runs(Y[, 1:50], rep(1:4, each = 100), 2, 'sd'))",
    "before <- peak()",
    "out <- clean_runs(Y, rep(1:4, each = 100), 2, 'sd')",
    "cat((peak() - before) * 1024 / as.numeric(object.size(out)))"
  )
  # one for the result; R lets garbage of over half of the memory in use pile up; another copy would make it 3.4
  expect_lt(as.numeric(utils::tail(run_r(code, withr::local_tempdir()), 1L)), 2.7)
})

test_that("wrong data and settings are refused", {
  data <- run_problem()
  Y <- data$Y
  runs <- data$runs
  cnd <- expect_refused(clean_runs(Y), "runs", "rep\\(1")
  expect_s3_class(cnd, "voxridge_error_runs")
  expect_refused(clean_runs(Y, NULL), "runs")
  expect_refused(clean_runs(Y, runs[-1L]), "runs", "68 samples")
  expect_refused(clean_runs(Y, rep(1:2, 34)), "runs", "run 1 again from row 3")
  expect_refused(clean_runs(Y, replace(runs, 3, NA)), "runs", "NA")
  cnd <- expect_refused(clean_runs(Y, runs, 16), "runs", c("18 samples", "17 in run c"))
  expect_s3_class(cnd, "voxridge_error_runs")
  expect_silent(clean_runs(Y, runs, 15))
  expect_refused(clean_runs(Y, runs, -1), "detrend", "-1")
  expect_refused(clean_runs(Y, runs, 1.5), "detrend", "1.5")
  expect_refused(clean_runs(Y, runs, scale = "SD"), "scale", "sd")
  cnd <- expect_refused(clean_runs(Y, runs, scale = "sd", reference = runs == "a"), "reference", "z")
  expect_s3_class(cnd, "voxridge_error_conflict")
  expect_refused(clean_runs(Y, runs, scale = "z", reference = runs != "a"), "reference", "0 of run a")
  expect_refused(clean_runs(Y, runs, scale = "z", reference = 1:100), "reference", "69")
  expect_refused(clean_runs(Y, runs, scale = "z", reference = c(TRUE, FALSE)), "reference")
  expect_refused(clean_runs(Y, runs, scale = "z", reference = "rest"), "reference")
  for (value in c(NA, NaN, Inf)) expect_refused(clean_runs(replace(Y, 70L, value), runs), "x", "column")
  expect_refused(clean_runs("a", 1), "x")
  expect_refused(clean_runs(list(Y), runs), "x")
  expect_refused(clean_runs(Y[, 0L], runs), "x")
})
