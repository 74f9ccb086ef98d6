#' Draw a brain map or a mask as slices
#'
#' Draws the values of voxels as a mosaic of slices, with one colour bar.
#'
#' The axes of the array nearest to left-right, back-front and bottom-top of world space are found from the affine.
#' The subject's left is on the left. Letters at the edges of the mosaic name the directions in all slices: L, R, A, P,
#' S, I. Without an affine the array is drawn as it is stored, without letters, and slices are
#' numbered instead of placed in mm. Oblique slices are not resampled: their position is that of their centre. Voxels
#' keep their true proportions.
#'
#' Voxels of the mask without a finite value are drawn in dark grey, those below `threshold` as the background
#' or, without one, in light grey. Values beyond `limits` have the colour of the limit; the bar then has a pointed end
#' and a note says how many there are.
#'
#' The picture takes one figure of the current device, so that several fit side by side with `par(mfrow =)`; graphical
#' parameters are put back.
#'
#' @param x For `plot_map()` a numeric vector with one value per voxel of the mask, in its order (NA, NaN and Inf: no
#'   value), or an image of one volume: a 3-D numeric array such as that of [brain_map()], a NIfTI file, or an object of
#'   RNifti, oro.nifti or neuroim2. For `plot()` a brain mask.
#' @param mask A [brain_mask()], or what it makes one of, which a vector needs; by default the one that `x` carries.
#'   NULL (an image only): the brain is where the image is finite, or not 0 where all of it is finite.
#' @param values NULL draws the mask itself; otherwise what `x` is in `plot_map()`.
#' @param background NULL (none), or an image of one volume on the same grid, drawn in grey beneath. Its zeros and NA
#'   are left blank.
#' @param plane `"axial"` (the default), `"coronal"` or `"sagittal"`.
#' @param slices NULL takes up to 12 evenly spaced slices with voxels of the mask; or whole numbers: positions in the
#'   array (1-based) along the axis that the plane cuts, drawn in the given order.
#' @param limits NULL takes the central 99 % of the values, rounded outwards, and symmetric about 0 where they have both
#'   signs (from 0 on where one side is less than a twentieth of the other); or two increasing numbers in the unit of
#'   the values.
#' @param palette NULL takes `"Blue-Red 3"` where the limits have both signs and `"Inferno"` otherwise; or a name of
#'   [grDevices::hcl.pals()], or at least two colours, for low to high.
#' @param threshold NULL (none), or a number greater than 0 in the unit of the values: voxels with a smaller absolute
#'   value are not coloured.
#' @param label Text (or an expression) at the colour bar: what the values are and their unit. NULL: none.
#' @param title Text above the picture. NULL: none.
#' @param ... For `plot()`, arguments of `plot_map()`; for `plot_map()` empty.
#'
#' @returns A list, invisibly: `limits` (the two ends of the colours), `slices` (positions in the array, named by their
#'   titles) and `plane`.
#' @section Errors:
#' `voxridge_error_type` (what is not a map, mask or image), `voxridge_error_shape` (not one value per voxel),
#' `voxridge_error_grid` (arrays of another size or place than the mask), `voxridge_error_nonfinite` (no finite value),
#' `voxridge_error_argument` (a slice outside the array, limits that do not increase, unknown palettes, a vector without
#' a mask). See [voxridge-conditions].
#' @section Invariants:
#' A map and its affine stored with other directions or order of axes give the same picture. A vector and the array made
#' of it give the same picture. `par()` is the same afterwards.
#' @examples
#' # a ball of voxels of 3 mm, with values that rise to the front
#' size <- c(25, 29, 23)
#' place <- sapply(1:3, function(axis) slice.index(array(0, size), axis) - (size[axis] + 1) / 2)
#' inside <- array(colSums(t(place)^2 / c(10, 12, 9)^2) < 1, size)
#' mask <- brain_mask(inside, affine = rbind(cbind(diag(3, 3), -36), c(0, 0, 0, 1)))
#' values <- sin(place[inside, 2] / 5)
#' plot_map(values, mask = mask, label = "weight")
#' plot_map(values, mask = mask, plane = "sagittal", slices = c(8, 13, 18), threshold = 0.3)
#' plot(mask)
#' @export
plot_map <- function(x, mask = attr(x, "mask"), background = NULL, plane = c("axial", "coronal", "sagittal"),
                     slices = NULL, limits = NULL, palette = NULL, threshold = NULL, label = NULL, title = NULL, ...) {
  rlang::check_dots_empty()
  map <- map_picture(x, mask, background, plane, slices, limits, palette, threshold, label, title,
                     call = rlang::current_env())
  draw_map(map, label, title)
  invisible(map[c("limits", "slices", "plane")])
}

#' @rdname plot_map
#' @export
plot.brain_mask <- function(x, values = NULL, ...) {
  if (!is.null(values)) return(invisible(plot_map(values, mask = x, ...)))
  map <- mask_picture(x, ..., call = rlang::current_env())
  draw_map(map, title = map$title, bar = FALSE)
  invisible(map[c("limits", "slices", "plane")])
}

# Checked arguments of plot_map() as what is drawn: map_slices() with the palette.
map_picture <- function(x, mask, background = NULL, plane = names(MAP_PLANES), slices = NULL, limits = NULL,
                        palette = NULL, threshold = NULL, label = NULL, title = NULL, ..., arg = "x", call) {
  rlang::check_dots_empty(call = call)
  plane <- as_choice(plane, names(MAP_PLANES), call = call)
  check_caption(label, "label", call)
  check_caption(title, "title", call)
  map <- map_slices(x, mask, background, plane, slices, limits, threshold, arg, call)
  map$palette <- as_palette(palette, map$limits, call)
  map
}

# The same for a mask alone, in one colour.
mask_picture <- function(mask, background = NULL, plane = names(MAP_PLANES), slices = NULL, title = NULL, ..., call) {
  rlang::check_dots_empty(call = call)
  map <- map_picture(rep(1, mask$n), mask, background, plane, slices, limits = c(0, 1), palette = rep("#B5486A", 2L),
                     title = title, call = call)
  map$title <- title
  map
}

# Text of a picture: one string, an expression, or NULL.
check_caption <- function(x, arg, call) {
  text <- rlang::is_string(x) && validEnc(x)
  if (is.null(x) || text || is.call(x) || (is.expression(x) && length(x) == 1L)) return(invisible(x))
  found <- describe(x)
  abort("{.arg {arg}} must be text or NULL, not {found}.", "argument", found = found, call = call)
}

# ---- drawing ---------------------------------------------------------------------------------

draw_map <- function(map, label = NULL, title = NULL, bar = TRUE) {
  figure <- open_figure()
  kind <- map_kinds(map)
  note <- if (bar) clip_note(map$clipped)
  room <- draw_frame_text(figure, title, note)
  keys <- if (bar) map_keys(map, kind)
  right <- figure$width - 0.3 * figure$line
  if (bar) right <- right - max(bar_width(figure, map$limits, label), text_width(keys$label, 0.7) + 1.8 * figure$line)
  top <- figure$height - room[2L]
  draw_mosaic(figure, map, map_colours(map, map$palette, kind), c(0.2 * figure$line, room[1L], right, top))
  if (!bar) return(invisible(map))
  keys_height <- 1.1 * figure$line * NROW(keys)
  left <- right + 0.4 * figure$line
  draw_colour_bar(figure, left, room[1L] + keys_height + 0.4 * figure$line, top - 0.4 * figure$line, map$limits,
                  map$palette, label, map$clipped, map$threshold)
  if (NROW(keys)) draw_keys(figure, keys, left, room[1L] + keys_height, figure$width - left, cex = 0.7)
  invisible(map)
}

# Greys that need a word: only those that occur.
map_keys <- function(map, kind) {
  keys <- data.frame(label = "no value", colour = MAP_GREY[["missing"]], shape = "fill")
  keys[any(kind == "missing"), ]
}

# Panels in the number of columns that makes them largest, packed around the middle of `box` (left, bottom, right, top
# in inches), with the letters at the edges of the whole.
draw_mosaic <- function(figure, map, colours, box) {
  size <- dim(colours)[1:2] * map$size
  n <- dim(colours)[3L]
  line <- 0.75 * figure$line
  edge <- if (is.null(map$letters)) 0.2 * line else 1.3 * line
  room <- c(box[3L] - box[1L], box[4L] - box[2L]) - 2 * edge
  # between panels: a gap across, and a title above each
  around <- c(0.5, 1.6) * line
  cells <- lapply(seq_len(n), function(columns) room / c(columns, ceiling(n / columns)))
  scales <- vapply(cells, function(cell) min((cell - around) / size), 0)
  # titles that would have to shrink count against a number of columns
  titles <- vapply(cells, function(cell) min(1, cell[1L] / text_width(names(map$slices), 0.75)), 0)
  columns <- which.max(scales * sqrt(titles))
  picture <- size * max(scales[columns], 0.02 * min(room / size))
  titles_cex <- fit_cex(names(map$slices), cells[[columns]][1L] - 0.5 * line, 0.75)
  cell <- pmin(pmax(picture + around, c(text_width(names(map$slices), titles_cex) + line, 0)), cells[[columns]])
  whole <- cell * c(columns, ceiling(n / columns))
  left <- (box[1L] + box[3L] - whole[1L]) / 2
  top <- (box[2L] + box[4L] + whole[2L]) / 2
  set_whole(figure)
  for (k in seq_len(n)) {
    x <- left + ((k - 1L) %% columns + 0.5) * cell[1L] - picture[1L] / 2
    y <- top - ((k - 1L) %/% columns + 1L) * cell[2L]
    graphics::rasterImage(slice_raster(colours, k), x, y, x + picture[1L], y + picture[2L], interpolate = FALSE)
    graphics::text(x + picture[1L] / 2, y + picture[2L] + 0.75 * line, names(map$slices)[k], cex = titles_cex)
  }
  if (!is.null(map$letters)) draw_letters(map$letters, left, top, whole, line)
  invisible(columns)
}

# Rows of a raster go from top to bottom.
slice_raster <- function(colours, k) {
  slice <- array(colours[, , k], dim(colours)[1:2])
  t(slice[, rev(seq_len(ncol(slice))), drop = FALSE])
}

draw_letters <- function(letters, left, top, whole, line) {
  x <- left + c(-0.5 * line, whole[1L] + 0.5 * line, whole[1L] / 2, whole[1L] / 2)
  y <- top - c(whole[2L] / 2, whole[2L] / 2, whole[2L] + 0.7 * line, -0.6 * line)
  graphics::text(x, y, letters, cex = 0.8, font = 2)
}
