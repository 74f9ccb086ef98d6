ALPHAS <- c(0.1, 1, 10, 100)

test_that("the answer is that of the solver, field by field", {
  for (problem in problem_classes()) {
    for (score_func in c("r2", "correlation")) {
      fit <- fit_quietly(problem$X, problem$Y, alphas = ALPHAS, cv = 4, score_func = score_func)
      expect_fields(fit, solve_quietly(problem$X, problem$Y, alphas = ALPHAS, cv = 4, score_func = score_func,
                                       fit_intercept = TRUE))
    }
  }
})

test_that("arguments of the solver are passed on", {
  problem <- random_problem(30, 8, 4, seed = 1)
  Y <- problem$Y
  Y[3L, 2L] <- NA
  settings <- list(
    list(local_alpha = FALSE, return_coefs = "dual"),
    list(conservative = TRUE, return_cv_scores = "mean"),
    list(return_coefs = "none", return_cv_scores = "none", precision = "single")
  )
  for (more in settings) {
    args <- c(list(problem$X, Y, alphas = ALPHAS, cv = rep(1:5, 6), na_targets = "skip", fit_intercept = FALSE), more)
    expect_fields(do.call(fit_quietly, args), do.call(solve_quietly, args))
  }
})

test_that("the defaults are an intercept and the grid in units of the data", {
  problem <- random_problem(30, 8, 4, seed = 2)
  fit <- fit_quietly(problem$X, problem$Y)
  expect_identical(fit$alphas, alpha_grid(problem$X))
  expect_true(fit$fit_intercept)
  expect_identical(fit$folds$n, 5L)
  expect_fields(fit, solve_quietly(problem$X, problem$Y, alphas = alpha_grid(problem$X), cv = 5, fit_intercept = TRUE))
})

test_that("a prepared X brings its folds and its intercept", {
  problem <- random_problem(30, 8, 4, seed = 3)
  runs <- rep(1:3, each = 10)
  for (intercept in c(TRUE, FALSE)) {
    prepared <- prepare_ridge(problem$X, cv = runs, fit_intercept = intercept)
    fit <- fit_quietly(prepared, problem$Y)
    plain <- fit_quietly(problem$X, problem$Y, cv = runs, fit_intercept = intercept)
    fit$diagnostics$seconds <- plain$diagnostics$seconds
    expect_identical(fit, plain)
  }
  expect_refused(fit_quietly(prepared, problem$Y, cv = 5), "cv")
  expect_refused(fit_quietly(prepared, problem$Y, fit_intercept = TRUE), "fit_intercept")
  expect_refused(fit_quietly(prepared, problem$Y, standardize = TRUE), "standardize")
})

test_that("a warning about the edge is given once, and does not advise the grid that was used", {
  # without noise, less shrinkage is always better
  problem <- random_problem(30, 28, 4, seed = 4, noise = 0)
  X <- cbind(problem$X, problem$X[, 1:4])
  count <- 0
  advice <- NULL
  withCallingHandlers(
    for (standardize in c(FALSE, TRUE)) fit_ridge(X, problem$Y, cv = 10, standardize = standardize),
    voxridge_warning_alpha_at_edge = function(w) {
      count <<- count + 1
      advice <<- c(advice, conditionMessage(w))
      rlang::cnd_muffle(w)
    }
  )
  expect_identical(count, 2)
  expect_match(advice, "span = c(1e-6, 1e5)", fixed = TRUE)
  expect_warning(fit_ridge(X, problem$Y, alphas = 1:2), "alpha_grid\\(X\\)`", class = "voxridge_warning_alpha_at_edge")
})

test_that("noise, which goes to the end of every grid, is no reason to warn of the default one", {
  problem <- random_problem(30, 8, 4, seed = 4)
  noise <- withr::with_seed(1, matrix(rnorm(120), 30))
  expect_warning(fit_ridge(problem$X, noise, alphas = alpha_grid(problem$X)), class = "voxridge_warning_alpha_at_edge")
  expect_no_warning(fit <- fit_ridge(problem$X, noise))
  expect_gt(fit$diagnostics$share_at_edge[["largest"]], 0.05)
  expect_no_warning(fit_banded_ridge(list(a = problem$X[, 1:3], b = problem$X[, 4:8]), noise, n_iter = 3, seed = 1))
})

# ---- scaled features -------------------------------------------------------------------------

# Standard deviations of the training rows, constant columns left alone.
oracle_scales <- function(X) {
  scales <- apply(X, 2L, stats::sd)
  ifelse(scales < 1e-12, 1, scales)
}

oracle_standardized <- function(X, Y, alphas, cv, score_func = "r2", fit_intercept = TRUE, ...) {
  folds <- oracle_folds(cv, nrow(X))
  scores <- array(NA_real_, c(length(folds), length(alphas), ncol(Y)))
  for (f in seq_along(folds)) {
    rows <- folds[f]
    Z <- sweep(X, 2L, oracle_scales(X[rows[[1L]]$train, , drop = FALSE]), "/")
    scores[f, , ] <- oracle_cv_scores(Z, Y, alphas, unname(rows), score_func, fit_intercept)
  }
  index <- oracle_choose(scores, alphas, ...)
  scales <- oracle_scales(X)
  fit <- oracle_fit(sweep(X, 2L, scales, "/"), Y, alphas[index], fit_intercept)
  list(cv_scores = scores, best_alphas = alphas[index], coefs = fit$coefs / scales, intercept = fit$intercept)
}

expect_standardized <- function(fit, want) {
  expect_identical(unname(fit$best_alphas), want$best_alphas)
  expect_close(fit$cv_scores, want$cv_scores)
  expect_close(fit$coefs, want$coefs)
  if (!is.null(fit$intercept)) expect_close(fit$intercept, want$intercept)
}

test_that("standardised features are those of explicit folds scaled by their training rows", {
  for (problem in problem_classes(40L)) {
    X <- problem$X * rep(2^(seq_len(ncol(problem$X)) %% 7 - 3), each = nrow(problem$X))
    for (fit_intercept in c(FALSE, TRUE)) {
      fit <- fit_quietly(X, problem$Y, alphas = ALPHAS, cv = 4, standardize = TRUE, fit_intercept = fit_intercept)
      expect_standardized(fit, oracle_standardized(X, problem$Y, ALPHAS, 4, fit_intercept = fit_intercept))
    }
  }
})

test_that("the choice of a penalty on scaled features is that of the solver", {
  problem <- random_problem(40, 12, 6, seed = 41)
  X <- problem$X * rep(3^(1:12 %% 4), each = 40)
  labels <- rep(c("a", "b", "c", "d"), 10)
  alphas <- c(10, 0.1, 100, 1, 30)
  for (score_func in c("neg_mse", "correlation")) {
    for (plan in list(list(local_alpha = FALSE), list(conservative = TRUE))) {
      args <- c(list(X, problem$Y, alphas, labels, score_func = score_func), plan)
      fit <- do.call(fit_quietly, c(args, list(standardize = TRUE)))
      expect_standardized(fit, do.call(oracle_standardized, args))
    }
  }
  expect_identical(dimnames(fit$cv_scores)[[1L]], c("a", "b", "c", "d"))
})

test_that("choices agree with the oracle on ties, infinite scores and spreads", {
  withr::local_seed(5)
  alphas <- c(1, 100, 10, 100)
  for (i in 1:20) {
    scores <- array(sample(c(-1, 0, 0.5, 0.5, 1), 4 * 4 * 5, replace = TRUE), c(4, 4, 5))
    for (plan in list(list(TRUE, FALSE), list(TRUE, TRUE), list(FALSE, FALSE))) {
      names(plan) <- c("local_alpha", "conservative")
      means <- fold_moments(4L, function(f) matrix(scores[f, , ], 4L))$mean
      expect_equal(means, apply(scores, 2:3, mean), tolerance = 1e-14)
      want <- oracle_choose(scores, alphas, plan$local_alpha, plan$conservative)
      got <- choose_alphas(means, scores, alphas, plan, integer())
      expect_identical(alphas[got], alphas[rep_len(want, 5L)])
    }
  }
  scores <- array(c(0, -Inf, 1, 0, 0, 0), c(2, 3, 1))
  expect_identical(fold_moments(2L, function(f) matrix(scores[f, , ], 3L))$mean, matrix(c(-Inf, 0.5, 0)))
  plan <- list(local_alpha = TRUE, conservative = FALSE)
  skipped <- choose_alphas(cbind(c(0, 1), NA, c(2, 1)), NULL, c(1, 2), plan, 2L)
  expect_identical(skipped, c(2L, NA, 1L))
})

test_that("scaling the columns scales their coefficients and nothing else", {
  problem <- random_problem(40, 9, 4, seed = 42)
  factors <- 10^((1:9 %% 5) - 2)
  a <- fit_quietly(problem$X, problem$Y, alphas = ALPHAS, standardize = TRUE)
  b <- fit_quietly(problem$X * rep(factors, each = 40), problem$Y, alphas = ALPHAS, standardize = TRUE)
  expect_close(b$cv_scores, a$cv_scores)
  expect_close(b$coefs * factors, a$coefs)
  expect_close(fit_quietly(problem$X * rep(factors, each = 40), problem$Y, standardize = TRUE)$alphas,
               fit_quietly(problem$X, problem$Y, standardize = TRUE)$alphas)
  expect_close(fit_quietly(problem$X, problem$Y, standardize = TRUE)$alphas,
               alpha_grid(sweep(problem$X, 2L, apply(problem$X, 2L, sd), "/")))
})

test_that("held-out rows influence neither the model nor the scales of their fold", {
  problem <- random_problem(40, 6, 3, seed = 43)
  held_out <- 11:20
  changed <- problem$X
  changed[held_out, ] <- 1e6 * changed[held_out, ] + 1e6
  a <- fit_quietly(problem$X, problem$Y, alphas = ALPHAS, cv = 4, standardize = TRUE, score_func = "neg_mse")
  b <- fit_quietly(changed, problem$Y, alphas = ALPHAS, cv = 4, standardize = TRUE, score_func = "neg_mse")
  # the model of the fold, from its training rows alone, predicts the changed rows
  scales <- oracle_scales(problem$X[-held_out, ])
  for (k in seq_along(ALPHAS)) {
    model <- oracle_fit(sweep(problem$X[-held_out, ], 2L, scales, "/"), problem$Y[-held_out, ], ALPHAS[k], TRUE)
    for (one in list(list(a, problem$X), list(b, changed))) {
      predicted <- oracle_predict(model, sweep(one[[2L]][held_out, ], 2L, scales, "/"))
      want <- -colMeans((problem$Y[held_out, ] - predicted)^2)
      expect_close(one[[1L]]$cv_scores[2L, k, ] / want, rep(1, 3), 1e-9)
    }
  }
})

test_that("columns that are constant in training rows do no harm", {
  problem <- random_problem(40, 5, 3, seed = 44)
  X <- cbind(problem$X, 0.1, c(rep(0, 30), withr::with_seed(44, rnorm(10))))
  fit <- fit_quietly(X, problem$Y, alphas = ALPHAS, cv = 4, standardize = TRUE)
  plain <- fit_quietly(problem$X, problem$Y, alphas = ALPHAS, cv = 4, standardize = TRUE)
  expect_false(anyNA(fit$cv_scores))
  expect_close(fit$coefs[6L, ], rep(0, 3), 1e-12)
  # in the last fold both columns are constant in training
  expect_close(fit$cv_scores[4L, , ], plain$cv_scores[4L, , ])
})

test_that("scaled fits keep skipped targets, names, vectors and single precision", {
  problem <- random_problem(30, 6, 4, seed = 45)
  X <- problem$X
  Y <- problem$Y
  dimnames(X) <- list(NULL, letters[1:6])
  dimnames(Y) <- list(paste0("s", 1:30), paste0("v", 1:4))
  want <- fit_quietly(X, Y, alphas = ALPHAS, standardize = TRUE)
  expect_identical(dimnames(want$coefs), list(letters[1:6], paste0("v", 1:4)))
  Y[2L, 3L] <- NA
  fit <- fit_quietly(X, Y, alphas = ALPHAS, standardize = TRUE, na_targets = "skip", return_cv_scores = "mean")
  expect_true(all(is.na(fit$coefs[, 3L])))
  expect_identical(fit$coefs[, -3L], want$coefs[, -3L])
  expect_close(fit$cv_scores[, -3L], apply(want$cv_scores, 2:3, mean)[, -3L], 1e-14)
  one <- fit_quietly(X, Y[, 1L], alphas = ALPHAS, standardize = TRUE)
  expect_null(dim(one$coefs))
  expect_identical(one$coefs, want$coefs[, 1L])
  none <- fit_quietly(X, Y[, 1L], standardize = TRUE, return_coefs = "none", return_cv_scores = "none")
  expect_null(none$coefs)
  expect_null(none$cv_scores)
  single <- fit_quietly(X, Y[, -3L], alphas = ALPHAS, standardize = TRUE, precision = "single")
  expect_close(single$coefs, want$coefs[, -3L], 1e-4)
})

test_that("bad input is refused with the user's call", {
  problem <- random_problem(30, 6, 4, seed = 46)
  X <- problem$X
  Y <- problem$Y
  expect_refused(fit_ridge(X, Y, standardize = NA), "standardize")
  expect_refused(fit_ridge(X, Y, keep = "all"), "keep")
  expect_refused(fit_ridge(X, Y, cv = "loo", standardize = TRUE), "standardize", "loo")
  expect_refused(fit_ridge(X, Y, cv = "gcv", standardize = TRUE), "standardize")
  expect_refused(fit_ridge(X, Y, standardize = TRUE, return_coefs = "dual"), "standardize", "dual")
  expect_refused(fit_ridge(X, Y, standardize = TRUE, local_alpha = FALSE, conservative = TRUE), "conservative")
  expect_refused(fit_ridge(X, Y, standardize = TRUE, cv = 30), "cv")
  expect_refused(fit_ridge(X, Y, alphas = -1), "alphas")
  expect_refused(fit_ridge(X, Y, score_func = "r"), "score_func")
  expect_refused(fit_ridge(X[-1L, ], Y), "Y", "29")
  expect_refused(fit_ridge(letters, Y), "X")
  for (standardize in c(FALSE, TRUE)) {
    cnd <- expect_refused(fit_ridge(replace(X, 2L, NA), Y, standardize = standardize), "X")
    expect_identical(as.character(conditionCall(cnd)[[1L]]), "fit_ridge")
    cnd <- expect_refused(fit_ridge(X, replace(Y, 2L, NA), standardize = standardize), "Y")
    expect_identical(as.character(conditionCall(cnd)[[1L]]), "fit_ridge")
  }
})

test_that("the messages", {
  skip_on_cran()
  local_reproducible_output(width = 120)
  problem <- random_problem(30, 6, 4, seed = 47)
  X <- problem$X
  Y <- problem$Y
  expect_snapshot(error = TRUE, {
    fit_ridge(X, Y, local_alph = TRUE)
    fit_ridge(X, Y, standardise = TRUE)
    fit_ridge(X, Y, seed = 1)
    fit_ridge(X, Y, 1, 5, "r2", TRUE, FALSE, "data", 1)
    fit_ridge(X, Y, cv = "loo", standardize = TRUE)
    fit_ridge(X, Y, standardize = TRUE, return_coefs = "dual")
  })
})
