# The laws that the help page states, over several seeds.

problems <- function() {
  lapply(1:3, function(seed) {
    class_problem(n_runs = 4, n_classes = 2 + seed %% 2, per_class = 2, p = 30, seed = seed, signal = 0.5)
  })
}

slab <- function() brain_mask(array(1, c(5, 3, 2)), affine = diag(c(2, 2, 3, 1)))

test_that("threads and the order of centres change no bit", {
  mask <- slab()
  for (d in problems()) {
    for (scale in c("none", "fold")) {
      run <- function(n_threads, centers) {
        decode_quietly(d$X, d$y, cv = d$runs, where = searchlight(mask, 3.5, centers = centers), scale = scale,
                       metrics = c("accuracy", "auc"), n_permutations = 300, seed = 1, n_threads = n_threads,
                       keep_predictions = TRUE)
      }
      one <- run(1, 1:30)
      two <- run(4, 30:1)
      for (what in c("score", "pooled", "p", "p_fwer", "counts", "null_mean")) {
        expect_identical(two[[what]][30:1, ], one[[what]], info = what)
      }
      expect_identical(two$decision[, , 30:1], one$decision[, , 1:30])
      expect_identical(two$max_null, one$max_null)
    }
  }
})

test_that("a location's result is that of its columns alone", {
  mask <- slab()
  for (d in problems()) {
    for (scale in c("none", "fold")) {
      light <- decode_quietly(d$X, d$y, cv = d$runs, where = searchlight(mask, 3.5), scale = scale, n_permutations = 40,
                              seed = 2, keep_predictions = TRUE)
      core <- with_sphere_offsets(as_locations(searchlight(mask, 3.5), 30L, NULL, rlang::current_env())$core)
      for (k in c(1, 8, 30)) {
        voxels <- location_voxels(core, k, 30L)
        alone <- decode_quietly(d$X[, voxels], d$y, cv = d$runs, scale = scale, n_permutations = 40, seed = 2)
        expect_close(c(light$decision[, , k]), c(alone$decision), 1e-12)
        expect_identical(light$counts[[k, 1L]], alone$counts[[1L]])
      }
      # spheres as lists, and a searchlight of everything
      lists <- searchlight(neighbours = lapply(1:30, function(k) location_voxels(core, k, 30L)))
      expect_identical(decode_quietly(d$X, d$y, cv = d$runs, where = lists, scale = scale)$scores, light$scores)
      all <- decode_quietly(d$X, d$y, cv = d$runs, where = searchlight(mask, 30, centers = 3), scale = scale)
      expect_close(all$score, decode_quietly(d$X, d$y, cv = d$runs, scale = scale)$score, 1e-12)
    }
  }
})

unname_names <- function(x) x

test_that("constants, the order of voxels and the unit of X change nothing", {
  for (d in problems()) {
    for (scale in c("none", "fold")) {
      run <- function(X, alphas = 2) {
        decode_quietly(X, d$y, cv = d$runs, alphas = alphas, scale = scale)
      }
      want <- run(d$X)
      order <- withr::with_seed(1, sample(30))
      shifted <- run(sweep(d$X, 2L, seq_len(30), "+"))
      expect_close(shifted$decision, want$decision, 1e-12)
      expect_close(shifted$weights, want$weights, 1e-12)
      turned <- run(d$X[, order])
      expect_close(turned$decision, want$decision, 1e-12)
      expect_close(turned$weights, want$weights[order, , drop = FALSE], 1e-12)
      if (scale == "none") scaled <- run(7 * d$X, 2 * 49) else scaled <- run(7 * d$X, 2)
      expect_close(scaled$decision, want$decision, 1e-12)
      expect_close(7 * scaled$weights, want$weights, 1e-12)
    }
  }
})

test_that("other names or another order of classes permute decisions", {
  for (d in problems()) {
    want <- decode_quietly(d$X, d$y, cv = d$runs)
    levels <- want$levels
    turned <- decode_quietly(d$X, factor(d$y, rev(levels)), cv = d$runs)
    if (length(levels) == 2L) expect_close(turned$decision, -want$decision, 1e-12)
    else expect_close(turned$decision[, levels], want$decision, 1e-12)
    renamed <- decode_quietly(d$X, factor(d$y, levels, paste("class", levels)), cv = d$runs)
    expect_identical(unname(renamed$decision), unname(want$decision))
    expect_identical(renamed$score, want$score)
  }
})

test_that("held-out labels do not reach their own prediction", {
  # the smoother has a block of zeros: another label for a held-out run leaves its decisions as they are
  for (d in problems()) {
    y <- factor(d$y)
    for (scale in c("none", "fold")) {
      want <- decode_quietly(d$X, y, cv = d$runs, scale = scale)$decision
      other <- y
      other[d$runs == 2] <- rev(other[d$runs == 2])
      got <- decode_quietly(d$X, other, cv = d$runs, scale = scale)$decision
      expect_close(got[d$runs == 2, ], want[d$runs == 2, ], 1e-12)
    }
  }
})

test_that("noise is decoded at chance, and p is uniform or larger", {
  withr::local_seed(11)
  draws <- vapply(1:200, function(k) {
    X <- matrix(rnorm(24 * 5), 24)
    fit <- decode_quietly(X, rep(c("a", "b"), 12), cv = rep(1:6, each = 4), n_permutations = 39, weights = FALSE)
    c(p = fit$p[[1L]], accuracy = fit$pooled[[1L]], null = fit$null_mean[[1L]])
  }, numeric(3L))
  # within 4 standard errors; held-out means pull accuracy a little below a half
  expect_lt(abs(mean(draws["accuracy", ]) - mean(draws["null", ])), 4 * stats::sd(draws["accuracy", ]) / sqrt(200))
  for (level in c(0.05, 0.1, 0.25, 0.5)) {
    expect_lte(mean(draws["p", ] <= level), level + 4 * sqrt(level * (1 - level) / 200))
  }
})

test_that("p_fwer is at least p, and controls the chance of any false positive", {
  withr::local_seed(12)
  mask <- slab()
  smallest <- vapply(1:100, function(k) {
    X <- matrix(rnorm(16 * 30), 16)
    fit <- decode_quietly(X, rep(c("a", "b"), 8), cv = rep(1:4, each = 4), where = searchlight(mask, 3.5),
                          n_permutations = 39)
    if (any(fit$p_fwer < fit$p)) stop("p_fwer below p")
    min(fit$p_fwer)
  }, 0)
  expect_lte(mean(smallest <= 0.1), 0.1 + 4 * sqrt(0.1 * 0.9 / 100))
})
