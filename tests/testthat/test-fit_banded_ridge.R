ALPHAS <- c(0.1, 1, 10, 100)

test_that("the answer is that of the solver, field by field", {
  for (problem in band_problems()) {
    args <- list(problem$Xs, problem$Y, n_iter = 5, seed = 1, alphas = ALPHAS, cv = 4)
    expect_fields(do.call(fit_bands_quietly, args), do.call(band_quietly, c(args, fit_intercept = TRUE)))
  }
})

test_that("arguments of the solver are passed on, and a matrix with bands is taken", {
  problem <- random_bands(30, c(4, 6, 3), 4, seed = 2)
  Y <- problem$Y
  Y[3L, 2L] <- NA
  colnames(problem$X) <- paste0("f", 1:13)
  for (more in list(list(local_alpha = FALSE, return_coefs = "dual"),
                    list(jitter_alphas = TRUE, return_cv_scores = "none", conservative = TRUE))) {
    args <- c(list(problem$X, Y, bands = problem$bands, alphas = ALPHAS, cv = rep(1:5, 6), n_iter = 6, seed = 3,
                   na_targets = "skip", fit_intercept = FALSE), more)
    fit <- do.call(fit_bands_quietly, args)
    expect_fields(fit, do.call(band_quietly, args))
    expect_identical(fit$features, paste0("f", 1:13))
    expect_identical(fit$data$Xs, lapply(split(1:13, problem$bands), function(j) problem$X[, j]))
  }
})

test_that("the defaults are an intercept and the grid of the bands side by side", {
  problem <- random_bands(30, c(4, 6), 3, seed = 3)
  fit <- fit_bands_quietly(problem$Xs, problem$Y, n_iter = 3, seed = 1)
  expect_identical(fit$alphas, alpha_grid(problem$Xs))
  expect_true(fit$fit_intercept)
  expect_s3_class(fit, c("voxridge_banded_ridge", "voxridge_fit"), exact = TRUE)
  expect_identical(fit$dims, c(n = 30L, p = 10L, t = 3L))
  expect_identical(fit$data, list(Xs = problem$Xs, Y = problem$Y))
  expect_identical(fit[c("standardize", "coef_form", "score_func", "is_vector")],
                   list(standardize = FALSE, coef_form = "primal", score_func = "r2", is_vector = FALSE))
  expect_null(fit_bands_quietly(problem$Xs, problem$Y, n_iter = 3, keep = "none")$data)
  kept <- fit_bands_quietly(problem$Xs, problem$Y, n_iter = 3, keep = "none", return_coefs = "dual")$data
  expect_identical(kept, list(Xs = problem$Xs))
})

test_that("one band is plain ridge", {
  problem <- random_problem(30, 8, 4, seed = 4)
  plain <- fit_quietly(problem$X, problem$Y, alphas = ALPHAS)
  band <- fit_bands_quietly(list(all = problem$X), problem$Y, n_iter = 1, alphas = ALPHAS)
  for (name in c("best_alphas", "alphas", "folds", "features", "dims", "fit_intercept")) {
    expect_identical(band[[name]], plain[[name]])
  }
  for (name in c("coefs", "intercept", "scores")) expect_close(band[[name]], plain[[name]])
  expect_close(predict(band, problem$X), predict(plain, problem$X))
  expect_close(held_out_predictions(band), held_out_predictions(plain))
})

test_that("the scores are those of the chosen candidate", {
  problem <- random_bands(30, c(4, 6), 5, seed = 5)
  fit <- fit_bands_quietly(problem$Xs, problem$Y, n_iter = 8, seed = 1)
  expect_identical(fit$scores, fit$cv_scores[cbind(fit$diagnostics$gamma_index, 1:5)])
  expect_identical(fit$scores, apply(fit$cv_scores, 2L, max))
  one <- fit_bands_quietly(problem$Xs, problem$Y[, 2L], n_iter = 8, seed = 1)
  expect_identical(one$scores, max(one$cv_scores))
  expect_null(fit_bands_quietly(problem$Xs, problem$Y, n_iter = 2, return_cv_scores = "none")$scores)
})

test_that("variance can be split and unique variance be found, with dual coefficients too", {
  problem <- random_bands(30, c(4, 6), 4, seed = 6)
  args <- list(problem$Xs, problem$Y, n_iter = 5, seed = 1)
  fit <- do.call(fit_bands_quietly, args)
  dual <- do.call(fit_bands_quietly, c(args, return_coefs = "dual"))
  solved <- do.call(band_quietly, c(args, list(alphas = fit$alphas, fit_intercept = TRUE)))
  want <- r2_split(solved, problem$Xs, problem$Y)
  expect_identical(r2_split(fit, problem$Xs, problem$Y), want)
  expect_identical(r2_split(fit, problem$X, problem$Y, bands = problem$bands), want)
  expect_close(r2_split(dual, problem$Xs, problem$Y), want)
  want <- r2_unique(solved, problem$Xs, problem$Y)
  expect_identical(r2_unique(fit, problem$Xs, problem$Y), want)
  expect_identical(r2_unique(dual, problem$Xs, problem$Y), want)
  none <- do.call(fit_bands_quietly, c(args, return_coefs = "none"))
  expect_refused(r2_split(none, problem$Xs, problem$Y), "fit")
  forgotten <- dual
  forgotten["data"] <- list(NULL)
  expect_error(r2_split(forgotten, problem$Xs, problem$Y), class = "voxridge_error_no_data")
})

test_that("bad input is refused with the user's call", {
  problem <- random_bands(30, c(4, 6), 3, seed = 7)
  Xs <- problem$Xs
  Y <- problem$Y
  expect_refused(fit_banded_ridge(unname(Xs), Y), "Xs")
  expect_refused(fit_banded_ridge(prepare_ridge(problem$X), Y), "Xs")
  expect_refused(fit_banded_ridge(problem$X, Y), "bands")
  expect_refused(fit_banded_ridge(Xs, Y[-1L, ]), "Y", "29")
  expect_refused(fit_banded_ridge(Xs, Y, keep = TRUE), "keep")
  expect_refused(fit_banded_ridge(Xs, Y, fit_intercept = NA), "fit_intercept")
  expect_refused(fit_banded_ridge(Xs, Y, n_iters = 5), "n_iters", "n_iter")
  expect_refused(fit_banded_ridge(Xs, Y, conservative = TRUE, local_alpha = FALSE), "conservative")
  for (call in list(quote(fit_banded_ridge(Xs, replace(Y, 1L, NA))), quote(fit_banded_ridge(Xs, Y, n_iter = 0)),
                    quote(fit_banded_ridge(list(a = Xs[[1L]], b = replace(Xs[[2L]], 1L, Inf)), Y)))) {
    cnd <- expect_error(eval(call), class = "voxridge_error")
    expect_identical(as.character(conditionCall(cnd)[[1L]]), "fit_banded_ridge")
  }
})
