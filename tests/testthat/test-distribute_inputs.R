targets_of <- function(t) list(Y = structure(list(rows = 2, cols = t), class = "voxridge_target_store"))

test_that("batches are whole tiles, four or more for each worker where there are enough", {
  width <- function(t, n_targets_batch = NULL, workers = 1) {
    under_plan(future::tweak(future::multisession, workers = workers), {
      plan_batches(targets_of(t), list(n_targets_batch = n_targets_batch), NULL)$width
    })
  }
  expect_identical(width(100), 512)
  expect_identical(width(512 * 40), 5120)
  expect_identical(width(512 * 40, workers = 2), 2560)
  expect_identical(width(1e6), 8192)
  expect_identical(width(1e8), 512 * 20)
  expect_identical(width(1e4, 513), 1024)
  expect_identical(width(1e4, 1), 512)
})

test_that("batches of coefficients that are in memory fit it", {
  settings <- list(memory_bytes = 1e8)
  expect_identical(plan_batches(targets_of(1e5), settings, NULL, bytes = 8 * 1000)$width, 512 * 4)
  expect_identical(plan_batches(targets_of(1e5), settings, NULL, bytes = 1e9)$width, 512)
})

test_that("one share makes the factor that serves all folds", {
  design <- function(n, p, cv) list(X = matrix(0, n, p), folds = as_folds(cv, n))
  r2 <- list(word = "r2")
  expect_identical(factor_shares(design(20, 40, 4), r2, 8L), 1L)
  expect_identical(factor_shares(design(40, 10, 4), r2, 8L), 5L)
  expect_identical(factor_shares(design(40, 10, 4), r2, 2L), 2L)
  expect_identical(factor_shares(design(20, 40, 4), list(word = "correlation"), 3L), 3L)
  expect_identical(factor_shares(design(20, 40, "loo"), r2, 8L), 1L)
})

test_that("a budget below a factor and a tile is refused with the least that works", {
  cnd <- expect_kind(check_worker_memory(list(memory_bytes = 1e6), 1000, 500, 5, NULL), "memory_budget", "memory_gb")
  expect_null(check_worker_memory(list(memory_bytes = cnd$expected * 1e9), 1000, 500, 5, NULL))
})

test_that("a score that looks at several columns together is refused", {
  design <- list(folds = as_folds(3, 30))
  check <- function(fun) check_score_columns(as_score(fun), design, NULL)
  expect_null(check("r2")$fun)
  expect_true(is.function(check(function(a, b) -colSums(abs(a - b)))$fun))
  expect_true(is.function(check(function(a, b) -sum(abs(a - b)))$fun))
  expect_refused(check(function(a, b) -colSums(abs(a - b)) / sum(a)), "score_func")
  expect_refused(check(function(a, b) -colSums(abs(a - b)) + seq_len(ncol(a))), "score_func")
})

test_that("a score may need as many samples as a fold holds out", {
  design <- list(folds = as_folds(3, 270))
  weights <- seq_len(90)
  expect_true(is.function(check_score_columns(as_score(function(a, b) -colSums(weights * (a - b)^2)), design,
                                              NULL)$fun))
})

test_that("names of targets that break a file are refused where there will be one", {
  d <- random_problem(30, 5, 2, 1)
  for (names in list(c("a\nb", "c"), c(NA, "c"))) {
    colnames(d$Y) <- names
    expect_refused(distribute_quietly(d$X, d$Y, return_coefs = "primal"), "Y")
    expect_identical(names(distribute_quietly(d$X, d$Y)$best_alphas), names)
  }
})
