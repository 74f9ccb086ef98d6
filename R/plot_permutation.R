# Pictures of a permutation test: the distribution of the maximum statistic, with the threshold.

#' Picture of a permutation test
#'
#' Draws the distribution over permutations of the maximum statistic, the threshold that controls the family-wise error
#' and the largest observed statistics.
#'
#' @param x,object A result of a permutation test, see [voxridge_permutation_test].
#' @param level Number between 0 and 1: the family-wise error of the threshold. The default is 0.05.
#' @param title Text above the picture. NULL (the default): none.
#' @param ... No further arguments.
#'
#' @returns `plot()` returns, invisibly, the bars: a data frame of `left`, `right`, `count` and, for a two-sided test
#'   by twice the smaller p, `side`. `autoplot()` returns a ggplot object.
#' @section Errors:
#' `voxridge_error_nonfinite` (no column that was tested, or no finite maximum), `voxridge_error_argument` (a sequential
#' test, which knows no maximum). See [voxridge-conditions].
#' @section Invariants:
#' `plot()` and `autoplot()` draw the same data. `par()` is the same afterwards.
#' @seealso [one_sample_permutation_test()]
#' @examples
#' set.seed(1)
#' Y <- matrix(rnorm(15 * 30), 15, 30) + rep(c(2, 0), c(15 * 2, 15 * 28))
#' plot(one_sample_permutation_test(Y, n_permutations = 1000, seed = 1, n_threads = 2))
#' @export
plot.voxridge_permutation_test <- function(x, level = 0.05, title = NULL, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  level <- as_level(level)
  check_caption(title, "title", call)
  data <- maximum_bins(x, level, "x", call)
  figure <- open_figure()
  draw_maximum_bars(figure, panel_box(figure, draw_frame_text(figure, title)), data)
  invisible(data$bins)
}

draw_maximum_bars <- function(figure, box, data) {
  set_area(figure, box[1L], box[2L], box[3L], box[4L] - figure$line, data$xlim, c(0, 1.04 * max(data$bins$count)))
  graphics::rect(data$bins$left, 0, data$bins$right, data$bins$count, col = PLOT_COLOURS[["bar"]], border = "white",
                 lwd = 0.4)
  usr <- graphics::par("usr")
  graphics::rug(data$observed, col = PLOT_COLOURS[["line"]], ticksize = 0.04)
  at <- data$threshold[is.finite(data$threshold)]
  if (length(at)) graphics::segments(at, 0, at, usr[4L], lty = 2L, lwd = 1.6, col = PLOT_COLOURS[["edge"]])
  draw_axes(data$label, "Permutations")
  head_text(figure, data$words, left_colour = PLOT_COLOURS[["edge"]])
}

#' @rdname plot.voxridge_permutation_test
#' @exportS3Method ggplot2::autoplot
autoplot.voxridge_permutation_test <- function(object, level = 0.05, title = NULL, ...) {
  rlang::check_installed("ggplot2")
  rlang::check_dots_empty()
  call <- rlang::current_env()
  level <- as_level(level)
  check_caption(title, "title", call)
  gg_maximum_bars(maximum_bins(object, level, "object", call)) + ggplot2::labs(title = title)
}

gg_maximum_bars <- function(data) {
  observed <- data.frame(statistic = data$observed)
  ggplot2::ggplot(data$bins, columns(xmin = "left", xmax = "right", ymax = "count")) +
    ggplot2::geom_rect(columns(ymin = "zero"), fill = PLOT_COLOURS[["bar"]], colour = "white", linewidth = 0.2) +
    ggplot2::geom_vline(xintercept = data$threshold[is.finite(data$threshold)], linetype = "dashed",
                        colour = PLOT_COLOURS[["edge"]]) +
    ggplot2::geom_rug(columns(x = "statistic"), observed, inherit.aes = FALSE, colour = PLOT_COLOURS[["line"]]) +
    ggplot2::labs(x = data$label, y = "Permutations", subtitle = data$words) +
    gg_theme()
}

# Bars, threshold and the observed statistics that lie within the bars or beyond the threshold.
maximum_bins <- function(x, level, arg, call, breaks = pretty(range(maxima[finite]), 40L)) {
  if (!is.null(x$sequential)) {
    abort("{.arg {arg}} must be a test of all permutations, not a sequential one: it knows no maximum.", "argument",
          call = call)
  }
  maxima <- as.vector(x$max_null)
  finite <- is.finite(maxima)
  if (!any(finite)) {
    abort("{.arg {arg}} must have a finite maximum statistic, not none: no column was tested.", "nonfinite",
          found = 0L, call = call)
  }
  threshold <- maximum_threshold(x, level)
  shown <- x$statistic[is.finite(x$statistic)]
  if (x$alternative == "two.sided" && !is.matrix(x$max_null)) shown <- abs(shown)
  # the most extreme ones
  far <- if (x$alternative == "less") -shown else if (is.matrix(x$max_null)) abs(shown) else shown
  shown <- unname(utils::head(shown[order(far, decreasing = TRUE)], 50L))
  sides <- if (is.matrix(x$max_null)) colnames(x$max_null) else "all"
  values <- if (is.matrix(x$max_null)) x$max_null else cbind(all = x$max_null)
  bins <- do.call(rbind, lapply(sides, function(side) {
    counted <- graphics::hist(values[is.finite(values[, side]), side], breaks, plot = FALSE)$counts
    data.frame(left = utils::head(breaks, -1L), right = breaks[-1L], count = counted, zero = 0, side = side)
  }))
  bins <- bins[bins$count > 0, ]
  xlim <- range(bins$left, bins$right, shown, threshold[is.finite(threshold)])
  kind <- if (is.matrix(x$max_null)) "Largest and smallest" else if (x$alternative == "less") "Smallest" else "Largest"
  list(
    bins = bins, threshold = threshold, observed = shown, xlim = xlim + c(-0.02, 0.02) * diff(xlim),
    label = paste(kind, "statistic of a permutation; ticks: most extreme observed"),
    words = if (anyNA(threshold)) {
      paste0("no threshold: too few permutations for ", format(level))
    } else {
      paste0("FWER ", format(level), " at ", paste(format_numbers(threshold), collapse = " and "))
    }
  )
}
