test_that("a folder with another run is refused, with every difference named, and nothing is changed", {
  d <- random_problem(30, 5, 20, 1)
  dir <- withr::local_tempdir()
  distribute_quietly(d$X, d$Y, dir = dir)
  before <- tools::md5sum(list.files(dir, recursive = TRUE, full.names = TRUE))
  mismatch <- function(..., X = d$X, Y = d$Y) {
    expect_kind(distribute_quietly(X, Y, ..., dir = dir), "manifest_mismatch", "dir")$where
  }
  expect_identical(mismatch(Y = d$Y + 1), "Y")
  expect_identical(mismatch(X = d$X + 1), "X")
  expect_identical(mismatch(alphas = c(1, 10)), "alphas")
  expect_identical(mismatch(cv = 4), c("folds", "n_folds"))
  expect_identical(mismatch(cv = rep(1:5, 6)), "folds")
  expect_identical(mismatch(score_func = "neg_mse", fit_intercept = TRUE), c("score", "fit_intercept"))
  expect_identical(mismatch(score_func = function(a, b) colMeans(a * b)), c("score_code", "score"))
  expect_identical(mismatch(precision = "single"), "single")
  dir <- withr::local_tempdir()
  times <- function(k) function(a, b) -k * colMeans((a - b)^2)
  distribute_quietly(d$X, d$Y, score_func = times(1), dir = dir)
  expect_identical(mismatch(score_func = times(2)), "score_code")
  expect_identical(answers_of(distribute_quietly(d$X, d$Y, score_func = times(1), dir = dir)),
                   answers_of(distribute_quietly(d$X, d$Y, score_func = times(1))))
  k <- 1
  score <- function(a, b) -k * colMeans((a - b)^2)
  dir <- withr::local_tempdir()
  distribute_quietly(d$X, d$Y, score_func = score, dir = dir)
  k <- 3
  expect_identical(mismatch(score_func = score), "score_code")
  dir <- withr::local_tempdir()
  distribute_quietly(d$X, structure(d$Y, note = "x"), dir = dir)
  before <- tools::md5sum(list.files(dir, recursive = TRUE, full.names = TRUE))
  expect_identical(mismatch(return_coefs = "dual"), "coefs")
  expect_identical(mismatch(Y = d$Y[, 1:19]), c("Y", "Y_columns"))
  text <- conditionMessage(tryCatch(distribute_quietly(d$X, d$Y, alphas = c(1, 10), dir = dir), error = identity))
  expect_match(text, "alphas: 0.1 1.0 10.0 in the folder, 1 10 now", fixed = TRUE)
  expect_identical(tools::md5sum(list.files(dir, recursive = TRUE, full.names = TRUE)), before)
  expect_kind(distribute_quietly(d$X, d$Y, dir = dir, resume = FALSE), "conflict", "dir")
})

test_that("targets in files that changed are another run", {
  d <- random_problem(30, 5, 20, 2)
  dir <- withr::local_tempdir()
  file <- withr::local_tempfile(fileext = ".f64")
  distribute_quietly(d$X, target_store(d$Y, file, type = "float64", progress = FALSE), dir = dir)
  other <- target_store(d$Y + 1, file, type = "float64", overwrite = TRUE, progress = FALSE)
  cnd <- expect_kind(distribute_quietly(d$X, other, dir = dir), "manifest_mismatch", "dir")
  expect_true("Y_checksums" %in% cnd$where)
})

test_that("checkpoints that are damaged or of another run count as not there, with a warning", {
  d <- random_problem(30, 5, 1100, 3)
  dir <- withr::local_tempdir()
  other <- withr::local_tempdir()
  fit <- function(dir, Y = d$Y) distribute_quietly(d$X, Y, dir = dir, n_targets_batch = 512)
  first <- fit(dir)
  fit(other, d$Y + 1)
  unit <- file.path("batches", "unit_000002.rds")
  bytes <- readBin(file.path(dir, unit), "raw", 1e6)
  foreign <- readBin(file.path(other, unit), "raw", 1e6)
  at <- length(bytes) - 200L
  for (damaged in list(raw(), bytes[1:50], replace(bytes, at, xor(bytes[at], as.raw(64))), foreign)) {
    writeBin(damaged, file.path(dir, unit))
    expect_warning(again <- fit(dir), class = "voxridge_warning_checkpoint")
    expect_identical(answers_of(again), answers_of(first))
  }
  expect_silent(fit(dir))
})

test_that("a manifest that is damaged or of other numerics is refused", {
  d <- random_problem(30, 5, 20, 4)
  dir <- withr::local_tempdir()
  distribute_quietly(d$X, d$Y, dir = dir)
  path <- file.path(dir, "manifest.rds")
  manifest <- readRDS(path)
  for (content in list(1, list(), utils::modifyList(manifest, list(numerics = 0L)))) {
    saveRDS(content, path)
    expect_kind(distribute_quietly(d$X, d$Y, dir = dir), "manifest_mismatch", "dir")
  }
  saveRDS(utils::modifyList(manifest, list(versions = list(R = "1.0.0"))), path)
  expect_warning(distribute_quietly(d$X, d$Y, dir = dir), class = "voxridge_warning_run_versions")
})

test_that("a second R process at the same run is told", {
  skip_on_os("windows")
  d <- random_problem(30, 5, 20, 5)
  dir <- withr::local_tempdir()
  distribute_quietly(d$X, d$Y, dir = dir)
  saveRDS(list(host = host_name(), pid = 1L), file.path(dir, "nodes", "driver.rds"))
  skip_if_not(isTRUE(tools::pskill(1L, 0L)), "process 1 cannot be seen")
  expect_warning(distribute_quietly(d$X, d$Y, dir = dir), class = "voxridge_warning_second_driver")
  expect_silent(distribute_quietly(d$X, d$Y, dir = dir))
})

test_that("a process that has ended does not count as running", {
  expect_true(process_runs(Sys.getpid()))
  skip_on_os(c("windows", "mac"))
  dead <- system("sh -c 'exit 0' & echo $!; sleep 0.2", intern = TRUE)
  expect_false(process_runs(as.integer(dead[1L])))
})

test_that("a folder with other things in it is refused, and left as it is", {
  d <- random_problem(30, 5, 20, 8)
  dir <- withr::local_tempdir()
  writeLines("mine", file.path(dir, "notes.txt"))
  expect_kind(distribute_quietly(d$X, d$Y, dir = dir), "conflict", "dir")
  expect_identical(list.files(dir), "notes.txt")
  withr::local_dir(dir)
  fit <- distribute_quietly(d$X, d$Y, dir = "run", score_func = function(a, b) {
    setwd(tempdir())
    -colMeans((a - b)^2)
  })
  expect_identical(fit$dir, normalizePath(file.path(dir, "run")))
})

test_that("a folder that cannot be made or is a file is refused", {
  d <- random_problem(30, 5, 20, 6)
  file <- withr::local_tempfile()
  writeLines("x", file)
  expect_refused(distribute_quietly(d$X, d$Y, dir = file), "dir")
  expect_kind(distribute_quietly(d$X, d$Y, dir = file.path(file, "below")), "dir_not_writable", "dir")
  expect_refused(distribute_quietly(d$X, d$Y, dir = 1), "dir")
  expect_refused(distribute_quietly(d$X, d$Y, dir = c("a", "b")), "dir")
})

test_that("a run without a folder leaves none behind, unless it holds coefficients", {
  d <- random_problem(30, 5, 20, 7)
  before <- list.files(tempdir(), pattern = "^voxridge-run")
  expect_null(distribute_quietly(d$X, d$Y)$dir)
  expect_identical(list.files(tempdir(), pattern = "^voxridge-run"), before)
  fit <- distribute_quietly(d$X, d$Y, return_coefs = "dual")
  expect_true(dir.exists(fit$dir))
  expect_identical(dim(fit$coefs), c(30L, 20L))
  unlink(fit$dir, recursive = TRUE)
})
