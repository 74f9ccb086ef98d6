# The wording of what people meet most. Sizes of this machine do not appear.

test_that("wrong data", {
  X <- matrix(0.5, 300, 4)
  Y <- matrix(0.5, 300, 2)
  bad_X <- X
  bad_X[3L, 2:4] <- NA
  bad_Y <- Y
  bad_Y[1L, 2L] <- Inf
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y[-1L, ]))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, t(Y)))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, 1:299))
  expect_snapshot(error = TRUE, solve_ridge_cv(bad_X, Y))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, bad_Y))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, bad_Y[, 2L]))
  expect_snapshot(error = TRUE, solve_ridge_cv(X[, 0L], Y))
  expect_snapshot(error = TRUE, solve_ridge_cv(X[, 1L], Y))
  expect_snapshot(error = TRUE, solve_ridge_cv(data.frame(a = 1:3, b = letters[1:3]), Y[1:3, ]))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, factor(rep(c("face", "house"), 150))))
})

test_that("wrong penalties and folds", {
  X <- matrix(0.5, 20, 4)
  Y <- matrix(0.5, 20, 2)
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, alphas = c(1, -1)))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, alphas = NULL))
  expect_snapshot(error = TRUE, cross_val_predict_ridge(X, Y, alphas = 1:3))
  expect_snapshot(error = TRUE, cross_val_predict_ridge(X, Y))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, cv = 21))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, cv = "k"))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, cv = rep("run1", 20)))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, cv = c(NA, rep(1:2, length.out = 19))))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, cv = list(1:10, 10:19)))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, cv = list(list(train = 1:10, test = 10:12))))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, cv = 20))
  expect_snapshot(error = TRUE, cross_val_predict_ridge(X, Y, alphas = 1, cv = "gcv"))
})

test_that("wrong settings", {
  X <- matrix(0.5, 20, 4)
  Y <- matrix(0.5, 20, 2)
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, score_func = "R2"))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, return_coefs = "all"))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, fit_intercept = 1))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, n_threads = 0))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, conservative = TRUE, local_alpha = FALSE))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, max_gpu_memory_gb = 4))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, score_func = function(y_true, y_pred) 1:3))
  expect_snapshot(error = TRUE, cv_folds(1:10, k = 11))
  expect_snapshot(error = TRUE, cv_folds(1:10, seed = 1))
  expect_snapshot(error = TRUE, alpha_grid(X))
  expect_snapshot(error = TRUE, simulate_encoding(n = 10, p = 3, t = 2, n_delays = 2))
  skip_if(check_gpu_available()$available)
  # the reason is that of the machine
  expect_snapshot(error = TRUE, solve_ridge_cv(X, Y, device = "gpu"),
                  transform = function(lines) sub("(not \"gpu\": ).*", "\\1<reason>", lines))
})

test_that("wrong runs, delays and events", {
  X <- matrix(0.5, 20, 4)
  Y <- matrix(0.5, 20, 2)
  runs <- rep(1:2, each = 10)
  events <- data.frame(onset = c(3, 12, 45), duration = c(0, -1, 2), run = c(1, 1, 2))
  expect_snapshot(error = TRUE, delay_features(X, 1:4, rep(1:4, 5)))
  expect_snapshot(error = TRUE, delay_features(X, c(0, 10), runs))
  expect_snapshot(error = TRUE, delay_features(X, 0.5))
  expect_snapshot(error = TRUE, clean_runs(Y))
  expect_snapshot(error = TRUE, clean_runs(Y, 1:2))
  expect_snapshot(error = TRUE, clean_runs(Y, runs, detrend = 9))
  expect_snapshot(error = TRUE, clean_runs(Y, runs, scale = "z", reference = 1:5))
  expect_snapshot(error = TRUE, solve_ridge_cv(X, clean_runs(Y, runs), cv = 4))
  expect_snapshot(error = TRUE, solve_ridge_cv(clean_runs(X, runs), Y, cv = "loo"))
  expect_snapshot(error = TRUE, feature_spaces(motion = X, X))
  expect_snapshot(error = TRUE, feature_spaces(motion = X)["word"])
  expect_snapshot(error = TRUE, feature_spaces(motion = X)[30, ])
  expect_snapshot(error = TRUE, convolve_hrf(events, c(20, 30), 2))
  expect_snapshot(error = TRUE, convolve_hrf(events[-2L, ], c(20, 20), 2))
  expect_snapshot(error = TRUE, convolve_hrf(events[-2L, ], 20, 2))
  expect_snapshot(error = TRUE, convolve_hrf(events["onset"], 20, 2))
  expect_snapshot(error = TRUE, convolve_hrf("sub-01_events.tsv", 20, 2))
})

test_that("wrong outcomes, forecasts and weights", {
  p <- c(0.2, 0.9, 0.4)
  expect_snapshot(error = TRUE, log_loss(c(-1, 1, 1), p))
  expect_snapshot(error = TRUE, log_loss(c(1, 2, 2), p))
  expect_snapshot(error = TRUE, log_loss(c("no", "yes", "no"), p))
  expect_snapshot(error = TRUE, log_loss(factor(c("a", "b", "c")), p))
  expect_snapshot(error = TRUE, log_loss(c(0, 3, 5), p))
  expect_snapshot(error = TRUE, log_loss(cbind(c(3, 4, 0), c(1, 0, 2)), p))
  expect_snapshot(error = TRUE, log_loss(factor(c("a", "b", "a")), p, positive = "c"))
  expect_snapshot(error = TRUE, brier_score(c(0, NA, 1), p))
  expect_snapshot(error = TRUE, brier_score(c(0, 1, 1), c(0.2, -1.5, 3)))
  expect_snapshot(error = TRUE, brier_score(c(0, 1, 1), p[-1L]))
  expect_snapshot(error = TRUE, brier_score(c(0, 1, 1), p, bins = 2))
  expect_snapshot(error = TRUE, auc(c(0, 1, 1), p, weights = c(1, -1, NA)))
  expect_snapshot(error = TRUE, auc(c(0, 1, 1), p, weights = c(0, 0, 0)))
  expect_snapshot(error = TRUE, prior_correct(p, from = 0.5, to = 3.35))
  expect_snapshot(error = TRUE, decision_threshold(cost_fp = 0, cost_fn = 1))
  expect_snapshot(error = TRUE, stable_sigmoid("a"))
  expect_snapshot(auc(c(0, 0, 0), p))
})

test_that("warnings", {
  problem <- random_problem(30, 4, 20, seed = 1)
  expect_snapshot(invisible(solve_ridge_cv(problem$X, problem$Y, alphas = c(1e-9, 1e-8))))
  expect_snapshot(invisible(cv_folds(rep(c("a", "b"), c(10, 2)), k = 4, stratify = TRUE)))
})

test_that("every condition has a class of the package, the particular one first", {
  cnd <- rlang::catch_cnd(solve_ridge_cv(diag(30), diag(29)))
  expect_identical(class(cnd)[1:2], c("voxridge_error_shape", "voxridge_error"))
  problem <- random_problem(30, 4, 20, seed = 1)
  cnd <- rlang::catch_cnd(solve_ridge_cv(problem$X, problem$Y, alphas = c(1e-9, 1e-8)))
  expect_identical(class(cnd)[1:2], c("voxridge_warning_alpha_at_edge", "voxridge_warning"))
})

test_that("a result over half of the free memory is refused before any work", {
  skip_if(is.na(core_memory_available()))
  t <- 1e6
  p <- ceiling(core_memory_available() / 8 / t)
  X <- matrix(0.5, 2, p)
  Y <- matrix(0.5, 2, t)
  start <- proc.time()[["elapsed"]]
  cnd <- expect_error(solve_ridge_cv(X, Y, cv = 2, score_func = "neg_mse"), "GB", class = "voxridge_error_memory")
  expect_lt(proc.time()[["elapsed"]] - start, 1)
  expect_match(conditionMessage(cnd), "return_coefs")
})
