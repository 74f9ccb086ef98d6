BANDS <- c("a", "b", "c")

plan <- function(n_iter, seed = 1, concentration = c(0.1, 1), jitter_alphas = FALSE, bands = BANDS) {
  draw_candidates(as_n_iter(n_iter, bands), concentration, jitter_alphas, seed, bands)
}

test_that("drawn candidates lie on the simplex, equal weights first", {
  gammas <- plan(200)$gammas
  expect_identical(dimnames(gammas), list(NULL, BANDS))
  expect_identical(dim(gammas), c(200L, 3L))
  expect_identical(unname(gammas[1L, ]), rep(1 / 3, 3))
  expect_true(all(gammas >= 0))
  expect_close(rowSums(gammas), rep(1, 200), 1e-12)
  expect_identical(plan(200)$jitter, rep(1, 200))
})

test_that("candidates take the concentrations in turn", {
  # of a Dirichlet with equal concentrations c over 3 bands, the variance of a weight is (2 / 9) / (3 c + 1)
  gammas <- plan(6001, concentration = c(0.1, 1, 50))$gammas[-1L, ]
  spread <- vapply(1:3, function(k) mean((gammas[seq(k, 6000, by = 3), ] - 1 / 3)^2), 0)
  # candidate 2 takes the second concentration
  want <- (2 / 9) / (3 * c(1, 50, 0.1) + 1)
  expect_lt(max(abs(spread / want - 1)), 0.1)
  expect_close(colMeans(gammas), rep(1 / 3, 3), 0.02)
})

test_that("the first candidates do not depend on how many follow", {
  for (n in c(1, 2, 7)) expect_identical(plan(n)$gammas, plan(50)$gammas[seq_len(n), , drop = FALSE])
  expect_identical(plan(7, jitter_alphas = TRUE)$jitter, plan(50, jitter_alphas = TRUE)$jitter[1:7])
})

test_that("the same seed gives the same candidates, for any state and kind of R's generator", {
  withr::local_seed(1)
  before <- .Random.seed
  a <- plan(20, seed = 5, jitter_alphas = TRUE)
  expect_identical(.Random.seed, before)
  expect_identical(withr::with_seed(9, plan(20, seed = 5, jitter_alphas = TRUE), .rng_kind = "Wichmann-Hill"), a)
  expect_identical(a$seed, 5)
  expect_false(any(plan(20, seed = 6)$gammas[-1L, ] == a$gammas[-1L, ]))
})

test_that("without a seed R's generator gives it, and only where something is drawn", {
  a <- withr::with_seed(2, plan(20, seed = NULL))
  expect_identical(withr::with_seed(2, plan(20, seed = NULL)), a)
  expect_identical(plan(20, seed = a$seed), a)
  withr::local_seed(3)
  before <- .Random.seed
  for (quiet in list(plan(1, seed = NULL), plan(diag(3), seed = NULL), plan(9, seed = NULL, bands = "a"))) {
    expect_null(quiet$seed)
  }
  expect_identical(.Random.seed, before)
  plan(diag(3), seed = NULL, jitter_alphas = TRUE)
  expect_false(identical(.Random.seed, before))
})

test_that("jitter moves the penalties of a candidate by up to half a decade, and no weights", {
  a <- plan(2000, jitter_alphas = TRUE)
  expect_identical(a$gammas, plan(2000)$gammas)
  u <- log10(a$jitter) + 0.5
  expect_true(min(u) >= 0 && max(u) <= 1)
  expect_gt(stats::ks.test(u, "punif")$p.value, 0.01)
})

test_that("one band has one candidate, whatever their number", {
  expect_identical(plan(4, bands = "a")$gammas, matrix(1, 4, 1, dimnames = list(NULL, "a")))
})

test_that("extreme concentrations give zeros and ones, never NaN", {
  for (concentration in c(1e-300, 1e-3, 1e3, 1e300)) {
    gammas <- plan(500, concentration = concentration, bands = letters[1:10])$gammas
    expect_true(all(is.finite(gammas)))
    expect_close(rowSums(gammas), rep(1, 500), 1e-12)
  }
  expect_gt(mean(plan(500, concentration = 1e-3)$gammas == 0), 0.1)
})

test_that("given gammas are used as they are", {
  gammas <- rbind(c(2, 0, 1e-9), c(1L, 1L, 1L))
  expect_identical(unname(plan(gammas)$gammas), gammas)
  expect_identical(unname(plan(diag(3L))$gammas), diag(3))
  expect_identical(unname(plan(as.data.frame(gammas[, 3:1]) |> stats::setNames(c("c", "b", "a")))$gammas), gammas)
  expect_identical(plan(gammas)$jitter, c(1, 1))
})

test_that("gammas that are no weights are refused, with the rows", {
  wrong <- list(rbind(1, c(1, -1, 1)), rbind(1, c(1, NA, 1)), rbind(1, c(1, Inf, 1)), rbind(1, c(0, 0, 0)),
                diag(2), diag(4), matrix(1, 0, 3), matrix("a", 2, 3), matrix(TRUE, 1, 3),
                matrix(1, 1, 3, dimnames = list(NULL, c("a", "b", "d"))),
                matrix(1, 1, 3, dimnames = list(NULL, c("a", "b", "b"))))
  for (gammas in wrong) {
    cnd <- expect_refused(as_n_iter(gammas, BANDS), "n_iter")
    expect_s3_class(cnd, "voxridge_error_gammas")
  }
  for (gammas in wrong[1:4]) expect_identical(expect_error(as_n_iter(gammas, BANDS))$where, 2L)
})

test_that("numbers of candidates and concentrations are checked", {
  for (n_iter in list(0, -1, 1.5, NA, Inf, "10", 1:3, NULL, list(10), 3e9)) {
    expect_error(as_n_iter(n_iter, BANDS), "n_iter", class = "voxridge_error_argument")
  }
  for (x in list(0, -1, NA, Inf, "1", numeric(), NULL, c(1, 0))) {
    expect_error(as_concentration(setting(x, TRUE), 10L), "concentration", class = "voxridge_error_argument")
  }
  expect_identical(as_concentration(setting(1:2, TRUE), 10L), c(1, 2))
  expect_error(as_concentration(setting(1, TRUE), diag(3)), class = "voxridge_error_conflict")
  expect_identical(as_concentration(setting(c(0.1, 1), FALSE), diag(3)), c(0.1, 1))
})

test_that("the messages", {
  Xs <- list(motion = matrix(0.5, 20, 2), words = matrix(0.5, 20, 3))
  Y <- matrix(0.5, 20, 2)
  gammas <- rbind(c(1, 0), c(0.5, -0.5), c(0, 0))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(Xs, Y, n_iter = gammas))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(Xs, Y, n_iter = abs(gammas)))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(Xs, Y, n_iter = rbind(c(1, NA))))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(Xs, Y, n_iter = diag(3)))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(Xs, Y, n_iter = cbind(motion = 1, sound = 1)))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(Xs, Y, n_iter = 0))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(Xs, Y, concentration = c(1, 0)))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(Xs, Y, n_iter = diag(2), concentration = 1))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(Xs, Y, seed = -1))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(Xs, Y, search = "grid"))
})
