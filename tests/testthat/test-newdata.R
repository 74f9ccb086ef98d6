ridge_fit <- function(seed = 1) {
  problem <- random_problem(30, 5, 3, seed)
  colnames(problem$X) <- letters[1:5]
  c(problem, list(fit = fit_quietly(problem$X, problem$Y)))
}

band_fit <- function(seed = 2, ...) {
  problem <- random_bands(30, c(3, 1, 5), 3, seed)
  colnames(problem$X) <- paste0("f", 1:9)
  problem$Xs <- lapply(split(1:9, problem$bands), function(j) problem$X[, j, drop = FALSE])
  c(problem, list(fit = fit_bands_quietly(problem$Xs, problem$Y, n_iter = 5, seed = 1, ...)))
}

test_that("named columns may come in any order, or as a data frame", {
  p <- ridge_fit()
  want <- fitted(p$fit)
  expect_identical(predict(p$fit, p$X[, 5:1]), want)
  expect_identical(predict(p$fit, as.data.frame(p$X)[c(2, 1, 5, 4, 3)]), want)
  expect_identical(predict(p$fit, unname(p$X)), want)
  expect_identical(predict(p$fit, prepare_ridge(p$X)), want)
  unnamed <- fit_quietly(unname(p$X), p$Y)
  expect_identical(predict(unnamed, p$X[, 1:5]), want)
  twice <- p$X
  colnames(twice) <- c("a", "a", "b", "c", "d")
  fit <- fit_quietly(twice, p$Y)
  expect_identical(predict(fit, twice), want)
  expect_error(predict(fit, twice[, 5:1]), "More than once: \"a\"", class = "voxridge_error_newdata")
})

test_that("integer columns are numbers", {
  p <- ridge_fit()
  new <- matrix(1:10, 2L)
  expect_identical(predict(p$fit, new), predict(p$fit, new + 0))
})

test_that("missing, unknown and too few columns are named", {
  p <- ridge_fit()
  cnd <- expect_error(predict(p$fit, cbind(p$X[, -2L], zz = 1)), class = "voxridge_error_newdata")
  expect_identical(cnd$expected, "b")
  expect_identical(cnd$found, "zz")
  expect_match(conditionMessage(cnd), "`newdata`")
  expect_error(predict(p$fit, p$X[, -2L]), "Missing: \"b\"", class = "voxridge_error_newdata")
  expect_error(predict(p$fit, cbind(p$X, more = 1)), "Not in the fit: \"more\"", class = "voxridge_error_newdata")
  expect_error(predict(p$fit, unname(p$X[, -2L])), "5 columns of the fit, not 4", class = "voxridge_error_newdata")
  strange <- p$X
  colnames(strange)[1L] <- "{x} {.arg y}"
  expect_error(predict(p$fit, strange), "{x} {.arg y}", fixed = TRUE)
})

test_that("what is no finite matrix is refused", {
  p <- ridge_fit()
  expect_refused(predict(p$fit, replace(p$X, 3L, NA)), "newdata")
  expect_refused(predict(p$fit, p$X[1L, ]), "newdata")
  expect_refused(predict(p$fit, "a"), "newdata")
  expect_refused(predict(p$fit, NULL), "newdata")
  expect_refused(predict(p$fit, p$X[0L, ]), "newdata")
  expect_refused(predict(p$fit, list(p$X)), "newdata")
})

test_that("bands come by name, with their columns by name, or as a matrix", {
  for (form in c("primal", "dual")) {
    p <- band_fit(return_coefs = form)
    want <- fitted(p$fit)
    shuffled <- lapply(rev(p$Xs), function(X) X[, rev(seq_len(ncol(X))), drop = FALSE])
    expect_identical(predict(p$fit, shuffled), want)
    expect_identical(predict(p$fit, do.call(cbind, unname(p$Xs))), want)
    expect_identical(predict(p$fit, p$X), want)
    expect_identical(predict(p$fit, p$X, bands = p$bands), want)
    expect_identical(predict(p$fit, unname(p$X), bands = as.character(p$bands)), want)
    expect_identical(predict(p$fit, unname(do.call(cbind, unname(p$Xs)))), want)
    expect_identical(predict(p$fit, as.data.frame(p$X)), want)
    plain <- lapply(p$Xs, unname)
    plain$words <- as.vector(plain$words)
    expect_identical(predict(p$fit, structure(plain, class = "feature_spaces")), want)
  }
  # a fit of interleaved columns without names takes them as they were
  fit <- fit_bands_quietly(unname(p$X), p$Y, p$bands, n_iter = 5, seed = 1)
  expect_close(predict(fit, unname(p$X)), want)
  expect_identical(predict(fit, unname(p$X)), predict(fit, p$Xs))
})

test_that("bands and columns that do not fit are named", {
  p <- band_fit()
  Xs <- p$Xs
  expect_error(predict(p$fit, Xs[-2L]), "Missing: \"words\"", class = "voxridge_error_newdata")
  expect_error(predict(p$fit, c(Xs, list(more = 1:30))), "\"more\"", class = "voxridge_error_newdata")
  expect_error(predict(p$fit, unname(Xs)), "Missing", class = "voxridge_error_newdata")
  expect_error(predict(p$fit, c(Xs, Xs[1L])), "More than once: \"motion\"", class = "voxridge_error_newdata")
  expect_error(predict(p$fit, replace(Xs, "sound", list(unname(Xs$sound[, -1L])))), "newdata\\$sound.*5 columns",
               class = "voxridge_error_newdata")
  expect_error(predict(p$fit, replace(Xs, "sound", list(cbind(Xs$sound[, -1L], other = 1)))), "other",
               class = "voxridge_error_newdata")
  expect_refused(predict(p$fit, replace(Xs, "sound", list(Xs$sound[-1L, ]))), "newdata\\$sound", "29")
  expect_refused(predict(p$fit, replace(Xs, "motion", list(NA * Xs$motion))), "newdata\\$motion")
  expect_refused(predict(p$fit, Xs, bands = p$bands), "bands")
  expect_refused(predict(p$fit, p$X, bands = p$bands[-1L]), "bands", "newdata")
  expect_error(predict(p$fit, p$X, bands = rep(c("motion", "words", "others"), 3)), "sound",
               class = "voxridge_error_newdata")
  expect_error(predict(p$fit, p$X[, -1L]), class = "voxridge_error_newdata")
  expect_refused(predict(p$fit, 1:3), "newdata")
})

test_that("the messages", {
  skip_on_cran()
  local_reproducible_output(width = 120)
  p <- ridge_fit()
  b <- band_fit()
  new <- cbind(p$X[, -2L], zz = 1)
  expect_snapshot(error = TRUE, {
    predict(p$fit, new)
    predict(p$fit, unname(new)[, -1])
    predict(b$fit, b$Xs[1:2])
    predict(fit_quietly(p$X, p$Y, keep = "none"))
    coef(fit_quietly(p$X, p$Y, return_coefs = "none"))
    print(structure(list(), class = c("voxridge_ridge", "voxridge_fit")))
  })
})
