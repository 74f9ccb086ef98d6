# Laws that hold for every input (ridge.md, section 5), each over ten seeds. Answers that go through other factors agree
# to rounding: 1e-9 is a thousand times what well-conditioned problems of this size lose.

ALPHAS <- 10^(-1:3)

# A problem whose shape and options depend on the seed.
any_problem <- function(seed) {
  withr::with_seed(seed, {
    n <- sample(18:40, 1L)
    p <- sample(c(3:15, 30:70), 1L)
    t <- sample(2:9, 1L)
    options <- list(fit_intercept = sample(c(TRUE, FALSE), 1L),
                    score_func = sample(c("r2", "neg_mse", "correlation"), 1L),
                    local_alpha = sample(c(TRUE, FALSE), 1L), cv = sample(2:6, 1L))
  })
  c(random_problem(n, p, t, seed), list(options = options))
}

fit_any <- function(X, Y, options, alphas = ALPHAS, ...) {
  do.call(solve_quietly, c(list(X, Y, alphas = alphas, ...), options))
}

expect_same_fit <- function(got, want, tolerance = 1e-9) {
  expect_identical(got$best_alphas, want$best_alphas)
  expect_close(got$cv_scores, want$cv_scores, tolerance)
  expect_close(got$coefs, want$coefs, tolerance)
  if (!is.null(want$intercept)) expect_close(got$intercept, want$intercept, tolerance)
}

test_that("primal and dual forms agree: zero columns change the form and nothing else", {
  forms <- NULL
  for (seed in 1:10) {
    problem <- any_problem(seed)
    p <- ncol(problem$X)
    want <- fit_any(problem$X, problem$Y, problem$options)
    wide <- fit_any(cbind(problem$X, matrix(0, nrow(problem$X), 80)), problem$Y, problem$options)
    forms <- c(forms, want$diagnostics$info$form, wide$diagnostics$info$form)
    expect_close(wide$coefs[p + 1:80, ], matrix(0, 80, ncol(problem$Y)), 1e-12)
    wide$coefs <- wide$coefs[seq_len(p), , drop = FALSE]
    expect_same_fit(wide, want)
  }
  expect_setequal(forms, c("primal", "dual"))
})

# Which parts of two fits differ in any bit.
differing <- function(got, want) {
  parts <- c("best_alphas", "cv_scores", "coefs", "intercept")
  parts[!mapply(identical, got[parts], want[parts])]
}

expect_batches_change_nothing <- function(names) {
  for (seed in 1:10) {
    problem <- any_problem(seed)
    want <- fit_any(problem$X, problem$Y, problem$options)
    for (size in c(1, 2, 7, 1000)) {
      for (name in names) {
        got <- do.call(fit_any, c(list(problem$X, problem$Y, problem$options), stats::setNames(list(size), name)))
        expect_identical(differing(got, want), character())
      }
    }
  }
}

test_that("batches of targets change no bit", {
  expect_batches_change_nothing(c("n_targets_batch", "n_targets_batch_refit"))
})

test_that("batches of alphas change no bit", {
  expect_batches_change_nothing("n_alphas_batch")
})

test_that("batches, budgets and threads change no bit over many tiles", {
  problem <- random_problem(40, 9, 1300, seed = 1)
  options <- list(fit_intercept = TRUE)
  want <- fit_any(problem$X, problem$Y, options, n_threads = 1)
  # Grams and factors this small are made by one thread whatever n_threads is, so every bit must agree
  for (settings in list(list(n_threads = 2), list(n_threads = 3, n_targets_batch = 500),
                        list(n_threads = 2, n_targets_batch = 513, n_alphas_batch = 2), list(n_targets_batch = 1))) {
    got <- do.call(fit_any, c(list(problem$X, problem$Y, options), settings))
    expect_identical(differing(got, want), character())
  }
  withr::local_options(voxridge.memory_gb = 1e-4)
  expect_identical(differing(fit_any(problem$X, problem$Y, options, n_threads = 2), want), character())
})

test_that("the same call gives the same bits", {
  for (seed in 1:10) {
    problem <- any_problem(seed)
    expect_identical(fit_any(problem$X, problem$Y, problem$options), fit_any(problem$X, problem$Y, problem$options))
  }
})

test_that("a constant added to Y changes only the intercept", {
  for (seed in 1:10) {
    problem <- any_problem(seed)
    problem$options$fit_intercept <- TRUE
    shift <- withr::with_seed(seed, round(rnorm(ncol(problem$Y), sd = 10)))
    want <- fit_any(problem$X, problem$Y, problem$options)
    got <- fit_any(problem$X, sweep(problem$Y, 2L, shift, "+"), problem$options)
    expect_close(got$intercept, want$intercept + shift)
    got$intercept <- want$intercept
    expect_same_fit(got, want)
  }
})

test_that("constants added to columns of X change only the intercept", {
  for (seed in 1:10) {
    problem <- any_problem(seed)
    problem$options$fit_intercept <- TRUE
    shift <- withr::with_seed(seed, round(rnorm(ncol(problem$X), sd = 10)))
    want <- fit_any(problem$X, problem$Y, problem$options)
    got <- fit_any(sweep(problem$X, 2L, shift, "+"), problem$Y, problem$options)
    expect_close(got$intercept, want$intercept - drop(shift %*% want$coefs))
    got$intercept <- want$intercept
    expect_same_fit(got, want)
  }
})

test_that("permuting the targets permutes the answers", {
  for (seed in 1:10) {
    problem <- any_problem(seed)
    order <- withr::with_seed(seed, sample(ncol(problem$Y)))
    want <- fit_any(problem$X, problem$Y, problem$options)
    got <- fit_any(problem$X, problem$Y[, order], problem$options)
    expect_identical(got$best_alphas, want$best_alphas[order])
    expect_close(got$cv_scores, want$cv_scores[, , order], 1e-12)
    expect_close(got$coefs, want$coefs[, order], 1e-12)
  }
})

test_that("a target gets the same answer alone as among others", {
  for (seed in 1:10) {
    problem <- any_problem(seed)
    problem$options$local_alpha <- TRUE
    all <- fit_any(problem$X, problem$Y, problem$options)
    one <- fit_any(problem$X, problem$Y[, 2L, drop = FALSE], problem$options)
    expect_identical(one$best_alphas, all$best_alphas[2L])
    expect_close(one$cv_scores[, , 1L], all$cv_scores[, , 2L], 1e-12)
    expect_close(one$coefs[, 1L], all$coefs[, 2L], 1e-12)
  }
})

test_that("the names of the folds do not matter", {
  for (seed in 1:10) {
    problem <- any_problem(seed)
    n <- nrow(problem$X)
    labels <- withr::with_seed(seed, sample(rep_len(1:4, n)))
    problem$options$cv <- labels
    want <- fit_any(problem$X, problem$Y, problem$options)
    for (cv in list(labels * 10 + 0.5, letters[labels], split(seq_len(n), labels))) {
      problem$options$cv <- cv
      got <- fit_any(problem$X, problem$Y, problem$options)
      expect_identical(unname(got$cv_scores), unname(want$cv_scores), ignore_attr = TRUE)
      expect_identical(got$coefs, want$coefs)
    }
  }
})

test_that("scaling X by c and alpha by c^2 divides the coefficients by c", {
  for (seed in 1:10) {
    problem <- any_problem(seed)
    want <- fit_any(problem$X, problem$Y, problem$options)
    for (c in c(1e-3, 4, 1e5)) {
      got <- fit_any(c * problem$X, problem$Y, problem$options, alphas = c^2 * ALPHAS)
      expect_identical(got$diagnostics$alpha_index, want$diagnostics$alpha_index)
      expect_close(got$cv_scores, want$cv_scores)
      expect_close(got$coefs * c, want$coefs)
    }
  }
})

test_that("scaling Y scales coefficients and leaves r2, correlation and choices alone", {
  for (seed in 1:10) {
    problem <- any_problem(seed)
    problem$options$score_func <- "r2"
    want <- fit_any(problem$X, problem$Y, problem$options)
    for (c in c(-1, 1e-6, 1e8)) {
      got <- fit_any(problem$X, c * problem$Y, problem$options)
      got$coefs <- got$coefs / c
      if (!is.null(got$intercept)) got$intercept <- got$intercept / c
      expect_same_fit(got, want)
    }
  }
})

test_that("rotating the features rotates the coefficients", {
  for (seed in 1:10) {
    problem <- any_problem(seed)
    p <- ncol(problem$X)
    Q <- withr::with_seed(seed, qr.Q(qr(matrix(rnorm(p * p), p))))
    want <- fit_any(problem$X, problem$Y, problem$options)
    got <- fit_any(problem$X %*% Q, problem$Y, problem$options)
    got$coefs <- Q %*% got$coefs
    expect_same_fit(got, want)
  }
})

test_that("a fold's scores are those of a model fitted to its training rows alone", {
  for (seed in 1:10) {
    problem <- any_problem(seed)
    problem$options$fit_intercept <- FALSE
    problem$options$score_func <- "neg_mse"
    fit <- fit_any(problem$X, problem$Y, problem$options)
    test <- oracle_folds(problem$options$cv, nrow(problem$X))[[2L]]$test
    for (a in seq_along(ALPHAS)) {
      coefs <- ridge_svd(problem$X[-test, ], problem$Y[-test, ], alpha = ALPHAS[a])
      expect_close(fit$cv_scores[2L, a, ], -colMeans((problem$Y[test, ] - problem$X[test, ] %*% coefs)^2))
    }
  }
})

test_that("the choice is that of the returned scores, the coefficients those of the returned alphas", {
  for (seed in 1:10) {
    problem <- any_problem(seed)
    fit <- fit_any(problem$X, problem$Y, problem$options)
    expect_identical(unname(fit$best_alphas),
                     ALPHAS[oracle_choose(unname(fit$cv_scores), ALPHAS, problem$options$local_alpha)])
    expect_close(fit$coefs, oracle_fit(problem$X, problem$Y, fit$best_alphas, problem$options$fit_intercept)$coefs)
  }
})

test_that("the Gram route agrees with the SVD route at condition numbers from 1 to 1e12", {
  # A small penalty besides (it chooses the route) must not move the answers for the large ones. The singular values
  # below 1e-6 of the largest are drowned by alpha >= 1e-2, so the problem itself is well conditioned.
  for (condition in 10^seq(0, 12, by = 3)) {
    for (shape in list(c(40, 12), c(16, 50))) {
      withr::with_seed(condition %% 1000, {
        r <- min(shape)
        U <- qr.Q(qr(matrix(rnorm(shape[1L] * r), shape[1L])))
        V <- qr.Q(qr(matrix(rnorm(shape[2L] * r), shape[2L])))
        X <- U %*% (condition^-seq(0, 1, length.out = r) * t(V)) * 10
        Y <- X %*% matrix(rnorm(shape[2L] * 3), shape[2L]) + matrix(rnorm(shape[1L] * 3), shape[1L])
      })
      plain <- solve_quietly(X, Y, alphas = c(0.01, 1), score_func = "neg_mse")
      both <- solve_quietly(X, Y, alphas = c(1e-15, 0.01, 1), score_func = "neg_mse")
      expect_identical(both$diagnostics$info$factorisation, "svd")
      expect_close(both$cv_scores[, 2:3, ], plain$cv_scores, 1e-8)
      want <- oracle_cv_scores(X, Y, c(0.01, 1), 5, "neg_mse")
      expect_close(plain$cv_scores, want, 1e-8)
    }
  }
})
