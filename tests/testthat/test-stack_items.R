# stack_items().

test_that("items of one volume are rows, for any number of threads", {
  problem <- collection_problem(rows = 1L)
  want <- do.call(rbind, problem$values)
  for (threads in c(1, 2, 5)) {
    Y <- stack_items(problem$x, n_threads = threads)
    expect_identical(rownames(Y), names(problem$x))
    expect_identical(plain(Y), want)
  }
  expect_identical(attr(Y, "mask"), problem$mask)
  expect_identical(dim(attr(Y, "skipped")), c(0L, 3L))
  expect_identical(rownames(brain_map(Y)), NULL)
  expect_identical(one_sample_permutation_test(Y, n_permutations = 20, seed = 1)$mask, problem$mask)
  expect_close(colMeans(Y), plain(collection_mean(problem$x)), 1e-12)
})

test_that("a volume of each item, their mean, or what a function makes of them", {
  problem <- collection_problem(rows = c(4L, 6L))
  expect_identical(plain(stack_items(problem$x, row = 3)), t(sapply(problem$values, function(Y) Y[3, ])))
  memory <- brain_collection(problem$paths, problem$mask, load = "memory")
  expect_identical(stack_items(memory, row = 3), stack_items(problem$x, row = 3))
  expect_close(plain(stack_items(problem$x, within = "sd")), t(sapply(problem$values, apply, 2, sd)), 1e-12)
  by_name <- stack_items(problem$x, function(Y) rbind(low = apply(Y, 2, min), high = apply(Y, 2, max)), row = "high")
  expect_identical(plain(by_name), t(sapply(problem$values, apply, 2, max)))
  expect_identical(attr(by_name, "mask"), problem$mask)
  vector <- stack_items(problem$x, function(Y, info) Y[info$index %% 4 + 1, ])
  expect_identical(plain(vector)[2, ], problem$values[[2]][3, ])
  one <- stack_items(problem$x, within = "mean")
  for (i in c(2, 5)) expect_identical(one[i, ], stack_items(problem$x[i], within = "mean")[1, ])
})

test_that("bad requests are refused", {
  problem <- collection_problem(rows = c(4L, 6L))
  expect_s3_class(expect_refused(stack_items(problem$x), "x", c("one volume", "sub-01")), "voxridge_error_shape")
  expect_refused(stack_items(problem$x, row = 5), "row", c("sub-01", "4"))
  for (row in list(0, 1.5, "a", NA, 1:2)) expect_refused(stack_items(problem$x, row = row), "row")
  expect_refused(stack_items(problem$x, f = 3), "f", "function")
  expect_refused(stack_items(problem$x, f = colMeans, within = "mean"), "within", "none")
  expect_refused(stack_items(problem$x, row = 1, within = "mean"), "within", "none")
  cnd <- expect_item_error(stack_items(problem$x, function(Y) 1:3), 1:6, "number for each of the")
  expect_refused(stack_items(problem$x, function(Y) Y, row = 5), "x", "sub-01")
  expect_refused(stack_items(problem$x, function(Y) Y), "x", "row")
  expect_refused(stack_items(problem$x, within = "mean", n_threads = 0), "n_threads")
  expect_refused(stack_items(1:3), "x")
})

test_that("items that fail are named or left out", {
  problem <- collection_problem(n = 5L, rows = 4L)
  bad <- damage_item(problem, 3L)
  for (threads in c(1, 3)) {
    expect_item_error(stack_items(bad, within = "mean", n_threads = threads), 3L)
    expect_warning(Y <- stack_items(bad, within = "mean", on_error = "skip", n_threads = threads), "sub-03")
    expect_identical(rownames(Y), names(bad)[-3])
    expect_identical(plain(Y), plain(stack_items(problem$x[-3], within = "mean")))
    expect_identical(attr(Y, "skipped")$item, 3L)
  }
  expect_warning(Y <- stack_items(bad, colMeans, on_error = "skip"), "sub-03")
  expect_identical(rownames(Y), names(bad)[-3])
})
