#' Pictures of a fit
#'
#' Draws what a fit chose and how well it predicts: penalties, held-out scores, weights of feature spaces, or a map.
#'
#' * `"alphas"`: above, the mean over targets of the cross-validated score of every penalty, with the range of the
#'   central 80 % of targets; below, how many targets chose each penalty, those at the ends of the grid in red. A
#'   penalty of 0 stands at the left, behind a break of the axis. Only the lower part where the fit has no scores per
#'   penalty, as banded ridge.
#' * `"scores"`: the distribution of the held-out scores over targets, with that of `null` scores as an outline, the
#'   95th percentile of these: a scale, not a test, see [null_scores()]. A score is the mean over folds at the chosen
#'   penalty. It was chosen for being large: without a null distribution it flatters.
#' * `"bands"`: the share of each band in a target's weights (gamma, which sum to 1 here; a share of the weight is not
#'   a share of explained variance, see [r2_split()]). Three bands: a triangle whose corners are the bands, with one
#'   point for all targets of the same weights, its area their number, its colour their mean score; the numbers at a
#'   side are shares of the band in whose corner they would reach 100 %. Other numbers:
#'   stacked shares, targets sorted by their largest band and its share, averages of neighbours where there are more
#'   than 400.
#' * `"map"`: [plot_map()] of `what`, where the mask is known.
#'
#' Targets that were constant or skipped are left out. Each picture takes one figure of the current device; graphical
#' parameters are put back.
#'
#' @param x A fit, as [fit_ridge()] or [fit_banded_ridge()] return it.
#' @param type `"alphas"` (the default of ridge), `"bands"` (that of banded ridge, and for it alone), `"scores"` or
#'   `"map"`.
#' @param null NULL, or a numeric vector or matrix of scores without a relation, in the unit of the scores, any number
#'   of them, NA are left out: what [null_scores()] returns, or scores of fits to permuted data. Only for `"scores"`.
#' @param what NULL or `"scores"`: a map of the held-out scores; `"best_alphas"`: of the logarithm (base 10) of the
#'   penalties; the name of a band: of its share of the weight. Only for `"map"`.
#' @param title Text above the picture. NULL (the default): none.
#' @param ... For `"map"`, further arguments of [plot_map()], such as `mask` where the fit has none; otherwise empty.
#'
#' @returns `plot()` returns, invisibly, the data that were drawn: a data frame or, for `"map"`, what [plot_map()]
#'   returns. `autoplot()` returns a ggplot object.
#' @section Errors:
#' `voxridge_error_old_object`, `voxridge_error_missing_part` (a fit without scores, or without a mask),
#' `voxridge_error_nonfinite` (no target that is neither constant nor skipped, no finite score),
#' `voxridge_error_type` (`null`), `voxridge_error_conflict` (`null` or `what` with another type),
#' `voxridge_error_argument`; for maps those of [plot_map()]. See [voxridge-conditions].
#' @section Invariants:
#' `plot()` and `autoplot()` draw the same data. The order of targets does not change a picture other than a map.
#' `par()` is the same afterwards.
#' @references
#' Dupre la Tour, T., Eickenberg, M., Nunez-Elizalde, A. O., Gallant, J. L. (2022). Feature-space selection with banded
#' ridge regression. NeuroImage 264, 119728. \doi{10.1016/j.neuroimage.2022.119728}
#' @seealso [plot_map()]
#' @examples
#' data <- simulate_encoding(n = 90, p = 24, t = 60, n_bands = 3, seed = 1)
#' fit <- fit_ridge(data$X, data$Y, cv = data$runs, n_threads = 2)
#' plot(fit)
#' plot(fit, "scores", null = null_scores(fit, n_shifts = 5, seed = 1, n_threads = 2))
#' banded <- fit_banded_ridge(data$Xs, data$Y, alphas = 10^(0:4), cv = data$runs, n_iter = 20,
#'                            seed = 1, n_threads = 2)
#' plot(banded)
#' # a map, here of voxels in a row of boxes
#' mask <- brain_mask(array(1, c(6, 5, 2)))
#' plot(banded, "map", what = "band1", mask = mask)
#' @export
plot.voxridge_fit <- function(x, type = NULL, null = NULL, what = NULL, title = NULL, ...) {
  call <- rlang::current_env()
  validate_fit(x, "x", call)
  type <- as_plot_type(type, x, call)
  check_plot_settings(type, null, what, title, call)
  if (type == "map") return(invisible(plot_fit_map(x, what, title, ..., call = call)))
  rlang::check_dots_empty()
  drawn <- switch(type,
    alphas = draw_alphas(x, title, call),
    scores = draw_scores(x, null, title, call),
    bands = draw_bands(x, title, call)
  )
  invisible(drawn)
}

check_plot_settings <- function(type, null, what, title, call) {
  check_caption(title, "title", call)
  refuse <- function(arg, only) {
    abort("{.arg {arg}} must be NULL for {.code type = \"{type}\"}, not given: it is for {.val {only}}.", "conflict",
          where = type, call = call)
  }
  if (!is.null(null) && type != "scores") refuse("null", "scores")
  if (!is.null(what) && type != "map") refuse("what", "map")
}

plot_fit_map <- function(x, what, title, ..., mask = NULL, label = NULL, limits = NULL, call) {
  mask <- fit_mask(x, mask, "x", call)
  map <- map_values(x, what, "x", call)
  plot_map(map$values, mask = mask, label = label %||% map$label, limits = limits %||% map$limits, title = title, ...)
}

# ---- panels ----------------------------------------------------------------------------------

PLOT_COLOURS <- c(bar = "#7A8FA6", edge = "#C44E52", line = "#1F4E79", band = "#C9D8E8", null = "#D55E00")

# Axes and their titles around the current area.
draw_axes <- function(xlab = NULL, ylab = NULL, x_at = NULL, x_labels = TRUE, x_axis = TRUE) {
  graphics::axis(2L, cex.axis = 0.8, mgp = c(3, 0.5, 0), lwd = 0, lwd.ticks = 0.8, at = axis_ticks())
  if (x_axis) {
    graphics::axis(1L, x_at %||% graphics::axTicks(1L), x_labels, cex.axis = 0.8, mgp = c(3, 0.35, 0), lwd = 0,
                   lwd.ticks = 0.8)
  }
  graphics::box(bty = "l", lwd = 0.8)
  size <- graphics::par("pin")
  graphics::title(xlab = xlab, line = 1.7, cex.lab = fit_cex(xlab, size[1L], 0.9))
  graphics::title(ylab = ylab, line = 2.7, cex.lab = fit_cex(ylab, size[2L] * 1.3, 0.9))
}

# Few ticks where the panel is low.
axis_ticks <- function() {
  range <- sort(graphics::par("usr")[3:4])
  at <- pretty(range, if (graphics::par("pin")[2L] < 1.2) 3L else 5L)
  at[at >= range[1L] & at <= range[2L]]
}

# Left, bottom, right and top of the panels, within the texts of the whole figure.
panel_box <- function(figure, room, right = 0.8) {
  c(3.9 * figure$line, room[1L] + 2.9 * figure$line, figure$width - right * figure$line,
    figure$height - room[2L] - 0.3 * figure$line)
}

# A line above the current area, at its left and right.
head_text <- function(figure, left, right = NULL, left_colour = "grey25", right_colour = "grey25") {
  usr <- graphics::par("usr")
  size <- graphics::par("pin")
  y <- usr[4L] + 0.55 * figure$line * diff(usr[3:4]) / size[2L]
  cex <- fit_cex(paste0(left, if (length(right)) "   ", right), size[1L], 0.8)
  if (cex < 0.55 && length(right)) {
    # no room for both: what is a warning stays
    left <- ""
    cex <- fit_cex(right, size[1L], 0.7)
  }
  graphics::text(usr[1L], y, left, adj = c(0, 0.5), col = left_colour, cex = cex)
  if (length(right)) graphics::text(usr[2L], y, right, adj = c(1, 0.5), col = right_colour, cex = cex)
}

# ---- penalties -------------------------------------------------------------------------------

draw_alphas <- function(fit, title, call) {
  axis <- alpha_axis(fit$alphas)
  bars <- alpha_bars(fit, "x", call)
  curve <- alpha_curve(fit, "x", call)
  clipped <- if (!is.null(curve)) clip_curve(curve)
  figure <- open_figure()
  room <- draw_frame_text(figure, title, clipped$note)
  box <- panel_box(figure, room)
  xlim <- range(axis$range, bars$left, bars$right)
  top <- box[4L]
  if (!is.null(curve)) {
    middle <- box[2L] + 0.4 * (box[4L] - box[2L])
    draw_curve(figure, clipped$curve, axis, c(box[1L], middle + 0.8 * figure$line, box[3:4]), xlim, fit)
    top <- middle
  }
  draw_alpha_bars(figure, bars, axis, c(box[1:3], top), xlim, fit)
  invisible(if (is.null(curve)) bars else curve)
}

draw_curve <- function(figure, curve, axis, box, xlim, fit) {
  ylim <- range(curve$lower, curve$upper, curve$mean, na.rm = TRUE)
  if (diff(ylim) == 0) ylim <- ylim + c(-1, 1) * max(abs(ylim[1L]) / 10, 0.01)
  set_area(figure, box[1L], box[2L], box[3L], box[4L] - figure$line, xlim, ylim + c(-0.04, 0.04) * diff(ylim))
  shown <- curve[!is.na(curve$mean), ]
  for (part in split(shown, shown$alpha > 0)) {
    if (nrow(part) > 1L) {
      graphics::polygon(c(part$x, rev(part$x)), c(part$lower, rev(part$upper)), col = PLOT_COLOURS[["band"]],
                        border = NA)
      graphics::lines(part$x, part$mean, col = PLOT_COLOURS[["line"]], lwd = 2)
    } else {
      graphics::segments(part$x, part$lower, part$x, part$upper, col = PLOT_COLOURS[["band"]], lwd = 6)
    }
  }
  graphics::points(shown$x, shown$mean, pch = 16, cex = 0.6, col = PLOT_COLOURS[["line"]])
  draw_axes(ylab = score_label(fit), x_axis = FALSE)
  graphics::axis(1L, axis$breaks, FALSE, lwd = 0, lwd.ticks = 0.8)
  draw_break(figure, axis$gap)
  one <- n_fit_targets(fit) == 1L
  label <- if (one) "Score of the target" else "Mean over targets, and their 10-90 % range"
  head_text(figure, label, left_colour = PLOT_COLOURS[["line"]])
}

draw_alpha_bars <- function(figure, bars, axis, box, xlim, fit) {
  set_area(figure, box[1L], box[2L], box[3L], box[4L] - figure$line, xlim, c(0, 104 * max(bars$share)))
  colour <- ifelse(bars$edge, PLOT_COLOURS[["edge"]], PLOT_COLOURS[["bar"]])
  graphics::rect(bars$left, 0, bars$right, 100 * bars$share, col = colour, border = "white", lwd = 0.4)
  draw_axes("Penalty (alpha, log scale)", "Targets (%)", axis$breaks, parse(text = axis$labels))
  draw_break(figure, axis$gap)
  head_text(figure, paste("Chosen by", count_label(sum(bars$count))), edge_note(fit),
            right_colour = PLOT_COLOURS[["edge"]])
}

# Two strokes across the lower axis where it is broken.
draw_break <- function(figure, at) {
  if (is.null(at)) return(invisible())
  usr <- graphics::par("usr")
  inch <- c(diff(usr[1:2]), diff(usr[3:4])) / graphics::par("pin")
  size <- 0.3 * figure$line * inch
  gap <- 0.12 * figure$line * inch[1L]
  graphics::segments(at - gap, usr[3L], at + gap, usr[3L], col = "white", lwd = 3)
  strokes <- at + c(-gap, gap)
  graphics::segments(strokes - size[1L] / 3, usr[3L] - size[2L], strokes + size[1L] / 3, usr[3L] + size[2L])
}

# ---- scores ----------------------------------------------------------------------------------

draw_scores <- function(fit, null, title, call) {
  data <- score_bins(fit, null, "x", call)
  bins <- data$bins
  labels <- score_legend(data)
  keys <- data.frame(label = labels, colour = PLOT_COLOURS[c("bar", "null", "null")[seq_along(labels)]],
                     shape = c("fill", "line", "dash")[seq_along(labels)])
  figure <- open_figure()
  room <- draw_frame_text(figure, title, score_note(data))
  box <- panel_box(figure, room)
  used <- draw_keys(figure, keys, box[1L], box[4L], box[3L] - box[1L])
  xlim <- range(bins$left, bins$right)
  set_area(figure, box[1L], box[2L], box[3L], box[4L] - used - 0.3 * figure$line, xlim,
           c(0, 104 * max(bins$share, bins$null)))
  graphics::rect(bins$left, 0, bins$right, 100 * bins$share, col = PLOT_COLOURS[["bar"]], border = "white", lwd = 0.4)
  usr <- graphics::par("usr")
  if (shows_zero(fit, xlim)) graphics::segments(0, 0, 0, usr[4L], lwd = 0.8, col = "grey40")
  if (!is.null(null)) {
    outline <- step_outline(bins)
    graphics::lines(outline$x, 100 * outline$y, col = PLOT_COLOURS[["null"]], lwd = 1.6)
    graphics::segments(data$null_95, 0, data$null_95, usr[4L], lty = 2L, lwd = 1.6, col = PLOT_COLOURS[["null"]])
  }
  draw_axes(score_label(fit, "Mean held-out"), "Share of the scores (%)")
  invisible(bins)
}

# 0 is chance for these scores only.
shows_zero <- function(fit, xlim) {
  !identical(fit$score_func, "neg_mse") && xlim[1L] <= 0 && xlim[2L] >= 0
}

# The outline of the null's bars, from the first that is not empty to the last.
step_outline <- function(bins) {
  used <- range(which(bins$null > 0))
  bins <- bins[used[1L]:used[2L], ]
  data.frame(x = c(bins$left[1L], rbind(bins$left, bins$right), bins$right[nrow(bins)]),
             y = c(0, rep(bins$null, each = 2L), 0))
}
