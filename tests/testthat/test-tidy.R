tidy_fit <- function() {
  problem <- random_bands(30, c(4, 6), 5, seed = 1)
  Y <- problem$Y
  dimnames(Y) <- list(paste0("s", 1:30), paste0("v", 1:5))
  Y[, 2L] <- 3
  Y[2L, 4L] <- NA
  problem$Y <- Y
  problem$plain <- fit_quietly(problem$X, Y, alphas = c(100, 1, 1e4), na_targets = "skip", cv = 3)
  problem$bands <- fit_bands_quietly(problem$Xs, Y, na_targets = "skip", n_iter = 6, seed = 1, alphas = 10^(0:3))
  problem
}

test_that("one row per target", {
  p <- tidy_fit()
  for (fit in p[c("plain", "bands")]) {
    got <- tidy(fit)
    expect_named(got, c("target", "alpha", "score", "at_edge", "status"))
    expect_identical(got$target, paste0("v", 1:5))
    expect_identical(got$alpha, unname(fit$best_alphas))
    expect_identical(got$score, unname(fit$scores))
    expect_identical(got$status, c("ok", "constant", "ok", "skipped", "ok"))
    chosen <- unname(fit$best_alphas)
    expect_identical(got$at_edge, !is.na(chosen) & (chosen == min(fit$alphas) | chosen == max(fit$alphas)))
    counted <- got[got$status == "ok", ]
    expect_equal(mean(counted$at_edge), sum(fit$diagnostics$share_at_edge))
  }
  one <- tidy(fit_quietly(p$X, p$Y[, 1L], alphas = 2, return_cv_scores = "none"))
  expect_identical(one, data.frame(target = 1L, alpha = 2, score = NA_real_, at_edge = NA, status = "ok"))
})

test_that("one row per coefficient", {
  p <- tidy_fit()
  got <- tidy(p$plain, "coefs")
  expect_identical(got, data.frame(target = rep(paste0("v", 1:5), each = 10), term = rep(1:10, 5),
                                   estimate = as.vector(coef(p$plain))))
  got <- tidy(p$bands, "coefs")
  expect_named(got, c("target", "term", "band", "estimate"))
  expect_identical(got$band[1:10], rep(c("motion", "words"), c(4, 6)))
  dual <- fit_quietly(p$X, p$Y[, 1L], return_coefs = "dual")
  expect_identical(tidy(dual, "coefs")$estimate, coef(dual))
  expect_refused(tidy(fit_quietly(p$X, p$Y[, 1L], return_coefs = "none"), "coefs"), "x")
})

test_that("one row per band and target, shares sum to 1", {
  p <- tidy_fit()
  got <- tidy(p$bands, "bands")
  expect_named(got, c("target", "band", "gamma", "penalty", "weight"))
  expect_identical(got$gamma, as.vector(p$bands$gammas))
  expect_identical(got$penalty, as.vector(p$bands$penalties))
  expect_identical(got$band, rep(c("motion", "words"), 5))
  expect_equal(tapply(got$weight, got$target, sum)[c("v1", "v3", "v5")], c(v1 = 1, v3 = 1, v5 = 1), ignore_attr = TRUE)
  one <- fit_bands_quietly(p$Xs, p$Y[, 1L], n_iter = rbind(c(1, 3)))
  expect_identical(tidy(one, "bands")$weight, c(0.25, 0.75))
  expect_refused(tidy(p$plain, "bands"), "what", "fit_banded_ridge")
  expect_refused(tidy(p$plain, "alphas"), "what")
  expect_error(tidy(p$plain, conf.int = TRUE))
})

test_that("one row per model", {
  p <- tidy_fit()
  counted <- c(1L, 3L, 5L)
  for (fit in p[c("plain", "bands")]) {
    got <- glance(fit)
    expect_identical(dim(got), c(1L, 17L))
    expect_identical(unlist(got[c("n", "p", "t", "n_constant", "n_skipped")]),
                     c(n = 30L, p = 10L, t = 5L, n_constant = 1L, n_skipped = 1L))
    scores <- unname(fit$scores[counted])
    expect_identical(unlist(got[paste0("score_", c("mean", "median", "min", "max"))], use.names = FALSE),
                     c(mean(scores), stats::median(scores), min(scores), max(scores)))
    expect_identical(got$alpha_median, stats::median(unname(fit$best_alphas[counted])))
    expect_identical(c(got$share_smallest, got$share_largest), unname(fit$diagnostics$share_at_edge))
    expect_identical(got$precision, "double")
    expect_identical(got$score_func, "r2")
  }
  expect_identical(glance(p$plain)$n_folds, 3L)
  expect_identical(glance(fit_quietly(p$X, p$Y[, 1L], cv = "loo"))$n_folds, 1L)
  expect_error(glance(p$plain, 1))
})

test_that("one row per sample and target", {
  p <- tidy_fit()
  for (fit in p[c("plain", "bands")]) {
    got <- augment(fit)
    expect_named(got, c("sample", "target", ".observed", ".fitted", ".resid"))
    expect_identical(got$sample, rep(paste0("s", 1:30), 5))
    expect_identical(got$target, rep(paste0("v", 1:5), each = 30))
    expect_identical(got$.observed, as.vector(p$Y))
    expect_identical(got$.fitted, as.vector(fitted(fit)))
    expect_identical(got$.resid, as.vector(residuals(fit)))
  }
  new <- p$X[1:3, ]
  got <- augment(p$plain, new)
  expect_identical(got$.fitted, as.vector(predict(p$plain, new)))
  expect_identical(got$sample, rep(1:3, 5))
  expect_true(all(is.na(got$.observed) & is.na(got$.resid)))
  with <- augment(p$plain, new, p$Y[1:3, 5:1])
  expect_identical(with$.observed, as.vector(p$Y[1:3, ]))
  expect_identical(with$.resid, with$.observed - with$.fitted)
  one <- augment(fit_quietly(p$X, p$Y[, 1L]))
  expect_identical(dim(one), c(30L, 5L))
  expect_identical(one$sample, paste0("s", 1:30))
  expect_refused(augment(p$plain, Y = p$Y), "Y", "newdata")
  expect_error(augment(p$plain, new[, -1L]), class = "voxridge_error_newdata")
  expect_refused(augment(p$plain, new, p$Y), "Y", "30")
})

test_that("tables over half of the free memory are refused", {
  huge <- core_memory_available()
  skip_if(is.na(huge))
  expect_error(check_table_memory(huge / 8, 3, rlang::current_env()), "rows", class = "voxridge_error_memory")
  expect_silent(check_table_memory(10, 3, rlang::current_env()))
})
