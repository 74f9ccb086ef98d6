# What brain_collection() is made of: paths, names, volumes, data, and the form in which the core gets it.

COLLECTION_FORMAT <- 1L

# ---- items -----------------------------------------------------------------------------------

# Elements of a collection with a value per item: paths (NA for a matrix), names, volumes (from 1), n_rows, sizes and
# modified (of the files when they were opened), matrices (NULL for what is read when it is needed).
file_items <- function(paths, mask, volumes, call) {
  given <- names(paths)
  expanded <- expand_paths(paths, call)
  if (!is.null(given)) given <- rep(given, lengths(expanded))
  paths <- unlist(expanded, use.names = FALSE)
  if (length(paths) == 1L && is.list(volumes)) {
    paths <- rep(paths, length(volumes))
    given <- if (length(given)) paste(given, seq_along(volumes), sep = "_")
  }
  files <- unique(paths)
  of_file <- match(paths, files)
  args <- file_arg("paths", match(files, paths), length(paths))
  headers <- Map(function(path, arg) read_header(path, arg, call), files, args)
  doubtful <- Filter(is_doubtful, headers)
  if (length(doubtful)) warn_affine(doubtful[[1L]])
  Map(function(header, arg) check_same_grid(header, mask, arg, "mask", call), headers, args)
  wanted <- item_volumes(volumes, vapply(headers, `[[`, 0, "n_volumes")[of_file], call)
  check_once(paths, wanted, call)
  states <- core_file_states(vapply(headers, `[[`, "", "path"), TRUE)
  list(
    paths = absolute_path(vapply(headers, `[[`, "", "path"))[of_file],
    names = if (is.null(given)) default_names(paths, wanted) else as_item_names(given, length(paths), "paths", call),
    volumes = wanted,
    n_rows = lengths(wanted),
    sizes = states$sizes[of_file],
    modified = states$modified[of_file],
    matrices = vector("list", length(paths))
  )
}

matrix_items <- function(matrices, mask, volumes, call) {
  if (!length(matrices)) abort("{.arg paths} must have at least one item, not none.", "argument", call = call)
  if (!is.null(volumes)) {
    abort(c("{.arg volumes} must be NULL where {.arg paths} is a list of matrices, not {describe(volumes)}.",
            i = "Choose rows of the matrices."), "conflict", found = volumes, call = call)
  }
  given <- names(matrices)
  n <- length(matrices)
  matrices <- unname(Map(function(x, k) {
    arg <- sprintf("paths[[%d]]", k)
    x <- as_plain_matrix(as_double_matrix(x, arg, call))
    if (ncol(x) != mask$n) {
      abort("{.arg {arg}} must have a column for each of the {mask$n} voxels of {.arg mask}, not {ncol(x)}.", "shape",
            expected = mask$n, found = ncol(x), call = call)
    }
    x
  }, matrices, seq_len(n)))
  list(
    paths = rep(NA_character_, n),
    names = if (is.null(given)) paste0("item", seq_len(n)) else as_item_names(given, n, "paths", call),
    volumes = vector("list", n),
    n_rows = vapply(matrices, nrow, 0L),
    sizes = rep(NA_real_, n),
    modified = rep(NA_real_, n),
    matrices = matrices
  )
}

as_plain_matrix <- function(x) {
  if (identical(names(attributes(x)), "dim")) return(x)  # no copy
  attributes(x) <- list(dim = dim(x))
  x
}

# Each path, or the files that a pattern stands for, in a list.
expand_paths <- function(paths, call) {
  if (!is.character(paths) || !length(paths) || anyNA(paths) || any(!nzchar(paths))) {
    found <- if (is.character(paths) && length(paths)) "NA or an empty name" else describe(paths)
    abort(
      c("{.arg paths} must name files, as text, a data frame with a column {.field path} or a list of matrices, not
         {found}."),
      "argument",
      found = paths, call = call
    )
  }
  paths <- path.expand(unname(paths))
  there <- file.exists(paths)
  pattern <- !there & grepl("[*?[]", paths)
  gone <- which(!there & !pattern)
  if (length(gone)) {
    names <- first_few(basename(paths[gone]), 3L)
    abort(c("{.arg paths} must be files, not {length(gone)} that {?is/are} not there ({names}).",
            i = "Check the paths and their permissions."),
          "nifti", path = paths[gone], where = gone, found = length(gone), call = call)
  }
  out <- as.list(paths)
  out[pattern] <- lapply(paths[pattern], Sys.glob)
  none <- which(!lengths(out))
  if (length(none)) {
    first <- paths[none[1L]]
    abort(c("{.arg paths} must match at least one file, not none ({.file {first}}).",
            i = "In patterns {.code *} stands for any text within a name, {.code ?} for one letter."),
          "nifti", path = paths[none], where = none, found = 0L, call = call)
  }
  out
}

paths_of_table <- function(table, data, call) {
  path <- table[["path"]]
  if (!is.character(path) || !nrow(table)) {
    found <- if (is.null(path)) "columns {first_few(names(table))}" else describe(path)
    abort(c(paste0("{.arg paths} must have a text column {.field path} where it is a data frame, not ", found, ".")),
          "argument", found = names(table), call = call)
  }
  if (!is.null(data)) {
    abort(c("{.arg data} must be NULL where {.arg paths} is a data frame, not {describe(data)}.",
            i = "The other columns of {.arg paths} are the data."), "conflict", found = data, call = call)
  }
  patterns <- path[!is.na(path) & !file.exists(path) & grepl("[*?[]", path)]
  if (length(patterns)) {
    abort("{.arg paths} must have one file in each row, not a pattern ({.file {patterns[1]}}).", "argument",
          found = patterns, call = call)
  }
  other <- table[setdiff(names(table), "path")]
  list(paths = path, data = if (length(other)) other)
}

absolute_path <- function(path) {
  absolute <- grepl("^(/|[A-Za-z]:[/\\\\]|\\\\\\\\)", path)
  ifelse(absolute, path, file.path(getwd(), path))
}

item_volumes <- function(volumes, n_volumes, call) {
  n <- length(n_volumes)
  if (!is.list(volumes)) return(lapply(n_volumes, function(most) as.double(as_volumes(volumes, most, call = call))))
  if (length(volumes) != n) {
    abort("{.arg volumes} must have one element for each of the {n} items, not {length(volumes)}.", "argument",
          expected = n, found = length(volumes), call = call)
  }
  unname(Map(function(wanted, most, k) {
    as.double(as_volumes(wanted, most, sprintf("volumes[[%d]]", k), call))
  }, volumes, n_volumes, seq_len(n)))
}

check_once <- function(paths, volumes, call) {
  key <- paste(normalizePath(paths), vapply(volumes, paste, "", collapse = ","))
  again <- which(duplicated(key))
  if (!length(again)) return(invisible(paths))
  first <- match(key[again[1L]], key)
  abort(c("{.arg paths} must name every item once, not the same file and volumes as items {first} and {again[1]}.",
          i = "{.file {basename(paths[first])}} would count twice."),
        "argument", where = again, found = paths[again], call = call)
}

# ---- names and data --------------------------------------------------------------------------

# File names without their endings; where that is not enough, with the folders they lie in, and the volumes.
default_names <- function(paths, volumes) {
  parts <- strsplit(sub("\\.(nii|hdr|img)(\\.gz)?$", "", absolute_path(paths)), "[/\\\\]")
  label <- function(depth) vapply(parts, function(part) paste(utils::tail(part, depth), collapse = "_"), "")
  n_files <- length(unique(paths))
  enough <- Find(function(depth) length(unique(label(depth))) == n_files, seq_len(max(lengths(parts)) - 1L))
  names <- label(enough %||% 1L)
  shared <- names %in% names[duplicated(names)]
  single <- shared & lengths(volumes) == 1L
  names[single] <- paste0(names[single], "_", vapply(volumes[single], `[`, 0, 1L))
  make.unique(names, sep = "_")
}

as_item_names <- function(names, n, arg, call) {
  if (is.character(names) && length(names) == n && !anyNA(names) && all(nzchar(names)) && !anyDuplicated(names)) {
    return(names)
  }
  found <- if (!is.character(names) || length(names) != n) describe(names)
           else if (anyDuplicated(names)) paste0(encodeString(names[anyDuplicated(names)], quote = "\""), " twice")
           else "an empty one"
  abort("{.arg {arg}} must have names that differ, one for each of the {n} items, not {found}.", "argument",
        found = names, call = call)
}

as_item_data <- function(data, n, call) {
  if (is.null(data)) return(NULL)
  if (!is.data.frame(data)) {
    found <- describe(data)
    abort("{.arg data} must be a data frame with a row per item, not {found}.", "argument", found = found, call = call)
  }
  if (nrow(data) != n) {
    abort("{.arg data} must have a row for each of the {n} items, not {nrow(data)}.", "shape",
          expected = n, found = nrow(data), call = call)
  }
  data
}

# ---- a collection that exists ----------------------------------------------------------------

validate_collection <- function(x, arg = "x", call = rlang::caller_env()) {
  if (!inherits(x, "brain_collection")) {
    found <- describe(x)
    abort("{.arg {arg}} must be a collection of {.fn brain_collection}, not {found}.", "type",
          found = found, call = call)
  }
  if (is.list(x) && is_collection(unclass(x), call)) return(invisible(x))
  abort(c("{.arg {arg}} must be a collection of {.fn brain_collection}, not an object of that class with other
           contents.", i = "Make it again from its files."), "old_object", call = call)
}

# Can the core read by it? Whatever is not of this shape must not get there.
is_collection <- function(y, call) {
  ok <- identical(y[["format"]], COLLECTION_FORMAT) && is.character(y[["paths"]]) && length(y$paths) > 0L &&
    all(lengths(y[ITEM_FIELDS]) == length(y$paths)) && is_names(y[["names"]], length(y$paths)) &&
    is.list(y[["volumes"]]) && is.list(y[["matrices"]]) && is.double(y[["sizes"]]) && is.double(y[["modified"]]) &&
    is.numeric(y[["n_rows"]]) && (is.null(y[["data"]]) || is.data.frame(y$data) && nrow(y$data) == length(y$paths)) &&
    isTRUE(y[["load"]] %in% c("lazy", "memory")) && inherits(y[["mask"]], "brain_mask")
  if (!ok) return(FALSE)
  n_voxels <- validate_mask(y$mask, "x$mask", call)$n
  all(mapply(is_item, y$paths, y$matrices, y$volumes, y$n_rows, y$sizes, y$modified, MoreArgs = list(n_voxels)))
}

# Elements with a value per item.
ITEM_FIELDS <- c("paths", "names", "volumes", "n_rows", "sizes", "modified", "matrices")

# A matrix, or volumes of a file as it was.
is_item <- function(path, matrix, volumes, n_rows, size, modified, n_voxels) {
  if (!is.null(matrix)) {
    return(is.double(matrix) && identical(as.double(dim(matrix)), as.double(c(n_rows, n_voxels))) &&
             (is.null(volumes) || is_volumes(volumes, n_rows)))
  }
  !is.na(path) && !is.na(size) && !is.na(modified) && is_volumes(volumes, n_rows)
}

is_volumes <- function(x, n) {
  is.numeric(x) && length(x) == n && n > 0L && isTRUE(all(x >= 1 & x == round(x) & x <= .Machine$integer.max))
}

as_item_index <- function(i, x, arg, call) {
  n <- length(x$paths)
  places <- if (is.character(i)) {
    match(i, x$names)
  } else if (is.logical(i) && !is.object(i)) {
    if (length(i) == n && !anyNA(i)) which(i) else NA
  } else if (is.numeric(i) && !is.object(i) && (all(i %in% seq_len(n)) || all(-i %in% seq_len(n)))) {
    seq_len(n)[i]
  } else {
    NA
  }
  if (length(places) && !anyNA(places)) {
    twice <- anyDuplicated(places)
    if (!twice) return(places)
    found <- x$names[places[twice]]
    abort("{.arg {arg}} must name every item once, not {.val {found}} twice.", "argument", found = i, call = call)
  }
  found <- if (!length(places)) "none"
           else if (is.character(i)) encodeString(i[is.na(places)][1L], quote = "\"")
           else describe_rows(i, n)
  abort(
    c("{.arg {arg}} must be items: numbers from 1 to {n}, names, or a logical value for each, not {found}.",
      i = "Numbers may all be negative, to leave items out."),
    "argument",
    expected = n, found = i, call = call
  )
}

choose_items <- function(x, places, call) {
  y <- unclass(x)
  for (name in ITEM_FIELDS) {
    y[[name]] <- y[[name]][places]
  }
  if (!is.null(y$data)) y$data <- y$data[places, , drop = FALSE]
  structure(y, class = "brain_collection")
}

matrix_bytes <- function(x) {
  c("the matrices of all items" = 8 * sum(as.double(x$n_rows)) * x$mask$n)
}

# Sizes (-1 for files that are gone) and times of change now.
item_states <- function(x, which = seq_along(x$paths)) {
  paths <- x$paths[which]
  files <- unique(paths[!is.na(paths)])
  states <- core_file_states(files, TRUE)
  at <- match(paths, files)
  list(sizes = ifelse(is.na(at), NA, states$sizes[at]), modified = ifelse(is.na(at), NA, states$modified[at]))
}
