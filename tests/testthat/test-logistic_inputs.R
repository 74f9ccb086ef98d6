# What fit_logistic_ridge() is given: what it takes, and what it refuses.

d <- two_classes(20, 3, 1)
X <- d$X
y <- d$y

refused <- function(arg, what, ..., pattern = NULL) {
  args <- utils::modifyList(list(X = X, y = y, lambda = 1, progress = FALSE), list(...), keep.null = TRUE)
  cnd <- expect_refused(do.call(fit_logistic_ridge, args), arg, pattern)
  expect_identical(class(cnd)[1L], paste0("voxridge_error_", what))
  invisible(cnd)
}

test_that("outcomes in another form are refused with the right one", {
  refused("y", "y_form", y = 2 * y - 1, pattern = c("-1/\\+1", "\\(y \\+ 1\\) / 2"))
  refused("y", "y_form", y = y + 1, pattern = c("1/2", "y - 1"))
  refused("y", "y_form", y = ifelse(y == 1, "a", "b"), pattern = "factor\\(y, levels = c\\(\"a\", \"b\"\\)\\)")
  refused("y", "y_form", y = factor(rep_len(c("a", "b", "c"), 20)), pattern = "3 levels")
  refused("y", "y_form", y = factor(rep("a", 20)), pattern = "1 level")
  refused("y", "y_form", y = cbind(y * 3, 3 - y * 3), pattern = c("counts", "trials"))
  refused("y", "y_form", y = y * 7, pattern = "0 to 7")
  refused("y", "y_form", y = c(-0.1, y[-1L]))
  refused("y", "y_form", y = cbind(y, ifelse(y == 1, 1, -1)), pattern = "column 2")
  refused("y", "y_form", y = as.Date("2020-01-01") + y)
  refused("y", "y_form", y = as.complex(y))
  refused("y", "y_form", y = NULL)
  refused("y", "nonfinite", y = c(NA, y[-1L]))
  refused("y", "nonfinite", y = cbind(y, c(NaN, y[-1L])), pattern = "na_targets")
  refused("y", "shape", y = y[-1L], pattern = c("20", "19"))
  refused("y", "shape", y = cbind(y, y)[-1L, ])
  refused("y", "shape", y = numeric())
  refused("y", "shape", y = list(y, y[-1L]))
})

test_that("both classes need weight", {
  cnd <- refused("y", "single_class", y = rep(0, 20), pattern = "all 0")
  expect_identical(cnd$found, 0)
  refused("y", "single_class", y = rep(1, 20), pattern = "all 1")
  refused("y", "single_class", y = factor(rep("a", 20), levels = c("a", "b")))
  cnd <- refused("y", "single_class", y = cbind(y, 1 - y, 0, 1), pattern = c("column 3", "1 more", "na_targets"))
  expect_identical(cnd$where, 3:4)
  refused("y", "single_class", y = cbind(u = y, v = 0), pattern = "v")
  refused("y", "single_class", weights = y)
  # proportions have both
  expect_close(logistic_quietly(X, rep(0.25, 20), lambda = 1)$intercept, log(1 / 3), 1e-12)
})

test_that("both classes need weight in every training fold", {
  sorted <- rep(0:1, each = 10)
  cnd <- refused("cv", "single_class_fold", y = sorted, cv = rep(1:2, each = 10), pattern = c("no negative", "fold 1"))
  expect_identical(cnd$where, 1L)
  refused("cv", "single_class_fold", y = sorted, cv = rep(c("r1", "r2"), each = 10), pattern = "fold r1")
  refused("cv", "single_class_fold", y = cbind(a = y, b = sorted), cv = rep(1:2, each = 10), pattern = "target b")
  refused("cv", "single_class_fold", weights = c(1, rep(0, 18), 1), y = sorted, cv = rep(1:2, each = 10))
  refused("cv", "single_class_fold", y = c(1, rep(0, 19)), cv = "loo", pattern = "no positive")
  expect_warning(refused("cv", "single_class_fold", y = c(1, rep(0, 19)), cv = 3),
                 class = "voxridge_warning_rare_class")
  # a target that is left out anyway does not count
  expect_warning(
    fit_logistic_ridge(X, cbind(y, 1), lambda = 1, cv = rep(1:4, 5), na_targets = "skip", progress = FALSE),
    class = "voxridge_warning_single_class"
  )
})

test_that("penalties are positive and finite", {
  refused("lambda", "lambda", lambda = 0, pattern = "glm")
  cnd <- refused("lambda", "lambda", lambda = c(1, -2, Inf, NA), pattern = "positions 2, 3, 4|positions 2, 3 and 4")
  expect_identical(cnd$where, 2:4)
  refused("lambda", "lambda", lambda = numeric())
  refused("lambda", "lambda", lambda = "1")
  refused("lambda", "lambda", lambda = list(1))
  refused("lambda", "lambda", lambda = TRUE)
  cnd <- refused("penalty", "penalty", penalty = c(1, 0, 1), pattern = "position 2")
  expect_identical(cnd$where, 2L)
  refused("penalty", "penalty", penalty = c(1, -1, NaN))
  refused("penalty", "penalty", penalty = c(1, Inf, 1))
  refused("penalty", "penalty", penalty = 1:2, pattern = c("3", "2"))
  refused("penalty", "penalty", penalty = "a")
})

test_that("weights and offsets are numbers per sample", {
  refused("weights", "weights", weights = rep(0, 20), pattern = "all 0")
  refused("weights", "weights", weights = c(-1, rep(1, 19)), pattern = "position 1")
  refused("weights", "weights", weights = c(NA, rep(1, 19)))
  refused("weights", "weights", weights = c(rep(1, 19), Inf), pattern = "position 20")
  refused("weights", "weights", weights = 1:19, pattern = c("20", "19"))
  refused("weights", "weights", weights = rep("1", 20))
  refused("weights", "weights", weights = rep(1e308, 20), pattern = "overflows")
  refused("offset", "offset", offset = 1:19, pattern = "20")
  refused("offset", "offset", offset = 1)
  refused("offset", "offset", offset = matrix(0, 20, 2))
  refused("offset", "offset", offset = matrix(0, 20, 3), y = cbind(y, y), pattern = "20 x 2")
  refused("offset", "offset", offset = rep("0", 20))
  cnd <- refused("offset", "nonfinite", offset = c(0, NaN, rep(0, 17), Inf), pattern = "2 of 20")
  expect_identical(cnd$where, c(2L, 20L))
  # one offset for all targets, or one each
  a <- logistic_quietly(X, cbind(y, 1 - y), lambda = 1, offset = sin(1:20))
  b <- logistic_quietly(X, cbind(y, 1 - y), lambda = 1, offset = cbind(sin(1:20), sin(1:20)))
  expect_identical(without_time(a), without_time(b))
})

test_that("class weights are balanced or named by class", {
  refused("class_weights", "argument", class_weights = "balance", pattern = "balanced")
  refused("class_weights", "argument", class_weights = c(1, 2))
  refused("class_weights", "argument", class_weights = c("0" = 1, "2" = 2), pattern = "names 0, 2")
  refused("class_weights", "argument", class_weights = c("0" = 1, "1" = 0))
  refused("class_weights", "argument", class_weights = c("0" = 1, "1" = NA))
  refused("class_weights", "argument", class_weights = c("0" = 1))
  refused("class_weights", "argument", y = factor(y, labels = c("a", "b")), class_weights = c("0" = 1, "1" = 2),
          pattern = "\"a\" or \"b\"")
  refused("local_lambda", "conflict", y = cbind(y, 1 - y), lambda = c(1, 0.1), cv = rep(1:4, 5),
          class_weights = "balanced", local_lambda = FALSE)
  refused("class_weights", "conflict", y = y / 2 + 0.25, class_weights = "balanced", pattern = "proportions")
})

test_that("`positive` and `prior` are a level and a prevalence", {
  refused("positive", "conflict", positive = "1")
  refused("positive", "argument", y = factor(y, labels = c("a", "b")), positive = "c", pattern = c("a", "b"))
  for (prior in list(0, 1, -0.1, 1.5, NA, NaN, "0.5", numeric())) refused("prior", "prior", prior = prior)
  refused("prior", "prior", prior = c(0.1, 0.2))
  refused("prior", "prior", prior = c(0.1, 0.2, 0.3), y = cbind(y, y))
})

test_that("folds are folds", {
  refused("cv", "folds", cv = "gcv", pattern = c("loo", "least squares"))
  refused("cv", "folds", cv = 1)
  refused("cv", "folds", cv = 21)
  refused("cv", "folds", cv = 2.5)
  refused("cv", "folds", cv = "five")
  refused("cv", "folds", cv = TRUE)
  refused("cv", "folds", cv = rep(1, 20))
  refused("cv", "folds", cv = list(1:5, 6:19))
  refused("cv", "folds", cv = c(NA, rep_len(1:2, 19)))
  refused("cv", "folds", cv = mean)
  refused("cv", "folds", cv = new.env())
  refused("cv", "folds", X = X[1:3, ], y = c(0, 1, 0), lambda = NULL, cv = 5)
})

test_that("leave-one-out has no area under the curve", {
  refused("criterion", "score", criterion = "auc", cv = "loo", lambda = c(1, 0.1))
})

test_that("features are a finite numeric matrix", {
  refused("X", "nonfinite", X = replace(X, 47L, NaN), pattern = "1 of 3 features \\(3\\)")
  refused("X", "nonfinite", X = replace(X, c(2L, 47L), Inf))
  refused("X", "type", X = matrix("a", 20, 3))
  refused("X", "type", X = data.frame(a = factor(y)))
  refused("X", "shape", X = matrix(0, 20, 0))
  refused("X", "shape", X = matrix(0, 0, 3), y = numeric(0))
  skip_if_not_installed("Matrix")
  refused("X", "type", X = Matrix::Matrix(X, sparse = TRUE), pattern = "sparse|Sparse|dgCMatrix")
})

test_that("settings have the values that they can have", {
  refused("standardize", "argument", standardize = NA)
  refused("fit_intercept", "argument", fit_intercept = 1)
  refused("local_lambda", "argument", local_lambda = "yes")
  refused("keep_path", "argument", keep_path = NULL)
  refused("keep_history", "argument", keep_history = c(TRUE, TRUE))
  refused("fold_scaling", "argument", fold_scaling = "local")
  refused("criterion", "argument", criterion = "logloss", pattern = "log_loss")
  refused("choose", "argument", choose = "max")
  refused("na_targets", "argument", na_targets = "drop")
  refused("keep", "argument", keep = "all")
  refused("solver", "argument", solver = "lbfgs", pattern = "primal")
  refused("solver", "argument", solver = "Primal", pattern = "Did you mean")
  for (tol in list(0, 1, -1, NA, "a", c(0.1, 0.2))) refused("tol", "argument", tol = tol)
  for (max_iter in list(0, 1.5, NA, "a", Inf)) refused("max_iter", "argument", max_iter = max_iter)
  refused("device", "device_unsupported", device = "gpu")
  refused("device", "argument", device = "tpu")
  refused("n_threads", "argument", n_threads = 0)
  expect_error(fit_logistic_ridge(X, y, alpha = 1), "unused argument")
  expect_error(fit_logistic_ridge(X, y, lamda = 1), "unused argument")
  expect_identical(logistic_quietly(X, y, lambda = 1, device = "auto")$coefs, logistic_quietly(X, y, lambda = 1)$coefs)
})

test_that("what LAPACK or the memory cannot hold is refused before any work", {
  wide <- matrix(0, 2, 30001)
  cnd <- expect_refused(fit_logistic_ridge(wide, 0:1, lambda = 1, solver = "primal", progress = FALSE), "solver",
                        "matrix_free")
  expect_identical(class(cnd)[1L], "voxridge_error_too_large")
  cnd <- expect_refused(fit_logistic_ridge(wide, 0:1, lambda = 1, solver = "batch", progress = FALSE), "solver")
  tall <- matrix(0, 30001, 1)
  expect_refused(fit_logistic_ridge(tall, rep_len(0:1, 30001), lambda = 1, solver = "dual", progress = FALSE), "solver")
  expect_identical(logistic_quietly(wide, 0:1, lambda = 1)$coefs, rep(0, 30001))
})

test_that("features of any size are fitted, up to what can be squared", {
  want <- logistic_quietly(X, y, lambda = 0.1)
  for (size in c(1e-100, 1e-12, 1e100)) {
    for (solver in SOLVERS) {
      fit <- logistic_quietly(size * X, y, lambda = 0.1, solver = solver)
      expect_close(size * fit$coefs, want$coefs, 1e-7)
    }
  }
  cnd <- expect_error(fit_logistic_ridge(1e200 * X, y, lambda = 0.1, progress = FALSE), class = "voxridge_error")
  expect_match(conditionMessage(cnd), "feature 1")
})
