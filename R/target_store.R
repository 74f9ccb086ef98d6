#' Targets or features in a file
#'
#' Keeps a matrix of samples x targets in a file, so that solvers can work on more targets than memory holds; or one of
#' samples x features, for more samples than memory holds.
#'
#' Values lie in the file column after column, as little-endian float32 or float64, with nothing before or after them. A
#' text file beside it, `<path>.dcf`, describes them: size, type, a checksum (CRC-32) for every 512 columns, and which
#' columns have missing values; column names are in `<path>.names`. The same bytes are a backing file of bigmemory or
#' bigstatsr and, behind a header, a `.npy` file in Fortran order.
#'
#' The object holds paths and this description, no data: it can be saved, and sent to other R processes. Solvers read
#' it 512 columns at a time, or some thousand rows where the features are a store too, and compare the checksums as they
#' do: a file that was changed since is an error.
#'
#' @param x What to keep: a numeric matrix, samples x targets (then `path` says where); NIfTI files as in
#'   [brain_matrix()] (then `mask` says which voxels, `path` where); the path of an HDF5 file with a matrix of numbers,
#'   samples x targets as R sees it, that is targets x samples in C and Python (then `path` says where). Or what to
#'   open, without `path`: the path of a store made earlier; a `.npy` file of float32 or float64 whose columns are
#'   contiguous (Fortran order n x t, or C order t x n; with one row or column it is one target); a `big.matrix` of
#'   bigmemory or an `FBM` of bigstatsr of type float or double. Those are used where they are; opening reads them
#'   once, for checksums and missing values.
#' @param path NULL (the default) to open, or the file to write. Two more files are written beside it.
#' @param mask For NIfTI files: a [brain_mask()], or what it makes one of. NULL otherwise.
#' @param dataset NULL (the default) takes the only matrix of numbers in an HDF5 file, a string the one of that name. It
#'   is read a range of columns at a time by rhdf5 (Bioconductor) or hdf5r (CRAN), whichever is installed.
#' @param type `"float32"` (the default; relative rounding of 6e-8) or `"float64"`: how values are written.
#' @param overwrite FALSE (the default) refuses to replace an existing file.
#' @param progress TRUE shows a progress bar on the console (stderr); never in scripts, tests and knitr.
#'
#' @returns A list of class `voxridge_target_store`: `path`, `rows`, `cols`, `type`, `format`, `segments` (data frame:
#'   `path`, `first`, `cols`), `offset`, `ld`, `checksums`, `nonfinite` (columns with NA, NaN or Inf), `names`, `mask`,
#'   `stamp` (size and time of the files) and `rounding` (largest relative error of float32, NA where it was not written
#'   here). `dim()`, `dimnames()`, `print()`, `store[, columns]` (a double matrix) and `as.matrix()` work on it.
#' @section Errors:
#' `voxridge_error_store_format` (no store, or of another version), `voxridge_error_store_unsupported` (a layout whose
#' columns are not contiguous, another type), `voxridge_error_store_truncated`, `voxridge_error_store_corrupt`,
#' `voxridge_error_file`, `voxridge_error_nifti`, `voxridge_error_grid`, `voxridge_error_type`, `voxridge_error_shape`,
#' `voxridge_error_argument`, `voxridge_error_conflict`, `voxridge_error_memory`. See [voxridge-conditions].
#' @section Invariants: `target_store(Y, path, type = "float64")[, ]` is `Y`, bit for bit. A solver gives the same bits
#'   for a store of float64 as for the matrix. A reader sees the old file or the new one, never half of it.
#' @seealso [solve_ridge_cv()], whose `X` and `Y` may be stores, and whose `coefs_path` makes one of the coefficients.
#' @examples
#' Y <- matrix(rnorm(20 * 1000), 20)
#' store <- target_store(Y, tempfile(fileext = ".f32"))
#' store
#' dim(store[, 1:3])
#' X <- matrix(rnorm(20 * 5), 20)
#' fit <- solve_ridge_cv(X, store, alphas = alpha_grid(X), n_threads = 2)
#' table(signif(fit$best_alphas, 2))
#' @export
target_store <- function(x, path = NULL, mask = NULL, dataset = NULL, type = c("float32", "float64"),
                         overwrite = FALSE, progress = interactive()) {
  call <- rlang::current_env()
  type <- as_choice(type, STORE_TYPES)
  progress <- as_flag(progress)
  if (is.null(path)) {
    if (!is.null(mask)) {
      abort(
        c("{.arg mask} must be NULL where a store is opened, not {describe(mask)}.",
          i = "To read images into a store say where: {.arg path}."),
        "conflict"
      )
    }
    if (!is.null(dataset)) refuse_dataset(dataset, call)
    return(open_store(x, progress, call))
  }
  path <- as_path(path, "path", call)
  path <- as_store_file(path, as_flag(overwrite), "path", call)
  from <- if (is.null(mask) && is_hdf5(x)) hdf5_source(x, dataset, call)
          else if (!is.null(dataset)) refuse_dataset(dataset, call)
          else if (is.null(mask)) matrix_source(x, call)
          else image_source(x, make_mask(mask), call)
  write_store(from, path, type, progress, call)
}

is_store <- function(x) inherits(x, "voxridge_target_store")

STORE_TYPES <- c("float32", "float64")
STRIPE <- 512  # columns, as in the core

#' @export
print.voxridge_target_store <- function(x, ...) {
  rlang::check_dots_empty()
  bytes <- as.double(x$rows) * x$cols * if (x$type == "float32") 4 else 8
  cat("Target store: ", format_count(x$rows), " x ", format_count(x$cols), " ", x$type, ", ", format_bytes(bytes), "\n",
      sep = "")
  shown <- first_few(x$segments$path)
  cat(if (x$format == "native") "" else paste0(x$format, ": "), shown, "\n", sep = "")
  if (length(x$nonfinite)) cat("Columns with missing values: ", format_count(length(x$nonfinite)), "\n", sep = "")
  invisible(x)
}

#' @export
dim.voxridge_target_store <- function(x) as.integer(c(x[["rows"]], x[["cols"]]))

#' @export
dimnames.voxridge_target_store <- function(x) if (!is.null(x[["names"]])) list(NULL, x[["names"]])

#' @export
summary.voxridge_target_store <- function(object, ...) {
  rlang::check_dots_empty()
  object
}

#' @export
length.voxridge_target_store <- function(x) prod(x[["rows"]], x[["cols"]])

#' @export
`[.voxridge_target_store` <- function(x, i, j, drop = FALSE) {
  call <- rlang::current_env()
  if (nargs() - (!missing(drop)) != 3L) {
    abort(
      c("A store must be asked for rows and columns, not for one index.", i = "Use {.code store[, columns]}."),
      "argument"
    )
  }
  drop <- as_flag(drop)
  x <- validate_store(x, "x", call)
  columns <- if (missing(j)) seq_len(x$cols) else as_places(j, x$cols, x$names, "columns", "j", call)
  rows <- if (!missing(i)) as_places(i, x$rows, NULL, "rows", "i", call)
  check_matrix_size(x$rows, length(columns), call)
  control <- core_control(NULL, NULL, call)
  out <- run_core(core_store_columns(x, columns, control), call)
  if (!is.null(rows)) out <- out[rows, , drop = FALSE]
  if (!is.null(x$names)) colnames(out) <- x$names[columns]
  if (drop) drop(out) else out
}

#' @export
as.matrix.voxridge_target_store <- function(x, ...) {
  rlang::check_dots_empty()
  x[, ]
}

# The object is a list of what is known about a matrix: base R would compute with that list.
refuse_values <- function() {
  abort(c("A store must be read before its values are computed with, which it is not.",
          i = "Read the columns that are needed: {.code store[, columns]}; all of them: {.code as.matrix(store)}."),
        "type", call = rlang::caller_env())
}

#' @export
Ops.voxridge_target_store <- function(e1, e2) refuse_values()

#' @export
Math.voxridge_target_store <- function(x, ...) refuse_values()

#' @export
Summary.voxridge_target_store <- function(..., na.rm = FALSE) refuse_values()

#' @export
mean.voxridge_target_store <- function(x, ...) refuse_values()

#' @export
t.voxridge_target_store <- function(x) refuse_values()

#' @export
is.na.voxridge_target_store <- function(x) refuse_values()

#' @export
anyNA.voxridge_target_store <- function(x, recursive = FALSE) refuse_values()

#' @export
cbind.voxridge_target_store <- function(..., deparse.level = 1) refuse_values()

#' @export
rbind.voxridge_target_store <- function(..., deparse.level = 1) refuse_values()

#' @export
`[<-.voxridge_target_store` <- function(x, i, j, value) refuse_values()

check_matrix_size <- function(n, t, call) {
  bytes <- stats::setNames(8 * as.double(n) * t, paste0("matrix (", format_count(n), " x ", format_count(t), ")"))
  check_result_memory(bytes, "Ask for fewer columns.", call)
}

# A store whose files are those that were described, or an error.
validate_store <- function(store, arg = "Y", call = rlang::caller_env()) {
  if (!is_layout(store)) {
    abort(
      c("{.arg {arg}} must be a store of {.fn target_store}, not a list of that class with other contents.",
        i = "Open it again from its path."),
      "old_object",
      call = call
    )
  }
  found <- core_file_states(store$segments$path, FALSE)
  changed <- which(found$sizes != store$stamp$sizes | found$modified != store$stamp$modified)
  if (length(changed)) {
    path <- store$segments$path[changed[1L]]
    abort(
      c("{.arg {arg}} must be a store whose files are as they were, not with {.file {path}}
         {if (found$sizes[changed[1L]] < 0) 'gone' else 'changed'}.",
        i = "Open it again: {.code target_store(path)}."),
      "store_format",
      where = path, call = call
    )
  }
  store
}

# Can the core read by it? Whatever is not of this shape must not get there.
is_layout <- function(store) {
  x <- if (is.list(store)) unclass(store)
  isTRUE(is_shape(x)) && is_places(x[["nonfinite"]], x$cols) && is_sums(x[["checksums"]], x$cols) &&
    (is.null(x[["names"]]) || is_names(x$names, x$cols))
}

# The same before anything has been read.
is_shape <- function(x) {
  segments <- x[["segments"]]
  if (!identical(x[["version"]], STORE_VERSION) || !isTRUE(x[["type"]] %in% STORE_TYPES) ||
        !is.data.frame(segments) || !all(vapply(x[c("rows", "cols", "offset", "ld")], is_number, NA))) {
    return(FALSE)
  }
  sizes <- c(x$rows, x$cols, x$offset, x$ld)
  end <- x$offset + 8 * (x$cols * x$ld + x$rows)  # bytes, at most
  all(sizes >= 0 & sizes == round(sizes)) && min(x$rows, x$cols) >= 1 && max(x$rows, x$cols) <= .Machine$integer.max &&
    x$ld >= x$rows && end < 2^53 && is_cover(segments, x$cols) && is_stamp(x[["stamp"]], nrow(segments))
}

is_sums <- function(x, cols) {
  is.double(x) && length(x) == ceiling(cols / STRIPE) && isTRUE(all(x >= 0 & x < 2^32 & x == round(x)))
}

is_stamp <- function(x, n) {
  is.list(x) && is.double(x[["sizes"]]) && is.double(x[["modified"]]) && all(lengths(x) == n) && !anyNA(unlist(x))
}

# Segments hold all columns, one after the other.
is_cover <- function(segments, cols) {
  is.character(segments$path) && !anyNA(segments$path) && is.double(segments$first) && is.double(segments$cols) &&
    nrow(segments) > 0L && isTRUE(all(segments$cols >= 0)) &&
    isTRUE(all(segments$first == 1 + cumsum(c(0, segments$cols))[seq_len(nrow(segments))])) &&
    sum(segments$cols) == cols
}

is_places <- function(x, n) {
  is.integer(x) && !anyNA(x) && all(x >= 1L & x <= n) && !is.unsorted(x, strictly = TRUE)
}

is_names <- function(x, n) is.character(x) && length(x) == n && !anyNA(x)

# What `i` chooses of 1, ..., n, as in a matrix, but nothing that is not there.
as_places <- function(i, n, names, what, arg, call) {
  places <- seq_len(n)
  names(places) <- names
  places <- if (!is.object(i)) tryCatch(places[i], error = function(cnd) NA, warning = function(cnd) NA)
  if (is.integer(places) && !anyNA(places)) return(unname(places))
  found <- if (is.character(i)) encodeString(setdiff(i, names)[1L], quote = "\"")
           else if (is.function(i) || is.object(i) || is.list(i) || length(i) != 1L && anyNA(i)) describe(i)
           else describe_rows(i, n)
  abort(
    c("{.arg {arg}} must choose {what} of the store (1 to {n}), not {found}.",
      i = "Numbers, all positive or all negative, logical values, or names if there are some."),
    "argument",
    expected = n, found = i, call = call
  )
}
