# map_items().

local_plan <- function(..., .local_envir = parent.frame()) {
  before <- future::plan(...)
  withr::defer(future::plan(before), envir = .local_envir)
}

test_that("f gets the matrix of each item, and what is known about it", {
  problem <- collection_problem(n = 4L, data = data.frame(group = letters[1:4]))
  means <- map_items(problem$x, colMeans)
  expect_identical(means, stats::setNames(lapply(problem$values, colMeans), names(problem$x)))
  got <- map_items(problem$x[c(3, 1)], function(Y, info) list(Y = Y, info = info))
  expect_identical(got[["sub-03"]]$Y, problem$x[[3]])
  info <- got[["sub-01"]]$info
  expect_identical(info$item, "sub-01")
  expect_identical(info$index, 2L)
  expect_identical(info$path, problem$x$paths[1])
  expect_identical(info$volumes, as.double(1:7))
  expect_identical(info$data$group, "a")
  # further arguments; results of any kind, NULL too
  expect_identical(map_items(problem$x[1:2], function(Y, k) if (k > 1) NULL else "a", k = 2),
                   list(`sub-01` = NULL, `sub-02` = NULL))
  expect_identical(map_items(problem$x[1:2], dim), list(`sub-01` = dim(problem$values[[1]]),
                                                        `sub-02` = dim(problem$values[[2]])))
  expect_refused(map_items(problem$x, "mean"), "f", "function")
  expect_refused(map_items(problem$x, mean, 3), "...", "by name")
  expect_refused(map_items(problem$x, mean, on_error = "go on"), "on_error")
  expect_refused(map_items(list(), mean), "x")
})

test_that("results and random numbers are the same under every plan", {
  problem <- collection_problem(n = 5L)
  shift <- 3
  noisy <- function(Y, info) list(colMeans(Y) + shift + rnorm(1), info$item)
  run <- function() withr::with_seed(1, map_items(problem$x, noisy))
  local_plan("sequential")
  want <- run()
  expect_false(anyDuplicated(vapply(want, function(one) one[[1]][1], 0)) > 0)
  memory <- brain_collection(problem$paths, problem$mask, load = "memory")
  skip_on_cran()
  for (plan in c("multisession", if (future::supportsMulticore()) "multicore")) {
    future::plan(plan, workers = 2)
    expect_identical(run(), want)
    expect_identical(map_items(memory, dim), map_items(problem$x, dim))
    expect_identical(plain(stack_items(problem$x, colMeans)), t(sapply(problem$values, colMeans)))
    folder <- file.path(problem$folder, plan)
    written <- map_items(problem$x, colMeans, write_to = folder)
    expect_identical(names(written), names(problem$x))
    future::plan("sequential")
  }
})

test_that("every item that fails is named, the others go on", {
  problem <- collection_problem(n = 5L)
  bad <- damage_item(problem, 3L)
  f <- function(Y, info) if (info$item == "sub-02") stop("{odd} text") else nrow(Y)
  cnd <- expect_item_error(map_items(bad, f), 2:3, c("2 of 5", "sub-02, sub-03", "\\{odd\\} text", "cut off"))
  expect_identical(names(cnd$conditions), c("sub-02", "sub-03"))
  expect_identical(cnd$results[["sub-05"]], 7L)
  expect_s3_class(cnd$results[["sub-03"]], "voxridge_error_item")
  expect_warning(out <- map_items(bad, f, on_error = "skip"), "sub-02, sub-03",
                 class = "voxridge_warning_skipped_items")
  expect_identical(out[["sub-04"]], 7L)
  expect_identical(conditionMessage(out[["sub-02"]]), "{odd} text")
  expect_item_error(map_items(problem$x[1:2], function(Y) stop("no"), on_error = "skip"), 1:2)
})

test_that("a model per item, and predictions from it", {
  problem <- collection_problem(n = 3L, rows = c(20L, 24L))
  X <- withr::with_seed(3, lapply(problem$values, function(Y) matrix(rnorm(nrow(Y) * 3), nrow(Y))))
  designs <- stats::setNames(X, names(problem$x))
  fit_one <- function(Y, info) fit_ridge(designs[[info$item]], Y, alphas = 2, cv = 4, n_threads = 1)
  fits <- map_items(problem$x, fit_one)
  for (i in 1:3) {
    want <- fit_ridge(X[[i]], problem$values[[i]], alphas = 2, cv = 4, n_threads = 1)
    expect_close(coef(fits[[i]]), coef(want), 1e-12)
    expect_identical(dim(brain_map(fits[[i]])), problem$mask$dim)
  }
  predicted <- map_items(problem$x, function(Y, info) predict(fits[[info$item]], designs[[info$item]]))
  expect_close(predicted[[2]], predict(fits[[2]], X[[2]]), 1e-12)
  weights <- stack_items(problem$x, function(Y, info) coef(fit_one(Y, info)), row = 2)
  expect_close(weights[3, ], unname(coef(fits[[3]])[2, ]), 1e-12)
})
