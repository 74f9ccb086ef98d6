# Slices of a brain map for plot_map() and autoplot(): orientation, choice of slices, limits of the colours, colours.
# Nothing is drawn here.

MAP_PLANES <- list(
  axial = list(across = 1L, up = 2L, through = 3L),
  coronal = list(across = 1L, up = 3L, through = 2L),
  sagittal = list(across = 2L, up = 3L, through = 1L)
)

MAP_GREY <- c(missing = "#969696", below = "#DEDEDE")

# ---- inputs ----------------------------------------------------------------------------------

# A vector over the voxels of a mask, or a 3-D array, as a list of the `volume`, the voxels `inside` the mask and the
# `affine`.
as_brain_map <- function(x, mask, arg, call) {
  if (!is.null(mask)) mask <- make_mask(mask, call = call)
  if (is.character(x) || isS4(x) || inherits(x, c("niftiImage", "nifti_header"))) {
    image <- as_image(x, arg, call = call)
    x <- structure(image_data(image, arg, call), affine = image$affine)
  }
  if (is.logical(x)) storage.mode(x) <- "double"
  if (!is.numeric(x) || is.object(x)) refuse_map(x, arg, call)
  size <- dim(x)
  if (length(size) > 3L && all(size[-(1:3)] == 1L)) size <- size[1:3]
  map <- if (length(size) == 3L) {
    array_map(x, size, mask, arg, call)
  } else if (is.null(size) || sum(size > 1L) <= 1L) {
    vector_map(as.vector(x), mask, arg, call)
  } else {
    refuse_map(x, arg, call)
  }
  found <- sum(is.finite(map$volume[map$inside]))
  if (found) return(map)
  abort(
    c("{.arg {arg}} must have at least one finite value in the mask, not NA, NaN or Inf in every voxel.",
      i = "Targets that a fit skipped are NA."),
    "nonfinite",
    expected = 1L, found = found, call = call
  )
}

refuse_map <- function(x, arg, call) {
  found <- describe(x)
  abort(
    c("{.arg {arg}} must be a numeric vector of one value per voxel or a 3-D array, not {found}.",
      i = if (inherits(x, "voxridge_logistic")) {
        "Use {.code brain_map(fit)} where the features of the fit are voxels."
      } else if (inherits(x, "voxridge_fit")) {
        "Use {.code plot(fit, type = \"map\")}, or a part of the fit such as {.code fit$scores}."
      } else {
        "Draw one map at a time: a row of a matrix of voxels, or {.code {arg}[, , , 1]} of a 4-D array."
      }),
    "type",
    found = found, call = call
  )
}

vector_map <- function(x, mask, arg, call) {
  if (is.null(mask)) {
    abort(
      c("{.arg mask} must be a brain mask where {.arg {arg}} is a vector, not NULL.",
        i = "Pass {.code mask =}, which says where in the brain each value belongs."),
      "argument",
      found = "NULL", call = call
    )
  }
  if (length(x) != mask$n) {
    found <- length(x)
    abort(
      c("{.arg {arg}} must have one value per voxel of the mask ({format_count(mask$n)}), not {format_count(found)}.",
        i = "Voxels without a value are NA."),
      "shape",
      expected = mask$n, found = found, call = call
    )
  }
  volume <- array(NA_real_, mask$dim)
  volume[mask$index] <- x
  list(volume = volume, inside = mask_array(mask), affine = mask$affine, pixdim = mask$pixdim)
}

# Where an array comes without a mask, its brain is what is finite; zeros lie outside where nothing else marks it.
array_map <- function(x, size, mask, arg, call) {
  affine <- attr(x, "affine")
  pixdim <- attr(x, "pixdim")
  volume <- array(as.double(x), size)
  if (is.null(mask)) {
    inside <- is.finite(volume)
    if (all(inside) && any(volume != 0)) inside <- volume != 0
    if (!any(inside)) inside[] <- TRUE
    return(list(volume = volume, inside = inside, affine = affine, pixdim = pixdim))
  }
  affine <- as_affine(affine, arg, call)
  check_same_grid(list(dim = size, affine = affine), mask, arg, "mask", call)
  list(volume = volume, inside = mask_array(mask), affine = mask$affine %||% affine, pixdim = mask$pixdim %||% pixdim)
}

mask_array <- function(mask) {
  inside <- array(FALSE, mask$dim)
  inside[mask$index] <- TRUE
  inside
}

as_background <- function(background, map, call) {
  if (is.null(background)) return(NULL)
  image <- as_image(background, "background", call = call)
  check_same_grid(image, list(dim = dim(map$volume), affine = map$affine), "background", "x", call)
  data <- image_data(image, "background", call)
  if (length(data) == length(map$volume)) return(array(as.double(data), dim(map$volume)))
  found <- image$dim[4L]
  abort("{.arg background} must have one volume, not {found}.", "shape", expected = 1L, found = found, call = call)
}

# ---- orientation -----------------------------------------------------------------------------

# For x (to the right), y (to the front) and z (to the top) of world space: the array axis nearest to it, whether that
# axis runs the other way, and the voxel size along it. Without an affine the array axes are taken as they are.
orient_axes <- function(affine, pixdim = NULL, call = rlang::caller_env()) {
  if (is.null(affine)) {
    size <- if (length(pixdim) >= 3L && all(pixdim[1:3] > 0)) abs(as.double(pixdim[1:3])) else rep(1, 3L)
    return(list(axis = 1:3, flip = rep(FALSE, 3L), size = size, known = FALSE))
  }
  if (!is.numeric(affine) || !identical(dim(affine), c(4L, 4L)) || !all(is.finite(affine)) ||
      any(colSums(affine[1:3, 1:3]^2) == 0)) {
    found <- describe(affine)
    abort("The affine of the map must be a 4 x 4 matrix of finite numbers without empty columns, not {found}.",
          "grid", found = affine, call = call)
  }
  A <- affine[1:3, 1:3]
  size <- unname(sqrt(colSums(A^2)))
  orders <- list(1:3, c(1L, 3L, 2L), c(2L, 1L, 3L), c(2L, 3L, 1L), c(3L, 1L, 2L), 3:1)
  likeness <- vapply(orders, function(order) sum(abs(A[cbind(1:3, order)]) / size[order]), 0)
  axis <- orders[[which.max(likeness)]]
  list(axis = axis, flip = A[cbind(1:3, axis)] < 0, size = size[axis], known = TRUE)
}

# Position of slices along a world axis, in mm, at the centre of the slice.
slice_mm <- function(slices, size, affine, orientation, through) {
  voxel <- matrix((size - 1) / 2, 3L, length(slices))
  voxel[orientation$axis[through], ] <- slices - 1
  as.vector(affine[through, 1:3] %*% voxel) + affine[through, 4L]
}

# One slice with the subject's left (or back) at the first row and the bottom (or back) at the first column.
cut_slice <- function(volume, k, orientation, plane) {
  axis <- orientation$axis
  through <- axis[plane$through]
  slice <- switch(through, volume[k, , ], volume[, k, ], volume[, , k])
  dim(slice) <- dim(volume)[-through]
  if (axis[plane$across] > axis[plane$up]) slice <- t(slice)
  if (orientation$flip[plane$across]) slice <- slice[rev(seq_len(nrow(slice))), , drop = FALSE]
  if (orientation$flip[plane$up]) slice <- slice[, rev(seq_len(ncol(slice))), drop = FALSE]
  slice
}

# ---- slices ----------------------------------------------------------------------------------

# Up to 12 evenly spaced slices with voxels of the mask, from the first to the last in world space.
choose_slices <- function(inside, axis, flip, slices, call, most = 12L) {
  total <- dim(inside)[axis]
  if (is.null(slices)) {
    filled <- which(apply(inside, axis, any))
    if (length(filled) > most) {
      filled <- filled[round(seq(1, length(filled), length.out = most + 2L))[1L + seq_len(most)]]
    }
    return(if (flip) rev(filled) else filled)
  }
  if (!is.numeric(slices) || is.object(slices) || !length(slices) || anyNA(slices) || any(slices != round(slices))) {
    found <- if (length(slices)) describe(slices) else "an empty vector"
    abort("{.arg slices} must be whole numbers, positions in the array, or NULL, not {found}.", "argument",
          found = found, call = call)
  }
  bad <- which(slices < 1 | slices > total)
  if (!length(bad)) return(as.integer(slices))
  shown <- first_few(slices[bad])
  abort(
    c("{.arg slices} must be from 1 to {total}, not {shown}.",
      i = "They are positions along the axis of the array that the plane cuts, not mm."),
    "argument",
    expected = c(1L, total), found = slices[bad], where = bad, call = call
  )
}

# Everything that is drawn, as arrays across x up x slices.
map_slices <- function(x, mask, background, plane, slices, limits, threshold, arg, call) {
  map <- as_brain_map(x, mask, arg, call)
  background <- as_background(background, map, call)
  if (!is.null(threshold)) threshold <- as_positive(threshold, arg = "threshold", call = call)
  orientation <- orient_axes(map$affine, map$pixdim, call)
  axes <- MAP_PLANES[[plane]]
  slices <- choose_slices(map$inside, orientation$axis[axes$through], orientation$flip[axes$through], slices, call)
  limits <- as_map_limits(limits, map$volume[map$inside], call)
  cut <- function(volume) {
    if (is.null(volume)) return(NULL)
    parts <- lapply(slices, cut_slice, volume = volume, orientation = orientation, plane = axes)
    array(unlist(parts), c(dim(parts[[1L]]), length(parts)))
  }
  out <- list(value = cut(map$volume), inside = cut(map$inside), background = cut(background))
  shown <- out$inside
  if (!is.null(background)) shown <- shown | (is.finite(out$background) & out$background != 0)
  rows <- bounding_range(apply(shown, 1L, any))
  columns <- bounding_range(apply(shown, 2L, any))
  out <- lapply(out, function(part) if (!is.null(part)) part[rows, columns, , drop = FALSE])
  letters <- list(c("L", "R"), c("P", "A"), c("I", "S"))
  c(out, list(
    slices = stats::setNames(slices, slice_titles(slices, dim(map$volume), map$affine, orientation, axes$through)),
    plane = plane,
    size = orientation$size[c(axes$across, axes$up)],
    letters = if (orientation$known) unlist(letters[c(axes$across, axes$up)]),
    limits = limits,
    clipped = clipped_share(map$volume[map$inside], limits),
    threshold = threshold
  ))
}

# The positions from the first TRUE to the last, and one more on either side; all where there is none.
bounding_range <- function(x) {
  if (!any(x)) return(seq_along(x))
  seq(max(1L, min(which(x)) - 1L), min(length(x), max(which(x)) + 1L))
}

slice_titles <- function(slices, size, affine, orientation, through) {
  if (!orientation$known) return(paste("slice", slices))
  mm <- slice_mm(slices, size, affine, orientation, through)
  digits <- if (all(abs(mm - round(mm)) < 0.05)) 0L else 1L
  sprintf("%s = %s mm", c("x", "y", "z")[through], formatC(round(mm, digits) + 0, digits, format = "f"))
}

# ---- colours ---------------------------------------------------------------------------------

as_map_limits <- function(limits, values, call) {
  if (is.null(limits)) return(robust_limits(values[is.finite(values)]))
  if (is.numeric(limits) && !is.object(limits) && length(limits) == 2L && all(is.finite(limits)) &&
      limits[1L] < limits[2L]) {
    return(as.double(limits))
  }
  found <- if (is.numeric(limits) && length(limits) == 2L) paste(limits, collapse = ", ") else describe(limits)
  abort("{.arg limits} must be two finite, increasing numbers or NULL, not {found}.", "argument",
        found = limits, call = call)
}

# The central 99 % of the values, rounded outwards to two digits; symmetric about 0 where they lie on both sides of it,
# but from 0 on where one side is next to nothing.
SMALL_SIDE <- 0.05

robust_limits <- function(values) {
  range <- stats::quantile(values, c(0.005, 0.995), names = FALSE, type = 1L)
  if (range[1L] < 0 && range[2L] > 0) {
    small <- abs(range) < SMALL_SIDE * max(abs(range))
    range <- if (any(small)) ifelse(small, 0, range) else c(-1, 1) * max(abs(range))
  }
  if (range[1L] == range[2L]) range <- range + c(-1, 1) * max(abs(range[1L]) / 10, 1e-8)
  step <- 10^(floor(log10(max(abs(range)))) - 1)
  while (diff(range) < 5 * step) step <- step / 10
  c(floor(range[1L] / step + 1e-9), ceiling(range[2L] / step - 1e-9)) * step
}

# Shares of the finite values below and above the limits.
clipped_share <- function(values, limits) {
  values <- values[is.finite(values)]
  c(below = mean(values < limits[1L]), above = mean(values > limits[2L]))
}

clip_note <- function(clipped, what = "voxels") {
  beyond <- clipped > 0
  if (!any(beyond)) return(NULL)
  shares <- vapply(clipped[beyond], format_share, "")
  shares[1L] <- paste(shares[1L], "of", what)
  paste(paste(shares, c("below", "above")[beyond], collapse = ", "), "the limits of the colours")
}

format_share <- function(share) {
  if (share > 0 && share < 0.001) "under 0.1 %" else paste(format(round(100 * share, 1L)), "%")
}

is_diverging <- function(limits) limits[1L] < 0 && limits[2L] > 0

# 256 colours: of a vector, of a palette of hcl.colors(), or by the sign of the limits.
as_palette <- function(palette, limits, call) {
  if (is.null(palette)) palette <- if (is_diverging(limits)) "Blue-Red 3" else "Inferno"
  if (rlang::is_string(palette) && validEnc(palette) && tolower(palette) %in% tolower(grDevices::hcl.pals())) {
    return(grDevices::hcl.colors(256L, palette))
  }
  known <- is.character(palette) && length(palette) > 1L && !anyNA(palette) &&
    !inherits(try(grDevices::col2rgb(palette), silent = TRUE), "try-error")
  if (known) return(grDevices::colorRampPalette(palette, space = "Lab")(256L))
  found <- describe(palette)
  abort(
    c("{.arg palette} must be a name of {.code hcl.pals()}, at least two colours, or NULL, not {found}.",
      i = "Palettes that stay readable for the colour-blind: {.val Inferno}, {.val viridis}, {.val Blue-Red 3}."),
    "argument",
    found = palette, call = call
  )
}

colour_of <- function(values, limits, palette) {
  place <- (values - limits[1L]) / diff(limits)
  palette[pmin(pmax(ceiling(place * length(palette)), 1), length(palette))]
}

# What is seen in each cell of the slices: "value", "below" the threshold, "missing" or "outside".
map_kinds <- function(map) {
  kind <- array("outside", dim(map$inside))
  kind[map$inside] <- "missing"
  kind[map$inside & is.finite(map$value)] <- "value"
  if (!is.null(map$threshold)) kind[kind == "value" & abs(map$value) < map$threshold] <- "below"
  kind
}

# The colour of every cell, NA for none. Grey of the background: its central 98 %, black to white.
map_colours <- function(map, palette, kind = map_kinds(map)) {
  colours <- map_underlay(map)
  if (is.null(map$background)) colours[kind == "below"] <- MAP_GREY[["below"]]
  colours[kind == "missing"] <- MAP_GREY[["missing"]]
  shown <- kind == "value"
  colours[shown] <- colour_of(map$value[shown], map$limits, palette)
  colours
}

map_underlay <- function(map) {
  colours <- array(NA_character_, dim(map$inside))
  if (is.null(map$background)) return(colours)
  shown <- is.finite(map$background) & map$background != 0
  range <- stats::quantile(map$background[shown], c(0.01, 0.99), names = FALSE)
  if (!any(shown) || range[1L] == range[2L]) range <- range + c(-1, 1)
  colours[shown] <- colour_of(map$background[shown], range, grDevices::grey.colors(256L, 0.1, 0.95))
  colours
}

# One row per cell that is drawn, for ggplot2: positions across and up (in voxels), slice, kind, value within the
# limits, colour of the layer beneath.
map_cells <- function(map) {
  kind <- map_kinds(map)
  underlay <- map_underlay(map)
  drawn <- which(kind != "outside" | !is.na(underlay))
  place <- arrayInd(drawn, dim(kind))
  titles <- names(map$slices)
  value <- map$value[drawn]
  value[kind[drawn] != "value"] <- NA
  grey <- underlay[drawn]
  if (is.null(map$background)) grey[kind[drawn] == "below"] <- MAP_GREY[["below"]]
  grey[kind[drawn] == "missing"] <- MAP_GREY[["missing"]]
  data.frame(
    across = place[, 1L],
    up = place[, 2L],
    slice = factor(titles[place[, 3L]], levels = unique(titles)),
    kind = kind[drawn],
    value = pmin(pmax(value, map$limits[1L]), map$limits[2L]),
    grey = grey
  )
}
