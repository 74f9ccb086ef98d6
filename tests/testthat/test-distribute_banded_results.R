test_that("near ties fall as in one process: a candidate must beat the best before it by more than rounding", {
  options <- list(single = FALSE, score = "r2")
  best <- list(score = NA_real_, gamma_index = NA_integer_, alpha_index = NA_integer_)
  eps <- .Machine$double.eps
  for (k in 1:3) best <- take_candidate(best, k, c(0.5, 0.5 + 0.6 * eps, 0.5 + 1.5 * eps)[k], 1L, options)
  expect_identical(best$gamma_index, 3L)
  best <- take_candidate(best, 4L, NA_real_, NA_integer_, options)
  best <- take_candidate(best, 5L, 0.5 + 1.5 * eps, 1L, options)
  expect_identical(best$gamma_index, 3L)
  options$score <- "neg_mse"
  expect_true(beats(-1e6 + 1e-8, -1e6, options))
  expect_false(beats(-1e6 + 1e-10, -1e6, options))
  expect_true(beats(-1, -Inf, options))
})

test_that("targets without any score are refused, skipped ones are not", {
  expect_identical(check_every_choice(c(1L, NA, 2L), 2L, NULL), c(1L, NA, 2L))
  cnd <- expect_refused(check_every_choice(c(1L, NA, NA), 2L, NULL), "Y")
  expect_identical(cnd$where, 3L)
})

test_that("what was done is told of all candidates together", {
  one <- list(form = "dual", factorisation = "eigen", n_nodes = 3L, passes = 1L)
  two <- utils::modifyList(one, list(factorisation = "svd", n_nodes = 2L))
  joined <- join_info(join_info(NULL, one), two)
  expect_identical(joined[c("factorisation", "n_nodes", "passes")],
                   list(factorisation = "svd", n_nodes = 3L, passes = 2L))
})
