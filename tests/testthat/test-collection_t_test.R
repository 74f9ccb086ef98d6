# collection_t_test().

one_p <- function(values) over_items(values, function(x) stats::t.test(x, mu = 45)$p.value)

test_that("one sample: the numbers of t.test()", {
  problem <- collection_problem(n = 8L, rows = 3L)
  test <- collection_t_test(problem$x, mu = 45)
  expect_close(test$statistic, over_items(problem$values, function(x) stats::t.test(x, mu = 45)$statistic), 1e-12)
  expect_close(test$estimate, over_items(problem$values, mean), 1e-12)
  expect_close(test$p, one_p(problem$values), 1e-12)
  expect_identical(test$df, 7)
  for (row in 1:3) expect_identical(test$q_fdr[row, ], stats::p.adjust(test$p[row, ], "BH"))
  for (threads in c(1, 5)) expect_identical(collection_t_test(problem$x, mu = 45, n_threads = threads), test)
  memory <- brain_collection(problem$paths, problem$mask, load = "memory")
  expect_identical(collection_t_test(memory, mu = 45), test)
  scaled <- brain_collection(lapply(problem$values, `*`, 4), problem$mask)
  expect_identical(collection_t_test(scaled, mu = 180)$statistic, test$statistic)
})

test_that("two groups: pooled and Welch's, by column, vector and factor", {
  problem <- collection_problem(n = 9L, rows = 2L, data = data.frame(sex = rep(c("m", "f", "f"), 3)))
  which <- problem$x$data$sex
  by_voxel <- function(what, ...) {
    over_items(problem$values, function(x) {
      out <- stats::t.test(x[which == "f"], x[which == "m"], ...)
      if (what == "estimate") -diff(out$estimate) else out[[what]]
    })
  }
  pooled <- collection_t_test(problem$x, group = "sex", mu = 2)
  expect_close(pooled$statistic, by_voxel("statistic", var.equal = TRUE, mu = 2), 1e-12)
  expect_close(pooled$p, by_voxel("p.value", var.equal = TRUE, mu = 2), 1e-12)
  expect_close(pooled$estimate, by_voxel("estimate"), 1e-12)
  expect_identical(pooled$df, 7)
  expect_identical(pooled$n, c(f = 6L, m = 3L))
  welch <- collection_t_test(problem$x, group = which, var_equal = FALSE)
  expect_close(welch$statistic, by_voxel("statistic"), 1e-12)
  expect_close(welch$df, by_voxel("parameter"), 1e-12)
  expect_close(welch$p, by_voxel("p.value"), 1e-12)
  for (threads in c(1, 5)) {
    expect_identical(collection_t_test(problem$x, "sex", var_equal = FALSE, n_threads = threads), welch)
  }
  # the other order turns the signs
  turned <- collection_t_test(problem$x, group = factor(which, c("m", "f")), mu = -2)
  expect_identical(turned$statistic, -pooled$statistic)
  expect_identical(turned$p, pooled$p)
  # a part of the voxels at a time
  withr::local_options(voxridge.memory_gb = 16 * 2 * 5 / 1e9)
  expect_message(parts <- collection_t_test(problem$x, group = "sex", mu = 2), class = "voxridge_message_passes")
  expect_identical(parts$statistic, pooled$statistic)
})

test_that("constant voxels, missing values and items that fail", {
  mask <- brain_mask(array(1, c(4, 1, 1)))
  x <- brain_collection(list(rbind(c(0, 0.1, 1, NA)), rbind(c(0, 0.1, 2, 4)), rbind(c(0, 0.1, 6, 7))), mask)
  test <- collection_t_test(x)
  expect_identical(is.na(test$statistic), c(TRUE, TRUE, FALSE, TRUE))
  expect_identical(is.na(test$p), is.na(test$statistic))
  expect_identical(is.na(test$q_fdr), is.na(test$statistic))
  expect_identical(test$estimate, c(0, 0.1, 3, NA))
  expect_false(any(is.nan(unlist(test[c("statistic", "estimate", "p", "q_fdr")]))))
  test <- collection_t_test(x, na = "skip")
  expect_close(test$statistic[3:4], c(t.test(c(1, 2, 6))$statistic, t.test(c(4, 7))$statistic), 1e-12)
  expect_close(test$p[4], t.test(c(4, 7))$p.value, 1e-12)
  expect_identical(test$df, c(NA, NA, 2, 1))
  expect_identical(test$counts, c(3L, 3L, 3L, 2L))
  expect_output(print(test), "no t: +2")

  problem <- collection_problem(n = 7L, rows = 4L)
  bad <- damage_item(problem, 5L)
  expect_item_error(collection_t_test(bad), 5L)
  expect_warning(test <- collection_t_test(bad, on_error = "skip"), class = "voxridge_warning_skipped_items")
  without <- collection_t_test(problem$x[-5])
  expect_identical(test[c("statistic", "p", "n", "df")], without[c("statistic", "p", "n", "df")])
  expect_output(print(test), "skipped: sub-05")
  groups <- c("a", "b")[c(1, 1, 1, 1, 2, 2, 1)]
  expect_warning(expect_refused(collection_t_test(bad, groups, var_equal = FALSE, on_error = "skip"), "x", "5 and 1"))
})

test_that("groups and settings are checked", {
  x <- collection_problem(n = 4L, data = data.frame(g = c("a", "b", "c", "a"), h = c("a", NA, "b", "a")))$x
  expect_refused(collection_t_test(x, "k"), "group", "\"g\" or \"h\"")
  expect_refused(collection_t_test(x, "g"), "group", "a, b, c")
  expect_refused(collection_t_test(x, "h"), "group", "sub-02")
  expect_refused(collection_t_test(x, 1:3), "group", "4 items")
  expect_refused(collection_t_test(x, rep(1, 4)), "group", "two")
  expect_refused(collection_t_test(x, list(1, 2, 1, 2)), "group")
  expect_refused(collection_t_test(x, mu = NA), "mu")
  expect_refused(collection_t_test(x, var_equal = 1), "var_equal")
  expect_refused(collection_t_test(x[1]), "x", "at least 2")
  expect_refused(collection_t_test(x[1:2], 1:2), "x", "at least 3")
  expect_refused(collection_t_test(x, c(1, 1, 1, 2), var_equal = FALSE), "x", "in each group")
  expect_refused(collection_t_test(x, within = "max"), "within")
})

test_that("the result is shown, mapped and plotted", {
  problem <- collection_problem(n = 5L, rows = 1L)
  test <- collection_t_test(problem$x)
  shown <- capture.output(out <- withVisible(print(test)))
  expect_false(out$visible)
  expect_match(shown[1], "One-sample t test: 5 items")
  map <- brain_map(test)
  expect_identical(map[problem$mask$index], test$statistic)
  expect_identical(brain_map(test, what = "p")[problem$mask$index], test$p)
  expect_identical(attr(map, "affine"), problem$mask$affine)
  expect_refused(brain_map(test, what = "mu"), "what", "statistic")
  path <- file.path(problem$folder, "t.nii.gz")
  write_nifti(map, path)
  expect_identical(dim(read_nifti(path)), problem$mask$dim)
})

test_that("the contrasts of wager2008 peak where they are known to", {
  folder <- test_data("data", "wager2008")
  x <- brain_collection(file.path(folder, "contrasts_4d.nii.gz"), file.path(folder, "mask.nii.gz"),
                        volumes = as.list(1:30))
  test <- collection_t_test(x)
  map <- brain_map(test)
  expect_identical(which(map == max(map, na.rm = TRUE), arr.ind = TRUE)[1, ], c(dim1 = 22L, dim2 = 41L, dim3 = 24L))
  expect_equal(max(test$statistic, na.rm = TRUE), 7.2546, tolerance = 1e-5)
  Y <- stack_items(x)
  t <- colMeans(Y) / (apply(Y, 2, sd) / sqrt(30))
  expect_close(test$statistic, t, 1e-12)
  expect_close(test$statistic, one_sample_permutation_test(Y, n_permutations = 50, seed = 1)$statistic, 1e-6)
  for (threads in c(1, 5)) expect_identical(collection_t_test(x, n_threads = threads), test)
})
