test_that("ranges of candidates cover all of them once", {
  spec <- list(candidate_width = 3, gammas = matrix(1, 11, 2))
  expect_identical(as.integer(unlist(lapply(1:4, candidate_range, spec = spec))), 1:11)
})

test_that("every winner is factored by one unit, however many shares there are", {
  withr::local_options(voxridge.memory_gb = 1)
  d <- random_problem(30, 8, 40, 1)
  Xs <- list(a = d$X[, 1:3], b = d$X[, 4:8])
  for (workers in c(1, 3)) {
    dir <- withr::local_tempdir()
    fit <- muffle_edge(distribute_banded_ridge_cv(Xs, d$Y, n_iter = 12, seed = 1, dir = dir, return_coefs = "primal",
                                                  n_candidates_batch = workers, progress = FALSE))
    winners <- sort(unique(unname(fit$diagnostics$gamma_index)))
    files <- list.files(file.path(dir, "factors"))
    expect_identical(files, sprintf("candidate_%06d.factor", winners))
  }
})

test_that("shares of the winners are dealt out whole", {
  for (n_shares in 1:5) {
    for (n_winners in 1:7) {
      winners <- seq_len(n_winners)
      dealt <- lapply(seq_len(min(n_shares, n_winners)), share_of, all = winners, n_shares = n_shares)
      expect_identical(sort(unlist(dealt)), winners)
    }
  }
})
