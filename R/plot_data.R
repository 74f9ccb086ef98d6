# What the pictures of a fit show, as plain data frames and numbers: the base and the ggplot2 pictures draw the same.
# `arg` and `call` belong to the user's call, for errors.

# ---- parts of a fit --------------------------------------------------------------------------

abort_missing_part <- function(arg, part, advice, call) {
  abort(
    c(paste0("{.arg {arg}} must hold ", part, ", not a fit without."), advice),
    "missing_part",
    found = NULL, call = call
  )
}

n_fit_targets <- function(fit) length(fit$best_alphas)

# Positions of the targets that are neither constant nor skipped.
plotted_targets <- function(fit, arg, call) {
  t <- n_fit_targets(fit)
  counted <- setdiff(seq_len(t), c(fit$diagnostics$constant_targets, fit$diagnostics$skipped_targets))
  if (length(counted)) return(counted)
  abort(
    "{.arg {arg}} must have at least one target that is neither constant nor skipped, not 0 of {t}.",
    "nonfinite",
    expected = 1L, found = 0L, call = call
  )
}

plot_types <- function(fit) {
  types <- c("alphas", "scores", "bands", "map")
  if (is_banded(fit)) types[c(3L, 1L, 2L, 4L)] else types[-3L]
}

as_plot_type <- function(type, fit, call) {
  types <- plot_types(fit)
  if (is.null(type)) return(types[1L])
  if (identical(type, "bands") && !"bands" %in% types) {
    abort(
      c("{.arg type} must be {.or {.val {types}}} for a fit without feature spaces, not {.val bands}.",
        i = "{.fn fit_banded_ridge} weighs feature spaces."),
      "argument",
      expected = types, found = type, call = call
    )
  }
  as_choice(type, types, arg = "type", call = call)
}

# Words for the score of a fit; plotmath where there are superscripts.
score_label <- function(fit, prefix = "Held-out") {
  word <- fit$score_func
  if (!rlang::is_string(word)) word <- "function"
  switch(word,
    r2 = bquote(.(prefix) ~ italic(R)^2),
    neg_mse = paste(prefix, "score (minus mean squared error)"),
    correlation = bquote(.(prefix) ~ "correlation" ~ italic(r)),
    paste(prefix, "score")
  )
}

count_label <- function(n, what = "target") paste0(format_count(n), " ", what, if (n != 1L) "s")

# ---- penalties -------------------------------------------------------------------------------

# Positions of penalties on an axis of log10(alpha), with 0 at the left of the smallest. `at`: a function of penalties;
# `gap`: the middle between 0 and the smallest, where the axis is broken (NULL without 0); `breaks` and `labels`: ticks.
alpha_axis <- function(alphas) {
  alphas <- sort(unique(alphas))
  x <- log10(alphas[alphas > 0])
  step <- if (length(x) > 1L) stats::median(diff(x)) else 0.5
  has_zero <- alphas[1L] == 0
  away <- if (length(x)) max(step, 0.08 * diff(range(x))) else step
  zero <- if (!length(x)) 0 else x[1L] - 1.5 * away
  decades <- axis_decades(x)
  list(
    at = function(alpha) ifelse(alpha > 0, log10(alpha), zero),
    step = min(step, if (length(x) > 1L) min(diff(x))),
    gap = if (has_zero && length(x)) (zero + x[1L]) / 2,
    breaks = c(if (has_zero) zero, decades),
    labels = c(if (has_zero) "0", alpha_text(decades)),
    range = range(x, if (has_zero) zero) + c(-0.75, 0.75) * step
  )
}

# Up to 6 powers of ten within the grid, or the values themselves where there are fewer than 2.
axis_decades <- function(x) {
  if (!length(x)) return(numeric())
  lowest <- ceiling(min(x) - 1e-9)
  highest <- floor(max(x) + 1e-9)
  if (highest <= lowest) return(if (length(x) <= 5L) x else range(x))
  by <- ceiling((highest - lowest + 1) / 6)
  seq(lowest, highest, by = by)
}

# Parsed by plotmath: powers of ten where plain numbers would be long.
alpha_text <- function(x) {
  whole <- length(x) && all(abs(x - round(x)) < 1e-9)
  if (whole && any(abs(x) > 3)) return(sprintf("10^%d", as.integer(round(x))))
  vapply(signif(10^x, 2L), format, "", digits = 2L, drop0trailing = TRUE)
}

# Scores as alphas x targets, means over folds; NULL where the fit has none of that shape.
mean_cv_scores <- function(fit) {
  scores <- fit$cv_scores
  if (is.null(scores) || is_banded(fit)) return(NULL)
  n_alphas <- length(fit$alphas)
  t <- n_fit_targets(fit)
  size <- dim(scores)
  if (length(scores) == n_alphas * t) return(matrix(scores, n_alphas, t))
  folds <- size[1L]
  matrix(colMeans(matrix(scores, folds)), n_alphas, t)
}

# Per penalty, in increasing order: the mean and the 10 % and 90 % quantiles of the scores over counted targets.
alpha_curve <- function(fit, arg = "x", call = rlang::caller_env()) {
  counted <- plotted_targets(fit, arg, call)
  scores <- mean_cv_scores(fit)
  if (is.null(scores)) return(NULL)
  order <- order(fit$alphas)
  scores <- scores[order, counted, drop = FALSE]
  band <- apply(scores, 1L, stats::quantile, probs = c(0.1, 0.9), names = FALSE, na.rm = TRUE)
  alphas <- fit$alphas[order]
  data.frame(alpha = alphas, x = alpha_axis(fit$alphas)$at(alphas), mean = rowMeans(scores, na.rm = TRUE),
             lower = band[1L, ], upper = band[2L, ])
}

# The curve without what would flatten the rest: where scores at some penalties (0, say) lie far below the better half,
# the axis ends before them. `note` says so.
clip_curve <- function(curve) {
  good <- curve$mean >= stats::median(curve$mean)
  span <- max(curve$upper) - min(curve$lower[good])
  floor <- min(curve$lower[good]) - 0.5 * span
  if (span == 0 || min(curve$lower) > floor - span) return(list(curve = curve))
  hidden <- sum(curve$mean < floor)
  curve$mean[curve$mean < floor] <- NA
  curve$upper[curve$upper < floor] <- NA
  curve$lower <- pmax(curve$lower, floor)
  curve$lower[is.na(curve$upper)] <- NA
  note <- sprintf("mean scores at %d of %d penalties lie below the axis", hidden, nrow(curve))
  list(curve = curve, note = if (hidden) note)
}

# Bars of the chosen penalties: one per value of the grid or, where they are not values of it (jittered grids), bins of
# a tenth of the axis's decades. `share`: of the counted targets. `edge`: an end of the grid.
alpha_bars <- function(fit, arg = "x", call = rlang::caller_env()) {
  chosen <- fit$best_alphas[plotted_targets(fit, arg, call)]
  chosen <- chosen[is.finite(chosen)]
  axis <- alpha_axis(fit$alphas)
  grid <- sort(unique(fit$alphas))
  if (all(chosen %in% grid)) {
    count <- tabulate(match(chosen, grid), length(grid))
    half <- 0.4 * axis$step
    bars <- data.frame(left = axis$at(grid) - half, right = axis$at(grid) + half, count = count)
    bars$edge <- length(grid) > 1L & seq_along(grid) %in% c(1L, length(grid))
  } else {
    x <- axis$at(chosen)
    breaks <- seq(floor(min(x) * 10) / 10, ceiling(max(x) * 10) / 10 + 0.1, by = 0.1)
    count <- tabulate(findInterval(x, breaks + 1e-9), length(breaks) - 1L)
    bars <- data.frame(left = breaks[-length(breaks)], right = breaks[-1L], count = count, edge = FALSE)
  }
  bars$share <- bars$count / max(1L, length(chosen))
  bars
}

# Words about targets at the ends of the grid; NULL where there are none.
edge_note <- function(fit) {
  edge <- fit$diagnostics$share_at_edge
  if (is.null(edge) || anyNA(edge) || all(edge == 0)) return(NULL)
  parts <- sprintf("%s chose the %s", vapply(edge, format_share, ""), c("smallest", "largest"))[edge > 0]
  paste(paste(parts, collapse = ", "), "penalty of the grid")
}

# ---- scores ----------------------------------------------------------------------------------

finite_scores <- function(fit, arg, call) {
  if (is.null(fit$scores)) {
    abort_missing_part(arg, "held-out scores", c(i = "Fit with scores: {.code return_cv_scores = \"mean\"}."), call)
  }
  scores <- as.vector(fit$scores)[plotted_targets(fit, arg, call)]
  scores <- scores[is.finite(scores)]
  if (length(scores)) return(scores)
  abort("{.arg {arg}} must have a finite held-out score for at least one target, not for none.", "nonfinite",
        expected = 1L, found = 0L, call = call)
}

# Null scores in any shape; NA is left out.
as_null_scores <- function(null, call) {
  if (is.null(null)) return(NULL)
  if (!is.numeric(null) || is.object(null)) {
    found <- describe(null)
    abort(
      c("{.arg null} must be a numeric vector or matrix of scores, or NULL, not {found}.",
        i = "Scores of fits to permuted targets, for example."),
      "type",
      found = found, call = call
    )
  }
  null <- as.vector(null)
  null <- null[!is.na(null)]
  bad <- sum(!is.finite(null))
  if (length(null) && !bad) return(null)
  found <- if (bad) paste(bad, "infinite") else "none"
  abort("{.arg null} must have finite scores, not {found}.", "nonfinite", found = bad, call = call)
}

# Bins of the scores, shared by the targets and the null: data frame of left, right, share (of the targets) and null
# (share of the null scores). A bin begins at 0. Scores far from the others are counted in the outermost bins.
score_bins <- function(fit, null = NULL, arg = "x", call = rlang::caller_env()) {
  scores <- finite_scores(fit, arg, call)
  null <- as_null_scores(null, call)
  range <- central_range(scores, null)
  breaks <- pretty(range, min(50, max(12, 2 * sqrt(length(scores)))))
  n <- length(breaks) - 1L
  share <- function(values) {
    tabulate(findInterval(values, breaks, rightmost.closed = TRUE, all.inside = TRUE), n) / length(values)
  }
  bins <- data.frame(left = breaks[-(n + 1L)], right = breaks[-1L], share = share(scores))
  out <- list(bins = bins, n = length(scores), outside = mean(scores < breaks[1L] | scores > breaks[n + 1L]))
  if (is.null(null)) return(out)
  out$bins$null <- share(null)
  out$n_null <- length(null)
  out$null_95 <- stats::quantile(null, 0.95, names = FALSE)
  out
}

# The range of all scores or, where that is over twice the range of the central 99 %, the latter widened by half.
central_range <- function(scores, null) {
  whole <- range(scores, null)
  inner <- range(stats::quantile(scores, c(0.005, 0.995), names = FALSE, type = 1L),
                 if (length(null)) stats::quantile(null, c(0.005, 0.995), names = FALSE, type = 1L))
  wide <- inner + c(-0.25, 0.25) * diff(inner)
  range <- whole
  if (diff(whole) > 2 * diff(inner) && diff(inner) > 0) range <- c(max(whole[1L], wide[1L]), min(whole[2L], wide[2L]))
  if (diff(range) == 0) range + c(-1, 1) * max(abs(range[1L]) / 10, 0.05) else range
}

score_legend <- function(data) {
  c(
    targets = count_label(data$n),
    null = if (!is.null(data$null_95)) count_label(data$n_null, "null score"),
    limit = if (!is.null(data$null_95)) {
      sprintf("95th percentile of the null: %s", format(signif(data$null_95, 2L)))
    }
  )
}

score_note <- function(data) {
  if (data$outside == 0) return(NULL)
  sprintf("%s of targets beyond the range shown are in the outermost bars", format_share(data$outside))
}

# ---- bands -----------------------------------------------------------------------------------

# Shares of the weight, bands x counted targets; columns sum to 1. `targets`: their positions.
band_shares <- function(fit, arg = "x", call = rlang::caller_env()) {
  counted <- plotted_targets(fit, arg, call)
  gammas <- fit$gammas
  names <- if (is.null(dim(gammas))) names(gammas) else rownames(gammas)
  names <- names %||% levels(fit$bands)
  gammas <- matrix(gammas, length(names), dimnames = list(names, NULL))[, counted, drop = FALSE]
  shares <- sweep(gammas, 2L, colSums(gammas), "/")
  list(shares = shares, targets = counted, mean = rowMeans(shares))
}

# Of three bands, the corners of a triangle with sides of 1: first at the left, second at the right, third on top.
ternary_points <- function(shares) {
  data.frame(x = shares[2L, ] + shares[3L, ] / 2, y = shares[3L, ] * sqrt(3) / 2)
}

# One row per distinct point: number of targets there and the mean of their scores (NA without scores).
ternary_data <- function(fit, arg = "x", call = rlang::caller_env()) {
  bands <- band_shares(fit, arg, call)
  points <- ternary_points(bands$shares)
  scores <- if (is.null(fit$scores)) NA_real_ else as.vector(fit$scores)[bands$targets]
  key <- paste(round(points$x, 6L), round(points$y, 6L))
  first <- !duplicated(key)
  group <- match(key, key[first])
  out <- points[first, ]
  out$n <- tabulate(group, sum(first))
  out$score <- as.vector(tapply(rep_len(scores, length(group)), group, mean, na.rm = TRUE))
  out$score[!is.finite(out$score)] <- NA
  # large points first, so that small ones stay visible
  out <- out[order(-out$n), ]
  rownames(out) <- NULL
  list(points = out, mean = bands$mean, n = length(group))
}

# Numbers of targets for the key of sizes.
size_breaks <- function(n) unique(c(max(n), max(1, signif(max(n) / 10, 1L)), 1))

# Grid lines of a ternary plot at shares of 25, 50 and 75 % of each band: x, y, xend, yend, and the tick's label.
ternary_grid <- function(levels = c(0.25, 0.5, 0.75)) {
  lines <- lapply(1:3, function(band) {
    others <- list(c(3L, 2L), c(1L, 3L), c(2L, 1L))[[band]]
    ends <- lapply(others, function(other) {
      shares <- matrix(0, 3L, length(levels))
      shares[band, ] <- levels
      shares[other, ] <- 1 - levels
      ternary_points(shares)
    })
    data.frame(band = band, x = ends[[1L]]$x, y = ends[[1L]]$y, xend = ends[[2L]]$x, yend = ends[[2L]]$y,
               label = paste(100 * levels, "%"))
  })
  do.call(rbind, lines)
}

# Stacked shares: targets sorted by their largest band and its share, averaged over at most `most` columns. `cells`:
# data frame of band, left, right (in targets), lower, upper.
stacked_data <- function(fit, most = 400L, arg = "x", call = rlang::caller_env()) {
  bands <- band_shares(fit, arg, call)
  shares <- bands$shares
  dominant <- max.col(t(shares), ties.method = "first")
  order <- order(dominant, -shares[cbind(dominant, seq_along(dominant))])
  n <- length(order)
  columns <- min(n, most)
  bin <- ceiling(seq_len(n) * columns / n)
  edges <- c(0, cumsum(tabulate(bin, columns)))
  binned <- t(rowsum(t(shares[, order, drop = FALSE]), bin)) / rep(diff(edges), each = nrow(shares))
  upper <- apply(binned, 2L, cumsum)
  upper <- matrix(upper, nrow(shares))
  lower <- rbind(0, upper[-nrow(upper), , drop = FALSE])
  names <- rownames(shares)
  list(
    cells = data.frame(
      band = factor(rep(names, columns), levels = names),
      left = rep(edges[-length(edges)], each = length(names)),
      right = rep(edges[-1L], each = length(names)),
      lower = as.vector(lower),
      upper = as.vector(upper)
    ),
    mean = bands$mean,
    n = n,
    # where the largest band changes
    ends = cumsum(tabulate(dominant, length(names)))
  )
}

# The edges of the stacked shares as steps: left and right of every column.
stacked_steps <- function(cells) {
  rows <- rep(seq_len(nrow(cells)), each = 2L)
  data.frame(band = cells$band[rows], x = as.vector(rbind(cells$left, cells$right)), lower = cells$lower[rows],
             upper = cells$upper[rows])
}

band_colours <- function(n) {
  okabe_ito <- unname(grDevices::palette.colors(9L, "Okabe-Ito"))[c(6L, 2L, 4L, 8L, 3L, 7L, 5L, 9L)]
  if (n <= length(okabe_ito)) okabe_ito[seq_len(n)] else grDevices::hcl.colors(n, "viridis")
}

# Names of bands with their mean share.
mean_share_labels <- function(mean) sprintf("%s (mean %s)", names(mean), vapply(mean, format_share, ""))

# ---- maps ------------------------------------------------------------------------------------

# The values of a fit for a map, with the label of the colour bar and, for shares, the limits.
map_values <- function(fit, what = NULL, arg = "x", call = rlang::caller_env()) {
  bands <- if (is_banded(fit)) levels(fit$bands)
  what <- as_choice(what %||% "scores", c("scores", "best_alphas", bands), arg = "what", call = call)
  if (what == "scores") {
    finite_scores(fit, arg, call)
    return(list(values = as.vector(fit$scores), label = score_label(fit, "Mean held-out")))
  }
  if (what == "best_alphas") {
    values <- log10(as.vector(fit$best_alphas))
    return(list(values = values, label = quote(log[10] ~ "of the chosen penalty")))
  }
  shares <- band_shares(fit, arg, call)
  values <- rep(NA_real_, n_fit_targets(fit))
  values[shares$targets] <- shares$shares[match(what, bands), ]
  list(values = values, label = paste("Share of weight of", what), limits = c(0, 1))
}

fit_mask <- function(fit, mask, arg, call) {
  mask <- mask %||% fit$mask
  if (!is.null(mask)) return(mask)
  abort_missing_part(
    arg, "the brain mask of its targets",
    c(i = "Pass {.code mask =}, or fit to a matrix made by {.fn brain_matrix}, which carries its mask until rows or
           columns are taken."), call
  )
}
