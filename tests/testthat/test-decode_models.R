# Ridge by a function of the user.
ridge_function <- function(alpha) {
  function(X_train, y_train, X_test) {
    C <- nlevels(y_train)
    codes <- plain_codes(as.integer(y_train), C)
    cbind(1, X_test) %*% plain_ridge(X_train, codes, alpha)
  }
}

test_that("a function that is ridge gives what ridge gives, at any location, scaling and with permutations", {
  for (n_classes in 2:3) {
    d <- class_problem(n_runs = 4, n_classes = n_classes, per_class = 2, p = 18, signal = 0.5)
    mask <- brain_mask(array(1, c(3, 3, 2)), affine = diag(c(2, 2, 2, 1)))
    for (where in list(whole_brain(), roi(rep(0:2, 6)), searchlight(mask, 3, centers = c(7, 2)))) {
      for (scale in c("none", "fold", "global")) {
        run <- function(...) {
          muffle_decode(decode_quietly(d$X, d$y, cv = d$runs, where = where, scale = scale, keep_predictions = TRUE,
                                       metrics = c("accuracy", "auc"), n_permutations = 4, seed = 1, ...))
        }
        got <- run(model = ridge_function(3))
        want <- run(alphas = 3)
        for (what in c("scores", "pooled", "decision", "max_null", "null_mean")) expect_close(got[[what]], want[[what]])
        for (what in c("predictions", "size", "failures", "counts", "p_fwer", "excluded")) {
          expect_equal(got[[what]], want[[what]], info = what)
        }
        expect_null(got$weights)
        expect_null(got$alphas)
      }
    }
  }
})

test_that("regression by a function", {
  d <- random_problem(20, 6, 1, 1)
  ls <- function(X_train, y_train, X_test) cbind(1, X_test) %*% plain_ridge(X_train, cbind(y_train), 1)
  got <- decode_quietly(d$X, d$Y[, 1L], cv = 4, model = ls, metrics = c("r", "mse"), n_permutations = 5, seed = 1)
  want <- decode_quietly(d$X, d$Y[, 1L], cv = 4, metrics = c("r", "mse"), n_permutations = 5, seed = 1)
  expect_close(got$predictions, want$predictions)
  expect_close(got$score, want$score)
  expect_equal(got$counts, want$counts)
  expect_close(got$max_null, want$max_null)
})

test_that("answers may be classes, numbers or a column per class", {
  d <- class_problem(n_runs = 4, n_classes = 2, per_class = 2, p = 5)
  ridge <- ridge_function(1)
  want <- decode_quietly(d$X, d$y, cv = d$runs)
  forms <- list(
    function(...) factor(c("a", "b")[1 + (ridge(...) > 0)]),
    function(...) c("a", "b")[1 + (ridge(...) > 0)],
    function(...) as.vector(ridge(...)),
    function(...) cbind(-ridge(...), ridge(...))
  )
  for (form in forms) {
    got <- decode_quietly(d$X, d$y, cv = d$runs, model = form)
    expect_identical(got$predictions, want$predictions)
  }
  three <- class_problem(n_runs = 4, p = 5)
  named <- function(...) letters[max.col(ridge(...))]
  expect_identical(decode_quietly(three$X, three$y, cv = three$runs, model = named)$predictions,
                   decode_quietly(three$X, three$y, cv = three$runs)$predictions)
})

test_that("errors of a function are recorded, and the run goes on", {
  d <- class_problem(n_runs = 4, p = 12)
  where <- roi(rep(1:3, c(2, 4, 6)))
  fails <- function(X_train, y_train, X_test) {
    if (ncol(X_train) == 4L) rlang::abort("four {voxels}")
    ridge_function(1)(X_train, y_train, X_test)
  }
  got <- decode_quietly(d$X, d$y, cv = d$runs, where = where, model = fails, n_permutations = 3, seed = 1)
  expect_identical(got$failures, data.frame(location = 2L, fold = 1L, reason = "user_error", detail = "four {voxels}"))
  expect_identical(unname(is.na(got$score[, 1L])), c(FALSE, TRUE, FALSE))
  expect_identical(unname(is.na(got$p[, 1L])), c(FALSE, TRUE, FALSE))
  expect_true(all(is.na(got$predictions[, 2L])))
  want <- decode_quietly(d$X, d$y, cv = d$runs, where = where)
  expect_close(got$score[-2L, 1L], want$score[-2L, 1L])
  expect_s3_class(
    expect_refused(decode_quietly(d$X, d$y, cv = d$runs, model = function(a, b, c) stop("no {luck}")), "where",
                   c("user_error", "no \\{luck\\}")), "voxridge_error_no_location"
  )
  wrong <- list(function(a, b, c) 1:2, function(a, b, c) rep("z", nrow(c)), function(a, b, c) rep(NA_real_, nrow(c)),
                function(a, b, c) NULL, function(a, b, c) matrix(0, nrow(c), 2))
  for (model in wrong) expect_refused(decode_quietly(d$X, d$y, cv = d$runs, model = model), "where", "must return")
})

test_that("logistic regression is that of fit_logistic_ridge(), fold by fold", {
  for (n_classes in 2:3) {
    d <- class_problem(n_runs = 4, n_classes = n_classes, per_class = 3, p = 5, signal = 0.7)
    got <- decode_quietly(d$X, d$y, cv = d$runs, model = "logistic", alphas = 2, metrics = c("accuracy", "auc"))
    for (run in 1:4) {
      train <- d$runs != run
      classes <- if (n_classes == 2L) "b" else c("a", "b", "c")
      want <- vapply(classes, function(class) {
        fit <- logistic_quietly(d$X[train, ], d$y[train] == class, lambda = 2 / sum(train), standardize = FALSE)
        drop(d$X[!train, ] %*% fit$coefs) + fit$intercept
      }, numeric(sum(!train)))
      expect_close(got$decision[!train, ], if (n_classes == 2L) want[, 1L] else want, 1e-6)
    }
    whole <- logistic_quietly(d$X, d$y == "b", lambda = 2 / nrow(d$X), standardize = FALSE)
    expect_close(got$weights[, "b"], whole$coefs, 1e-6)
    expect_identical(dim(got$fold_weights), c(5L, length(got$levels[got$levels %in% colnames(got$weights)]), 4L))
  }
})

test_that("logistic weights are in the units of X under any scaling", {
  d <- class_problem(n_runs = 4, n_classes = 2, per_class = 3, p = 4)
  X <- sweep(d$X, 2L, c(1, 10, 0.1, 3), "*") + 2
  for (scale in c("none", "fold", "global")) {
    got <- muffle_decode(decode_quietly(X, d$y, cv = d$runs, model = "logistic", scale = scale))
    # the held-out decisions of a fold differ from its weights by a constant
    for (run in 1:4) {
      rest <- got$decision[d$runs == run, 1L] - X[d$runs == run, ] %*% got$fold_weights[, 1L, run]
      expect_lt(diff(range(rest)), 1e-9)
    }
    signal <- X %*% got$weights
    want <- stats::cov(X) %*% got$weights / stats::var(signal)[1L]
    expect_close(got$patterns, want, 1e-9)
  }
})

test_that("logistic penalties are chosen in each training set, classes may be missing", {
  d <- class_problem(n_runs = 5, n_classes = 2, per_class = 2, p = 6, signal = 0.5)
  got <- muffle_decode(decode_quietly(d$X, d$y, cv = d$runs, model = "logistic", alphas = c(0.1, 1, 10)))
  expect_identical(dim(got$alpha), c(5L, 1L))
  for (run in 1:5) {
    train <- which(d$runs != run)
    inner <- d$runs[train]
    fit <- logistic_quietly(d$X[train, ], d$y[train] == "b", lambda = c(0.1, 1, 10) / length(train), cv = inner,
                            standardize = FALSE)
    expect_equal(got$alpha[[run]], fit$best_lambda * length(train))
  }
  y <- c("a", "b", "c", "a", "b", "a", "a", "b", "a")
  X <- withr::with_seed(1, matrix(rnorm(18), 9))
  missing <- muffle_decode(decode_quietly(X, y, cv = rep(1:3, each = 3), model = "logistic"))
  expect_true(all(missing$decision[1:3, "c"] == -Inf))
  expect_identical(missing$failures$reason, "class_missing")
})

test_that("voxels and locations that cannot be used fail as those of ridge", {
  d <- class_problem(n_runs = 4, p = 9)
  X <- d$X
  X[, 1L] <- 3
  X[5L, 2L] <- NA
  X[d$runs != 2, 4:5] <- 1
  where <- roi(c(1, 1, 1, 2, 2, 3, 3, 4, 4), min_voxels = 2)
  got <- decode_quietly(X, d$y, cv = d$runs, where = where, model = ridge_function(1))
  want <- decode_quietly(X, d$y, cv = d$runs, where = where)
  for (what in c("size", "failures", "excluded")) expect_equal(got[[what]], want[[what]], info = what)
  expect_close(is.na(got$scores), is.na(want$scores))
  expect_identical(got$excluded, data.frame(column = 1:2, reason = c("constant", "non-finite")))
  expect_identical(got$failures$reason, c("too_small", "constant"))
})

test_that("permutations without a score count as extreme, and are left out of the mean under the null", {
  y <- rep(c("a", "b"), 6)
  X <- withr::with_seed(1, matrix(rnorm(12 * 3), 12))
  broken <- function(X_train, y_train, X_test) {
    if (!identical(as.vector(y_train), y[1:8])) stop("cannot")
    rep(c(-1, 1), length.out = nrow(X_test))
  }
  all <- decode_quietly(X, y, cv = rep(1:3, each = 4), model = broken, n_permutations = 20, seed = 1)
  failed <- is.na(all$max_null[, 1L])
  expect_true(any(failed))
  expect_equal(all$counts[1L, 1L], sum(failed | all$max_null[, 1L] >= all$pooled[1L, 1L] - 1e-10))
  expect_equal(all$null_mean[1L, 1L], if (all(failed)) NA_real_ else mean(all$max_null[!failed, 1L]))
  expect_true(all(all$p_fwer >= all$p))
})
