settings_of <- function(..., n_permutations = 100, given = FALSE) {
  base <- list(n_permutations = setting(n_permutations, given), alternative = "two.sided", two_sided = "abs",
               exact = "auto", blocks = NULL, block_type = "within", permutations = NULL, return_null = FALSE,
               seed = NULL, n_threads = 2, device = "cpu", progress = FALSE, call = rlang::current_env())
  do.call(permutation_settings, utils::modifyList(base, list(...)))
}

test_that("given permutations go with no other way of drawing", {
  flips <- matrix(1, 3, 4)
  expect_refused(settings_of(permutations = flips, given = TRUE), "n_permutations", "permutations")
  expect_refused(settings_of(permutations = flips, blocks = 1:4), "blocks", "permutations")
  expect_refused(settings_of(permutations = flips, seed = 1), "seed", "permutations")
  expect_refused(settings_of(permutations = flips, exact = "always"), "exact", "permutations")
  expect_identical(settings_of(permutations = flips)$permutations, flips)
})

test_that("given flips and orders are checked element by element", {
  call <- rlang::current_env()
  expect_identical(as_flips(matrix(c(1, -1, 1, 1), 2), 2L, call), matrix(c(1L, -1L, 1L, 1L), 2))
  expect_null(as_flips(NULL, 2L, call))
  cnd <- expect_refused(as_flips(matrix(c(1, -1, 1, 0), 2), 2L, call), "permutations", "not 0 in row 2, column 2")
  expect_identical(cnd$where, c(row = 2L, column = 2L))
  expect_refused(as_flips(matrix(c(1, NA), 1), 2L, call), "permutations", "NA")
  expect_refused(as_flips(matrix(1, 2, 3), 2L, call), "permutations", "column per sample \\(2\\)")
  expect_refused(as_flips(c(1, -1), 2L, call), "permutations")
  expect_refused(as_flips(matrix("1", 1, 2), 2L, call), "permutations")
  expect_identical(as_orders(rbind(c(2, 1), 1:2), 2L, call), rbind(2:1, 1:2))
  expect_refused(as_orders(rbind(1:3, c(2, 3, 2)), 3L, call), "permutations", "a second 2 in row 2, column 3")
  expect_refused(as_orders(rbind(1:3, c(2, 3, 4)), 3L, call), "permutations", "not 4 in row 2, column 3")
  expect_refused(as_orders(rbind(c(1.5, 2, 3)), 3L, call), "permutations", "1.5")
  expect_refused(as_orders(matrix(1L, 0, 3), 3L, call), "permutations")
})

test_that("blocks are labels of any kind", {
  call <- rlang::current_env()
  expect_null(as_blocks(NULL, 3L, "within", "orders", call))
  for (labels in list(c("b", "a", "b"), c(2, 1, 2), factor(c("x", "y", "x"), c("z", "y", "x")))) {
    expect_identical(as_blocks(labels, 3L, "within", "labels", call), c(1L, 2L, 1L))
  }
  expect_refused(as_blocks(1:2, 3L, "within", "orders", call), "blocks", "per sample \\(3\\)")
  expect_refused(as_blocks(c(1, NA, 2), 3L, "within", "orders", call), "blocks", "NA")
  expect_refused(as_blocks(list(1, 2, 3), 3L, "within", "orders", call), "blocks")
  # flips of whole blocks may differ in size
  expect_identical(as_blocks(c(1, 1, 2), 3L, "whole", "flips", call), c(1L, 1L, 2L))
})

test_that("plans: exact or not, sizes of the sets, keys", {
  call <- rlang::current_env()
  rows <- function(n, kind = "flips", ...) {
    utils::modifyList(list(kind = kind, n = n, block = NULL, whole = FALSE, first = NULL, exact = FALSE, seed = 0,
                           given = NULL), list(...))
  }
  plan <- plan_permutations(rows(6L), settings_of(), call)
  expect_identical(plan[c("m", "exact", "possible", "seed")],
                   list(m = 64, exact = TRUE, possible = 64, seed = NA_real_))
  plan <- plan_permutations(rows(7L), settings_of(seed = 3), call)
  expect_identical(plan[c("m", "exact", "possible", "seed")], list(m = 100L, exact = FALSE, possible = 128, seed = 3))
  expect_true(plan_permutations(rows(7L), settings_of(exact = "always"), call)$exact)
  expect_false(plan_permutations(rows(4L), settings_of(exact = "never"), call)$exact)
  expect_identical(plan_permutations(rows(2000L), settings_of(), call)$possible, Inf)
  expect_identical(plan_permutations(rows(9L, "orders"), settings_of(), call)$possible, factorial(9))
  two <- rows(40L, "labels", first = rep(c(TRUE, FALSE), 20))
  expect_identical(plan_permutations(two, settings_of(), call)$possible, choose(40, 20))
  expect_refused(plan_permutations(two, settings_of(exact = "always"), call), "exact", "1e8|1.38e")
})

test_that("data to test keep names, masks and missing values", {
  Y <- matrix(c(1, NA, 3, 4), 2, dimnames = list(NULL, c("a", "b")))
  expect_identical(as_tested(Y, "exclude")[c("Y", "names", "is_vector")],
                   list(Y = Y, names = c("a", "b"), is_vector = FALSE))
  expect_identical(as_tested(1:3, "exclude")$Y, cbind(c(1, 2, 3)))
  expect_identical(dim(as_tested(matrix(0, 3, 0), "error")$Y), c(3L, 0L))
  mask <- brain_mask(array(c(1, 1, 0, 0), c(2, 2, 1)))
  expect_identical(as_tested(structure(unname(Y), mask = mask), "exclude")$mask, mask)
  expect_refused(as_tested(Y, "error"), "Y", "1 of 2 columns \\(a\\)")
  expect_refused(as_tested(matrix(0, 0, 3), "exclude"), "Y")
  expect_refused(as_tested(NULL, "exclude"), "NULL|Y")
})
