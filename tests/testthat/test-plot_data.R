call <- rlang::current_env()

test_that("the curve is the mean and the central 80 % over counted targets, penalties in increasing order", {
  alphas <- c(100, 1, 10)
  fit <- made_fit(t = 30L, alphas = alphas, constant = 4L, skipped = 9:10)
  curve <- alpha_curve(fit)
  expect_identical(curve$alpha, c(1, 10, 100))
  expect_equal(curve$x, 0:2)
  counted <- setdiff(1:30, c(4L, 9:10))
  for (i in 1:3) {
    scores <- vapply(counted, function(j) mean(fit$cv_scores[, c(2L, 3L, 1L)[i], j]), 0)
    expect_close(curve$mean[i], mean(scores), 1e-12)
    expect_close(c(curve$lower[i], curve$upper[i]), stats::quantile(scores, c(0.1, 0.9)), 1e-12)
  }
  means <- fit
  means$cv_scores <- colMeans(fit$cv_scores)
  expect_equal(alpha_curve(means), curve)
})

test_that("scores of a vector keep their folds apart from their penalties", {
  fit <- made_fit(t = 1L, is_vector = TRUE)
  expect_equal(alpha_curve(fit)$mean, colMeans(fit$cv_scores))
  fit$cv_scores <- colMeans(fit$cv_scores)
  expect_equal(alpha_curve(fit)$mean, fit$cv_scores)
  expect_null(alpha_curve(made_banded_fit(2L)))
})

test_that("scores that would flatten the rest are left out and counted", {
  curve <- data.frame(alpha = 1:5, x = 1:5, mean = c(-90, 0.1, 0.2, 0.3, 0.2), lower = c(-200, 0, 0.1, 0.2, 0.1),
                      upper = c(-50, 0.2, 0.3, 0.4, 0.3))
  clipped <- clip_curve(curve)
  expect_identical(is.na(clipped$curve$mean), c(TRUE, FALSE, FALSE, FALSE, FALSE))
  expect_match(clipped$note, "1 of 5 penalties")
  expect_identical(clip_curve(curve[-1L, ]), list(curve = curve[-1L, ]))
})

test_that("bars count the targets of each penalty, ends of the grid marked", {
  fit <- made_fit(t = 50L, alphas = c(10, 0, 1, 100), constant = 1:5)
  bars <- alpha_bars(fit)
  expect_identical(bars$count, vapply(c(0, 1, 10, 100), function(a) sum(fit$best_alphas[-(1:5)] == a), 0L))
  expect_equal(bars$share, bars$count / 45)
  expect_identical(bars$edge, c(TRUE, FALSE, FALSE, TRUE))
  expect_true(all(bars$left[-1L] > bars$right[-4L]))
  expect_identical(alpha_bars(made_fit(alphas = 3))$edge, FALSE)
  jittered <- banded_fits()$jittered
  bars <- alpha_bars(jittered)
  expect_identical(sum(bars$count), 40L)
  for (i in which(bars$count > 0)) {
    x <- log10(jittered$best_alphas)
    expect_identical(bars$count[i], sum(x >= bars$left[i] & x < bars$right[i]))
  }
})

test_that("the axis of penalties has 0 at the left and few, readable numbers", {
  axis <- alpha_axis(c(10, 0, 1))
  expect_lt(axis$at(0), axis$gap)
  expect_lt(axis$gap, axis$at(1))
  expect_identical(axis$labels, c("0", "1", "10"))
  expect_identical(axis$breaks[1L], axis$at(0))
  expect_null(alpha_axis(c(1, 10))$gap)
  expect_null(alpha_axis(0)$gap)
  for (alphas in list(0, 5, c(3, 5), 10^(-10:12), c(2, 3, 4), 1e-7, 10^seq(-1.2, 4.7, length.out = 20))) {
    axis <- alpha_axis(alphas)
    expect_true(length(axis$breaks) >= 1L && length(axis$breaks) <= 7L)
    expect_length(axis$labels, length(axis$breaks))
    expect_true(all(axis$at(alphas) > axis$range[1L] & axis$at(alphas) < axis$range[2L]))
    # a label says the value at its place
    values <- vapply(parse(text = axis$labels), eval, 0)
    expect_equal(axis$at(values), axis$breaks, tolerance = 0.02)
  }
})

test_that("targets at the ends of the grid are put into words", {
  fit <- made_fit()
  fit$diagnostics$share_at_edge <- c(smallest = 0, largest = 0.14)
  expect_identical(edge_note(fit), "14 % chose the largest penalty of the grid")
  fit$diagnostics$share_at_edge <- c(smallest = 0.002, largest = 0.14)
  expect_identical(edge_note(fit), "0.2 % chose the smallest, 14 % chose the largest penalty of the grid")
  expect_null(edge_note(made_fit(alphas = 3)))
})

test_that("bins of scores sum to 1 and are shared with the null", {
  fit <- made_fit(t = 200L, constant = 1:10)
  null <- withr::with_seed(3L, matrix(rnorm(400, 0, 0.1), 2))
  null[1L, 1L] <- NA
  data <- score_bins(fit, null)
  scores <- fit$scores[-(1:10)]
  expect_identical(data$n, 190L)
  expect_identical(data$n_null, 399L)
  expect_equal(sum(data$bins$share), 1)
  expect_equal(sum(data$bins$null), 1)
  expect_equal(data$null_95, stats::quantile(null, 0.95, names = FALSE, na.rm = TRUE))
  inner <- seq(2L, nrow(data$bins) - 1L)
  for (i in inner) {
    in_bin <- function(x) mean(x >= data$bins$left[i] & x < data$bins$right[i], na.rm = TRUE)
    expect_equal(data$bins$share[i], in_bin(scores))
    expect_equal(data$bins$null[i], in_bin(null))
  }
  expect_true(any(abs(data$bins$left) < 1e-12))
  expect_identical(data$outside, 0)
  expect_match(score_legend(data)[["limit"]], format(signif(data$null_95, 2L)), fixed = TRUE)
})

test_that("far scores are counted in the outermost bins", {
  fit <- made_fit(t = 1000L)
  fit$scores[1:2] <- c(-40, 30)
  data <- score_bins(fit)
  expect_equal(data$outside, 0.002)
  expect_equal(sum(data$bins$share), 1)
  expect_gt(min(data$bins$left), -3)
  expect_match(score_note(data), "0.2 % of targets")
})

test_that("shares of bands are those of the weights", {
  for (k in 1:6) {
    fit <- made_banded_fit(k, t = 30L, constant = 2L, skipped = 5L)
    bands <- band_shares(fit)
    expect_identical(bands$targets, setdiff(1:30, c(2L, 5L)))
    for (j in seq_along(bands$targets)) {
      gamma <- fit$gammas[, bands$targets[j]]
      expect_equal(bands$shares[, j], gamma / sum(gamma))
    }
    expect_equal(bands$mean, rowMeans(bands$shares))
    scaled <- fit
    scaled$gammas <- 7 * fit$gammas
    expect_equal(band_shares(scaled), bands)
  }
})

test_that("points of the triangle: corners, centre, counts and mean scores", {
  corners <- ternary_points(diag(3))
  expect_equal(corners$x, c(0, 1, 0.5))
  expect_equal(corners$y, c(0, 0, sqrt(3) / 2))
  expect_equal(unlist(ternary_points(matrix(1 / 3, 3, 1))), c(x = 0.5, y = sqrt(3) / 6))
  fit <- made_banded_fit(3L, t = 60L)
  data <- ternary_data(fit)
  keys <- apply(round(fit$gammas / rep(colSums(fit$gammas), each = 3L), 8L), 2L, paste, collapse = " ")
  expect_identical(sort(data$points$n), sort(as.integer(table(keys))))
  expect_equal(sort(data$points$score), sort(as.vector(tapply(fit$scores, keys, mean))))
  expect_identical(sum(data$points$n), 60L)
  # lines of equal share: the height over the opposite side is the share
  grid <- ternary_grid()
  top <- grid[grid$band == 3L, ]
  expect_equal(top$y, top$yend)
  expect_equal(top$y / (sqrt(3) / 2), c(0.25, 0.5, 0.75))
})

test_that("stacked shares: sorted, complete and averaged over neighbours", {
  fit <- made_banded_fit(4L, t = 30L)
  data <- stacked_data(fit)
  cells <- data$cells
  expect_identical(nrow(cells), 120L)
  expect_identical(cells$lower[cells$band == "space1"], rep(0, 30L))
  expect_equal(cells$upper[cells$band == "space4"], rep(1, 30L))
  shares <- matrix(cells$upper - cells$lower, 4L)
  dominant <- apply(shares, 2L, which.max)
  expect_false(is.unsorted(dominant))
  for (b in 1:4) expect_false(is.unsorted(-shares[b, dominant == b]))
  expect_identical(data$ends, cumsum(tabulate(dominant, 4L)))
  expect_equal(rowMeans(shares), unname(data$mean))
  binned <- stacked_data(fit, most = 7L)$cells
  expect_identical(nrow(binned), 28L)
  width <- binned$right - binned$left
  expect_equal(sum(width[binned$band == "space1"]), 30)
  expect_equal(as.vector(tapply(width * (binned$upper - binned$lower), binned$band, sum)) / 30, unname(data$mean))
  first <- binned[binned$left == 0, ]
  expect_equal(first$upper - first$lower, rowMeans(shares[, seq_len(first$right[1L]), drop = FALSE]))
  expect_lte(nrow(stacked_data(made_banded_fit(2L, t = 50000L))$cells), 800L)
})

test_that("values for maps, with their label and limits", {
  fit <- made_banded_fit(3L, constant = 2L)
  expect_identical(map_values(fit)$values, fit$scores)
  expect_equal(map_values(fit, "best_alphas")$values, log10(fit$best_alphas))
  share <- map_values(fit, "space2")
  expect_equal(share$values[-2L], (fit$gammas[2L, ] / colSums(fit$gammas))[-2L])
  expect_identical(share$values[2L], NA_real_)
  expect_identical(share$limits, c(0, 1))
})

test_that("scores have a name and a unit", {
  expect_match(deparse(score_label(made_fit())), "italic\\(R\\)\\^2")
  expect_match(score_label(made_fit(score_func = "neg_mse")), "minus mean squared error")
  expect_match(deparse(score_label(made_fit(score_func = "correlation"))), "correlation")
  expect_identical(score_label(made_fit(score_func = "function")), "Held-out score")
})

test_that("colours of bands differ, however many there are", {
  for (n in c(1L, 2L, 8L, 9L, 20L)) expect_identical(anyDuplicated(band_colours(n)), 0L)
})

test_that("fits without what a picture needs are refused", {
  fit <- made_fit()
  fit["scores"] <- list(NULL)
  expect_error(score_bins(fit), class = "voxridge_error_missing_part")
  expect_error(map_values(fit), class = "voxridge_error_missing_part")
  expect_refused(fit_mask(fit, NULL, "x", call), "x", "brain_matrix")
  expect_refused(alpha_bars(made_fit(constant = 1:40)), "x", "neither constant nor skipped")
  expect_refused(score_bins(made_fit(), "a"), "null")
  expect_refused(score_bins(made_fit(), c(1, Inf)), "null", "infinite")
  expect_refused(score_bins(made_fit(), NA_real_), "null", "none")
  nothing <- made_fit()
  nothing$scores[] <- NA
  expect_refused(score_bins(nothing), "x", "finite held-out score")
  expect_refused(map_values(made_fit(), "space1"), "what")
  expect_refused(map_values(made_banded_fit(2L), "spaec1"), "what", "space1")
})
