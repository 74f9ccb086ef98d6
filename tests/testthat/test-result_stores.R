test_that("scores in a file are those in memory, for every way to compute them", {
  d <- random_problem(40, 10, 1200, 1)
  d$Y[2, 700] <- NA
  colnames(d$Y) <- paste0("v", 1:1200)
  X <- target_store(d$X, withr::local_tempfile(fileext = ".f64"), type = "float64", progress = FALSE)
  for (settings in list(
    list(), list(cv = "loo"), list(local_alpha = FALSE), list(score_func = "correlation", n_alphas_batch = 1),
    list(precision = "single", conservative = TRUE), list(X = X, cv = rep(1:4, 10)), list(n_targets_batch = 100)
  )) {
    fit <- function(...) {
      arguments <- utils::modifyList(list(X = d$X, Y = d$Y, na_targets = "skip", n_threads = 2), settings)
      do.call(solve_quietly, c(arguments, list(...)))
    }
    path <- withr::local_tempfile(fileext = ".f64")
    want <- fit(return_cv_scores = "mean")
    got <- fit(scores_path = path)
    expect_s3_class(got$cv_scores, "voxridge_target_store")
    expect_identical(dim(got$cv_scores), c(3L, 1200L))
    expect_identical(got$cv_scores[, ], want$cv_scores)
    expect_identical(target_store(path)[, 700:701], want$cv_scores[, 700:701])
    expect_identical(got$cv_scores$nonfinite, 700L)
    expect_identical(got[setdiff(names(got), "cv_scores")], want[setdiff(names(want), "cv_scores")])
  }
})

test_that("coefficients and scores go to files together", {
  d <- random_problem(30, 50, 600, 2)
  folder <- withr::local_tempdir()
  got <- solve_quietly(d$X, d$Y, coefs_path = file.path(folder, "B.f32"), scores_path = file.path(folder, "S.f64"),
                       return_cv_scores = "mean")
  want <- solve_quietly(d$X, d$Y, return_cv_scores = "mean")
  expect_identical(got$coefs[, ], as_float32(want$coefs))
  expect_identical(got$cv_scores[, ], want$cv_scores)
})

test_that("a path that cannot be is refused before any work", {
  d <- random_problem(30, 5, 4, 3)
  path <- withr::local_tempfile()
  expect_kind(solve_quietly(d$X, d$Y, scores_path = path, return_cv_scores = "all"), "conflict", "scores_path")
  expect_kind(solve_quietly(d$X, d$Y, scores_path = path, return_cv_scores = "none"), "conflict", "scores_path")
  expect_kind(solve_quietly(d$X, d$Y, scores_path = path, coefs_path = path), "conflict", "scores_path")
  expect_refused(solve_quietly(d$X, d$Y, scores_path = 1), "scores_path")
  expect_kind(solve_quietly(d$X, d$Y, scores_path = file.path(path, "no", "folder")), "file")
  writeLines("x", path)
  expect_refused(solve_quietly(d$X, d$Y, scores_path = path), "scores_path")
  expect_identical(readLines(path), "x")
})
