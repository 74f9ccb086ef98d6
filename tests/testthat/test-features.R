# Value by value, as the help page says it.
oracle_delays <- function(X, delays, runs) {
  n <- nrow(X)
  out <- lapply(delays, function(delay) {
    late <- 0 * X
    for (i in seq_len(n)) {
      j <- i - delay
      if (j >= 1L && j <= n && runs[i] == runs[j]) late[i, ] <- X[j, ]
    }
    late
  })
  do.call(cbind, out)
}

test_that("every value comes from the right row of the same run", {
  X <- random_problem(23, 3, 1, seed = 1)$X
  runs <- rep(c("b", "a", "c"), c(9, 4, 10))
  for (delays in list(1:4, 0, c(3, -2, 0), -1:-3, 9)) {
    expect_identical(delay_features(X, delays, runs), oracle_delays(X, delays, runs))
    expect_identical(delay_features(X, delays, factor(runs)), oracle_delays(X, delays, runs))
    expect_identical(delay_features(X, delays), oracle_delays(X, delays, rep(1, 23)))
  }
  expect_identical(delay_features(X), delay_features(X, 1:4))
  expect_identical(delay_features(X, 0), X)
})

test_that("blocks of columns make no difference", {
  X <- matrix(seq_len(20 * 60000) + 0, 20)
  expect_gt(length(column_blocks(ncol(X), nrow(X))), 1L)
  expect_identical(unlist(column_blocks(ncol(X), nrow(X))), seq_len(ncol(X)))
  expect_identical(delay_features(X, c(2, -1), rep(1:2, each = 10)), oracle_delays(X, c(2, -1), rep(1:2, each = 10)))
})

test_that("columns are named after feature and delay where there are names", {
  X <- matrix(1:12, 4, dimnames = list(letters[1:4], c("face", "house", "cat")))
  out <- delay_features(X, c(0, 2, -1))
  expect_identical(colnames(out), paste0(c("face", "house", "cat"), rep(c("_d0", "_d2", "_d-1"), each = 3)))
  expect_identical(rownames(out), letters[1:4])
  expect_null(dimnames(delay_features(unname(X), 1)))
})

test_that("vectors are one column, data frames and whole numbers are converted", {
  expect_identical(delay_features(1:5, c(1, 2)), cbind(c(0, 1:4), c(0, 0, 1:3)))
  expect_identical(delay_features(data.frame(a = 1:3, b = c(TRUE, FALSE, TRUE)), 1),
                   cbind(a_d1 = c(0, 1, 2), b_d1 = c(0, 1, 0)))
})

test_that("one run does not reach another", {
  X <- random_problem(30, 4, 1, seed = 2)$X
  runs <- rep(1:3, each = 10)
  changed <- X
  changed[runs == 2, ] <- 1e6
  for (delays in list(1:4, c(-3, 0, 9))) {
    expect_identical(delay_features(changed, delays, runs)[runs != 2, ], delay_features(X, delays, runs)[runs != 2, ])
  }
})

test_that("cleaned features are delayed within the runs they were cleaned by", {
  X <- random_problem(30, 4, 1, seed = 3)$X
  runs <- rep(1:3, each = 10)
  clean <- clean_runs(X, runs)
  out <- delay_features(clean, 1:2)
  expect_identical(attr(out, "runs"), runs)
  expect_identical(out, delay_features(clean, 1:2, runs))
})

test_that("the result is allocated once", {
  skip_on_cran()
  skip_on_os(c("windows", "mac"))
  folder <- withr::local_tempdir()
  # delays one by one and then side by side take 2 times the result; R collects blocks that are done with late
  code <- c(
    "status <- function() grep('VmHWM', readLines('/proc/self/status'), value = TRUE)",
    "peak <- function() as.numeric(gsub('[^0-9]', '', status()))",
    "X <- matrix(0.5, 2000, 2000)",
    "invisible(delay_features(X[1:50, 1:50], 1:4))",
    "before <- peak()",
    "out <- delay_features(X, 1:4, rep(1:4, each = 500))",
    "cat((peak() - before) * 1024 / as.numeric(object.size(out)))"
  )
  expect_lt(as.numeric(utils::tail(run_r(code, folder), 1L)), 1.6)
})

test_that("wrong delays, runs and features are refused", {
  X <- matrix(1, 6, 2)
  runs <- rep(1:2, each = 3)
  expect_refused(delay_features(X, 1.5), "delays", "1.5")
  expect_refused(delay_features(X, integer()), "delays")
  expect_refused(delay_features(X, NA), "delays", "NA")
  expect_refused(delay_features(X, "1"), "delays")
  expect_refused(delay_features(X, c(1, 2, 1)), "delays", "not 1 more than once")
  expect_refused(delay_features(X, 1:3, runs), "delays", c("longest run \\(3 samples\\)", "not 3"))
  expect_refused(delay_features(X, -6), "delays", "-6")
  cnd <- expect_refused(delay_features(X, 1, c(1, 1, 2, 2, 1, 1)), "runs", "run 1 again from row 5")
  expect_s3_class(cnd, "voxridge_error_runs")
  expect_identical(cnd$where, 5L)
  expect_refused(delay_features(X, 1, 1:5), "runs", "6 samples")
  expect_refused(delay_features(X, 1, c(NA, 1, 1, 1, 1, 1)), "runs", "NA")
  expect_refused(delay_features("a"), "X")
  expect_refused(delay_features(factor(1:3)), "X")
  X[2, 2] <- NA
  expect_refused(delay_features(X, 1), "X", "NA")
})
