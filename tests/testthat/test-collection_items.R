# Items read one by one, and the errors that name them.

test_that("an item is read alike by itself, by the core and in another process", {
  problem <- collection_problem(n = 2L)
  for (i in 1:2) {
    item <- voxridge:::item_of(problem$x, i)
    expect_identical(unserialize(serialize(item, NULL)), item)
    expect_identical(plain(voxridge:::read_item(item, problem$mask, NULL)), problem$values[[i]])
    expect_identical(plain(stack_items(problem$x[i], row = 2))[1, ], problem$values[[i]][2, ])
  }
})

test_that("errors carry the item, its path and the reason, with advice", {
  problem <- collection_problem(n = 3L)
  bad <- damage_item(problem, 1L)
  for (call in list(function() bad[[1]], function() collection_mean(bad), function() as.list(bad),
                    function() stack_items(bad, within = "mean"))) {
    cnd <- expect_item_error(call(), 1L, c("sub-01.nii.gz", "gzip stream"), "gzip")
    expect_identical(cnd$path, problem$x$paths[1])
  }
  writeBin(raw(10), problem$paths[2])
  expect_item_error(problem$x[[2]], 2L, c("changed", "Open the collection again"))
  # a file that shrinks is never read beyond its end
  short <- damage_item(problem, 2L, 0.9)
  expect_item_error(collection_mean(short[2:3]), 1L)
})

test_that("a file that is replaced while it is read is refused by the core", {
  problem <- collection_problem(n = 3L)
  settings <- list(within = "none", skip_missing = FALSE, skip_failed = TRUE, what = "mean", n_groups = 1L,
                   var_equal = TRUE, mu = 0, df = FALSE)
  Sys.setFileTime(problem$paths[2], Sys.time() + 9)
  out <- voxridge:::core_collection_summary(voxridge:::core_items(problem$x), settings, NULL,
                                            voxridge:::core_control(2))
  expect_identical(out$rest$skipped$name, "sub-02")
  expect_match(out$rest$skipped$reason, "changed")
})
