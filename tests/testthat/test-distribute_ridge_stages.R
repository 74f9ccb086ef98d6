test_that("batches are whole tiles that cover the targets once", {
  spec <- list(width = 1024, t = 2500)
  ranges <- lapply(1:3, batch_range, spec = spec)
  expect_identical(ranges, list(c(1, 1024), c(1025, 2048), c(2049, 2500)))
  expect_identical(in_range(c(5L, 1025L, 2048L, 2049L), ranges[[2L]]), c(1L, 1024L))
  expect_identical(in_range(integer(), ranges[[1L]]), integer())
})

test_that("factors are divided among workers where there are several, and are the same files", {
  skip_on_cran()
  d <- random_problem(60, 12, 600, 1)
  one <- withr::local_tempdir()
  two <- withr::local_tempdir()
  distribute_quietly(d$X, d$Y, dir = one, return_coefs = "primal", n_threads = 1)
  under_plan(future::tweak(future::multisession, workers = 2), {
    distribute_quietly(d$X, d$Y, dir = two, return_coefs = "primal", n_threads = 1, n_targets_batch = 512)
  })
  factors <- function(dir) list.files(file.path(dir, "factors"), pattern = "factor$", full.names = TRUE)
  expect_length(factors(one), 6L)
  expect_length(list.files(file.path(two, "factors"), pattern = "rds$"), 2L)
  expect_identical(unname(tools::md5sum(factors(one))), unname(tools::md5sum(factors(two))))
})

test_that("a wide problem with folds that partition the samples has one factor", {
  d <- random_problem(20, 40, 30, 2)
  dir <- withr::local_tempdir()
  distribute_quietly(d$X, d$Y, dir = dir)
  expect_identical(list.files(file.path(dir, "factors"), pattern = "factor$"), "fold_0000.factor")
})

test_that("a factor that is gone or cut is made again, a damaged one is named", {
  d <- random_problem(20, 40, 30, 3)
  dir <- withr::local_tempdir()
  first <- distribute_quietly(d$X, d$Y, dir = dir)
  file <- file.path(dir, "factors", "fold_0000.factor")
  bytes <- readBin(file, "raw", file.size(file))
  for (cut in list(bytes[-1L], raw(), NULL)) {
    if (is.null(cut)) unlink(file) else writeBin(cut, file)
    unlink(file.path(dir, "batches"), recursive = TRUE)
    expect_warning(again <- distribute_quietly(d$X, d$Y, dir = dir), class = "voxridge_warning_checkpoint")
    expect_identical(answers_of(again), answers_of(first))
  }
  writeBin(replace(bytes, 500L, xor(bytes[500L], as.raw(1))), file)
  unlink(file.path(dir, "batches"), recursive = TRUE)
  cnd <- expect_kind(distribute_quietly(d$X, d$Y, dir = dir, retries = 0), "incomplete")
  expect_match(conditionMessage(cnd), "fold_0000.factor")
})

test_that("coefficients and data that are gone are made again", {
  d <- random_problem(20, 8, 1100, 4)
  dir <- withr::local_tempdir()
  fit <- function() distribute_quietly(d$X, d$Y, dir = dir, n_targets_batch = 512, return_coefs = "primal")
  first <- answers_of(fit())
  unlink(file.path(dir, "coefs", "unit_000002.f32"))
  expect_warning(again <- fit(), class = "voxridge_warning_checkpoint")
  expect_identical(answers_of(again), first)
  unlink(file.path(dir, "data", c("X.f64", "Y.f64")))
  unlink(file.path(dir, "batches", "unit_000001.rds"))
  expect_identical(answers_of(fit()), first)
})
