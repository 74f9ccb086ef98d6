test_that("an error of the data ends the run at once, with its class and words", {
  d <- random_problem(30, 5, 1100, 1)
  dir <- withr::local_tempdir()
  score <- function(a, b) if (nrow(a) == 6L && ncol(a) > 3L) rep(NA_real_, ncol(a)) else colMeans(a * b)
  expect_kind(distribute_quietly(d$X, d$Y, score_func = score, dir = dir, n_targets_batch = 512), "score", "score_func")
  failed <- list.files(file.path(dir, "failed"))
  expect_identical(failed, "batches_000001_1.txt")
  expect_match(readLines(file.path(dir, "failed", failed)), "voxridge_error_score", all = FALSE)
})

test_that("other errors are tried again, and what is missing is named", {
  d <- random_problem(30, 5, 1100, 2)
  flag <- withr::local_tempfile()
  # fails once, for the second batch
  once <- eval(bquote(function(a, b) {
    if (ncol(a) > 3L && ncol(a) < 100L && !file.exists(.(flag))) {
      file.create(.(flag))
      stop("no luck with {this}")
    }
    -colMeans(abs(a - b))
  }))
  got <- distribute_quietly(d$X, d$Y, score_func = once, n_targets_batch = 512)
  expect_identical(got$diagnostics$batches$attempt, c(1L, 1L, 2L))
  always <- function(a, b) if (ncol(a) > 3L && ncol(a) < 100L) stop("no luck with {this}") else -colMeans(abs(a - b))
  dir <- withr::local_tempdir()
  fit <- function(...) {
    distribute_quietly(d$X, d$Y, score_func = always, n_targets_batch = 512, retries = 1, dir = dir, ...)
  }
  cnd <- expect_kind(fit(), "incomplete")
  expect_identical(cnd$missing_targets, 1025:1100)
  expect_match(conditionMessage(cnd), "no luck with {this}", fixed = TRUE)
  expect_identical(cnd$partial$best_alphas[1:1024], got$best_alphas[1:1024])
  expect_length(list.files(file.path(dir, "failed")), 2L)
  expect_warning(partial <- fit(on_failure = "partial"), class = "voxridge_warning_incomplete")
  expect_identical(partial$missing_targets, 1025:1100)
  expect_true(all(is.na(partial$best_alphas[1025:1100])))
  expect_identical(partial$diagnostics$skipped_targets, integer())
  expect_true(all(is.na(partial$cv_scores[, 1025:1100])))
})

test_that("coefficients of missing targets are NA in a store that can be read", {
  d <- random_problem(30, 5, 1100, 3)
  always <- function(a, b) if (ncol(a) > 3L && ncol(a) < 100L) stop("no") else -colMeans(abs(a - b))
  expect_warning(
    fit <- distribute_quietly(d$X, d$Y, score_func = always, n_targets_batch = 512, retries = 0, on_failure = "partial",
                              return_coefs = "primal", fit_intercept = TRUE),
    class = "voxridge_warning_incomplete"
  )
  expect_true(all(is.na(fit$coefs[, 1025:1100])))
  expect_false(anyNA(fit$coefs[, 1:1024]))
  expect_identical(which(is.na(fit$intercept)), 1025:1100)
  expect_identical(fit$coefs$nonfinite, 1025:1100)
  unlink(fit$dir, recursive = TRUE)
})

test_that("a user's score finds its variables in the workers", {
  skip_on_cran()
  d <- random_problem(30, 5, 600, 4)
  power <- 3
  score <- function(a, b) -colMeans(abs(a - b)^power)
  here <- distribute_quietly(d$X, d$Y, score_func = score)
  there <- under_plan(future::tweak(future::multisession, workers = 2), {
    distribute_quietly(d$X, d$Y, score_func = score)
  })
  expect_identical(there$cv_scores, here$cv_scores)
  square <- function(x) x * x
  error_of <- function(x) square(x)
  nested <- function(a, b) -colMeans(error_of(a - b))
  made <- (function(k) function(a, b) -k * colMeans(error_of(a - b)))(2)
  for (score in list(nested, made)) {
    environment_free <- score
    got <- under_plan(future::tweak(future::multisession, workers = 2), {
      distribute_quietly(d$X, d$Y, score_func = environment_free)
    })
    expect_identical(got$cv_scores, distribute_quietly(d$X, d$Y, score_func = score)$cv_scores)
  }
})

test_that("functions of the workspace and of attached packages are there in the workers", {
  skip_on_cran()
  d <- random_problem(30, 5, 20, 6)
  script <- withr::local_tempfile(fileext = ".R")
  data <- withr::local_tempfile(fileext = ".rds")
  saveRDS(d, data)
  writeLines(c(
    sprintf("d <- readRDS(%s)", deparse(data)),
    "library(voxridge); library(splines)",
    "h3 <- function(x) x * x; h2 <- function(x) h3(x) + 0 * sum(bs(1:9)[1, ])",
    "score <- function(a, b) -colMeans(h2(a - b))",
    "fit <- function() suppressWarnings(distribute_ridge_cv(d$X, d$Y, score_func = score, progress = FALSE))",
    "here <- fit(); future::plan(future::multisession, workers = 2)",
    "stopifnot(identical(fit()$cv_scores, here$cv_scores)); cat('equal')"
  ), script)
  said <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), stdout = TRUE, stderr = TRUE)
  expect_identical(said[length(said)], "equal")
})

test_that("an error of the data stops other workers before their next unit, and futures of the user's live on", {
  skip_on_cran()
  d <- random_problem(30, 5, 512 * 8, 7)
  under_plan(future::tweak(future::multisession, workers = 2), {
    own <- future::future(1 + 1)
    score <- function(a, b) {
      if (ncol(a) > 3L) Sys.sleep(0.2)
      if (ncol(a) > 3L && abs(a[1L] - first) < 1e-9) c("no", rep("numbers", ncol(a) - 1L)) else -colMeans((a - b)^2)
    }
    first <- d$Y[1L, 1L]
    dir <- withr::local_tempdir()
    expect_kind(distribute_quietly(d$X, d$Y, score_func = score, dir = dir, n_targets_batch = 512), "score")
    expect_lt(length(list.files(file.path(dir, "batches"))), 7L)
    expect_identical(future::value(own), 2)
  })
})

test_that("an error is carried over without its environments", {
  cnd <- tryCatch(abort(c("{.arg x} must be good.", i = "Be good."), "shape", found = 1:3, call = NULL),
                  error = identity)
  plain <- plain_condition(cnd)
  expect_identical(plain$what, "shape")
  expect_identical(plain$fields, list(found = 1:3))
  expect_lt(length(serialize(plain, NULL)), 1000)
  expect_true(is_final(cnd))
  expect_false(is_final(tryCatch(abort("full", "file", call = NULL), error = identity)))
  expect_false(is_final(simpleError("no")))
})

test_that("a worker has the threads that its scheduler grants, and its share of the memory", {
  withr::local_options(voxridge.memory_gb = 1, voxridge.threads = NULL, Ncpus = NULL)
  withr::local_envvar(VOXRIDGE_NUM_THREADS = NA)
  settings <- list(n_threads = NULL, memory_bytes = NULL, share_memory = TRUE, slots = 4L, careful = FALSE)
  control <- worker_control(settings)
  expect_equal(control$n_threads, parallelly::availableCores(), ignore_attr = TRUE)
  expect_identical(control$memory_bytes, 0.25e9)
  settings$share_memory <- FALSE
  expect_identical(worker_control(settings)$memory_bytes, 1e9)
  settings <- utils::modifyList(settings, list(memory_bytes = 3e8, careful = TRUE, n_threads = 2))
  expect_identical(worker_control(settings)[c("n_threads", "memory_bytes")], list(n_threads = 2L, memory_bytes = 1.5e8))
})

test_that("a good BLAS passes its test, which says by how much it errs", {
  for (threads in 1:2) {
    verdict <- core_test_blas(threads)
    expect_true(verdict$good)
    expect_gt(verdict$plain, 0)
    expect_lt(max(verdict$plain, verdict$threaded), 8)
  }
})

test_that("a worker that is told to stop takes no further unit", {
  d <- random_problem(30, 5, 1100, 5)
  dir <- withr::local_tempdir()
  distribute_quietly(d$X, d$Y, dir = dir, n_targets_batch = 512)
  unlink(file.path(dir, "batches", "unit_000002.rds"))
  settings <- list(n_threads = 1L, memory_bytes = 1e8, share_memory = FALSE, attempt = 1L, careful = FALSE, slots = 1L,
                   token = "told")
  file.create(stop_file(dir, "told"))
  key <- readRDS(file.path(dir, "manifest.rds"))$key
  expect_identical(work_on_units(dir, key, "batches", 2L, settings)$done, integer())
  settings$token <- "other"
  expect_identical(work_on_units(dir, key, "batches", 2L, settings)$done, 2L)
})
