# Decoding of real measurements, one slice of Haxby et al. 2001, subject 1. The figures are those of an independent
# computation (numpy, scikit-learn): numbers of blocks decoded right, leaving one run out.

test_that("the whole brain decodes eight categories", {
  skip_on_cran()
  d <- haxby_blocks()
  expect_identical(dim(d$X), c(96L, 530L))
  right <- function(...) sum(decode_quietly(d$X, d$y, cv = d$runs, weights = FALSE, ...)$predictions == d$y)
  expect_identical(right(alphas = 100), 80L)
  expect_identical(right(alphas = 1), 76L)
  expect_identical(right(alphas = 1, scale = "fold"), 74L)
  expect_identical(right(alphas = 100, scale = "fold"), 78L)
  expect_identical(right(alphas = 1000, scale = "fold"), 72L)
  fit <- decode_quietly(d$X, d$y, cv = d$runs, alphas = 100)
  expect_equal(fit$score[[1L]], 80 / 96)
  expect_equal(fit$pooled[[1L]], 80 / 96)
  per_class <- diag(summary(fit)$confusion)
  expect_identical(per_class, c(bottle = 9L, cat = 9L, chair = 6L, face = 12L, house = 12L, scissors = 9L,
                                scrambledpix = 12L, shoe = 11L))
})

test_that("faces against houses, volumes one by one, and two parcels", {
  skip_on_cran()
  d <- haxby_blocks()
  two <- d$y %in% c("face", "house")
  for (alpha in c(1, 100)) {
    fit <- decode_quietly(d$X[two, ], d$y[two], cv = d$runs[two], alphas = alpha)
    expect_identical(sum(fit$predictions == d$y[two]), 24L)
  }
  fit <- decode_quietly(d$volumes, d$volume_y, cv = d$volume_runs, alphas = 1000, weights = FALSE)
  expect_identical(sum(fit$predictions == d$volume_y), 558L)
  parcels <- ifelse(arrayInd(d$mask$index, d$mask$dim)[, 1L] <= 20, "left", "right")
  expect_identical(as.vector(table(parcels)), c(253L, 277L))
  right <- function(alpha) {
    fit <- decode_quietly(d$X, d$y, cv = d$runs, alphas = alpha, where = roi(parcels), weights = FALSE)
    colSums(fit$predictions == d$y)
  }
  expect_identical(right(100), c(left = 73, right = 67))
  expect_identical(right(1), c(left = 63, right = 62))
  # a label image
  image <- brain_map(match(parcels, c("left", "right")), d$mask, fill = 0)
  fit <- decode_quietly(d$X, d$y, cv = d$runs, alphas = 100, where = roi(image), weights = FALSE)
  expect_identical(unname(colSums(fit$predictions == d$y)), c(73, 67))
})

test_that("searchlights", {
  skip_on_cran()
  d <- haxby_blocks()
  light <- function(radius, ..., y = d$y, X = d$X, runs = d$runs) {
    decode_quietly(X, y, cv = runs, alphas = 10, where = searchlight(d$mask, radius_mm = radius), ...)
  }
  fit <- light(10)
  expect_identical(range(fit$size), c(8L, 27L))
  expect_identical(sprintf("%.2f", mean(fit$size)), "24.04")
  expect_equal(sum(fit$pooled) * 96, 16154)
  expect_identical(sprintf("%.4f", mean(fit$score)), "0.3175")
  best <- which.max(fit$score)
  expect_equal(fit$pooled[best] * 96, 68)
  expect_identical(as.vector(arrayInd(d$mask$index[best], d$mask$dim)), c(30L, 15L, 1L))
  fit <- light(8)
  expect_identical(range(fit$size), c(5L, 17L))
  expect_lt(abs(mean(fit$size) - 15.53), 0.006)
  expect_equal(sum(fit$pooled) * 96, 14058)
  expect_equal(max(fit$pooled) * 96, 55)
  fit <- light(10, scale = "fold")
  expect_equal(c(sum(fit$pooled), max(fit$pooled)) * 96, c(15649, 68))
  two <- d$y %in% c("face", "house")
  fit <- light(10, y = d$y[two], X = d$X[two, ], runs = d$runs[two])
  expect_equal(sum(fit$pooled) * 24, 10633)
  expect_identical(sum(fit$pooled == 1), 96L)
})

test_that("a thousand permutations within runs find the spheres that carry information", {
  skip_on_cran()
  d <- haxby_blocks()
  passed <- vapply(1:3, function(seed) {
    fit <- decode_quietly(d$X, d$y, cv = d$runs, alphas = 10, where = searchlight(d$mask, radius_mm = 10),
                          n_permutations = 1000, seed = seed)
    expect_true(all(fit$p_fwer >= fit$p))
    c(quantile = stats::quantile(fit$max_null * 96, 0.95, names = FALSE, type = 1L), passed = sum(fit$p_fwer <= 0.05))
  }, numeric(2L))
  # the published figures are those of other random numbers: 27 of 96 and 306 spheres
  expect_true(all(abs(passed["quantile", ] - 27) <= 1))
  expect_true(all(abs(passed["passed", ] - 306) <= 40))
})

test_that("a brain of one voxel per 25 mm, twelve runs as files", {
  skip_on_cran()
  mask <- brain_mask(test_data("data", "haxby_25mm", "mask_brain.nii.gz"))
  expect_identical(mask$n, 129L)
  parts <- lapply(1:12, function(run) {
    bold <- brain_matrix(test_data("data", "haxby_25mm", sprintf("run%02d_bold_25mm.nii.gz", run)), mask,
                         progress = FALSE)
    events <- utils::read.delim(test_data("data", "haxby_25mm", sprintf("run%02d_events.tsv", run)))
    seconds <- 2.5 * (seq_len(nrow(bold)) - 1)
    at <- vapply(seconds, function(t) c(which(t >= events$onset & t < events$onset + events$duration), 0L)[1L], 0L)
    list(bold = bold, shown = c("rest", events$trial_type)[at + 1L])
  })
  runs <- rep(1:12, vapply(parts, function(part) nrow(part$bold), 0L))
  shown <- unlist(lapply(parts, `[[`, "shown"))
  clean <- clean_runs(do.call(rbind, lapply(parts, `[[`, "bold")), runs, detrend = 1, scale = "z",
                      reference = shown == "rest")
  block <- paste(runs, shown)[shown != "rest"]
  X <- unname(rowsum(clean[shown != "rest", ], block, reorder = FALSE)) / 9
  first <- !duplicated(block)
  y <- shown[shown != "rest"][first]
  runs <- runs[shown != "rest"][first]
  right <- function(rows, alpha) {
    sum(decode_quietly(X[rows, ], y[rows], cv = runs[rows], alphas = alpha)$predictions == y[rows])
  }
  for (alpha in c(10, 100)) expect_identical(right(TRUE, alpha), 32L)
  for (alpha in c(1, 10)) expect_identical(right(y %in% c("face", "house"), alpha), 23L)
})
