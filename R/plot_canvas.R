# Helpers of the base pictures. A picture takes one figure of the device, so that it works inside par(mfrow =) and
# layout(): areas within it are set in inches, from the left and the bottom of the figure.

# A new figure without margins; puts the settings back when the calling function ends. Returns its size and the height
# of a line of text, in inches.
open_figure <- function(frame = parent.frame()) {
  old <- graphics::par("mar", "xpd", "mgp", "tcl", "las", "xaxs", "yaxs", "lend", "bg")
  do.call(on.exit, list(substitute(graphics::par(old), list(old = old)), add = TRUE), envir = frame)
  graphics::par(mar = c(0, 0, 0, 0), xpd = NA, tcl = -0.25, las = 1, xaxs = "i", yaxs = "i", lend = "butt")
  graphics::plot.new()
  size <- graphics::par("fin")
  list(width = size[1L], height = size[2L], line = graphics::par("cin")[2L] * graphics::par("cex"))
}

# Makes a rectangle of the figure the plot region. Rectangles that a small device leaves no room for are kept at 1 % of
# the figure.
set_area <- function(figure, left, bottom, right, top, xlim = c(left, right), ylim = c(bottom, top)) {
  right <- min(max(right, left + 0.01 * figure$width), figure$width)
  top <- min(max(top, bottom + 0.01 * figure$height), figure$height)
  left <- max(min(left, right - 0.01 * figure$width), 0)
  bottom <- max(min(bottom, top - 0.01 * figure$height), 0)
  graphics::par(plt = c(left / figure$width, right / figure$width, bottom / figure$height, top / figure$height))
  graphics::plot.window(xlim, ylim)
}

# The whole figure, in inches.
set_whole <- function(figure) set_area(figure, 0, 0, figure$width, figure$height)

text_width <- function(text, cex = 1, font = 1L) {
  if (!length(text)) return(0)
  max(graphics::strwidth(text, units = "inches", cex = cex, font = font))
}

# The size of text that fits into a width in inches.
fit_cex <- function(text, width, cex = 1, font = 1L) {
  needed <- text_width(text, cex, font)
  if (needed <= width || needed == 0) cex else max(cex * width / needed, 0.2)
}

# Titles above, notes below, of the whole figure. Returns the room they take: c(bottom, top).
draw_frame_text <- function(figure, title = NULL, note = NULL) {
  set_whole(figure)
  line <- figure$line
  width <- figure$width - line
  room <- c(0.3, 0.3) * line
  if (length(title)) {
    cex <- fit_cex(title, width, 1.1, font = 2L)
    graphics::text(figure$width / 2, figure$height - 0.9 * line, title, font = 2, cex = cex)
    room[2L] <- 1.8 * line
  }
  if (length(note)) {
    cex <- fit_cex(note, width, 0.7)
    graphics::text(figure$width / 2, 0.6 * line, note, cex = cex, col = "grey25")
    room[1L] <- 1.3 * line
  }
  room
}

# Axis numbers: 3 to 5 of them within the limits.
bar_ticks <- function(limits) {
  for (n in c(4, 3, 5, 2, 6)) {
    at <- pretty(limits, n)
    at <- at[at >= limits[1L] - 1e-9 * diff(limits) & at <= limits[2L] + 1e-9 * diff(limits)]
    if (length(at) >= 3L && length(at) <= 5L) return(at)
  }
  seq(limits[1L], limits[2L], length.out = 3L)
}

tick_labels <- function(at) format(zapsmall(at), trim = TRUE)

# Room that a colour bar takes on the right, in inches.
bar_width <- function(figure, limits, label) {
  0.14 + 0.4 * figure$line + text_width(tick_labels(bar_ticks(limits)), 0.8) +
    (if (length(label)) 1.2 else 0.3) * figure$line
}

# A vertical colour bar at the right end of the area; pointed ends where values were clipped, grey where they are below
# the threshold.
draw_colour_bar <- function(figure, left, bottom, top, limits, palette, label = NULL, clipped = c(0, 0),
                            threshold = NULL) {
  length <- min(top - bottom, 2.6)
  middle <- (bottom + top) / 2
  tip <- 0.12
  low <- middle - length / 2 + tip
  high <- middle + length / 2 - tip
  set_area(figure, left, low, left + 0.14, high, c(0, 1), limits)
  steps <- seq(limits[1L], limits[2L], length.out = 257L)
  colours <- palette
  if (!is.null(threshold)) colours[abs((steps[-1L] + steps[-257L]) / 2) < threshold] <- MAP_GREY[["below"]]
  graphics::rasterImage(matrix(rev(colours)), 0, limits[1L], 1, limits[2L], interpolate = FALSE)
  inch <- diff(limits) / max(high - low, 0.01)
  outline <- list(x = c(0, 0), y = limits)
  ends <- list(c(limits[1L], -tip * inch), c(limits[2L], tip * inch))
  for (end in which(clipped > 0)) {
    at <- ends[[end]]
    colour <- if (end == 1L) palette[1L] else palette[length(palette)]
    graphics::polygon(c(0, 0.5, 1), c(at[1L], sum(at), at[1L]), col = colour, border = "black", lwd = 0.7)
  }
  graphics::rect(0, limits[1L], 1, limits[2L], border = "black", lwd = 0.7)
  at <- bar_ticks(limits)
  labels <- tick_labels(at)
  graphics::axis(4L, at, labels = FALSE, lwd = 0, lwd.ticks = 0.7, tcl = -0.2)
  across <- 1 / 0.14
  start <- 1 + 0.4 * figure$line * across
  graphics::text(start, at, labels, adj = c(0, 0.5), cex = 0.8)
  if (length(label)) {
    side <- start + (text_width(labels, 0.8) + 0.5 * figure$line) * across
    cex <- fit_cex(label, top - bottom, 0.9)
    graphics::text(side, mean(limits), label, srt = 90, adj = c(0.5, 0.5), cex = cex)
  }
  invisible(at)
}

# Keys in one row or, where they do not fit, in several: squares or lines with text, from the left. `keys`: data frame
# of label, colour, shape ("fill", "line", "dash").
key_rows <- function(figure, labels, width, cex) {
  each <- vapply(labels, text_width, 0, cex = cex) + 1.8 * figure$line
  row <- integer(length(labels))
  at <- numeric(length(labels))
  current <- 1L
  used <- 0
  for (i in seq_along(labels)) {
    if (used > 0 && used + each[i] > width) {
      current <- current + 1L
      used <- 0
    }
    row[i] <- current
    at[i] <- used
    used <- used + each[i]
  }
  list(row = row, at = at, n = current)
}

# Smaller text where the keys would take over a quarter of the figure. Returns the height taken.
draw_keys <- function(figure, keys, left, top, width, cex = 0.8) {
  if (!nrow(keys)) return(0)
  for (cex in c(cex, 0.7, 0.6, 0.5)) {
    cex <- fit_cex(keys$label, width - 1.3 * figure$line, cex)
    place <- key_rows(figure, keys$label, width, cex)
    height <- place$n * 1.1 * figure$line
    if (height <= figure$height / 4) break
  }
  set_whole(figure)
  x <- left + place$at
  y <- top - (place$row - 0.5) * 1.1 * figure$line
  size <- 0.6 * figure$line
  fill <- keys$shape == "fill"
  graphics::rect(x[fill], y[fill] - size / 2, x[fill] + size * 1.4, y[fill] + size / 2, col = keys$colour[fill],
                 border = NA)
  graphics::segments(x[!fill], y[!fill], x[!fill] + size * 1.4, y[!fill], col = keys$colour[!fill], lwd = 1.6,
                     lty = ifelse(keys$shape[!fill] == "dash", 2L, 1L))
  graphics::text(x + size * 1.4 + 0.35 * figure$line, y, keys$label, adj = c(0, 0.5), cex = cex)
  height
}
