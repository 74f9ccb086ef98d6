#' Pictures as ggplot2 objects
#'
#' The pictures of [plot.voxridge_fit()] and [plot_map()] as ggplot objects, to be changed or combined further.
#'
#' The methods are registered when ggplot2 is loaded; nothing else in the package needs it.
#'
#' @inheritParams plot.voxridge_fit
#' @param object A fit, as [fit_ridge()] or [fit_banded_ridge()] return it; or a brain mask.
#' @param values NULL draws the mask itself; otherwise a numeric vector with one value per voxel of the mask, or a 3-D
#'   array, see [plot_map()].
#' @param ... For maps and masks, further arguments of [plot_map()]; otherwise empty.
#'
#' @returns A ggplot object.
#' @section Errors:
#' Those of [plot.voxridge_fit()] and [plot_map()].
#' @section Invariants:
#' `plot()` and `autoplot()` draw the same data.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' data <- simulate_encoding(n = 90, p = 24, t = 60, seed = 1)
#' fit <- fit_ridge(data$X, data$Y, cv = data$runs, n_threads = 2)
#' ggplot2::autoplot(fit) + ggplot2::labs(title = "Penalties")
#' ggplot2::autoplot(fit, "scores")
#' @name autoplot.voxridge_fit
NULL

#' @rdname autoplot.voxridge_fit
#' @exportS3Method ggplot2::autoplot
autoplot.voxridge_fit <- function(object, type = NULL, null = NULL, what = NULL, title = NULL, ...) {
  rlang::check_installed("ggplot2")
  call <- rlang::current_env()
  validate_fit(object, "object", call)
  type <- as_plot_type(type, object, call)
  check_plot_settings(type, null, what, title, call)
  if (type == "map") return(gg_fit_map(object, what, title, ..., call = call))
  rlang::check_dots_empty()
  picture <- switch(type,
    alphas = gg_alphas(object, call),
    scores = gg_scores(object, null, call),
    bands = if (nlevels(object$bands) == 3L) gg_ternary(object, call) else gg_stacked(object, call)
  )
  picture + ggplot2::labs(title = title)
}

#' @rdname autoplot.voxridge_fit
#' @exportS3Method ggplot2::autoplot
autoplot.brain_mask <- function(object, values = NULL, ...) {
  rlang::check_installed("ggplot2")
  call <- rlang::current_env()
  if (is.null(values)) {
    map <- mask_picture(object, ..., call = call)
    return(gg_map(map, title = map$title, bar = FALSE))
  }
  gg_values(values, object, ..., arg = "values", call = call)
}

gg_values <- function(values, mask, ..., label = NULL, title = NULL, arg, call) {
  gg_map(map_picture(values, mask, ..., label = label, title = title, arg = arg, call = call), label, title)
}

gg_fit_map <- function(object, what, title, ..., mask = NULL, label = NULL, limits = NULL, call) {
  mask <- fit_mask(object, mask, "object", call)
  map <- map_values(object, what, "object", call)
  gg_values(map$values, mask, ..., label = label %||% map$label, limits = limits %||% map$limits, title = title,
            arg = "object", call = call)
}

# ---- common parts ----------------------------------------------------------------------------

# aes() from names of columns.
columns <- function(...) ggplot2::aes(!!!rlang::syms(c(...)))

gg_theme <- function() {
  ggplot2::theme_classic(base_size = 11) +
    ggplot2::theme(
      legend.position = "top",
      legend.justification = "left",
      legend.margin = ggplot2::margin(0, 0, 0, 0),
      plot.title = ggplot2::element_text(face = "bold", hjust = 0.5),
      plot.subtitle = ggplot2::element_text(size = 9, colour = "grey25"),
      plot.caption.position = "plot",
      strip.background = ggplot2::element_blank(),
      strip.placement = "outside",
      strip.text = ggplot2::element_text(size = 11)
    )
}

# Text or plotmath as source, for parsed labels.
plotmath_source <- function(label) {
  if (is.expression(label)) label <- label[[1L]]
  paste(deparse(label), collapse = "")
}

gg_colour_bar <- function(limits, palette, label) {
  ggplot2::scale_fill_gradientn(
    colours = palette, limits = limits, breaks = bar_ticks(limits), labels = tick_labels(bar_ticks(limits)),
    name = label, na.value = NA,
    guide = ggplot2::guide_colourbar(
      title.position = "right", title.hjust = 0.5, title.theme = ggplot2::element_text(angle = 90, size = 11),
      ticks.colour = "black", frame.colour = "black", barheight = 12, order = 1
    )
  )
}

# ---- fits ------------------------------------------------------------------------------------

gg_alphas <- function(fit, call) {
  axis <- alpha_axis(fit$alphas)
  bars <- alpha_bars(fit, "object", call)
  curve <- alpha_curve(fit, "object", call)
  panels <- c(if (!is.null(curve)) plotmath_source(score_label(fit)), "\"Targets (%)\"")
  on_panel <- function(data, panel) {
    data$panel <- factor(panel, levels = panels)
    data
  }
  bars$percent <- 100 * bars$share
  bars$bottom <- 0
  picture <- ggplot2::ggplot() +
    ggplot2::geom_rect(
      columns(xmin = "left", xmax = "right", ymin = "bottom", ymax = "percent"), on_panel(bars, panels[length(panels)]),
      fill = ifelse(bars$edge, PLOT_COLOURS[["edge"]], PLOT_COLOURS[["bar"]])
    ) +
    ggplot2::facet_wrap("panel", ncol = 1L, scales = "free_y", strip.position = "left",
                        labeller = ggplot2::label_parsed) +
    ggplot2::scale_x_continuous(breaks = axis$breaks, labels = parse(text = axis$labels)) +
    ggplot2::labs(x = "Penalty (alpha, log scale)", y = NULL, subtitle = alpha_words(fit, bars),
                  caption = if (!is.null(curve)) clip_curve(curve)$note) +
    gg_theme()
  if (length(axis$gap)) {
    picture <- picture + ggplot2::geom_vline(xintercept = axis$gap, linetype = "dotted", colour = "grey50")
  }
  if (is.null(curve)) return(picture)
  picture + gg_curve(on_panel(clip_curve(curve)$curve, panels[1L]))
}

alpha_words <- function(fit, bars) {
  line <- if (n_fit_targets(fit) == 1L) "score of the target" else "mean over targets, and their 10-90 % range"
  if (is.null(mean_cv_scores(fit))) line <- NULL
  chosen <- paste(c(paste("chosen by", count_label(sum(bars$count))), edge_note(fit)), collapse = "; ")
  paste(c(if (length(line)) paste("Above:", line), paste(if (length(line)) "Below:" else "Bars:", chosen)),
        collapse = "\n")
}

# 0 and the other penalties apart, as the axis is.
gg_curve <- function(curve) {
  curve <- curve[!is.na(curve$mean), ]
  zero <- curve$alpha == 0
  list(
    ggplot2::geom_ribbon(columns(x = "x", ymin = "lower", ymax = "upper"), curve[!zero, ],
                         fill = PLOT_COLOURS[["band"]]),
    ggplot2::geom_linerange(columns(x = "x", ymin = "lower", ymax = "upper"), curve[zero | sum(!zero) == 1L, ],
                            colour = PLOT_COLOURS[["band"]], linewidth = 2),
    if (sum(!zero) > 1L) {
      ggplot2::geom_line(columns(x = "x", y = "mean"), curve[!zero, ], colour = PLOT_COLOURS[["line"]], linewidth = 0.8)
    },
    ggplot2::geom_point(columns(x = "x", y = "mean"), curve, colour = PLOT_COLOURS[["line"]], size = 1.2)
  )
}

gg_scores <- function(fit, null, call) {
  data <- score_bins(fit, null, "object", call)
  words <- score_legend(data)
  bins <- data$bins
  bins$percent <- 100 * bins$share
  bins$bottom <- 0
  bins$key <- words[["targets"]]
  picture <- ggplot2::ggplot() +
    ggplot2::geom_rect(columns(xmin = "left", xmax = "right", ymin = "bottom", ymax = "percent", fill = "key"), bins,
                       colour = "white", linewidth = 0.2) +
    ggplot2::scale_fill_manual(values = PLOT_COLOURS[["bar"]], name = NULL, guide = ggplot2::guide_legend(order = 1)) +
    ggplot2::scale_y_continuous(expand = ggplot2::expansion(c(0, 0.04))) +
    ggplot2::labs(x = score_label(fit, "Mean held-out"), y = "Share of the scores (%)", caption = score_note(data)) +
    gg_theme()
  if (shows_zero(fit, range(bins$left, bins$right))) {
    picture <- picture + ggplot2::geom_vline(xintercept = 0, colour = "grey40", linewidth = 0.4)
  }
  if (is.null(null)) return(picture)
  outline <- step_outline(bins)
  outline$y <- 100 * outline$y
  outline$key <- factor(words[["null"]], levels = words[c("null", "limit")])
  limit <- data.frame(x = data$null_95, key = factor(words[["limit"]], levels = words[c("null", "limit")]))
  picture +
    ggplot2::geom_path(columns(x = "x", y = "y", linetype = "key"), outline, colour = PLOT_COLOURS[["null"]]) +
    ggplot2::geom_vline(columns(xintercept = "x", linetype = "key"), limit, colour = PLOT_COLOURS[["null"]],
                        key_glyph = "path") +
    ggplot2::scale_linetype_manual(values = c("solid", "dashed"), name = NULL) +
    ggplot2::theme(legend.box = "vertical", legend.box.just = "left", legend.spacing.y = ggplot2::unit(0, "pt"))
}

gg_ternary <- function(fit, call) {
  data <- ternary_data(fit, "object", call)
  points <- data$points
  has_scores <- any(is.finite(points$score))
  limits <- if (has_scores) robust_limits(points$score[is.finite(points$score)])
  clipped <- if (has_scores) clipped_share(points$score, limits) else c(0, 0)
  corners <- data.frame(x = c(0, 1, 0.5), y = c(0, 0, sqrt(3) / 2))
  corners$label <- paste0(names(data$mean), "\nmean ", vapply(data$mean, format_share, ""))
  ticks <- ternary_grid()
  ticks$x_text <- ticks$xend + c(0, 0.045, -0.045)[ticks$band]
  ticks$y_text <- ticks$yend + c(-0.03, 0.01, 0.01)[ticks$band]
  picture <- ggplot2::ggplot(points, columns(x = "x", y = "y")) +
    ggplot2::geom_segment(columns(x = "x", y = "y", xend = "xend", yend = "yend"), ticks, colour = "grey85") +
    ggplot2::geom_polygon(data = corners, fill = NA, colour = "grey30") +
    ggplot2::geom_text(columns(x = "x_text", y = "y_text", label = "label"), ticks, size = 2.8, colour = "grey40") +
    ggplot2::geom_text(columns(x = "x", y = "y", label = "label"), corners, nudge_y = c(-0.11, -0.11, 0.1), size = 3.6,
                       lineheight = 0.95, fontface = "bold") +
    ggplot2::scale_size_area(max_size = 10, name = "Targets", breaks = size_breaks(points$n)) +
    ggplot2::coord_equal(xlim = c(-0.12, 1.12), ylim = c(-0.14, sqrt(3) / 2 + 0.14)) +
    ggplot2::labs(caption = ternary_note(data, clipped)) +
    ggplot2::theme_void(base_size = 11) +
    gg_void()
  if (!has_scores) return(picture + ggplot2::geom_point(columns(size = "n"), shape = 21, fill = "grey40"))
  picture$data$score <- pmin(pmax(points$score, limits[1L]), limits[2L])
  picture +
    ggplot2::geom_point(columns(size = "n", fill = "score"), shape = 21, colour = "grey20", stroke = 0.3) +
    gg_colour_bar(limits, as_palette(NULL, limits, call), score_label(fit, "Mean held-out"))
}

gg_void <- function() {
  ggplot2::theme(
    plot.title = ggplot2::element_text(face = "bold", hjust = 0.5),
    plot.caption = ggplot2::element_text(colour = "grey25", hjust = 0.5),
    plot.caption.position = "plot",
    plot.margin = ggplot2::margin(6, 6, 6, 6)
  )
}

gg_stacked <- function(fit, call) {
  data <- stacked_data(fit, arg = "object", call = call)
  steps <- stacked_steps(data$cells)
  steps$lower <- 100 * steps$lower
  steps$upper <- 100 * steps$upper
  ends <- data$ends[data$ends > 0 & data$ends < data$n]
  ggplot2::ggplot(steps, columns(x = "x", ymin = "lower", ymax = "upper", fill = "band")) +
    ggplot2::geom_ribbon() +
    ggplot2::geom_vline(xintercept = ends, colour = "white", linewidth = 0.5) +
    ggplot2::scale_fill_manual(values = band_colours(nlevels(steps$band)), labels = mean_share_labels(data$mean),
                               name = NULL, guide = ggplot2::guide_legend(byrow = TRUE)) +
    ggplot2::scale_x_continuous(expand = c(0, 0)) +
    ggplot2::scale_y_continuous(expand = c(0, 0)) +
    ggplot2::labs(x = paste0("Targets, sorted by largest band and its share (n = ", format_count(data$n), ")"),
                  y = "Share of the weight (%)") +
    gg_theme() +
    ggplot2::theme(plot.margin = ggplot2::margin(6, 14, 6, 6))
}

# ---- maps ------------------------------------------------------------------------------------

gg_map <- function(map, label = NULL, title = NULL, bar = TRUE) {
  cells <- map_cells(map)
  letters <- map$letters %||% rep("", 4L)
  beneath <- cells[!is.na(cells$grey), ]
  missing <- any(cells$kind == "missing")
  notes <- c(if (bar) clip_note(map$clipped), if (missing) "dark grey: no value",
             if (!is.null(map$threshold)) paste("not coloured: absolute values below", format(map$threshold)))
  # few voxels with values do not tell how large a voxel is
  tiles <- function(...) {
    ggplot2::geom_tile(..., width = smallest_step(cells$across), height = smallest_step(cells$up), linetype = 0)
  }
  picture <- ggplot2::ggplot(cells, columns(x = "across", y = "up")) +
    tiles(data = beneath, fill = beneath$grey) +
    tiles(columns(fill = "value"), cells[cells$kind == "value", ]) +
    ggplot2::facet_wrap("slice") +
    ggplot2::coord_fixed(map$size[2L] / map$size[1L]) +
    # the letters are the titles of the four axes
    ggplot2::scale_x_continuous(name = letters[3L], sec.axis = ggplot2::dup_axis(name = letters[4L])) +
    ggplot2::scale_y_continuous(name = letters[1L], sec.axis = ggplot2::dup_axis(name = letters[2L])) +
    gg_colour_bar(map$limits, map$palette, label) +
    ggplot2::labs(title = title, caption = if (length(notes)) paste(notes, collapse = "\n")) +
    ggplot2::theme_void(base_size = 11) +
    gg_void() +
    gg_letters()
  if (bar) picture else picture + ggplot2::guides(fill = "none")
}

smallest_step <- function(x) {
  x <- sort(unique(x))
  if (length(x) > 1L) min(diff(x)) else 1
}

gg_letters <- function() {
  letter <- ggplot2::element_text(face = "bold", size = 10, angle = 0, margin = ggplot2::margin(3, 3, 3, 3))
  ggplot2::theme(
    axis.title.x = letter, axis.title.x.top = letter, axis.title.y = letter, axis.title.y.right = letter,
    strip.text = ggplot2::element_text(size = 8, margin = ggplot2::margin(2, 0, 2, 0))
  )
}
