# The core against plain R: every fold, penalty and permutation a refit.

# Scores in [0, 1] and decisions of size 1: 1e-9 is a thousand times what rounding leaves on these problems.
expect_same_decoding <- function(problem, options, locations, X, tolerance = 1e-9) {
  got <- core_decode(X, problem, locations, options, core_control(2L))
  want <- plain_decode(X, problem, locations, options)
  testthat::expect_identical(got$size, want$size)
  for (what in c("scores", "pooled")) expect_same_numbers(got[[what]], want[[what]], what, tolerance)
  if (options$keep_predictions) expect_same_numbers(got$predictions, want$predictions, "predictions", tolerance)
  if (options$keep_decision) expect_same_numbers(got$decision, want$decision, "decision", tolerance)
  if (options$weights) {
    for (what in c("weights", "fold_weights", "patterns")) expect_same_numbers(got[[what]], want[[what]], what, 1e-7)
  }
  if (length(options$alphas) > 1L) testthat::expect_equal(got$alpha, want$alpha)
  if (options$n_permutations) {
    for (what in c("counts", "max_counts")) testthat::expect_equal(c(got[[what]]), c(want[[what]]), info = what)
    for (what in c("max_null", "null_mean")) expect_same_numbers(got[[what]], want[[what]], what, tolerance)
  }
  invisible(got)
}

expect_same_numbers <- function(got, want, what, tolerance) {
  got <- as.double(got)
  want <- as.double(want)
  testthat::expect_identical(is.na(got), is.na(want), info = what)
  infinite <- is.infinite(want)
  testthat::expect_identical(got[infinite], want[infinite], info = what)
  known <- is.finite(want)
  error <- max(0, abs(got[known] - want[known])) / max(1, abs(want[known]))
  testthat::expect(error <= tolerance, sprintf("%s differ by %.2g", what, error))
}

ALL <- list(kind = "all")
CLASS_SCORES <- c("accuracy", "balanced_accuracy", "auc")

test_that("classes, any shape and scaling", {
  for (p in c(1, 4, 18, 30)) {
    for (n_classes in 2:3) {
      d <- class_problem(n_runs = 18 / n_classes, n_classes = n_classes, p = p, seed = p)
      X <- d$X + 3
      for (scale in c("none", "fold", "global")) {
        core <- core_problem(d$code, d$runs, metrics = CLASS_SCORES, scale = scale, weights = TRUE,
                             alphas = if (p == 4) 0.01 else 2)
        expect_same_decoding(core$problem, core$options, ALL, X)
      }
    }
  }
})

test_that("values, any shape and scaling", {
  for (p in c(1, 5, 20, 33)) {
    d <- random_problem(20, p, 1, p)
    for (scale in c("none", "fold", "global")) {
      core <- core_problem(d$Y[, 1L], rep(1:4, c(3, 5, 7, 5)), FALSE, metrics = c("r", "r2", "mse"), scale = scale,
                           weights = TRUE)
      expect_same_decoding(core$problem, core$options, ALL, d$X + 1)
    }
  }
})

test_that("unequal folds, single test rows, gaps, repeats and rows drawn repeatedly", {
  d <- class_problem(n_runs = 8, n_classes = 3, p = 10)
  n <- length(d$code)
  rows <- seq_len(n)
  designs <- list(
    loo = lapply(rows, function(i) list(train = rows[-i], test = i)),
    uneven = lapply(split(rows, rep(1:3, c(4, 8, 12))), function(out) list(train = rows[-out], test = out)),
    gaps = lapply(1:3, function(k) list(train = rows[rows %% 6 != 2 * k - 1], test = rows[rows %% 6 == 2 * k - 1])),
    small = lapply(1:3, function(k) list(train = rows[rows %% 4 == k], test = rows[rows %% 4 == 0])),
    bootstrap = withr::with_seed(5, lapply(1:4, function(k) {
      train <- sample(n, n, TRUE)
      list(train = train, test = setdiff(rows, train))
    }))
  )
  for (name in names(designs)) {
    folds <- unname(designs[[name]])
    core <- core_problem(d$code, d$runs, metrics = c("accuracy", "balanced_accuracy"))
    core$problem$train <- lapply(folds, `[[`, "train")
    core$problem$test <- lapply(folds, `[[`, "test")
    core$problem$partition <- name %in% c("loo", "uneven")
    for (scale in c("none", "fold")) {
      core$options$scale <- scale
      expect_same_decoding(core$problem, core$options, ALL, d$X)
    }
  }
})

test_that("parcels and spheres, with voxels that cannot be used", {
  d <- class_problem(p = 60)
  X <- d$X
  X[, 3L] <- 7
  X[2L, 8L] <- NaN
  mask <- brain_mask(array(rep(1:0, c(60, 4)), c(4, 4, 4)), affine = oblique_mask()$affine)
  spheres <- as_locations(searchlight(mask, 4.5), 60L, NULL, rlang::current_env())$core
  lists <- list(kind = "lists", start = c(0, 10, 11, 40), voxel = c(1:10, 3L, 20:48))
  for (scale in c("none", "fold")) {
    core <- core_problem(d$code, d$runs, metrics = CLASS_SCORES, scale = scale, min_voxels = 5L)
    got <- expect_same_decoding(core$problem, core$options, spheres, X)
    expect_identical(got$voxel_state, replace(integer(60), c(3, 8), c(1L, 3L)))
    core$options$weights <- TRUE
    expect_same_decoding(core$problem, core$options, lists, X)
  }
})

test_that("penalties chosen in each training set", {
  d <- class_problem(n_runs = 6, n_classes = 3, p = 14, signal = 0.6)
  test <- unname(split(seq_along(d$code), d$runs))
  inner <- lapply(seq_along(test), function(f) {
    held_out <- test[-f]
    list(train = lapply(held_out, function(out) setdiff(unlist(test[-f]), out)), test = held_out)
  })
  for (scale in c("none", "fold")) {
    for (metric in c("accuracy", "auc")) {
      core <- core_problem(d$code, d$runs, metrics = metric, scale = scale, alphas = c(0.1, 1, 10, 100), inner = inner,
                           weights = TRUE)
      expect_same_decoding(core$problem, core$options, ALL, d$X)
    }
    for (metric in c("r2", "mse")) {
      core <- core_problem(d$X[, 1L] + d$X[, 2L]^2, d$runs, FALSE, metrics = metric, scale = scale,
                           alphas = c(0.1, 1, 10, 100), inner = inner)
      expect_same_decoding(core$problem, core$options, ALL, d$X[, -1L])
    }
  }
})

test_that("permutations of labels, every metric", {
  mask <- oblique_mask(c(3L, 3L, 2L))
  d <- class_problem(n_runs = 5, n_classes = 2, per_class = 2, p = mask$n, signal = 0.4)
  spheres <- as_locations(searchlight(mask, 4.5), mask$n, NULL, rlang::current_env())$core
  n <- length(d$code)
  for (scale in c("none", "fold")) {
    for (block in list(NULL, as.integer(d$runs))) {
      core <- core_problem(d$code, d$runs, metrics = CLASS_SCORES, scale = scale, n_permutations = 30L,
                           rows = label_rows(n, block))
      core$options$rows <- label_rows(n, block)
      expect_same_decoding(core$problem, core$options, spheres, d$X)
    }
    core <- core_problem(d$X[, 1L], d$runs, FALSE, metrics = c("r", "r2", "mse"), scale = scale, n_permutations = 20L)
    core$options$rows <- label_rows(n, NULL, 2)
    expect_same_decoding(core$problem, core$options, spheres, d$X)
  }
  three <- class_problem(n_runs = 4, n_classes = 3, p = 8, signal = 0.3)
  core <- core_problem(three$code, three$runs, metrics = CLASS_SCORES, n_permutations = 25L)
  core$options$rows <- label_rows(12L, as.integer(three$runs), 3)
  expect_same_decoding(core$problem, core$options, ALL, three$X)
})

test_that("classes that are missing, and training sets of one class", {
  X <- withr::with_seed(1, matrix(rnorm(60), 12))
  missing <- core_problem(c(1, 2, 3, 1, 2, 1, 1, 2, 1, 2, 2, 1), rep(1:4, each = 3), metrics = CLASS_SCORES)
  expect_same_decoding(missing$problem, missing$options, ALL, X)
  single <- core_problem(rep(c(1, 2, 1), each = 4), rep(1:3, each = 4), metrics = "accuracy")
  got <- expect_same_decoding(single$problem, single$options, ALL, X)
  expect_true("one_class" %in% got$failures$reason)
})

test_that("extremes: penalties, offsets, duplicates", {
  d <- class_problem(n_runs = 5, n_classes = 2, per_class = 2, p = 30)
  for (alpha in c(1e-8, 1e12)) {
    for (scale in c("none", "fold")) {
      core <- core_problem(d$code, d$runs, alphas = alpha, scale = scale)
      expect_same_decoding(core$problem, core$options, ALL, d$X, 1e-6)
    }
  }
  core <- core_problem(d$code, d$runs)
  expect_same_decoding(core$problem, core$options, ALL, cbind(d$X, d$X))
  # eight digits go to the offset
  expect_same_decoding(core$problem, core$options, ALL, d$X + 1e8, 1e-5)
  values <- core_problem(d$X[, 1L] + 1e8, d$runs, FALSE)
  expect_same_decoding(values$problem, values$options, ALL, d$X[, -1L], 1e-7)
})

test_that("equal samples are tied in auc", {
  area <- function(positive, d) mean((sign(outer(d[positive], d[!positive], "-")) + 1) / 2)
  for (n_classes in 2:3) {
    code <- rep_len(seq_len(n_classes), 60)
    for (copies in c(1, 30)) {
      X <- withr::with_seed(copies + n_classes, matrix(rbinom(180, 1, 0.4), 60))
      X <- X[, rep(1:3, copies)]
      for (scale in c("none", "fold")) {
        core <- core_problem(code, rep(1:3, each = 20), metrics = "auc", scale = scale)
        got <- core_decode(X, core$problem, ALL, core$options, core_control(1L))
        want <- plain_decode(X, core$problem, ALL, core$options)
        for (fold in 1:3) {
          held_out <- core$problem$test[[fold]]
          d <- round(matrix(want$decision, 60)[seq_len(20) + 20 * (fold - 1), , drop = FALSE], 11)
          class <- if (n_classes == 2L) 2L else 1:3
          areas <- vapply(seq_along(class), function(k) area(code[held_out] == class[k], d[, k]), 0)
          expect_close(got$scores[fold, 1L, 1L], mean(areas), 1e-12)
        }
      }
    }
  }
})
