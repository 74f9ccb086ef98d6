# Every argument of the exported functions, one at a time, gets what it is not made for. The answer is a value or a
# condition of this package: no other error, no warning of base R.

hostile_values <- function(mask, fit) {
  list(
    null = NULL, na = NA_real_, text = "abc", infinite = Inf, zero = 0, negative = -1, half = 0.5, huge = 2^31,
    true = TRUE, no_text = character(), no_numbers = numeric(), many = stats::setNames(as.double(1:24), letters[1:24]),
    words = letters[1:24], no_list = list(), values = list(a = 1, b = "x"), bands = list(a = matrix(1, 24, 2)),
    fun = function(...) stop("boom"), environment = new.env(), name = quote(x), call = quote(x + y), formula = y ~ x,
    factor = factor(rep(1:3, each = 8)), dates = as.Date("2020-01-01") + 1:24, times = as.POSIXlt("2020-01-01"),
    complex = matrix(1i, 24, 6), raw = as.raw(1), no_columns = matrix(0, 24, 0), one = matrix(1),
    missing = matrix(NA_real_, 24, 6), letters = matrix("a", 24, 6), large = matrix(1e300, 24, 6),
    integer64 = structure(matrix(1, 24, 6), class = "integer64"),
    repeated = matrix(as.double(1:144), 24, dimnames = list(rep("r", 24), rep("c", 6))), image = array(0, c(3, 4, 2)),
    no_image = array(0, c(0, 4, 2)), no_values = array(NA_real_, c(3, 4, 2)), factors = data.frame(a = factor(1:24)),
    table = as.data.frame(matrix(1, 24, 6)), asis = I(1), no_fit = structure(list(1), class = class(fit)),
    no_mask = structure(1, class = "brain_mask"), no_header = structure(list(path = "a"), class = "nifti_header"),
    no_spaces = structure(list(1), class = c("feature_spaces", "list")), fit = fit, mask = mask,
    no_prepared = structure(1, class = "voxridge_prepared"), no_file = "/nonexistent/x.nii", bytes = "\xff\xfe",
    braces = "{stop('x')}", bad_affine = structure(array(1, c(3, 4, 2)), affine = "x"),
    bad_runs = structure(matrix(1, 24, 6), runs = list(1)), bad_mask = structure(matrix(1, 24, 4), mask = "a")
  )
}

valid_calls <- function(folder) {
  problem <- random_problem(24, 6, 4, 1)
  X <- problem$X
  Y <- problem$Y
  Xs <- list(a = X[, 1:3], b = X[, 4:6])
  runs <- rep(1:3, each = 8)
  affine <- diag(c(2, 2, 2, 1))
  image <- array(as.double(1:120), c(3, 4, 2, 5))
  path <- file.path(folder, "image.nii.gz")
  write_nifti(image, path, affine = affine)
  mask <- brain_mask(array(rep(c(1, 0, 0), 8), c(3, 4, 2)), affine = affine)
  small <- brain_mask(array(rep(c(1, 0, 0, 0, 0, 0), 4), c(3, 4, 2)), affine = affine)
  events <- data.frame(onset = c(1, 5, 9), duration = c(1, 0, 2), trial_type = c("a", "b", "a"), run = c(1, 1, 2))
  alphas <- c(1, 10)
  fit <- fit_quietly(X, Y, alphas = alphas, return_coefs = "dual")
  banded <- fit_bands_quietly(Xs, Y, alphas = alphas, n_iter = 2, seed = 1)
  ridge <- list(X = X, Y = Y, alphas = alphas, cv = 3, score_func = "r2", fit_intercept = TRUE, standardize = TRUE,
                keep = "none", n_targets_batch = 2, return_cv_scores = "all", na_targets = "skip", n_threads = 1)
  list(mask = small, fit = fit, calls = list(
    brain_map = list(x = fit, mask = small, what = "scores", fill = 0),
    brain_mask = list(x = image[, , , 1], threshold = 0, affine = affine),
    brain_matrix = list(x = path, mask = mask, volumes = 1:2, progress = FALSE),
    clean_runs = list(x = X, runs = runs, detrend = 1, scale = "z", reference = 1:24),
    convolve_hrf = list(events = events, n_scans = c(10, 10), tr = 2, hrf = "spm", derivatives = "time",
                        slice_time_ref = 0),
    coordinates = list(mask = mask),
    cv_folds = list(y = rep(1:2, 12), k = 3, stratify = TRUE, groups = runs, shuffle = TRUE, seed = 1),
    delay_features = list(X = X, delays = 1:2, runs = runs),
    feature_spaces = list(a = X, b = X, delays = 1:2, runs = runs),
    fit_banded_ridge = list(Xs = X, Y = Y, bands = rep(1:2, 3), alphas = alphas, n_iter = 2, seed = 1),
    fit_ridge = ridge,
    hrf = list(time = 0:10, model = "spm", derivative = "none"),
    intersect_masks = list(mask, mask),
    nifti_header = list(path = path),
    null_scores = list(fit = fit, n_shifts = 2, min_shift = 1, seed = 1),
    plot_map = list(x = image[, , , 1], mask = mask, background = image[, , , 1], plane = "axial", slices = 1,
                    limits = c(0, 1), palette = "Inferno", threshold = 0.1, label = "a", title = "b"),
    predict = list(object = banded, newdata = X, bands = rep(c("a", "b"), each = 3)),
    augment = list(x = fit, newdata = X, Y = Y),
    plot = list(x = fit, type = "scores", null = 1:3, what = NULL, title = "a"),
    read_nifti = list(path = path, volumes = 1, progress = FALSE),
    score = list(object = banded, newdata = Xs, Y = Y, score_func = "r2", bands = NULL, n_threads = 1),
    tidy = list(x = banded, what = "bands"),
    write_nifti = list(x = image, path = file.path(folder, "out.nii"), affine = affine, datatype = "float32",
                       like = path, tr = 1, compress = 6, overwrite = TRUE, progress = FALSE)
  ))
}

# "" or what went wrong. Arguments are passed by name, so that no call holds the values themselves.
outcome <- function(fun, args) {
  env <- new.env(parent = baseenv())
  names <- sprintf("v%d", seq_along(args))
  for (i in seq_along(args)) assign(names[i], args[[i]], envir = env)
  call <- as.call(c(list(fun), stats::setNames(lapply(names, as.name), names(args))))
  foreign <- ""
  tryCatch(
    withCallingHandlers(utils::capture.output(eval(call, env)), warning = function(cnd) {
      if (!inherits(cnd, "voxridge_warning")) foreign <<- paste("warning:", conditionMessage(cnd))
      invokeRestart("muffleWarning")
    }),
    voxridge_error_internal = function(cnd) foreign <<- conditionMessage(cnd),
    voxridge_error = function(cnd) NULL,
    error = function(cnd) foreign <<- paste("error:", conditionMessage(cnd))
  )
  foreign
}

# The same for logistic fits and forecasts: list(function, its arguments); `keep` are those that stay as they are, which
# choose the method.
valid_logistic_calls <- function(mask) {
  problem <- random_problem(24, 6, 4, 1)
  X <- problem$X
  y <- rep(c(0, 1, 1, 0), 6)
  Y <- cbind(y, rev(y), rep(0:1, 12), c(rep(0:1, 11), 1, 1))
  p <- stable_sigmoid(X[, 1])
  quick <- function(...) suppressWarnings(suppressMessages(fit_logistic_ridge(..., n_threads = 1)))
  fit <- quick(X, Y, lambda = c(0.5, 0.05), cv = 3, keep_path = TRUE, offset = p)
  single <- quick(X, factor(y), lambda = 0.5, cv = 3, keep_path = TRUE)
  curve <- reliability_curve(y, p, bins = 4)
  call <- function(fun, ..., keep = integer()) list(fun = fun, args = list(...), keep = keep)
  list(
    fit_logistic_ridge = call(fit_logistic_ridge, X = X, y = y, lambda = c(1, 0.1), cv = 3, weights = p, offset = p,
                              class_weights = "balanced", positive = NULL, penalty = 1:6, standardize = TRUE,
                              fold_scaling = "fold", fit_intercept = TRUE, criterion = "auc", choose = "1se",
                              local_lambda = TRUE, prior = 0.2, na_targets = "skip", keep_path = TRUE,
                              keep_history = TRUE, keep = "none", tol = 1e-6, max_iter = 20, solver = "primal",
                              device = "cpu", n_threads = 1, progress = FALSE),
    targets = call(fit_logistic_ridge, X = X, y = Y, lambda = 0.1, cv = NULL, weights = p, offset = Y, penalty = 1:6,
                   prior = c(0.2, 0.3, 0.4, 0.5), na_targets = "skip", local_lambda = FALSE, keep_path = TRUE,
                   class_weights = c(`0` = 1, `1` = 2), solver = "batch", n_threads = 1),
    predictor = call(predictor, fit = single, lambda = 0.5, threshold = 0.3),
    engine = call(stats::predict, object = predictor(fit), newdata = X, type = "link", newoffset = Y, na = "pass",
                  n_threads = 2, keep = 1L),
    predict = call(stats::predict, object = fit, newdata = X, type = "response", newoffset = p, lambda = 0.05,
                   na = "pass", n_threads = 1, keep = 1L),
    classes = call(stats::predict, object = single, newdata = X, type = "class", lambda = 0.5, threshold = 0.2,
                   keep = 1L),
    fitted = call(stats::fitted, object = fit, n_threads = 1, keep = 1L),
    residuals = call(stats::residuals, object = fit, type = "deviance", n_threads = 1, keep = 1L),
    coef = call(stats::coef, object = fit, intercept = TRUE, lambda = 0.5, keep = 1L),
    score = call(score, object = fit, newdata = X, y = Y, score_func = "auc", weights = p, newoffset = p, lambda = 0.5,
                 n_threads = 1, keep = 1L),
    score_classes = call(score, object = single, newdata = X, y = factor(y), score_func = "brier", keep = 1L),
    tidy = call(tidy, x = fit, what = "coefs", keep = 1L),
    augment = call(augment, x = fit, newdata = X, y = Y, newoffset = Y, keep = 1L),
    plot = call(graphics::plot, x = fit, target = 2, title = "a", keep = 1L),
    brain_map = call(brain_map, x = quick(X, Y, lambda = 0.5, cv = 3), mask = mask, what = "scores", fill = 0),
    reliability_curve = call(reliability_curve, y = factor(y), p = p, weights = p, scale = "probability", bins = 3,
                             positive = "1"),
    reliability_plot = call(graphics::plot, x = curve, title = "a", keep = 1L),
    log_loss = call(log_loss, y = y, p = p, weights = p, scale = "probability", positive = NULL),
    brier_score = call(brier_score, y = y, p = p, weights = p, scale = "probability", decompose = TRUE, bins = 3),
    auc = call(auc, y = factor(y), p = X[, 1], weights = p, scale = "logit", positive = "0"),
    prior_correct = call(prior_correct, p = p, from = 0.5, to = 0.1, scale = "probability"),
    decision_threshold = call(decision_threshold, cost_fp = 1, cost_fn = 2, cost_tp = 0, cost_tn = 0),
    stable_sigmoid = call(stable_sigmoid, z = X, log = TRUE)
  )
}

# VOXRIDGE_HOSTILE=all tries every value (minutes); otherwise each argument gets one of them, in turn.
test_that("no argument ends in an error or a warning of another kind", {
  skip_on_cran()
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  withr::local_pdf(NULL)
  valid <- valid_calls(folder)
  values <- hostile_values(valid$mask, valid$fit)
  each <- if (identical(Sys.getenv("VOXRIDGE_HOSTILE"), "all")) length(values) else 1L
  generics <- c("predict", "augment", "plot", "tidy")
  turn <- 0L
  for (name in names(valid$calls)) {
    fun <- getExportedValue(if (name %in% c("predict", "plot")) c(predict = "stats", plot = "graphics")[[name]] else
      "voxridge", name)
    args <- valid$calls[[name]]
    expect_identical(outcome(fun, args), "", info = name)
    for (i in setdiff(seq_along(args), if (name %in% generics) 1L)) {
      for (value in names(values)[(turn + seq_len(each) - 1L) %% length(values) + 1L]) {
        expect_identical(outcome(fun, replace(args, i, values[value])), "",
                         info = sprintf("%s(%s = <%s>)", name, names(args)[i] %||% i, value))
      }
      turn <- turn + each
    }
  }
  expect_setequal(list.files(folder, all.files = TRUE, no.. = TRUE), c("image.nii.gz", "out.nii"))
})

test_that("no argument of a logistic function ends in an error or a warning of another kind", {
  skip_on_cran()
  withr::local_pdf(NULL)
  valid <- valid_calls(withr::local_tempdir())
  values <- hostile_values(valid$mask, valid$fit)
  each <- if (identical(Sys.getenv("VOXRIDGE_HOSTILE"), "all")) length(values) else 2L
  calls <- valid_logistic_calls(valid$mask)
  turn <- 0L
  for (name in names(calls)) {
    fun <- calls[[name]]$fun
    args <- calls[[name]]$args
    expect_identical(outcome(fun, args), "", info = name)
    for (i in setdiff(seq_along(args), calls[[name]]$keep)) {
      for (value in names(values)[(turn + seq_len(each) - 1L) %% length(values) + 1L]) {
        expect_identical(outcome(fun, replace(args, i, values[value])), "",
                         info = sprintf("%s(%s = <%s>)", name, names(args)[i], value))
      }
      turn <- turn + each
    }
  }
})

test_that("objects of the package's classes with other contents are refused", {
  expect_refused(brain_mask(structure(1, class = "brain_mask")), "x")
  header <- structure(list(path = "a.nii"), class = "nifti_header")
  expect_refused(brain_mask(header), "x", "nifti_header")
  expect_refused(brain_matrix(header, array(1, c(2, 2, 2))), "x", "nifti_header")
  expect_refused(solve_ridge_cv(structure(1, class = "voxridge_prepared"), 1:4), "X")
  spaces <- structure(list(1), class = c("feature_spaces", "list"))
  expect_null(dim(spaces))
  expect_refused(hrf(spaces), "time", "list of length 1")
  expect_refused(score(list(1), matrix(1), 1), "object", "list of length 1")
  expect_refused(solve_ridge_cv(matrix(1:8, 4), 1:4, cv = as.POSIXlt("2020-01-01")), "cv")
})

test_that("a name or a call among further arguments is a value", {
  x <- 3
  problem <- random_problem(12, 2, 1, 1)
  expect_refused(fit_ridge(problem$X, problem$Y, n_targets_batch = quote(x)), "n_targets_batch", "a name")
  expect_refused(fit_banded_ridge(list(a = problem$X), problem$Y, n_iter = quote(x + 1)), "n_iter", "a call")
})

test_that("a penalty for all targets is chosen by the areas under the curve that there are", {
  X <- random_problem(60, 5, 1, 2)$X
  y <- as.numeric(X[, 1] > 0)
  Y <- cbind(a = y, b = 0, c = 0)
  Y[c(1, 31), 2] <- 1
  Y[c(14, 45), 3] <- 1
  fit <- quiet_logistic(X, Y, cv = 5, criterion = "auc", local_lambda = FALSE)
  # no fold has an area for all targets
  expect_true(all(rowSums(is.na(fit$cv$scores[, 1L, ])) > 0))
  mean_area <- apply(fit$cv$scores, 2L, function(scores) mean(rowMeans(scores, na.rm = TRUE)))
  expect_identical(unname(fit$best_lambda), rep(fit$lambda[which.max(mean_area)], 3L))
})

test_that("penalties without a score to choose by are refused, not taken from an end of the grid", {
  X <- random_problem(24, 3, 1, 3)$X
  y <- rep(0:1, 12)
  expect_refused(fit_logistic_ridge(X, y, cv = "loo", criterion = "auc"), "criterion", "single sample")
  Y <- cbind(x = y, y = rep(c(1, 0, 0, 1), each = 6))
  expect_refused(fit_logistic_ridge(X, Y, cv = rep(1:4, each = 6), criterion = "auc"), "cv", "target y")
  absent <- list(list(train = 1:12, test = 13:16), list(train = 5:16, test = 17:20))
  weights <- rep(c(1, 0), c(12, 12))
  expect_refused(fit_logistic_ridge(X, y, c(1, 0.1), cv = absent, weights = weights), "cv", "positive weight")
  expect_refused(fit_logistic_ridge(X, y, cv = mean), "cv", "a function")
  expect_refused(fit_logistic_ridge(X, y, 1, weights = rep(1e300, 24), class_weights = c(`0` = 1e300, `1` = 1)),
                 "weights", "overflows")
})

test_that("features of any size are scaled", {
  X <- random_problem(30, 4, 1, 4)$X
  y <- rep(c(0, 1, 1), 10)
  fit <- quiet_logistic(X, y, lambda = 0.1)
  for (unit in c(1e-300, 1e-170, 1e160, 1e300)) {
    other <- quiet_logistic(X * unit, y, lambda = 0.1)
    expect_close(other$coefs * unit, fit$coefs, 1e-12)
    expect_close(fitted(other), fitted(fit), 1e-12)
    expect_length(other$diagnostics$constant_features, 0L)
  }
  # no number is the inverse of this one
  expect_identical(quiet_logistic(cbind(X, c(1e-320, rep(0, 29))), y, lambda = 0.1)$diagnostics$constant_features, 5L)
})

test_that("skipped targets are NA as classes and in the shift of the prior, without a warning", {
  X <- random_problem(30, 4, 1, 5)$X
  y <- factor(rep(c("a", "b", "b"), 10))
  y[3] <- NA
  fit <- fit_logistic_ridge(X, y, 0.1, na_targets = "skip")
  expect_identical(predict(fit, X[1:2, ], "class"), factor(c(NA, NA), levels = c("a", "b")))
  Y <- cbind(rep(0:1, 15), rep(c(0, 1, NA), 10))
  expect_silent(fit <- fit_logistic_ridge(X, Y, 0.1, na_targets = "skip", prior = c(0.1, 0.2)))
  expect_equal(fit$prior_shift, c(stats::qlogis(0.1), NA))
})

test_that("outcomes that the features say nothing of are fitted by every solver", {
  # each row with both outcomes: all coefficients are 0 at the optimum
  X <- random_problem(20, 6, 1, 6)$X
  y <- rep(c(0, 1, 1, 0), 5)
  for (solver in c("primal", "dual", "rotate", "batch", "matrix_free")) {
    expect_silent(fit <- fit_logistic_ridge(rbind(X, X), c(y, 1 - y), c(1, 0.01), NULL, solver = solver, n_threads = 1))
    expect_true(all(fit$diagnostics$table$status != "max_iter"), info = solver)
    expect_true(all(abs(fitted(fit) - 0.5) < 1e-10), info = solver)
  }
})
