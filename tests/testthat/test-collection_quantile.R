# collection_median() and collection_quantile().

quantile_over <- function(values, p, ...) over_items(values, function(x) stats::quantile(x, p, names = FALSE, ...))

test_that("quantiles are those of stats::quantile(), for any number of threads and any memory", {
  problem <- collection_problem(n = 9L, rows = 13L)
  probs <- c(1, 0, 0.1, 0.25, 1 / 3, 0.5, 0.9)
  want <- lapply(probs, quantile_over, values = problem$values)
  for (threads in c(1, 2, 5)) {
    got <- collection_quantile(problem$x, probs, n_threads = threads)
    expect_identical(lapply(unname(got), plain), want)
  }
  expect_identical(names(got), names(stats::quantile(1:3, probs)))
  expect_identical(attr(got[[3]], "n"), 9L)
  expect_identical(attr(got[[3]], "mask"), problem$mask)
  expect_identical(collection_median(problem$x), got[["50%"]])
  expect_identical(plain(collection_min(problem$x)), plain(got[["0%"]]))
  expect_identical(plain(collection_max(problem$x)), plain(got[["100%"]]))
  expect_named(collection_quantile(problem$x), c("0%", "25%", "50%", "75%", "100%"))
  withr::local_options(voxridge.memory_gb = 9 * 13 * 8 * 10 / 1e9)  # ten voxels
  expect_message(parts <- collection_quantile(problem$x, probs), class = "voxridge_message_passes")
  expect_identical(parts, got)
})

test_that("every number of items from one on", {
  values <- withr::with_seed(3, lapply(1:8, function(i) matrix(round(rnorm(60), 1), 1)))  # with ties
  mask <- brain_mask(array(1, c(5, 4, 3)))
  for (n in 1:8) {
    x <- brain_collection(values[seq_len(n)], mask)
    for (p in c(0.05, 0.5, 0.75)) {
      want <- apply(do.call(rbind, values[seq_len(n)]), 2, stats::quantile, p, names = FALSE)
      got <- collection_quantile(x, p)[[1]]
      expect_null(dim(got))
      expect_identical(as.vector(got), want)
    }
  }
})

test_that("items are reduced first, and missing values left out, where that is asked", {
  problem <- collection_problem(rows = c(5L, 8L, 3L))
  expect_close(plain(collection_median(problem$x, within = "mean")),
               over_items(lapply(problem$values, colMeans), stats::median), 1e-12)
  values <- collection_problem(n = 7L)$values
  for (i in seq_along(values)) values[[i]][withr::with_seed(i, sample(length(values[[i]]), 30))] <- c(NA, NaN, Inf)
  values <- lapply(values, function(x) replace(x, seq_len(7), NaN))
  x <- brain_collection(values, problem$mask)
  finite <- lapply(values, function(x) replace(x, !is.finite(x), NA))
  got <- collection_quantile(x, 0.3, na = "skip")[[1]]
  expect_identical(plain(got), quantile_over(finite, 0.3, na.rm = TRUE))
  expect_identical(plain(attr(got, "counts")), over_items(finite, function(x) sum(!is.na(x))))
  expect_identical(plain(collection_median(x)), over_items(finite, stats::median))
  expect_false(any(is.nan(collection_median(x))))
})

test_that("items that fail are named, or left out as if they had not been there", {
  problem <- collection_problem(n = 7L, rows = 9L)
  x <- damage_item(problem, 3L)
  expect_item_error(collection_median(x, n_threads = 2), 3L, c("item 3", "sub-03.nii.gz", "cut off"))
  for (gb in list(NULL, 7 * 9 * 8 * 10 / 1e9)) {  # the second reads parts, and begins again
    withr::local_options(voxridge.memory_gb = gb)
    expect_warning(got <- collection_median(x, on_error = "skip", n_threads = 2), "sub-03",
                   class = "voxridge_warning_skipped_items")
    expect_identical(plain(got), over_items(problem$values[-3], stats::median))
    expect_identical(attr(got, "n"), 6L)
    expect_identical(attr(got, "skipped")$item, 3L)
  }
  unlink(problem$paths)
  expect_refused(suppressWarnings(collection_median(x, on_error = "skip")), "x", "at least 1 item")
})

test_that("bad requests are refused", {
  x <- collection_problem(n = 2L)$x
  for (probs in list(NULL, numeric(), NA, -0.1, 1.1, c(0.5, NaN), "a", list(0.5), factor(1), Inf, c(0.5, 0.5), mean)) {
    cnd <- expect_refused(collection_quantile(x, probs), "probs")
    expect_s3_class(cnd, "voxridge_error_argument")
  }
  expect_refused(collection_quantile(list(1)), "x", "list")
  expect_refused(collection_median(x, within = "max"), "within", "max")
  expect_refused(collection_median(x, n_threads = 0), "n_threads")
  expect_error(collection_median(x, probs = 0.5), "unused argument")
  cnd <- expect_refused(collection_median(collection_problem(rows = c(5L, 8L))$x), "x", "equal numbers of volumes")
  expect_s3_class(cnd, "voxridge_error_shape")
})
