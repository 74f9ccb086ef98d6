# ---- plain oracles ---------------------------------------------------------------------------

a_mask <- function() {
  x <- array(1, c(5, 4, 3))
  x[cbind(c(1, 3, 5, 2, 4, 3), c(1, 2, 4, 3, 1, 4), c(1, 2, 3, 1, 3, 3))] <- 0
  brain_mask(x, affine = rbind(cbind(diag(c(-2, 3, 4)), c(10, -5, 7)), c(0, 0, 0, 1)))
}

# TRUE where two voxels touch.
adjacency <- function(mask, connectivity) {
  place <- arrayInd(mask$index, mask$dim)
  apart <- lapply(1:3, function(axis) abs(outer(place[, axis], place[, axis], "-")))
  sum <- Reduce(`+`, apart)
  Reduce(pmax, apart) == 1 & sum <= c("6" = 1, "18" = 2, "26" = 3)[[as.character(connectivity)]]
}

# The cluster of each voxel of `on`, by spreading the smallest number until nothing changes.
flood <- function(on, touching) {
  label <- ifelse(on, seq_along(on), NA)
  repeat {
    spread <- vapply(seq_along(on), function(j) {
      if (on[j]) min(label[on & (touching[j, ] | seq_along(on) == j)]) else NA_integer_
    }, 0L)
    if (identical(spread, label)) return(label)
    label <- spread
  }
}

cluster_sizes <- function(t, threshold, touching, mass) {
  label <- flood(t > threshold, touching)
  as.vector(tapply(if (mass) t - threshold else rep(1, length(t)), label, sum))
}

# The integral between neighbouring heights, where clusters stay the same.
exact_tfce <- function(t, touching, E = 0.5, H = 2) {
  if (any(t < 0)) return(exact_tfce(pmax(t, 0), touching, E, H) - exact_tfce(pmax(-t, 0), touching, E, H))
  out <- numeric(length(t))
  heights <- sort(unique(c(0, t)))
  for (k in seq_along(heights)[-1L]) {
    label <- flood(t >= heights[k], touching)
    size <- tabulate(label, length(t))[label]
    gain <- size^E * (heights[k]^(H + 1) - heights[k - 1L]^(H + 1)) / (H + 1)
    out <- out + ifelse(is.na(gain), 0, gain)
  }
  out
}

# Sums over steps, times dh.
stepped_tfce <- function(t, touching, n_steps, E = 0.5, H = 2) {
  dh <- max(t) / n_steps
  out <- numeric(length(t))
  for (h in (seq_len(n_steps) - 0.5) * dh) {
    label <- flood(t > h, touching)
    size <- tabulate(label, length(t))[label]
    out <- out + ifelse(is.na(label), 0, size^E * h^H * dh)
  }
  out
}

smooth_data <- function(mask, n, seed) {
  Y <- withr::with_seed(seed, matrix(rnorm(n * mask$n), n))
  touching <- adjacency(mask, 6) + diag(mask$n)
  Y %*% touching + 0.4 * (row(touching) <= 15)[rep(1, n), ]
}

tests <- lapply(list(one_sample = one_sample_permutation_test, two_sample = two_sample_permutation_test,
                     correlation = correlation_permutation_test, glm = glm_permutation_test), quiet_test)

# ---- maps ------------------------------------------------------------------------------------

test_that("TFCE is the integral, over levels and in the limit of fine steps", {
  mask <- a_mask()
  Y <- smooth_data(mask, 10, 1)
  for (connectivity in c(6, 18, 26)) {
    touching <- adjacency(mask, connectivity)
    got <- tests$one_sample(Y, n_permutations = 5, seed = 1, mask = mask, enhance = tfce(connectivity = connectivity))
    expect_equal(got$tfce, exact_tfce(got$statistic, touching), tolerance = 1e-6)
    expect_true(any(got$tfce < 0))
  }
  for (powers in list(c(1, 1), c(0.5, 2.5))) {
    rule <- tfce(E = powers[1], H = powers[2], connectivity = 26)
    got <- tests$one_sample(Y, n_permutations = 5, seed = 1, mask = mask, enhance = rule)
    expect_equal(got$tfce, exact_tfce(got$statistic, touching, powers[1], powers[2]), tolerance = 1e-6)
  }
  t <- pmax(got$statistic, 0)
  exact <- exact_tfce(t, touching)
  away <- vapply(c(10, 40, 160), function(n_steps) max(abs(stepped_tfce(t, touching, n_steps) - exact)), 0) / max(exact)
  expect_true(all(diff(away) < 0))
  expect_lt(away[3L], 0.01)
})

test_that("ties, single voxels and equal heights are integrated alike", {
  mask <- a_mask()
  # whole numbers of few values: many voxels of one height
  Y <- tied_data(8, mask$n, 2, -1:2)
  got <- tests$one_sample(Y, n_permutations = 5, seed = 1, mask = mask, enhance = tfce())
  t <- ifelse(is.na(got$statistic), 0, pmax(-1e6, pmin(1e6, got$statistic)))
  want <- exact_tfce(t, adjacency(mask, 6))
  expect_equal(ifelse(is.na(got$tfce), 0, got$tfce), want, tolerance = 1e-5)
  alone <- matrix(-1e-9 * seq(-1, 1, length.out = 6), 6, mask$n)
  alone[, 20] <- c(3, 2, 4, 1, 5, 2)
  got <- tests$one_sample(alone[, 20], n_permutations = 5, seed = 1, enhance = tfce(),
                          mask = brain_mask(array(1, c(1, 1, 1))))
  expect_equal(got$tfce, got$statistic^3 / 3, tolerance = 1e-6)
})

test_that("maps of every design give the maxima and counts of plain code", {
  mask <- a_mask()
  n <- 12L
  Y <- smooth_data(mask, n, 3)
  Y[, 8] <- 2
  x <- withr::with_seed(4, rnorm(n)) + rep(c(1, 0), each = 6)
  group <- factor(rep(c("a", "b"), each = 6))
  m <- 40L
  designs <- list(
    flips = list(function(...) tests$one_sample(Y, ...), n - 1),
    pooled = list(function(...) tests$two_sample(Y, group, ...), n - 2),
    welch = list(function(...) tests$two_sample(Y, group, var_equal = FALSE, ...), NA),
    correlation = list(function(...) tests$correlation(x, Y, ...), n - 2),
    paired = list(function(...) tests$correlation(Y[, rev(seq_len(mask$n))], Y, ...), n - 2),
    partial = list(function(...) tests$glm(Y, cbind(1, x, group == "a"), c(0, 1, 0), ...), n - 3)
  )
  for (name in names(designs)) {
    run <- designs[[name]][[1L]]
    df <- designs[[name]][[2L]]
    threshold <- if (is.na(df)) 1.2 else stats::qt(0.1, df, lower.tail = FALSE)
    heights <- function(x) {
      if (name %in% c("correlation", "paired")) x <- x * sqrt(df / (1 - x^2))
      ifelse(is.na(x), 0, x)
    }
    for (tail in if (name == "flips") TEST_TAILS[c(1L, 3L, 4L)] else TEST_TAILS[1L]) {
      call <- c(tail, list(n_permutations = m, seed = 7, exact = "never"))
      plain <- do.call(run, c(call, return_null = TRUE))
      null <- t(apply(plain$null, 1L, heights))
      observed <- heights(plain$statistic)
      signs <- switch(tail$alternative, two.sided = c(1, -1), greater = 1, less = -1)
      for (kind in c("size", "mass")) {
        make <- if (kind == "size") cluster_extent else cluster_mass
        rule <- if (is.na(df)) make(threshold_t = threshold) else make(threshold_p = 0.1)
        got <- do.call(run, c(call, list(mask = mask, enhance = rule)))
        expect_identical(got$p, plain$p)
        expect_identical(got$max_null, plain$max_null)
        touching <- adjacency(mask, 26)
        of <- function(map) lapply(signs, function(s) cluster_sizes(s * map, threshold, touching, kind == "mass"))
        maxima <- apply(null, 1L, function(map) max(0, unlist(of(map))))
        expect_equal(got$max_enhanced, maxima, tolerance = 1e-6)
        want <- sort(unlist(of(observed)), decreasing = TRUE)
        expect_equal(got$clusters[[kind]], want, tolerance = 1e-6)
        p <- vapply(want, function(value) (sum(maxima >= value * (1 - 1e-6)) + 1) / (m + 1), 0)
        expect_equal(got$clusters$p_fwer, p, tolerance = 1e-14)
      }
      got <- do.call(run, c(call, list(mask = mask, enhance = tfce())))
      touching <- adjacency(mask, 6)
      size <- function(map) {
        value <- exact_tfce(map, touching)
        switch(tail$alternative, two.sided = abs(value), greater = pmax(value, 0), less = pmax(-value, 0))
      }
      enhanced <- t(apply(null, 1L, size))
      expect_equal(got$max_enhanced, apply(enhanced, 1L, max), tolerance = 1e-5)
      from <- rep(size(observed) * (1 - 1e-5), each = m)
      used <- !is.na(plain$p)
      expect_equal(got$p_tfce[used], ((colSums(enhanced >= from) + 1) / (m + 1))[used], tolerance = 1e-14)
      fwer <- (colSums(apply(enhanced, 1L, max) >= matrix(from, m)) + 1) / (m + 1)
      expect_equal(got$p_tfce_fwer[used], fwer[used], tolerance = 1e-14)
      expect_true(all(got$p_tfce_fwer >= got$p_tfce, na.rm = TRUE))
      expect_true(all(is.na(c(got$tfce[!used], got$p_tfce[!used]))))
    }
  }
})

test_that("F tests have one direction", {
  mask <- a_mask()
  Y <- smooth_data(mask, 12, 5)
  design <- cbind(1, withr::with_seed(1, matrix(rnorm(24), 12)))
  contrast <- rbind(c(0, 1, 0), c(0, 0, 1))
  run <- function(...) tests$glm(Y, design, contrast, n_permutations = 20, seed = 1, mask = mask, ...)
  got <- run(enhance = cluster_extent(threshold_p = 0.2))
  threshold <- stats::qf(0.8, 2, 9)
  expect_identical(got$cluster_labels > 0L, got$statistic > threshold)
  expect_true(all(got$clusters$sign == 1))
  expect_true(all(run(enhance = tfce())$tfce > 0))
  expect_refused(run(enhance = cluster_extent(threshold_t = 2)), "enhance", "threshold_p")
})

test_that("a statistic at the threshold is not beyond it, in tied data too", {
  # t is 3, 3, -3, and 3 in another unit
  Y <- cbind(c(1, 1, 1, 0), c(0, 1, 1, 1), -c(1, 1, 0, 1), c(0.2, 0.2, 0.2, 0))
  run <- function(threshold) {
    tests$one_sample(Y, mask = brain_mask(array(1, c(4, 1, 1))), enhance = cluster_extent(threshold_t = threshold))
  }
  at <- run(3)
  expect_equal(at$statistic, c(3, 3, -3, 3))
  expect_identical(at$cluster_labels, integer(4))
  expect_identical(max(run(2.9999)$max_enhanced), 2)
  expect_identical(run(2.9999)$cluster_labels != 0L, rep(TRUE, 4))
  Y <- tied_data(8L, 40L, 1, 0:3)
  plain <- tests$one_sample(Y, n_permutations = 20, seed = 1)
  heights <- abs(plain$statistic[is.finite(plain$statistic)])
  for (threshold in unique(round(heights[heights > 1], 10))) {
    got <- tests$one_sample(Y, n_permutations = 20, seed = 1, mask = brain_mask(array(1, c(40, 1, 1))),
                            enhance = cluster_mass(threshold_t = threshold))
    expect_identical(got$cluster_labels > 0L, !is.na(got$statistic) & abs(got$statistic) > threshold * (1 + 1e-8))
  }
})

test_that("the table of clusters says where they are", {
  mask <- a_mask()
  Y <- smooth_data(mask, 12, 6)
  got <- tests$one_sample(Y, n_permutations = 50, seed = 1, mask = mask,
                          enhance = cluster_mass(threshold_t = 1, connectivity = 6))
  table <- got$clusters
  touching <- adjacency(mask, 6)
  expect_named(table, c("id", "sign", "size", "volume_mm3", "mass", "peak", "i", "j", "k", "x", "y", "z", "p_fwer"))
  expect_gt(nrow(table), 2L)
  expect_setequal(table$sign, c(1, -1))
  expect_false(is.unsorted(table$p_fwer))
  for (id in table$id) {
    row <- table[id, ]
    here <- which(got$cluster_labels == id)
    label <- flood(row$sign * got$statistic > 1, touching)
    expect_identical(here, which(label == label[here[1L]]))
    expect_equal(row$size, length(here))
    expect_equal(row$volume_mm3, length(here) * 24)
    expect_equal(row$mass, sum(abs(got$statistic[here]) - 1), tolerance = 1e-6)
    peak <- here[which.max(abs(got$statistic[here]))]
    expect_identical(row$peak, got$statistic[peak])
    expect_equal(unlist(row[c("i", "j", "k")], use.names = FALSE), as.vector(arrayInd(mask$index[peak], mask$dim)))
    expect_equal(unlist(row[c("x", "y", "z")], use.names = FALSE), unname(coordinates(mask)[peak, ]))
  }
  map <- brain_map(got, what = "cluster_labels")
  expect_identical(as.vector(map[mask$index]), got$cluster_labels)
  # without an affine there are no mm
  mask$affine <- NULL
  bare <- tests$one_sample(Y, n_permutations = 50, seed = 1, mask = mask,
                           enhance = cluster_mass(threshold_t = 1, connectivity = 6))$clusters
  expect_identical(bare[names(bare) %in% c("size", "i", "p_fwer")], table[names(table) %in% c("size", "i", "p_fwer")])
  expect_true(all(is.na(bare$x)))
})

test_that("signs, twice the smaller p and enumeration agree", {
  mask <- a_mask()
  Y <- smooth_data(mask, 7, 7)
  run <- function(Y, ...) tests$one_sample(Y, mask = mask, ...)
  up <- run(Y, enhance = tfce())
  down <- run(-Y, enhance = tfce())
  expect_true(up$exact)
  expect_equal(down$tfce, -up$tfce)
  expect_identical(down$p_tfce_fwer, up$p_tfce_fwer)
  # the data are one of all arrangements
  expect_gte(min(up$p_tfce_fwer), 2 / 128)
  greater <- run(Y, enhance = tfce(), alternative = "greater")
  less <- run(Y, enhance = tfce(), alternative = "less")
  double <- run(Y, enhance = tfce(), two_sided = "double")
  expect_equal(double$p_tfce_fwer, pmin(1, 2 * pmin(greater$p_tfce_fwer, less$p_tfce_fwer)))
  expect_true(all(greater$p_tfce_fwer[greater$tfce < 0] == 1))
  rule <- cluster_extent(threshold_p = 0.2)
  sides <- lapply(c("greater", "less"), function(side) run(Y, enhance = rule, alternative = side)$clusters)
  both <- run(Y, enhance = rule, two_sided = "double")
  for (k in 1:2) {
    one <- both$clusters[both$clusters$sign == c(1, -1)[k], ]
    expect_identical(one$size, sides[[k]]$size)
    expect_equal(one$p_fwer, pmin(1, 2 * sides[[k]]$p_fwer))
  }
  expect_identical(both$cluster_labels > 0L, abs(both$statistic) > stats::qt(0.8, 6))
  # the permutation that changes nothing counts as equal
  same <- run(Y, permutations = matrix(1, 9, 7), enhance = tfce())
  expect_true(all(same$p_tfce == 1) && all(same$p_tfce_fwer >= same$p_tfce))
})

test_that("threads and batches change no bit", {
  mask <- brain_mask(array(1, c(12, 11, 10)))
  Y <- smooth_data(mask, 12, 8)
  for (rule in list(tfce(), cluster_mass(threshold_p = 0.05))) {
    run <- function(m, n_threads) {
      got <- tests$one_sample(Y, n_permutations = m, exact = "never", seed = 1, mask = mask, enhance = rule,
                              n_threads = n_threads)
      got$diagnostics <- NULL
      got
    }
    one <- run(150, 1)
    for (n_threads in c(2, 5)) expect_identical(run(150, n_threads), one)
    expect_identical(run(40, 2)$max_enhanced, one$max_enhanced[1:40])
  }
})

test_that("hard cases have their answers", {
  mask <- a_mask()
  Y <- smooth_data(mask, 10, 9)
  run <- function(..., Y. = Y, m = 20) tests$one_sample(Y., n_permutations = m, seed = 1, ...)
  none <- run(mask = mask, enhance = cluster_extent(threshold_t = 1e5))
  expect_identical(nrow(none$clusters), 0L)
  expect_identical(none$cluster_labels, integer(mask$n))
  expect_identical(none$max_enhanced, numeric(20))
  # before any permutation
  expect_refused(run(enhance = tfce(), m = 2e9), "mask", "brain_matrix")
  cnd <- expect_refused(run(Y. = Y[, -1], enhance = tfce(), mask = mask, m = 2e9), "mask", "one voxel per column")
  expect_s3_class(cnd, "voxridge_error_shape")
  expect_refused(run(Y. = Y[, -1], mask = mask), "mask")
  expect_refused(run(enhance = tfce(), mask = "nowhere.nii"), "mask")
  expect_refused(run(enhance = tfce, mask = mask), "enhance")
  expect_refused(run(enhance = "tfce", mask = mask), "enhance")
  expect_refused(run(enhance = tfce(), mask = mask, return_null = TRUE), "return_null")
  expect_refused(run(enhance = tfce(), mask = mask, sequential = 5), "enhance")
  group <- rep(0:1, 5)
  expect_refused(tests$two_sample(Y, group, var_equal = FALSE, mask = mask, enhance = cluster_mass()), "enhance")
  for (p in list(3, 0, 0.5, -1, NA, "a", c(0.1, 0.2))) {
    expect_refused(cluster_extent(threshold_p = p), "threshold_p")
    expect_refused(cluster_mass(threshold_p = p), "threshold_p")
  }
  expect_refused(cluster_extent(threshold_t = -1), "threshold_t")
  expect_s3_class(expect_refused(cluster_mass(0.01, 3), "threshold_p"), "voxridge_error_conflict")
  expect_refused(cluster_extent(connectivity = 8), "connectivity")
  expect_refused(tfce(connectivity = "6"), "connectivity")
  expect_refused(tfce(E = 0), "E")
  expect_refused(tfce(H = "a"), "H")
  # a mask that comes with the data; one that does not fit is no matter where it is not needed
  attr(Y, "mask") <- mask
  expect_identical(run(Y. = Y, enhance = tfce())$mask, mask)
  expect_null(suppressWarnings(run(Y. = structure(Y[, -1], mask = mask))$mask))
  # all columns but one excluded
  Y[, -3] <- 1
  got <- run(Y. = Y, enhance = tfce())
  expect_equal(got$tfce[3], sign(got$statistic[3]) * abs(got$statistic[3])^3 / 3, tolerance = 1e-6)
  expect_true(all(is.na(got$tfce[-3])))
  # none is left; groups that do not overlap at all
  nothing <- suppressWarnings(run(Y. = matrix(5, 10, mask$n), mask = mask, enhance = tfce()))
  expect_true(all(is.na(nothing$tfce)) && all(is.na(nothing$p_tfce_fwer)))
  apart <- matrix(rep(c(1, 2), each = 5), 10, mask$n)
  separated <- tests$two_sample(apart, apart[, 1], mask = mask, enhance = tfce(), n_permutations = 300)
  expect_identical(unique(separated$statistic), -Inf)
  expect_true(all(is.finite(separated$tfce)))
  expect_equal(separated$p_tfce_fwer, rep(2 / 252, mask$n), tolerance = 1e-14)
})

test_that("rules print in a line", {
  expect_output(print(tfce()), "E = 0.5, H = 2, 6 neighbours")
  expect_output(print(cluster_mass()), "Cluster mass \\(p < 0.001, 26 neighbours\\)")
  expect_output(print(cluster_extent(threshold_t = 3.1, connectivity = 18)), "extent \\(t > 3.1, 18 neighbours\\)")
})

test_that("the emotion regulation sample", {
  Y <- brain_matrix(test_data("data", "wager2008", "contrasts_4d.nii.gz"),
                    test_data("data", "wager2008", "mask.nii.gz"))
  run <- function(rule) tests$one_sample(Y, n_permutations = 20, seed = 1, enhance = rule)
  want <- list("26" = c(12, 1134, 1156.83), "6" = c(19, 1131, 1156.52))
  for (connectivity in c(26, 6)) {
    got <- run(cluster_mass(connectivity = connectivity))$clusters
    positive <- got[got$sign > 0, ]
    expect_equal(c(nrow(positive), max(positive$size), round(max(positive$mass), 2)), want[[format(connectivity)]])
  }
  heights <- list("26" = c(-151.64, 1848.02), "6" = c(-143.19, 1837.06))
  for (connectivity in c(26, 6)) {
    got <- run(tfce(connectivity = connectivity))
    expect_equal(round(range(got$tfce), 2), heights[[format(connectivity)]])
  }
  expect_equal(max(brain_map(got, what = "tfce"), na.rm = TRUE), max(got$tfce))
  expect_equal(min(brain_map(got, what = "p_tfce_fwer"), na.rm = TRUE), min(got$p_tfce_fwer))
})
