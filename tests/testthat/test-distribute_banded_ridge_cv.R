banded_problem <- function(n, sizes, t, seed) {
  d <- random_problem(n, sum(sizes), t, seed)
  band <- rep(letters[seq_along(sizes)], sizes)
  list(Xs = lapply(split(seq_along(band), band), function(j) d$X[, j, drop = FALSE]), X = d$X, band = band, Y = d$Y)
}

distribute_bands <- function(...) muffle_edge(distribute_banded_ridge_cv(..., progress = FALSE))

expect_same_as_search <- function(d, ..., coefs = "primal", alphas = 10^(-1:4), n_iter = 7, by = 2L) {
  want <- muffle_edge(solve_banded_ridge_cv(d$Xs, d$Y, n_iter = n_iter, alphas = alphas, seed = 3, ...,
                                            return_coefs = coefs, n_threads = 2, progress = FALSE))
  got <- distribute_bands(d$Xs, d$Y, n_iter = n_iter, alphas = alphas, seed = 3, ..., return_coefs = coefs,
                          n_targets_batch = 512, n_candidates_batch = by, n_threads = 2)
  fields <- setdiff(names(want), c("coefs", "diagnostics"))
  expect_identical(got[fields], want[fields])
  told <- c("alpha_index", "gamma_index", "share_at_edge_by_band", "unused_candidates", "constant_targets", "seed")
  expect_identical(got$diagnostics[told], want$diagnostics[told])
  if (coefs != "none") expect_identical(got$coefs[, ], as_float32(want$coefs))
  invisible(got)
}

test_that("every setting gives the bits of the search in one process", {
  withr::local_options(voxridge.memory_gb = 1)
  for (d in list(banded_problem(60, c(8, 12), 600, 1), banded_problem(40, c(50, 60), 600, 2))) {
    expect_same_as_search(d)
    expect_same_as_search(d, fit_intercept = TRUE, by = 3L)
    expect_same_as_search(d, local_alpha = FALSE)
    expect_same_as_search(d, cv = "loo", coefs = "dual")
    expect_same_as_search(d, score_func = "correlation", jitter_alphas = TRUE)
    expect_same_as_search(d, score_func = "neg_mse", conservative = TRUE, coefs = "none")
    expect_same_as_search(d, precision = "single")
    expect_same_as_search(d, alphas = c(0, 1e-9, 1))
    expect_same_as_search(d, score_func = function(a, b) -colMeans(abs(a - b)), coefs = "none")
  }
})

test_that("workers give the same bits, and bands of a matrix too", {
  skip_on_cran()
  d <- banded_problem(50, c(6, 4, 9), 700, 3)
  here <- distribute_bands(d$X, d$Y, bands = d$band, n_iter = 9, seed = 1, return_coefs = "primal")
  there <- under_plan(future::tweak(future::multisession, workers = 2), {
    distribute_bands(d$X, d$Y, bands = d$band, n_iter = 9, seed = 1, return_coefs = "primal", n_candidates_batch = 1)
  })
  fields <- setdiff(names(here), c("dir", "coefs", "diagnostics"))
  expect_identical(there[fields], here[fields])
  expect_identical(there$coefs[, ], here$coefs[, ])
  expect_identical(there$diagnostics$batches$first, 1:9)
})

test_that("a run goes on with its own candidates, and without a seed draws new ones", {
  d <- banded_problem(40, c(5, 5), 30, 4)
  dir <- withr::local_tempdir()
  first <- distribute_bands(d$Xs, d$Y, n_iter = 6, dir = dir)
  again <- distribute_bands(d$Xs, d$Y, n_iter = 6, dir = dir)
  expect_identical(again$candidates, first$candidates)
  expect_false(identical(distribute_bands(d$Xs, d$Y, n_iter = 6)$candidates, first$candidates))
  expect_kind(distribute_bands(d$Xs, d$Y, n_iter = 7, dir = dir), "manifest_mismatch", "dir")
})

test_that("bad settings are refused before any work", {
  d <- banded_problem(30, c(3, 3), 5, 5)
  expect_refused(distribute_bands(d$X, d$Y, bands = d$band[-1]), "bands")
  expect_refused(distribute_bands(d$Xs, d$Y, n_iter = 0), "n_iter")
  expect_refused(distribute_bands(d$Xs, d$Y, n_candidates_batch = 0), "n_candidates_batch")
  expect_refused(distribute_bands(d$Xs, d$Y, return_cv_scores = "all"), "return_cv_scores")
  expect_refused(distribute_bands(d$Xs, d$Y, seed = -1), "seed")
})
