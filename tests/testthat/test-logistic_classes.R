# Class weights, priors, classes that a plane separates, and targets that are left out.

test_that("class weights are weights of the rows of a class", {
  d <- two_classes(40, 5, 151)
  y <- as.integer(d$X[, 1L] > 0.8)
  set.seed(152)
  weights <- stats::runif(40)
  class <- c(sum(weights[y == 0]), sum(weights[y == 1]))
  balanced <- logistic_quietly(d$X, y, lambda = 0.05, weights = weights, class_weights = "balanced")
  expect_oracle(balanced, logistic_oracle(d$X, y, 0.05, weights / class[y + 1L]))
  expect_close(balanced$prevalence, 0.5, 1e-14)
  expect_close(balanced$weight_sum, sum(weights), 1e-14)
  expect_close(balanced$null_loss, logistic_quietly(d$X, y, lambda = 0.05, weights = weights)$null_loss, 1e-14)
  named <- logistic_quietly(d$X, y, lambda = 0.05, weights = weights, class_weights = c("1" = 5, "0" = 2))
  expect_oracle(named, logistic_oracle(d$X, y, 0.05, weights * c(2, 5)[y + 1L]))
  expect_close(named$C, 1 / (0.05 * sum(weights * c(2, 5)[y + 1L])), 1e-13)
  labels <- factor(c("b", "a")[y + 1L], levels = c("b", "a"))
  swapped <- logistic_quietly(d$X, labels, lambda = 0.05, weights = weights, positive = "b",
                              class_weights = c(a = 5, b = 2))
  expect_close(swapped$coefs, -named$coefs, 1e-7)
})

test_that("class weights of several targets are those of each alone", {
  d <- two_classes(40, 5, 161)
  Y <- cbind(a = as.integer(d$X[, 1L] > 0.8), b = d$y, c = as.integer(d$X[, 2L] > -1))
  offset <- matrix(sin(1:120), 40)
  for (class_weights in list("balanced", c("0" = 1, "1" = 3))) {
    all <- logistic_quietly(d$X, Y, lambda = c(1, 0.1, 0.01), cv = 4, class_weights = class_weights, offset = offset,
                            keep_path = TRUE, keep_history = TRUE)
    for (j in 1:3) {
      # the folds of one target are cut within its classes; those of several are blocks
      one <- logistic_quietly(d$X, Y[, j], lambda = c(1, 0.1, 0.01), cv = rep(1:4, each = 10),
                              class_weights = class_weights, offset = offset[, j], keep_path = TRUE)
      expect_close(all$coefs[, j], one$coefs, 1e-10)
      expect_close(all$cv$scores[, , j], one$cv$scores, 1e-10)
      expect_close(all$cv$predictions[, j], one$cv$predictions, 1e-9)
      expect_close(all$path$coefs[, , j], one$path$coefs, 1e-10)
      expect_identical(all$best_lambda[[j]], one$best_lambda)
      expect_identical(all$scale[, j], one$scale)
      expect_identical(all$center[, j], one$center)
      expect_identical(all$diagnostics$table$bound[3 * (j - 1) + 1:3], one$diagnostics$table$bound)
    }
    expect_length(all$diagnostics$history, 9L)
  }
  expect_refused(fit_logistic_ridge(d$X, Y, cv = 4, class_weights = "balanced", local_lambda = FALSE), "local_lambda",
                 "class_weights")
})

test_that("`prior` shifts the intercept by the difference of logits, and nothing else", {
  d <- two_classes(60, 4, 171)
  y <- as.integer(d$X[, 1L] > 1)
  plain <- logistic_quietly(d$X, y, lambda = c(0.1, 0.01), cv = 3, class_weights = "balanced")
  shifted <- logistic_quietly(d$X, y, lambda = c(0.1, 0.01), cv = 3, class_weights = "balanced", prior = 0.03)
  expect_identical(shifted$coefs, plain$coefs)
  expect_identical(shifted$cv, plain$cv)
  expect_close(shifted$prior_shift, log(0.03 / 0.97), 1e-13)
  expect_close(shifted$intercept, plain$intercept + log(0.03 / 0.97), 1e-13)
  expect_identical(plain$prior_shift, 0)
  Y <- cbind(u = y, v = d$y)
  two <- logistic_quietly(d$X, Y, lambda = 0.1, prior = c(0.2, 0.6))
  base <- logistic_quietly(d$X, Y, lambda = 0.1)
  want <- stats::qlogis(c(0.2, 0.6)) - stats::qlogis(colMeans(Y))
  expect_close(two$intercept - base$intercept, want, 1e-13)
  expect_named(two$prior_shift, c("u", "v"))
})

test_that("at a prevalence of 3.35 % balanced forecasts of mean 0.377 come down to the prevalence with its prior", {
  n <- 20000
  set.seed(181)
  x <- stats::rnorm(n)
  prevalence <- function(b) mean(stats::plogis(b + x)) - 0.0335
  b <- stats::uniroot(prevalence, c(-10, 0), tol = 1e-12)$root
  y <- stats::rbinom(n, 1, stats::plogis(b + x))
  balanced <- logistic_quietly(cbind(x), y, lambda = 1e-4, class_weights = "balanced")
  deployed <- logistic_quietly(cbind(x), y, lambda = 1e-4, class_weights = "balanced", prior = mean(y))
  mean_forecast <- function(fit) mean(stats::plogis(x * fit$coefs + fit$intercept))
  expect_gt(mean_forecast(balanced), 0.3)
  expect_lt(abs(mean_forecast(deployed) - mean(y)), 0.002)
  # the ratio upside down
  expect_gt(mean(stats::plogis(x * balanced$coefs + balanced$intercept - deployed$prior_shift)), 0.8)
})

# ---- separation ------------------------------------------------------------------------------

test_that("separable classes are flagged, without the offset, and never more than that", {
  x <- c(-2, -1, -0.5, 0.4, 1, 3)
  y <- c(0, 0, 0, 1, 1, 1)
  expect_message(fit <- fit_logistic_ridge(cbind(x), y, lambda = 0.01, progress = FALSE),
                 class = "voxridge_message_separable")
  expect_true(fit$diagnostics$chosen$separable)
  z <- x * fit$coefs + fit$intercept
  expect_close(fit$diagnostics$chosen$margin, min(abs(z)), 1e-12)
  expect_true(all(is.finite(fit$coefs)))
  slopes <- vapply(10^-(2:6), function(l) logistic_quietly(cbind(x), y, lambda = l)$coefs, 0)
  expect_true(all(diff(slopes) > 0) && all(is.finite(slopes)))
  # an offset larger than the margin, both ways: the certificate is about X
  for (sign in c(-1, 1)) {
    with_offset <- logistic_quietly(cbind(x), y, lambda = 1e-3, offset = sign * 0.5 * (2 * y - 1))
    plane <- x * with_offset$coefs + with_offset$intercept
    expect_identical(with_offset$diagnostics$chosen$margin > 0, min((2 * y - 1) * plane) > 0)
    expect_close(with_offset$diagnostics$chosen$margin, min((2 * y - 1) * plane), 1e-9)
    expect_true(with_offset$diagnostics$chosen$separable)
  }
  shifted <- logistic_quietly(cbind(x), y, lambda = 0.01, prior = 0.001)
  expect_identical(shifted$diagnostics$chosen$margin, fit$diagnostics$chosen$margin)
  mixed <- c(0, 0, 1, 0, 1, 1)
  expect_silent(crossed <- fit_logistic_ridge(cbind(x), mixed, lambda = 0.01, progress = FALSE))
  expect_identical(crossed$diagnostics$chosen$separable, NA)
  # a row without weight, and one of both outcomes
  without <- logistic_quietly(cbind(x), mixed, lambda = 0.01, weights = c(1, 1, 0, 0, 1, 1))
  expect_true(without$diagnostics$chosen$separable)
  both <- logistic_quietly(cbind(x), c(0, 0, 0.5, 1, 1, 1), lambda = 0.01)
  expect_identical(both$diagnostics$chosen$separable, NA)
  wide <- two_classes(10, 30, 191)
  expect_silent(fit_logistic_ridge(wide$X, wide$y, lambda = 1e-3, progress = FALSE))
})

test_that("logits as far as 700 and offsets of 1e6 do not stop Newton's method", {
  x <- cbind(c(-3, -2, -1, 1, 2, 3))
  y <- c(0, 0, 0, 1, 1, 1)
  for (solver in SOLVERS) {
    far <- logistic_quietly(x, y, lambda = 0.1, offset = 300 * (2 * y - 1), solver = solver)
    expect_lt(abs(far$coefs), 1e-125)
    expect_gt(abs(far$coefs), 1e-135)
    wrong <- logistic_quietly(x, y, lambda = 0.1, offset = -700 * (2 * y - 1), solver = solver)
    # all forecasts are wrong and certain: residuals are the weights, and coefs = sum of w (2y - 1) x, over lambda
    expect_close(wrong$coefs, 2 / (0.1 * mean(x^2)), 1e-9)
    expect_close(wrong$intercept, 0, 1e-9)
    one <- logistic_quietly(x, y, lambda = 0.1, offset = rep(1e6, 6), solver = solver)
    none <- logistic_quietly(x, y, lambda = 0.1, solver = solver)
    expect_close(one$coefs, none$coefs, 1e-7)
    expect_close(one$intercept + 1e6, none$intercept, 1e-7)
  }
})

test_that("offsets that saturate all logits on the wrong side of unequal classes leave the root to be found", {
  set.seed(192)
  x <- cbind(stats::rnorm(5))
  y <- c(0, 0, 1, 1, 1)
  # the two negatives weigh as much as they can: what remains is the same problem for any such offset
  want <- logistic_quietly(x, y, lambda = 0.1, offset = -40 * (2 * y - 1))
  for (far in c(200, 300, 700, 1e5)) {
    for (solver in SOLVERS) {
      fit <- logistic_quietly(x, y, lambda = 0.1, offset = -far * (2 * y - 1), solver = solver)
      expect_close(fit$coefs, want$coefs, 1e-6)
      expect_close(fit$intercept - far, want$intercept - 40, 1e-6)
      expect_lte(fit$diagnostics$chosen$bound, 1e-7)
    }
  }
})

# ---- targets that are left out ---------------------------------------------------------------

test_that("targets with missing values or a single class are refused, or NA with one warning", {
  d <- two_classes(30, 4, 201)
  Y <- cbind(a = d$y, b = NA, c = 1, d = 1 - d$y)
  one <- logistic_quietly(d$X, Y[, c("a", "d")], lambda = c(1, 0.1), cv = 3)
  warnings <- character()
  fit <- withCallingHandlers(
    logistic_quietly(d$X, Y, lambda = c(1, 0.1), cv = 3, na_targets = "skip", keep_path = TRUE),
    warning = function(w) {
      warnings <<- c(warnings, class(w)[1L])
      invokeRestart("muffleWarning")
    }
  )
  expect_identical(warnings, "voxridge_warning_single_class")
  expect_identical(fit$coefs[, c("a", "d")], one$coefs)
  expect_true(all(is.na(fit$coefs[, c("b", "c")])))
  for (name in c("intercept", "best_lambda", "final_loss", "iterations", "converged", "C")) {
    expect_identical(is.na(unname(fit[[name]])), c(FALSE, TRUE, TRUE, FALSE), info = name)
  }
  expect_identical(colSums(is.na(fit$cv$predictions)), c(a = 0, b = 30, c = 30, d = 0))
  expect_true(all(is.na(fit$cv$mean[, c("b", "c")])))
  expect_identical(fit$diagnostics$skipped_targets, 2:3)
  expect_identical(fit$diagnostics$chosen$target, c("a", "d"))
  shared <- suppressWarnings(logistic_quietly(d$X, Y, lambda = c(1, 0.1), cv = 3, na_targets = "skip",
                                              local_lambda = FALSE))
  expect_identical(is.na(unname(shared$best_lambda)), c(FALSE, TRUE, TRUE, FALSE))
  none <- suppressWarnings(logistic_quietly(d$X, Y[, c("b", "c")], na_targets = "skip"))
  expect_true(all(is.na(none$coefs)))
  expect_identical(nrow(none$diagnostics$table), 0L)
  balanced <- suppressWarnings(logistic_quietly(d$X, Y, na_targets = "skip", class_weights = "balanced"))
  expect_identical(unname(is.na(balanced$intercept)), c(FALSE, TRUE, TRUE, FALSE))
})
