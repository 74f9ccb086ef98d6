# Feature spaces ("bands") in one form, whatever form they are given in: list(Xs, names, sizes, order, features,
# samples), of class "voxridge_bands", which as_bands() passes through.
#   Xs        unnamed list of double matrices, samples x features of a band; those of a user's list are not copied
#   names     of the bands
#   sizes     columns per band
#   order     order[k] is the user's number of the k-th column of do.call(cbind, Xs); NULL where both are the same
#   features  column names in the user's order, or NULL
#   samples   row names, or NULL
as_bands <- function(Xs, bands = NULL, call = rlang::caller_env()) {
  if (inherits(Xs, "voxridge_bands")) return(Xs)
  if (inherits(Xs, "voxridge_prepared")) {
    abort(
      c("{.arg Xs} must be a named list of matrices, or a matrix with {.arg bands}, not the result of
         {.fn prepare_ridge}.",
        i = "Bands are scaled anew for every candidate, so there is nothing to prepare: pass the features."),
      "type",
      call = call
    )
  }
  if (is.list(Xs) && !is.data.frame(Xs)) return(bands_from_list(Xs, bands, call))
  if (is.null(dim(Xs))) {
    found <- describe(Xs)
    abort(
      "{.arg Xs} must be a named list of matrices, or a matrix with {.arg bands}, not {found}.",
      "type",
      found = found, call = call
    )
  }
  bands_from_matrix(Xs, bands, call)
}

new_voxridge_bands <- function(...) structure(list(...), class = "voxridge_bands")

# The band of each of the user's columns, named as they are.
band_factor <- function(bands) {
  id <- rep(seq_along(bands$sizes), bands$sizes)
  if (!is.null(bands$order)) id[bands$order] <- id
  out <- factor(id, seq_along(bands$names), bands$names)
  names(out) <- bands$features
  out
}

# ---- a list of matrices ----------------------------------------------------------------------

bands_from_list <- function(Xs, bands, call) {
  if (!is.null(bands)) {
    abort(
      c("{.arg bands} must be left out where {.arg Xs} is a list, not given besides.",
        i = "The elements of the list are the bands, its names are theirs."),
      "conflict",
      found = describe(bands), call = call
    )
  }
  names <- check_band_names(names(Xs), length(Xs), call)
  args <- band_args(names)
  Xs <- unname(Map(function(X, band, arg) band_matrix(X, band, arg, call), unclass(Xs), names, args))
  for (b in seq_along(Xs)) check_same_rows(Xs[[b]], nrow(Xs[[1L]]), args[b], args[1L], call)
  new_voxridge_bands(
    Xs = Xs,
    names = names,
    sizes = vapply(Xs, ncol, 0L),
    order = NULL,
    features = list_features(Xs, names),
    samples = Find(Negate(is.null), lapply(Xs, rownames))
  )
}

check_band_names <- function(names, n_bands, call) {
  if (n_bands == 0L) {
    abort("{.arg Xs} must have at least one band, not be an empty list.", "bands", found = 0L, call = call)
  }
  example <- c(i = "For example {.code list(motion = X1, semantic = X2)}: results are named after the bands.")
  unnamed <- if (is.null(names)) seq_len(n_bands) else which(is.na(names) | !nzchar(names))
  if (length(unnamed)) {
    shown <- first_few(unnamed)
    abort(
      c("{.arg Xs} must have a name for every band, not none for {length(unnamed)} of {n_bands}
         ({cli::qty(length(unnamed))}element{?s} {shown}).",
        example),
      "bands",
      where = unnamed, call = call
    )
  }
  again <- unique(names[duplicated(names)])
  if (length(again)) {
    abort(
      c("{.arg Xs} must have a name of its own for every band, not {.val {again}} more than once.", example),
      "bands",
      found = again, where = which(names %in% again), call = call
    )
  }
  names
}

# How to write a band of the list: Xs$motion, Xs[["my words"]].
band_args <- function(names) {
  ifelse(names == make.names(names), paste0("Xs$", names), sprintf("Xs[[\"%s\"]]", names))
}

# One band as a checked double matrix; a plain vector is a single column.
band_matrix <- function(X, band, arg, call) {
  if (is.atomic(X) && is.null(dim(X)) && (is.numeric(X) || is.logical(X)) && !is.object(X) && length(X)) {
    X <- matrix(as.double(X), ncol = 1L, dimnames = if (!is.null(names(X))) list(names(X), NULL))
  }
  if (length(dim(X)) == 2L && ncol(X) == 0L) abort_empty_band(band, "Leave it out of the list.", call)
  as_features(X, arg, call)
}

abort_empty_band <- function(band, advice, call) {
  abort(
    c("Every band of {.arg Xs} must have at least one column, not none ({.val {band}}).", i = advice),
    "bands",
    where = band, call = call
  )
}

# Column names one band after the other; where only some of the bands have names, the columns of the others are called
# after their band: motion[1], motion[2].
list_features <- function(Xs, names) {
  features <- lapply(Xs, colnames)
  if (all(vapply(features, is.null, NA))) return(NULL)
  unlist(Map(function(X, band) colnames(X) %||% sprintf("%s[%d]", band, seq_len(ncol(X))), Xs, names),
         use.names = FALSE)
}

# ---- one matrix and a label per column -------------------------------------------------------

bands_from_matrix <- function(X, bands, call) {
  labels <- band_labels(bands, ncol(X), call)
  X <- as_features(X, "Xs", call)
  columns <- split(seq_len(ncol(X)), factor(labels$id, seq_along(labels$names)))
  order <- unlist(columns, use.names = FALSE)
  new_voxridge_bands(
    Xs = if (length(columns) == 1L) list(X) else unname(lapply(columns, function(j) X[, j, drop = FALSE])),
    names = labels$names,
    sizes = unname(lengths(columns)),
    order = if (is.unsorted(order)) order,
    features = colnames(X),
    samples = rownames(X)
  )
}

# list(id, names): the number of the band of each column. Bands come in the order of the levels of a factor, or in
# that of their first columns.
band_labels <- function(bands, p, call, arg = "Xs") {
  check_band_labels(bands, p, call, arg)
  labels <- as.character(bands)
  names <- if (is.factor(bands)) levels(bands) else unique(labels)
  unused <- setdiff(names, labels)
  if (length(unused)) {
    abort_empty_band(unused, "{.code bands = droplevels(bands)} drops levels without columns.", call)
  }
  list(id = match(labels, names), names = names)
}

check_band_labels <- function(bands, p, call, arg) {
  if (is.null(bands)) {
    abort(
      c("{.arg bands} must be given where {.arg Xs} is a matrix: the band of each of its columns.",
        i = "Use a factor over the columns, or a named list of matrices as {.arg Xs}. A single band is
             {.fn solve_ridge_cv}."),
      "bands",
      expected = p, call = call
    )
  }
  is_label <- is.factor(bands) || is.character(bands) || (is.numeric(bands) && !is.object(bands))
  if (!is_label || length(dim(bands)) > 1L || length(bands) != p) {
    found <- describe(bands)
    abort(
      c("{.arg bands} must have a label for each of the {p} column{?s} of {.arg {arg}}, not be {found}.",
        i = "Labels are a factor, text or numbers."),
      "bands",
      expected = p, found = found, call = call
    )
  }
  where <- which(is.na(as.character(bands)) | !nzchar(as.character(bands)))
  if (!length(where)) return(invisible(bands))
  shown <- first_few(where)
  abort(
    c("{.arg bands} must have a label for every column of {.arg {arg}}, not none for {length(where)} of {p}
       ({cli::qty(length(where))}column{?s} {shown}).",
      i = "Drop these columns, or give them a label."),
    "bands",
    found = length(where), where = where, call = call
  )
}
