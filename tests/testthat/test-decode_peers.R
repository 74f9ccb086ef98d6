# The same decisions elsewhere: scikit-learn's RidgeClassifier, StandardScaler and logistic regression.

sklearn_job <- function(d, codes, alpha, scaled, model) {
  list(X = d$X, codes = codes, groups = d$runs, alpha = alpha, scaled = scaled, model = model)
}

test_that("decisions are those of scikit-learn, also under twenty other labellings", {
  skip_without_sklearn()
  cases <- expand.grid(p = c(7, 40), n_classes = c(2L, 4L), scaled = c(FALSE, TRUE))
  jobs <- Map(function(p, n_classes, scaled) {
    d <- class_problem(n_runs = 5, n_classes = n_classes, per_class = 2, p = p, signal = 0.6)
    codes <- withr::with_seed(1, t(vapply(0:20, function(r) {
      if (r == 0) d$code else as.integer(stats::ave(d$code, d$runs, FUN = sample))
    }, d$code)))
    sklearn_job(d, codes, 3, scaled, "ridge")
  }, cases$p, cases$n_classes, cases$scaled)
  want <- sklearn_decisions(jobs)
  for (k in seq_along(jobs)) {
    job <- jobs[[k]]
    for (r in seq_len(nrow(job$codes))) {
      got <- decode_quietly(job$X, factor(job$codes[r, ]), cv = job$groups, alphas = job$alpha,
                            scale = if (job$scaled) "fold" else "none", weights = FALSE)
      theirs <- want[[k]][[r]]
      expect_close(got$decision, theirs, 1e-10)
      guess <- if (ncol(theirs) == 1L) 1L + (theirs[, 1L] > 0) else max.col(theirs, "first")
      expect_equal(got$pooled[[1L]], mean(guess == job$codes[r, ]))
    }
  }
})

test_that("logistic decisions are those of scikit-learn with C = 1 / alpha", {
  skip_without_sklearn()
  jobs <- list()
  for (n_classes in 2:3) {
    d <- class_problem(n_runs = 4, n_classes = n_classes, per_class = 2, p = 6, signal = 0.6)
    for (scaled in c(FALSE, TRUE)) jobs <- c(jobs, list(sklearn_job(d, matrix(d$code, 1L), 2, scaled, "logistic")))
  }
  want <- sklearn_decisions(jobs)
  for (k in seq_along(jobs)) {
    job <- jobs[[k]]
    got <- decode_quietly(job$X, factor(job$codes[1L, ]), cv = job$groups, model = "logistic", alphas = job$alpha,
                          scale = if (job$scaled) "fold" else "none")
    # lbfgs of scikit-learn stops where steps are small
    expect_close(got$decision, want[[k]][[1L]], 1e-4)
  }
})
