# Pictures of calibration: observed rates over forecasts.

#' @rdname reliability_curve
#' @export
plot.voxridge_reliability <- function(x, title = NULL, ...) {
  rlang::check_dots_empty()
  check_caption(title, "title", rlang::current_env())
  limits <- reliability_limits(x$bins)
  figure <- open_figure()
  box <- panel_box(figure, draw_frame_text(figure, title))
  side <- min(box[3L] - box[1L], box[4L] - figure$line - box[2L])
  left <- (box[1L] + box[3L] - side) / 2
  set_area(figure, left, box[2L], left + side, box[2L] + side, limits, limits)
  graphics::segments(limits[1L], limits[1L], limits[2L], limits[2L], col = "grey60", lty = 2)
  bins <- x$bins
  graphics::segments(bins$forecast, bins$lower, bins$forecast, bins$upper, col = PLOT_COLOURS[["bar"]], lwd = 1.6)
  graphics::lines(bins$forecast, bins$observed, col = PLOT_COLOURS[["line"]], lwd = 1.6)
  graphics::points(bins$forecast, bins$observed, pch = 19, col = PLOT_COLOURS[["line"]], cex = 0.9)
  draw_axes("Mean forecast", "Observed rate", pretty_within(limits))
  head_text(figure, reliability_words(x))
  invisible(bins)
}

#' @rdname reliability_curve
#' @exportS3Method ggplot2::autoplot
autoplot.voxridge_reliability <- function(object, title = NULL, ...) {
  rlang::check_installed("ggplot2")
  rlang::check_dots_empty()
  check_caption(title, "title", rlang::current_env())
  limits <- reliability_limits(object$bins)
  ggplot2::ggplot(object$bins, columns(x = "forecast", y = "observed")) +
    ggplot2::geom_abline(linetype = "dashed", colour = "grey60") +
    ggplot2::geom_linerange(columns(ymin = "lower", ymax = "upper"), colour = PLOT_COLOURS[["bar"]], linewidth = 0.8) +
    ggplot2::geom_line(colour = PLOT_COLOURS[["line"]], linewidth = 0.8) +
    ggplot2::geom_point(colour = PLOT_COLOURS[["line"]], size = 2) +
    ggplot2::coord_fixed(xlim = limits, ylim = limits, expand = FALSE) +
    ggplot2::labs(x = "Mean forecast", y = "Observed rate", title = title, subtitle = reliability_words(object)) +
    gg_theme()
}

# The same for both axes: 0 to 1, or the range of what is drawn where that is less than half of it.
reliability_limits <- function(bins) {
  range <- range(bins$forecast, bins$lower, bins$upper)
  if (diff(range) > 0.5) return(c(-0.02, 1.02))
  range + c(-1, 1) * max(0.05 * diff(range), 0.005)
}

pretty_within <- function(limits) {
  at <- pretty(limits)
  at[at >= limits[1L] & at <= limits[2L]]
}

reliability_words <- function(x) {
  number <- function(value) if (is.na(value)) "NA" else format_numbers(value)
  sprintf("calibration intercept %s, slope %s; bars: 95 %% intervals", number(x$calibration_intercept),
          number(x$calibration_slope))
}
