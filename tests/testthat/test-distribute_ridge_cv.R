# The same answers as solve_ridge_cv(), bit for bit.
expect_same_as_solver <- function(d, ..., alphas = 10^(-1:4), coefs = "primal", batch = 512L) {
  file <- withr::local_tempfile(fileext = ".f32")
  want <- solve_quietly(d$X, d$Y, alphas = alphas, ..., return_coefs = coefs, return_cv_scores = "mean",
                        coefs_path = if (coefs != "none") file, n_threads = 2)
  got <- distribute_quietly(d$X, d$Y, alphas = alphas, ..., return_coefs = coefs, n_targets_batch = batch,
                            n_threads = 2)
  expect_identical(answers_of(got), answers_of(want))
  expect_identical(got$missing_targets, integer())
  invisible(got)
}

test_that("every setting gives the bits of the solver in one process", {
  tall <- random_problem(60, 20, 1100, 1)
  wide <- random_problem(40, 90, 1100, 2)
  future::plan(future::sequential)
  for (d in list(tall, wide)) {
    expect_same_as_solver(d)
    expect_same_as_solver(d, fit_intercept = TRUE, cv = rep(1:4, length.out = nrow(d$X)))
    expect_same_as_solver(d, local_alpha = FALSE, fit_intercept = TRUE)
    expect_same_as_solver(d, cv = "loo")
    expect_same_as_solver(d, cv = "gcv", coefs = "dual")
    expect_same_as_solver(d, score_func = "correlation", coefs = "dual")
    expect_same_as_solver(d, conservative = TRUE, coefs = "none")
    expect_same_as_solver(d, precision = "single")
    expect_same_as_solver(d, alphas = c(0, 1e-9, 1))
    expect_same_as_solver(d, score_func = function(a, b) -colMeans(abs(a - b)), coefs = "none")
  }
})

test_that("folds that overlap or leave rows out are as in the solver", {
  folds <- list(list(train = 11:30, test = 1:10), list(train = c(1:4, 20:30), test = 5:19))
  expect_same_as_solver(random_problem(30, 6, 600, 3), cv = folds)
  expect_same_as_solver(random_problem(30, 50, 600, 4), cv = folds, fit_intercept = TRUE)
})

test_that("every target is in one batch, the last incomplete one included, whatever the width", {
  d <- random_problem(40, 10, 1637, 5)
  want <- NULL
  for (batch in c(1L, 512L, 700L, 5000L)) {
    got <- distribute_quietly(d$X, d$Y, n_targets_batch = batch, return_coefs = "primal", n_threads = 1)
    table <- got$diagnostics$batches
    expect_identical(as.integer(unlist(Map(seq, table$first, table$last))), 1:1637)
    expect_true(all((table$first - 1) %% 512 == 0))
    want <- want %||% answers_of(got)
    expect_identical(answers_of(got), want)
  }
})

test_that("workers of a plan give the same bits, for any number of them", {
  skip_on_cran()
  d <- random_problem(60, 20, 2100, 6)
  here <- distribute_quietly(d$X, d$Y, n_targets_batch = 512, return_coefs = "primal", n_threads = 2)
  for (plan in list(future::tweak(future::multisession, workers = 2), future::tweak(future::cluster, workers = 3))) {
    there <- under_plan(plan, {
      distribute_quietly(d$X, d$Y, n_targets_batch = 512, return_coefs = "primal", n_threads = 2)
    })
    expect_identical(answers_of(there), answers_of(here))
    expect_gt(length(unique(there$diagnostics$batches$pid)), 1L)
    expect_false(Sys.getpid() %in% there$diagnostics$batches$pid)
  }
})

test_that("a store as Y is read in place, and skipped and constant targets are as in the solver", {
  d <- random_problem(40, 10, 1200, 7)
  d$Y[3, c(2, 600, 1200)] <- NA
  d$Y[, 700] <- 5
  colnames(d$Y) <- paste0("v", 1:1200)
  file <- withr::local_tempfile(fileext = ".f64")
  store <- target_store(d$Y, file, type = "float64", progress = FALSE)
  want <- solve_quietly(d$X, d$Y, na_targets = "skip", return_coefs = "none", return_cv_scores = "all")
  got <- distribute_quietly(d$X, store, na_targets = "skip", return_cv_scores = "all", n_targets_batch = 512)
  expect_identical(answers_of(got), answers_of(want))
  expect_identical(unname(got$diagnostics$skipped_targets), c(2L, 600L, 1200L))
  expect_identical(got$diagnostics$constant_targets, c(v700 = 700L))
  expect_refused(distribute_quietly(d$X, store), "Y")
})

test_that("a single target as a vector gives a vector back", {
  d <- random_problem(40, 10, 1, 8)
  want <- solve_quietly(d$X, d$Y[, 1], return_coefs = "none", return_cv_scores = "mean")
  got <- distribute_quietly(d$X, d$Y[, 1])
  expect_identical(answers_of(got), answers_of(want))
})

test_that("calling again computes nothing, in a folder that is kept", {
  d <- random_problem(40, 10, 1100, 9)
  dir <- withr::local_tempdir()
  first <- distribute_quietly(d$X, d$Y, dir = dir, return_coefs = "primal")
  files <- list.files(dir, pattern = "unit_.*", recursive = TRUE, full.names = TRUE)
  before <- file.info(files)$mtime
  again <- distribute_quietly(d$X, d$Y, dir = dir, return_coefs = "primal")
  expect_identical(file.info(files)$mtime, before)
  expect_identical(answers_of(again), answers_of(first))
  expect_identical(again$diagnostics$batches, first$diagnostics$batches)
  expect_identical(target_store(file.path(dir, "coefs", "coefs.f32"))[, ], first$coefs[, ])
})

test_that("random numbers of the session are left alone", {
  d <- random_problem(30, 5, 20, 10)
  set.seed(1)
  before <- .Random.seed
  distribute_quietly(d$X, d$Y)
  expect_identical(.Random.seed, before)
})

test_that("bad settings are refused before any work", {
  d <- random_problem(30, 5, 20, 11)
  refused <- function(arg, ...) expect_refused(distribute_quietly(d$X, d$Y, ...), arg)
  refused("retries", retries = -1)
  refused("resume", resume = NA)
  refused("on_failure", on_failure = "stop")
  refused("memory_gb", memory_gb = 0)
  refused("memory_gb", memory_gb = 1e-9)
  refused("n_targets_batch", n_targets_batch = 0)
  refused("n_threads", n_threads = 0)
  refused("alphas", alphas = -1)
  refused("return_coefs", return_coefs = "some")
  refused("cv", cv = 1)
  refused("score_func", score_func = "r3")
  refused("score_func", score_func = function(a, b) rep(sum(a - b), ncol(a)))
  refused("dir", dir = file.path(withr::local_tempdir(), "no", "parent"))
  expect_refused(distribute_quietly(d$X[-1, ], d$Y), "Y")
  expect_refused(distribute_quietly(prepare_ridge(d$X), d$Y, cv = 3), "cv")
  expect_kind(distribute_quietly(d$X, d$Y, score_func = function(a, b) rep(sum(a), ncol(a))), "score", "score_func")
})
