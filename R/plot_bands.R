# Base pictures of the weights of feature spaces; plot.voxridge_fit() documents them.

draw_bands <- function(fit, title, call) {
  n_bands <- nlevels(fit$bands)
  if (n_bands == 3L) draw_ternary(fit, title, call) else draw_stacked(fit, title, call)
}

# ---- three bands -----------------------------------------------------------------------------

draw_ternary <- function(fit, title, call) {
  data <- ternary_data(fit, "x", call)
  points <- data$points
  has_scores <- any(is.finite(points$score))
  limits <- if (has_scores) robust_limits(points$score[is.finite(points$score)]) else c(0, 1)
  palette <- as_palette(NULL, limits, call)
  clipped <- if (has_scores) clipped_share(points$score, limits) else c(0, 0)
  figure <- open_figure()
  room <- draw_frame_text(figure, title, ternary_note(data, clipped))
  label <- score_label(fit, "Mean held-out")
  right <- figure$width - 0.5 * figure$line - (if (has_scores) bar_width(figure, limits, label) else 0)
  top <- figure$height - room[2L]
  largest <- draw_triangle(figure, data, c(0.5 * figure$line, room[1L], right, top), limits, palette, has_scores)
  if (has_scores) {
    draw_colour_bar(figure, right + 0.3 * figure$line, room[1L] + figure$line, top - figure$line, limits, palette,
                    label, clipped)
  }
  draw_size_key(figure, points$n, largest, 0.6 * figure$line, top)
  invisible(points)
}

ternary_note <- function(data, clipped) {
  paste(c(paste0(count_label(data$n), "; area of a point: number of targets with these weights"),
          clip_note(clipped, "points")), collapse = "; ")
}

# The radius of a point of `n` targets, in inches, where the largest has `largest`.
point_radius <- function(n, most, largest) largest * pmax(sqrt(n / most), 0.12)

# Returns the radius of the largest point.
draw_triangle <- function(figure, data, box, limits, palette, has_scores) {
  line <- figure$line
  height <- min(box[4L] - box[2L] - 5.4 * line, (box[3L] - box[1L] - 5 * line) * sqrt(3) / 2)
  side <- max(height, 0.05) * 2 / sqrt(3)
  left <- (box[1L] + box[3L] - side) / 2
  bottom <- (box[2L] + box[4L] - height) / 2 + 0.2 * line
  set_whole(figure)
  across <- function(x) left + side * x
  up <- function(y) bottom + side * y
  grid <- ternary_grid()
  graphics::segments(across(grid$x), up(grid$y), across(grid$xend), up(grid$yend), col = "grey85", lwd = 0.7)
  graphics::polygon(across(c(0, 1, 0.5)), up(c(0, 0, sqrt(3) / 2)), border = "grey30", lwd = 1)
  draw_grid_labels(grid, across, up, line)
  largest <- min(0.22, side / 16)
  draw_corners(data$mean, across(c(0, 1, 0.5)), up(c(0, 0, sqrt(3) / 2)) + c(-1.6, -1.6, 1.2) * line +
                 c(0, 0, largest), box, line)
  points <- data$points
  colour <- rep("grey40", nrow(points))
  if (has_scores) {
    colour[is.finite(points$score)] <- colour_of(points$score[is.finite(points$score)], limits, palette)
  }
  graphics::symbols(across(points$x), up(points$y), circles = point_radius(points$n, max(points$n), largest),
                    inches = FALSE, add = TRUE, bg = colour, fg = "grey20", lwd = 0.5)
  largest
}

# Names of the bands over their mean shares.
draw_corners <- function(mean, x, y, box, line) {
  cex <- fit_cex(names(mean), (box[3L] - box[1L]) / 2.3, 0.9, font = 2L)
  half <- max(text_width(names(mean), cex, 2L), text_width("mean 99.9 %", 0.7)) / 2
  x <- pmin(pmax(x, box[1L] + half), box[3L] - half)
  graphics::text(x, y, names(mean), cex = cex, font = 2L)
  graphics::text(x, y - 0.75 * line, paste("mean", vapply(mean, format_share, "")), cex = 0.7)
}

# Shares of a band are read at the side that leads to its corner: of the first below, of the second at the right.
draw_grid_labels <- function(grid, across, up, line) {
  away <- list(c(0, -0.7), c(1, 0.3), c(-1, 0.3))
  for (band in 1:3) {
    at <- grid[grid$band == band, ]
    graphics::text(across(at$xend) + away[[band]][1L] * line, up(at$yend) + away[[band]][2L] * line, at$label,
                   cex = 0.65, col = "grey40")
  }
}

draw_size_key <- function(figure, n, largest, left, top) {
  sizes <- size_breaks(n)
  radius <- point_radius(sizes, max(n), largest)
  set_whole(figure)
  y <- top - 0.9 * figure$line - cumsum(pmax(2 * radius + 0.25 * figure$line, 0.75 * figure$line))
  graphics::text(left, top - 0.5 * figure$line, "Targets", adj = c(0, 0.5), cex = 0.75)
  graphics::symbols(rep(left + largest, length(sizes)), y + radius, circles = radius, inches = FALSE, add = TRUE,
                    fg = "grey20", lwd = 0.6)
  graphics::text(left + 2 * largest + 0.4 * figure$line, y + radius, format_count(sizes), adj = c(0, 0.5), cex = 0.7)
}

# ---- other numbers of bands ------------------------------------------------------------------

draw_stacked <- function(fit, title, call) {
  data <- stacked_data(fit, arg = "x", call = call)
  cells <- data$cells
  steps <- stacked_steps(cells)
  bands <- levels(cells$band)
  colours <- band_colours(length(bands))
  figure <- open_figure()
  room <- draw_frame_text(figure, title, NULL)
  box <- panel_box(figure, room, right = 1.2)
  keys <- data.frame(label = mean_share_labels(data$mean), colour = colours, shape = "fill")
  used <- draw_keys(figure, keys, box[1L], box[4L], box[3L] - box[1L])
  set_area(figure, box[1L], box[2L], box[3L], box[4L] - used - 0.5 * figure$line, c(0, data$n), c(0, 100))
  for (b in seq_along(bands)) {
    part <- steps[steps$band == bands[b], ]
    graphics::polygon(c(part$x, rev(part$x)), 100 * c(part$lower, rev(part$upper)), col = colours[b], border = NA)
  }
  inner <- data$ends[data$ends > 0 & data$ends < data$n]
  if (length(inner)) graphics::segments(inner, 0, inner, 100, col = "white", lwd = 1.2)
  draw_axes(paste0("Targets, sorted by largest band and its share (n = ", format_count(data$n), ")"),
            "Share of the weight (%)")
  invisible(cells)
}
