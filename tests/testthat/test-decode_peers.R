# The same decisions elsewhere: scikit-learn's RidgeClassifier, StandardScaler and logistic regression.

test_that("decisions are those of scikit-learn, also under twenty other labellings", {
  skip_without_sklearn()
  for (p in c(7, 40)) {
    for (n_classes in c(2L, 4L)) {
      d <- class_problem(n_runs = 5, n_classes = n_classes, per_class = 2, p = p, signal = 0.6)
      codes <- withr::with_seed(1, t(vapply(0:20, function(r) {
        if (r == 0) d$code else as.integer(stats::ave(d$code, d$runs, FUN = sample))
      }, d$code)))
      for (scaled in c(FALSE, TRUE)) {
        want <- sklearn_decisions(d$X, codes - 1L, d$runs, 3, scaled)
        for (r in seq_len(nrow(codes))) {
          got <- decode_quietly(d$X, factor(codes[r, ]), cv = d$runs, alphas = 3, scale = if (scaled) "fold" else "none",
                                weights = FALSE)
          expect_close(got$decision, want[[r]], 1e-10)
          guess <- if (n_classes == 2L) 1L + (want[[r]][, 1L] > 0) else max.col(want[[r]], "first")
          expect_equal(got$pooled[[1L]], mean(guess == codes[r, ]))
        }
      }
    }
  }
})

test_that("logistic decisions are those of scikit-learn with C = 1 / alpha", {
  skip_without_sklearn()
  for (n_classes in 2:3) {
    d <- class_problem(n_runs = 4, n_classes = n_classes, per_class = 2, p = 6, signal = 0.6)
    for (scaled in c(FALSE, TRUE)) {
      want <- sklearn_decisions(d$X, matrix(d$code - 1L, 1L), d$runs, 2, scaled, "logistic")[[1L]]
      got <- decode_quietly(d$X, d$y, cv = d$runs, model = "logistic", alphas = 2, scale = if (scaled) "fold" else "none")
      # lbfgs of scikit-learn stops where steps are small
      expect_close(got$decision, want, 1e-4)
    }
  }
})
