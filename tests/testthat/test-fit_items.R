# fit_items().

item_problem <- function(n = 3L, rows = 40L) {
  withr::with_seed(4, {
    designs <- stats::setNames(lapply(seq_len(n), function(i) matrix(rnorm(rows * 3), rows)), letters[seq_len(n)])
    values <- lapply(designs, function(X) X %*% matrix(rnorm(3 * 60), 3) + rnorm(rows * 60))
  })
  list(designs = designs, values = values, x = brain_collection(values, brain_mask(array(1, c(5, 4, 3)))))
}

# The seconds that a fit took are no part of what it is.
timeless <- function(fits) lapply(fits, function(fit) replace(unclass(fit), "diagnostics", NULL))

test_that("the fit of an item is that of fit_ridge(), and of map_items()", {
  problem <- item_problem()
  alphas <- 10^(-3:3)
  fits <- muffle_edge(fit_items(problem$x, problem$designs, alphas = alphas, cv = 4, n_threads = 1))
  expect_named(fits, letters[1:3])
  expect_s3_class(fits$b, "voxridge_ridge")
  by_map <- muffle_edge(map_items(problem$x, function(Y, info) {
    fit_ridge(problem$designs[[info$item]], Y, alphas = alphas, cv = 4, n_threads = 1)
  }))
  expect_identical(timeless(fits), timeless(by_map))
  by_hand <- muffle_edge(fit_ridge(problem$designs$b, problem$values$b, alphas = alphas, cv = 4, n_threads = 1))
  expect_identical(fits$b$coefs, by_hand$coefs)
  expect_identical(dim(brain_map(fits$b, what = "scores")), c(5L, 4L, 3L))
})

test_that("designs: one for all, or one for each, by name or in order", {
  problem <- item_problem()
  fit <- function(designs) lapply(fit_items(problem$x, designs, alphas = 1, n_threads = 1), `[[`, "coefs")
  want <- fit(problem$designs)
  expect_identical(fit(unname(problem$designs)), want)
  expect_identical(fit(c(rev(problem$designs), list(z = 1))), want)
  one <- fit(problem$designs$a)
  expect_identical(one$b, fit_ridge(problem$designs$a, problem$values$b, alphas = 1, n_threads = 1)$coefs)
  expect_identical(unname(fit(as.data.frame(problem$designs$a))$b), unname(one$b))
  expect_identical(fit(prepare_ridge(problem$designs$a, fit_intercept = TRUE, n_threads = 1))$c, one$c)
})

test_that("the plan does not matter", {
  problem <- item_problem(n = 2L)
  fit <- function() lapply(fit_items(problem$x, problem$designs, alphas = 1, n_threads = 1), `[[`, "coefs")
  want <- fit()
  withr::defer(future::plan("sequential"))
  future::plan("multisession", workers = 2)
  expect_identical(fit(), want)
})

test_that("bad requests are refused before any fit, failing items are named", {
  problem <- item_problem()
  x <- problem$x
  designs <- problem$designs
  expect_refused(fit_items(list(1), designs), "x", "list")
  expect_refused(fit_items(x, designs[1:2]), "designs", "none for c")
  expect_refused(fit_items(x, unname(designs[1:2])), "designs", "not 2")
  expect_refused(fit_items(x, list()), "designs", "not 0")
  cnd <- expect_refused(fit_items(x, designs$a[-1, ]), "designs", c("39", "40"))
  expect_s3_class(cnd, "voxridge_error_shape")
  expect_refused(fit_items(x, replace(designs, "b", list(designs$b[1:7, ]))), "designs", c("7", "b", "40"))
  expect_refused(fit_items(x, designs, alpha = 1), "...", "alphas")
  expect_refused(fit_items(x, designs, 1), "...", "without a name")
  expect_refused(fit_items(x, designs, Y = 1), "...", "Y")
  expect_refused(fit_items(x, designs, on_error = "no"), "on_error")
  designs$b[3, 2] <- NA
  cnd <- expect_item_error(fit_items(x, designs, alphas = 1), 2L, "1 of 3")
  expect_s3_class(cnd$results$c, "voxridge_ridge")
  expect_warning(fits <- fit_items(x, designs, alphas = 1, on_error = "skip"), class = "voxridge_warning_skipped_items")
  expect_s3_class(fits$b, "voxridge_error_nonfinite")
})
