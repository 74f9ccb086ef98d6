# collection_mean() and collection_sd().

# item k changes the mean by (x - mean) / k
serial_mean <- function(values) {
  mean <- 0 * values[[1]]
  for (k in seq_along(values)) mean <- mean + (values[[k]] - mean) / k
  mean
}

test_that("the mean is that of the serial loop, bit for bit, for any number of threads", {
  problem <- collection_problem(n = 9L, rows = 13L)
  want <- serial_mean(problem$values)
  for (threads in c(1, 2, 5)) {
    mean <- collection_mean(problem$x, n_threads = threads)
    expect_identical(plain(mean), want)
    expect_identical(collection_sd(problem$x, n_threads = threads), collection_sd(problem$x, n_threads = 1))
  }
  expect_identical(attr(mean, "n"), 9L)
  expect_identical(nrow(attr(mean, "skipped")), 0L)
  expect_identical(attr(mean, "mask"), problem$mask)
  expect_close(plain(mean), over_items(problem$values, base::mean), 1e-14)
  expect_close(plain(collection_sd(problem$x)), over_items(problem$values, stats::sd), 1e-12)
})

test_that("a part of the voxels at a time gives the same bits, and a message says so", {
  problem <- collection_problem()
  want <- collection_sd(problem$x)
  withr::local_options(voxridge.memory_gb = 10 * 7 * 8 / 1e9)  # ten voxels
  expect_message(got <- collection_sd(problem$x), class = "voxridge_message_passes")
  expect_identical(got, want)
  expect_no_error(collection_mean(problem$x))  # needs nothing beside its result
})

test_that("items are reduced first where that is asked", {
  problem <- collection_problem(rows = c(5L, 8L, 3L))
  reduced <- list(mean = lapply(problem$values, colMeans), sd = lapply(problem$values, apply, 2, stats::sd))
  for (within in c("mean", "sd")) {
    expect_close(plain(collection_mean(problem$x, within = within)), over_items(reduced[[within]], mean), 1e-12)
    expect_close(plain(collection_sd(problem$x, within = within)), over_items(reduced[[within]], sd), 1e-12)
    for (threads in c(1, 5)) {
      expect_identical(collection_mean(problem$x, within = within, n_threads = threads),
                       collection_mean(problem$x, within = within))
    }
  }
  expect_null(dim(collection_mean(problem$x, within = "mean")))
  cnd <- expect_refused(collection_mean(problem$x), "x", c("equal numbers of volumes", "sub-02", "5", "8"))
  expect_s3_class(cnd, "voxridge_error_shape")
  single <- brain_collection(problem$paths, problem$mask, volumes = 1)
  expect_refused(collection_mean(single, within = "sd"), "within", "one volume")
})

test_that("values that are not finite make a voxel NA, or are left out", {
  mask <- brain_mask(array(1, c(5, 1, 1)))
  values <- list(rbind(c(1, NaN, 1, Inf, 2)), rbind(c(2, NaN, -Inf, 5, 2)), rbind(c(6, 4, NA, 7, 2)))
  for (order in list(1:3, 3:1)) {
    x <- brain_collection(values[order], mask)
    expect_identical(plain(collection_mean(x)), c(3, NA, NA, NA, 2))
    expect_identical(plain(collection_sd(x))[2:4], rep(NA_real_, 3))
    mean <- collection_mean(x, na = "skip")
    expect_identical(plain(mean), c(3, 4, 1, 6, 2))
    expect_identical(attr(mean, "counts"), c(3L, 1L, 1L, 2L, 3L))
    sd <- plain(collection_sd(x, na = "skip"))
    expect_close(sd[c(1, 4, 5)], c(sd(c(1, 2, 6)), sqrt(2), 0), 1e-12)
    expect_identical(sd[2:3], c(NA_real_, NA_real_))
    expect_false(any(is.nan(sd)))
  }
  # within an item too
  x <- brain_collection(list(cbind(c(1, 3), c(NA, 4), NA_real_), cbind(c(2, 2), c(1, 2), NA_real_)),
                        brain_mask(array(1, c(3, 1, 1))))
  expect_identical(plain(collection_mean(x, within = "mean", na = "skip")), c(2, 2.75, NA))
  expect_identical(plain(collection_mean(x, within = "mean")), c(2, NA, NA))
})

test_that("sums and extremes are those of base R", {
  problem <- collection_problem(n = 9L, rows = 13L)
  serial_sum <- Reduce(`+`, problem$values)
  for (threads in c(1, 2, 5)) {
    expect_identical(plain(collection_sum(problem$x, n_threads = threads)), serial_sum)
    expect_identical(plain(collection_min(problem$x, n_threads = threads)), over_items(problem$values, min))
    expect_identical(plain(collection_max(problem$x, n_threads = threads)), over_items(problem$values, max))
  }
  reduced <- lapply(problem$values, colMeans)
  expect_close(plain(collection_sum(problem$x, within = "mean")), over_items(reduced, sum), 1e-12)
  values <- problem$values
  for (i in seq_along(values)) {
    values[[i]][withr::with_seed(i, sample(length(values[[i]]), 20))] <- c(NA, NaN, Inf, -Inf)
  }
  values <- lapply(values, function(x) replace(x, seq_len(13), -Inf))  # a voxel without any value
  x <- brain_collection(values, problem$mask)
  finite <- lapply(values, function(x) replace(x, !is.finite(x), NA))
  for (name in c("sum", "min", "max")) {
    f <- match.fun(name)
    of_map <- get(paste0("collection_", name))
    expect_identical(plain(of_map(x)), over_items(finite, f))
    got <- of_map(x, na = "skip", n_threads = 2)
    want <- suppressWarnings(over_items(finite, function(x) if (all(is.na(x))) NA else f(x, na.rm = TRUE)))
    expect_identical(plain(got), want)
    expect_identical(plain(attr(got, "counts")), over_items(finite, function(x) sum(!is.na(x))))
    expect_identical(plain(of_map(x[1])), replace(finite[[1]], is.na(finite[[1]]), NA))
    expect_refused(of_map(x, within = "median"), "within", "median")
  }
})

test_that("items that fail are named, or left out as if they had not been there", {
  problem <- collection_problem(n = 7L, rows = 9L)
  x <- problem$x
  for (i in c(3L, 6L)) x <- damage_item(list(paths = problem$paths, x = x), i)
  rest <- problem$values[-c(3, 6)]
  for (threads in c(1, 2, 5)) {
    cnd <- expect_item_error(collection_mean(x, n_threads = threads), 3L, c("item 3", "sub-03.nii.gz", "cut off"))
    expect_identical(cnd$path, problem$x$paths[3])
    expect_warning(got <- collection_mean(x, on_error = "skip", n_threads = threads), "sub-03, sub-06",
                   class = "voxridge_warning_skipped_items")
    expect_identical(plain(got), serial_mean(rest))
    expect_identical(attr(got, "n"), 5L)
    expect_identical(attr(got, "skipped")$item, c(3L, 6L))
    expect_identical(attr(got, "skipped")$name, c("sub-03", "sub-06"))
    expect_match(attr(got, "skipped")$reason[1], "cut off")
  }
  unlink(problem$paths[-3])
  expect_refused(suppressWarnings(collection_mean(x, on_error = "skip")), "x", "at least 1 item")
})

test_that("settings are checked", {
  x <- collection_problem(n = 2L)$x
  expect_refused(collection_mean(x, within = "median"), "within", "median")
  expect_refused(collection_mean(x, na = "omit"), "na", "omit")
  expect_refused(collection_mean(x, on_error = "ignore"), "on_error", "ignore")
  for (threads in list(0, -1, 1.5, "a")) expect_refused(collection_mean(x, n_threads = threads), "n_threads")
  expect_refused(collection_mean(x, progress = NA), "progress")
  expect_error(collection_mean(x, withn = "mean"), "unused argument")
  expect_refused(collection_sd(x[1]), "x", "at least 2 items")
  # more threads than items
  expect_identical(collection_mean(x, n_threads = 64), collection_mean(x, n_threads = 1))
})

test_that("results become maps and files", {
  problem <- collection_problem()
  map <- brain_map(collection_mean(problem$x, within = "mean"))
  expect_identical(dim(map), problem$mask$dim)
  path <- file.path(problem$folder, "mean.nii.gz")
  write_nifti(map, path)
  expect_identical(plain(brain_matrix(path, problem$mask))[1, ],
                   readBin(writeBin(plain(collection_mean(problem$x, within = "mean")), raw(), 4L), "double",
                           problem$mask$n, 4L))
  expect_identical(dim(brain_map(collection_mean(problem$x))), c(5L, 4L, 3L, 7L))
})

test_that("the runs of haxby_25mm: mean and sd against base R", {
  folder <- test_data("data", "haxby_25mm")
  paths <- file.path(folder, "run*_bold_25mm.nii.gz")
  mask <- file.path(folder, "mask_brain.nii.gz")
  x <- brain_collection(paths, mask)
  expect_length(x, 12L)
  values <- lapply(as.list(x), plain)
  mean <- collection_mean(x)
  expect_identical(plain(mean), serial_mean(unname(values)))
  expect_close(plain(mean), over_items(values, base::mean), 1e-12)
  expect_close(plain(collection_sd(x)), over_items(values, stats::sd), 1e-12)
  for (threads in c(1, 2, 5)) expect_identical(collection_mean(x, n_threads = threads), mean)
  # opened in another order, the items chosen are the same
  backwards <- brain_collection(rev(Sys.glob(paths)), mask)
  expect_identical(collection_sd(backwards[12:1]), collection_sd(x))
})

test_that("memory does not grow with items, nor with volumes of reduced items", {
  skip_on_cran()
  folder <- withr::local_tempdir()
  mask <- brain_mask(array(1, c(30, 30, 20)), affine = diag(4))
  item <- withr::with_seed(1, array(rnorm(18000 * 10), c(30, 30, 20, 10)))
  path <- file.path(folder, "a.nii")
  write_nifti(item, path, affine = diag(4))
  paths <- file.path(folder, sprintf("b%02d.nii", 1:12))
  file.copy(path, paths)
  peak <- function(n, within) {
    measure_peak(c(
      "mask <- brain_mask(array(1, c(30, 30, 20)), affine = diag(4))",
      sprintf("small <- brain_collection(%s, brain_mask(array(rep(1:0, c(9, 17991)), c(30, 30, 20))))",
              deparse(paths[1])),
      sprintf("x <- brain_collection(file.path(%s, sprintf('b%%02d.nii', 1:%d)), mask)", deparse(folder), n),
      sprintf("for (k in 1:3) collection_mean(small, within = '%s')", within)
    ), sprintf("m <- collection_mean(x, within = '%s')", within))$peak
  }
  result <- 8 * 18000 * 10 / 2^20
  few <- peak(4, "none")
  many <- peak(12, "none")
  expect_lt(abs(many - few), 2)
  expect_lt(many, result + 8)
  expect_lt(peak(12, "mean"), 5)
})

test_that("SIGINT ends a long pass within a second, and the next call works", {
  skip_on_cran()
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  worker <- start_r(c(
    "M <- matrix(rnorm(500 * 10000), 500)",
    "x <- brain_collection(rep(list(M), 5000), brain_mask(array(1, c(100, 100, 1))))",
    sprintf("setwd(%s)", deparse(folder)),
    "want <- collection_mean(x[1:3], n_threads = 1)",
    "file.create('ready')",
    "outcome <- tryCatch({ collection_mean(x); 'finished' }, interrupt = function(cnd) 'interrupted')",
    "ended <- as.numeric(Sys.time())",
    "same <- identical(want, collection_mean(x[1:3]))",
    "saveRDS(list(outcome = outcome, ended = ended, same = same), 'part')",
    "file.rename('part', 'result')"
  ), folder)
  withr::defer(tools::pskill(worker$pid, tools::SIGKILL))
  there <- function(name) function() file.exists(file.path(folder, name))
  expect_true(wait_until(there("ready"), 60))
  Sys.sleep(0.5)
  sent <- as.numeric(Sys.time())
  tools::pskill(worker$pid, tools::SIGINT)
  if (!wait_until(there("result"), 30)) fail(paste(readLines(worker$log), collapse = "\n"))
  result <- readRDS(file.path(folder, "result"))
  expect_identical(result$outcome, "interrupted")
  expect_lt(result$ended - sent, 1)
  expect_true(result$same)
})
