#' Collections of images
#'
#' `brain_collection()` names the images of many subjects, runs or contrasts that lie on one grid, without reading them:
#' headers only are looked at, and the data are streamed whenever something is computed.
#'
#' An item is a file, or some of its volumes: with `volumes = list(1, 2, 3)` one 4-D file of subject maps becomes three
#' items. Size and time of every file are kept, and a file that has been changed since is refused by name. The object
#' is plain data: it survives [saveRDS()] and goes to other processes as paths.
#'
#' Verbs: `print()`; `length()`, `names()`; `x[i]` and `subset(x, group == "a")` for some of the items; `x[[i]]` reads
#' one item as [brain_matrix()] does; `as.list()` reads all. [collection_mean()] and its relatives,
#' [collection_quantile()], [collection_t_test()], [stack_items()], [map_items()] and [fit_items()] work on
#' all items in memory that does not grow with them.
#'
#' @param paths Files in the order wanted: a character vector of NIfTI files or patterns such as `"sub-*/stat.nii.gz"`
#'   (sorted; `*`, `?` and `[ ]`), whose names, if it has some, are those of the items; a data frame with a column
#'   `path`; or a list of numeric matrices (volumes x voxels of the mask).
#' @param mask A [brain_mask()], or what it makes one of. Every file must have its dimensions, with corners less than
#'   0.01 mm apart.
#' @param data NULL (the default), or a data frame with a row per item: subject, run, group, covariates. The other
#'   columns of a data frame given as `paths` are the default.
#' @param volumes NULL (the default) for all volumes; whole numbers from 1, the same volumes of every item; or a list
#'   with such numbers for each item. A single file goes with a list of any length.
#' @param load `"lazy"` (the default) reads the data whenever they are needed, `"memory"` now: n x v doubles per item.
#' @param x A collection.
#' @param i Items: numbers, negative numbers, names, or a logical value for each. For `[[` a single number or name.
#' @param subset An expression of columns of `data`: items for which it is TRUE are kept.
#' @param ... No further arguments.
#'
#' @returns A list of class `brain_collection`. `x[i]` and `subset()` return a collection, `x[[i]]` a double matrix,
#'   volumes x voxels, with the attribute `mask`, `as.list()` a named list of such matrices.
#' @section Errors:
#' `voxridge_error_argument`, `voxridge_error_type`, `voxridge_error_shape`, `voxridge_error_grid` (an image of another
#' size or place than the mask), `voxridge_error_nifti` (a file that is missing or cannot be read),
#' `voxridge_error_item` (an item that has been changed, or cannot be read any more), `voxridge_error_memory`. Warning
#' `voxridge_warning_affine`. See [voxridge-conditions].
#' @section Invariants:
#' `load = "lazy"` and `"memory"` give the same results, bit for bit. `x[i]` has the items of `x` in the order of `i`.
#' @seealso [map_items()], [collection_mean()], [collection_t_test()], [stack_items()], [brain_matrix()].
#' @examples
#' mask <- brain_mask(array(1, c(4, 4, 3)), affine = diag(c(3, 3, 4, 1)))
#' folder <- tempfile()
#' dir.create(folder)
#' for (s in 1:4) {
#'   image <- brain_map(matrix(rnorm(5 * 48), 5), mask)
#'   write_nifti(image, file.path(folder, sprintf("sub-%02d.nii.gz", s)))
#' }
#' runs <- brain_collection(file.path(folder, "sub-*.nii.gz"), mask,
#'                          data = data.frame(group = c("a", "a", "b", "b")))
#' runs
#' names(subset(runs, group == "b"))
#' dim(runs[["sub-03"]])
#' mean_map <- collection_mean(runs, within = "mean", n_threads = 2)
#' write_nifti(brain_map(mean_map), file.path(folder, "mean.nii.gz"))
#' @export
brain_collection <- function(paths, mask, data = NULL, volumes = NULL, load = c("lazy", "memory")) {
  call <- rlang::current_env()
  if (missing(mask)) {
    abort(c("{.arg mask} must be given: which voxels the items have.",
            i = "A file, an array of 0 and 1, or a {.fn brain_mask}."), "argument")
  }
  mask <- make_mask(mask)
  load <- as_choice(load, c("lazy", "memory"))
  if (is.data.frame(paths)) {
    from <- paths_of_table(paths, data, call)
    paths <- from$paths
    data <- from$data
  }
  items <- if (is.list(paths)) matrix_items(paths, mask, volumes, call) else file_items(paths, mask, volumes, call)
  x <- structure(
    c(list(format = COLLECTION_FORMAT), items, list(data = as_item_data(data, length(items$paths), call),
                                                    mask = mask, load = if (is.list(paths)) "memory" else load)),
    class = "brain_collection"
  )
  if (load == "memory" && !is.list(paths)) {
    check_result_memory(matrix_bytes(x), "Keep {.code load = \"lazy\"}, or read the voxels of a smaller mask.", call)
    x$matrices <- lapply(seq_along(x$paths), function(i) as_plain_matrix(read_item(item_of(x, i), mask, call)))
  }
  x
}

#' @export
print.brain_collection <- function(x, ...) {
  rlang::check_dots_empty()
  validate_collection(x)
  rows <- unique(x$n_rows)
  volumes <- if (length(rows) == 1L) count_label(rows, "volume") else paste(min(rows), "to", max(rows), "volumes")
  cat("Brain collection: ", count_label(length(x$paths), "item"), ", ", volumes, " each, ",
      count_label(x$mask$n, "voxel"), "\n", sep = "")
  cat("  names:    ", first_few(x$names), "\n", sep = "")
  if (!is.null(x$data)) cat("  data:     ", first_few(names(x$data), 8L), "\n", sep = "")
  size <- format_bytes(sum(matrix_bytes(x)))
  if (x$load == "memory") {
    cat("  loaded:   ", size, "\n", sep = "")
  } else {
    cat("  lazy:     ", size, " if it were loaded\n", sep = "")
    gone <- x$names[item_states(x)$sizes < 0]
    if (length(gone)) cat("  missing:  ", first_few(gone), "\n", sep = "")
  }
  invisible(x)
}

# Programs that show the objects of a session call this: nothing must be read.
#' @rawNamespace S3method(utils::str,brain_collection)
str.brain_collection <- function(object, ...) print.brain_collection(object)

#' @export
length.brain_collection <- function(x) length(unclass(x)[["paths"]])

#' @export
names.brain_collection <- function(x) unclass(x)[["names"]]

#' @export
`names<-.brain_collection` <- function(x, value) {
  y <- unclass(validate_collection(x))
  y$names <- as_item_names(value, length(y$paths), "value", rlang::caller_env())
  structure(y, class = class(x))
}

#' @rdname brain_collection
#' @export
`[.brain_collection` <- function(x, i, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_collection(x)
  if (missing(i)) return(x)
  choose_items(x, as_item_index(i, x, "i", call), call)
}

#' @rdname brain_collection
#' @export
`[[.brain_collection` <- function(x, i, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_collection(x)
  i <- as_item_index(i, x, "i", call)
  if (length(i) != 1L) abort("{.arg i} must be a single item, not {length(i)}.", "argument", found = i)
  read_item(item_of(x, i), x$mask, call)
}

#' @export
`$.brain_collection` <- function(x, name) unclass(x)[[name]]

#' @export
`[<-.brain_collection` <- function(x, i, value) refuse_assignment(rlang::current_env())

#' @export
`[[<-.brain_collection` <- function(x, i, value) refuse_assignment(rlang::current_env())

#' @rdname brain_collection
#' @export
as.list.brain_collection <- function(x, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_collection(x)
  check_result_memory(matrix_bytes(x), "Work on one item after the other: {.fn map_items}.", call)
  out <- lapply(seq_along(x$paths), function(i) read_item(item_of(x, i), x$mask, call))
  stats::setNames(out, x$names)
}

#' @rdname brain_collection
#' @export
subset.brain_collection <- function(x, subset, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_collection(x)
  if (missing(subset)) return(x)
  if (is.null(x$data)) {
    abort(c("{.arg x} must have data about its items, not none.",
            i = "Give them in {.fn brain_collection}, or choose items by number or name: {.code x[i]}."), "argument")
  }
  keep <- eval(substitute(subset), x$data, parent.frame())
  if (!is.logical(keep) || length(keep) != length(x$paths)) {
    abort("{.arg subset} must be TRUE or FALSE for each of the {length(x$paths)} items, not {describe(keep)}.",
          "argument", found = keep)
  }
  if (!any(keep, na.rm = TRUE)) abort("{.arg subset} must keep at least one item, not none.", "argument", found = keep)
  choose_items(x, which(keep), call)
}

#' @export
summary.brain_collection <- function(object, ...) {
  rlang::check_dots_empty()
  object
}

# The object is a list of what is known about images: base R would compute with that list.
refuse_images <- function() {
  abort(c("A collection must be read before its values are computed with, which it is not.",
          i = "Over the items: {.fn collection_mean} and its relatives, {.fn map_items}. One item: {.code x[[1]]}."),
        "type", call = rlang::caller_env())
}

#' @export
Ops.brain_collection <- function(e1, e2) refuse_images()

#' @export
Math.brain_collection <- function(x, ...) refuse_images()

#' @export
Summary.brain_collection <- function(..., na.rm = FALSE) refuse_images()

#' @export
mean.brain_collection <- function(x, ...) refuse_images()

#' @rawNamespace S3method(stats::median,brain_collection)
median.brain_collection <- function(x, na.rm = FALSE, ...) refuse_images()

#' @rawNamespace S3method(stats::quantile,brain_collection)
quantile.brain_collection <- function(x, ...) refuse_images()

#' @export
c.brain_collection <- function(...) {
  abort(c("Collections must be made of all their paths at once, not put together.",
          i = "{.code brain_collection(c(a$paths, b$paths), mask)}."), "argument")
}

refuse_assignment <- function(call) {
  abort(c("{.arg x} must keep its items, not get others.", i = "Make a new collection with {.fn brain_collection}."),
        "argument", call = call)
}
