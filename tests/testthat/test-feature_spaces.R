make_spaces <- function(n = 24, seed = 1, ...) {
  problem <- random_problem(n, 9, 4, seed)
  words <- problem$X[, 4:8]
  colnames(words) <- paste0("w", 1:5)
  list(Y = problem$Y, X = problem$X,
       spaces = feature_spaces(motion = problem$X[, 1:3], words = words, level = problem$X[, 9L], ...))
}

test_that("spaces are a named list of matrices that keeps its class", {
  made <- make_spaces()
  expect_s3_class(made$spaces, c("feature_spaces", "list"), exact = TRUE)
  expect_named(made$spaces, c("motion", "words", "level"))
  expect_identical(made$spaces$motion, made$X[, 1:3])
  expect_identical(made$spaces[["level"]], made$X[, 9L, drop = FALSE])
  expect_identical(dim(made$spaces), c(24L, 9L))
  frame <- feature_spaces(a = data.frame(u = 1:3, v = 4:6))
  expect_identical(frame$a, cbind(u = c(1, 2, 3), v = c(4, 5, 6)))
})

test_that("the solvers answer as for a plain list, and as for the matrix with its bands", {
  made <- make_spaces(40)
  runs <- rep(1:4, each = 10)
  solve <- function(Xs, bands = NULL) {
    band_quietly(Xs, made$Y, bands = bands, n_iter = 6, cv = runs, seed = 1, fit_intercept = TRUE)
  }
  plain <- solve(unclass(made$spaces))
  expect_identical(solve(made$spaces), plain)
  side_by_side <- as.matrix(made$spaces)
  one <- solve(side_by_side, attr(side_by_side, "bands"))
  expect_identical(unname(one$coefs), unname(plain$coefs))
  expect_identical(one$deltas, plain$deltas)
  expect_identical(r2_split(plain, made$spaces, made$Y), r2_split(plain, unclass(made$spaces), made$Y))
  train <- runs != 4
  Y <- made$Y[train, ]
  half <- band_quietly(made$spaces[train, c("words", "motion")], Y, n_iter = 4, cv = runs[train], seed = 1)
  by_hand <- list(words = made$spaces$words[train, ], motion = made$spaces$motion[train, ])
  expect_identical(half, band_quietly(by_hand, Y, n_iter = 4, cv = runs[train], seed = 1))
})

test_that("rows and spaces are taken by number, sign, logical value and name", {
  spaces <- make_spaces()$spaces
  expect_identical(names(spaces["words"]), "words")
  expect_identical(spaces[2], spaces["words"])
  expect_identical(spaces[c(FALSE, TRUE, FALSE)], spaces["words"])
  expect_identical(spaces[-(2:3)], spaces["motion"])
  expect_identical(spaces[], spaces)
  expect_identical(spaces[, ], spaces)
  expect_identical(names(spaces[, c("level", "motion")]), c("level", "motion"))
  rows <- c(5L, 2L, 2L)
  expect_identical(unclass(spaces[rows, ]), lapply(unclass(spaces), function(X) X[rows, , drop = FALSE]))
  expect_identical(spaces[rep(c(TRUE, FALSE), 12), "words"], spaces["words"][seq(1, 24, 2), ])
  expect_identical(dim(spaces[-1, 1:2]), c(23L, 8L))
  named <- feature_spaces(a = matrix(1:4, 2, dimnames = list(c("u", "v"), NULL)))
  expect_identical(unname(named["v", ]$a), matrix(c(2, 4), 1))
})

test_that("spaces are delayed within runs", {
  made <- make_spaces()
  runs <- rep(1:2, each = 12)
  delayed <- make_spaces(delays = 1:2, runs = runs)$spaces
  for (name in names(delayed)) expect_identical(delayed[[name]], delay_features(made$spaces[[name]], 1:2, runs))
  expect_identical(dim(delayed), c(24L, 18L))
})

test_that("as.matrix names columns after their space where they have no name", {
  spaces <- make_spaces()$spaces
  X <- as.matrix(spaces)
  expect_identical(colnames(X), c(sprintf("motion[%d]", 1:3), paste0("w", 1:5), "level[1]"))
  expect_identical(attr(X, "bands"), factor(rep(names(spaces), c(3, 5, 1)), names(spaces)))
  expect_identical(unname(X[, 4:8]), unname(spaces$words))
  expect_identical(colnames(as.matrix(feature_spaces(a = 1:3, b = 3:5))), c("a[1]", "b[1]"))
})

test_that("print is short and says how large each space is", {
  n <- 40
  X <- matrix(rep(c(1, -1), n / 2), n, 4)
  spaces <- feature_spaces(motion = X[, 1:3], words = 3 * X[, 1L])
  out <- capture.output(value <- withVisible(print(spaces)))
  expect_identical(out, c("Feature spaces: 40 samples, 2 spaces, 4 columns",
                          "  motion  3 columns   25.0 % of the variance",
                          "  words   1 column    75.0 % of the variance"))
  expect_identical(value, list(value = spaces, visible = FALSE))
  many <- do.call(feature_spaces, stats::setNames(rep(list(X), 30), paste0("space", 1:30)))
  expect_lte(length(capture.output(print(many))), 15L)
  expect_match(capture.output(print(many))[14L], "18 more")
  expect_match(capture.output(print(feature_spaces(a = rep(1, 4))))[2L], " 0.0 %")
})

test_that("the runs of cleaned features stay with the samples", {
  X <- random_problem(24, 6, 1, seed = 2)$X
  runs <- rep(1:3, each = 8)
  spaces <- feature_spaces(a = clean_runs(X[, 1:2], runs), b = X[, 3:6])
  expect_identical(attr(spaces[9:24, ]$a, "runs"), runs[9:24])
  expect_null(attr(spaces[9:24, ]$b, "runs"))
  expect_identical(attr(as.matrix(spaces[9:24, ]), "runs"), runs[9:24])
  delayed <- feature_spaces(a = clean_runs(X[, 1:2], runs), b = X[, 3:6], delays = 1:2)
  expect_identical(unname(delayed$b), unname(delay_features(X[, 3:6], 1:2, runs)))
  expect_identical(attr(delayed$a, "runs"), runs)
  cnd <- expect_refused(feature_spaces(a = clean_runs(X, runs), b = clean_runs(X, rep(1:2, each = 12))), "b", "`a`")
  expect_s3_class(cnd, "voxridge_error_conflict")
})

test_that("wrong spaces and indices are refused", {
  X <- matrix(1:6 + 0, 3)
  expect_refused(feature_spaces(), "...")
  expect_refused(feature_spaces(X), "...", "name")
  expect_refused(feature_spaces(a = X, a = X), "...", "a")
  expect_refused(feature_spaces(a = X, b = X[1:2, ]), "b", c("3", "2"))
  expect_refused(feature_spaces(a = X, delay = 1:4), "delay", "4")
  expect_refused(feature_spaces(a = X, b = "x"), "b")
  expect_refused(feature_spaces(a = X[, 0L]), "a")
  expect_refused(feature_spaces(a = replace(X, 2L, NA)), "a", "NA")
  expect_refused(feature_spaces(a = X, runs = 1:3), "runs", "delays")
  expect_refused(feature_spaces(a = X, delays = 3), "delays", "longest")
  spaces <- feature_spaces(a = X, b = X)
  expect_refused(spaces["c"], "j", "c")
  expect_refused(spaces[, c("a", "a")], "j", "a")
  expect_refused(spaces[3], "j", "3")
  expect_refused(spaces[4, ], "i", "4")
  expect_refused(spaces[c(TRUE, FALSE), ], "i")
  expect_refused(spaces[c(TRUE, NA, FALSE), ], "i", "NA")
  expect_refused(spaces[integer(), ], "i", "none")
  expect_refused(spaces[c(1, -1), ], "i")
  expect_refused(spaces["u", ], "i")
  expect_refused(spaces[factor(1), ], "i")
  expect_error(spaces[1, , drop = FALSE], class = "rlib_error_dots_nonempty")
})
