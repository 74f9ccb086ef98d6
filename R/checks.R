# Argument checks in two families: check_*() fails or returns invisibly, as_*() returns the normalised value or fails.
# `arg` is the name shown to the user, `call` the frame of the function the user called.

# What was found, in words: `"abc"`, `-1`, `NULL`, `a 3 x 4 character matrix`, `a list of length 2`.
describe <- function(x) {
  if (is.null(x)) return("NULL")
  if (is.function(x)) return("a function")
  if (is.language(x)) return(sprintf("%s %s", article(class(x)[1L]), class(x)[1L]))
  if (inherits(x, "sparseMatrix")) return(sprintf("a sparse %d x %d matrix", nrow(x), ncol(x)))
  if (is.data.frame(x)) return(sprintf("a data frame of %d columns", length(x)))
  if (is.factor(x)) return(sprintf("a factor of length %d", length(x)))
  if (length(dim(x)) > 1L) {
    kind <- if (is.object(x)) class(x)[1L] else typeof(x)
    size <- paste(dim(x), collapse = " x ")
    return(sprintf("%s %s %s", article(size), size, describe_array(kind, x)))
  }
  if (isS4(x) || is.environment(x)) return(sprintf("an object of class %s", class(x)[1L]))
  if (is.list(x)) return(sprintf("a list of length %d", length(x)))
  if (is.character(x) && length(x) == 1L && !is.na(x)) return(encodeString(x, quote = "\""))
  if (is.atomic(x) && length(x) == 1L) return(format(x, digits = 15L))
  sprintf("%s %s vector of length %d", article(typeof(x)), typeof(x), length(x))
}

# Numbers too: an 8 x 2 matrix.
article <- function(word) if (grepl("^([aeiou]|8|1[18]( |$))", word)) "an" else "a"

describe_array <- function(kind, x) paste(kind, if (length(dim(x)) == 2L) "matrix" else "array")

# The first few of a set of positions or names, with the number of the others: `3, 5, 9 and 12 more`.
first_few <- function(x, max = 5L) {
  shown <- paste(utils::head(x, max), collapse = ", ")
  if (length(x) <= max) return(shown)
  sprintf("%s and %s more", shown, format_count(length(x) - max))
}

# Columns by name where they have one, by number otherwise.
column_labels <- function(index, names) {
  if (is.null(names)) return(index)
  ifelse(is.na(names[index]) | names[index] == "", index, names[index])
}

# The block of each of n samples.
check_block_labels <- function(blocks, n, call) {
  if (!is.atomic(blocks) || !is.null(dim(blocks)) || length(blocks) != n) {
    found <- describe(blocks)
    abort("{.arg blocks} must have one label per sample ({n}), not {found}.", "argument",
          expected = n, found = found, call = call)
  }
  if (anyNA(blocks)) {
    where <- which(is.na(blocks))
    abort("{.arg blocks} must be labels without NA, not NA for sample{?s} {first_few(where)}.", "argument",
          found = NA, where = where, call = call)
  }
  invisible(blocks)
}

# A number between 0 and 1, the ends left out.
as_share <- function(x, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  if (is_number(x) && x > 0 && x < 1) return(as.double(x))
  found <- describe(x)
  abort("{.arg {arg}} must be a number between 0 and 1, not {found}.", "argument", found = found, call = call)
}

format_count <- function(x) format(x, big.mark = ",", decimal.mark = ".", scientific = FALSE, trim = TRUE)

# In GB (1e9 bytes), small sizes in MB or kB.
format_bytes <- function(bytes) {
  unit <- if (bytes >= 1e8) c(GB = 1e9) else if (bytes >= 1e5) c(MB = 1e6) else c(kB = 1e3)
  paste(format(signif(bytes / unit[[1L]], 3L), big.mark = ",", decimal.mark = ".", scientific = FALSE), names(unit))
}

as_flag <- function(x, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  if (is.logical(x) && length(x) == 1L && !is.na(x)) return(as.vector(x))
  found <- describe(x)
  abort("{.arg {arg}} must be TRUE or FALSE, not {found}.", "argument", found = found, call = call)
}

is_number <- function(x) is.numeric(x) && !is.object(x) && length(x) == 1L && is.finite(x)

# A whole number from `min` to `max`; NULL passes where `null_ok`.
as_count <- function(x, min = 1, max = .Machine$integer.max, null_ok = FALSE, arg = rlang::caller_arg(x),
                     call = rlang::caller_env()) {
  if (null_ok && is.null(x)) return(NULL)
  if (is_number(x) && x == round(x) && x >= min && x <= max) return(as.integer(x))
  found <- describe(x)
  range <- if (max < .Machine$integer.max) "from {min} to {max}" else "of at least {min}"
  abort(
    paste0("{.arg {arg}} must be a whole number ", range, if (null_ok) " or NULL", ", not {found}."),
    "argument",
    expected = c(min, max), found = found, call = call
  )
}

# A finite number greater than zero.
as_positive <- function(x, null_ok = FALSE, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  if (null_ok && is.null(x)) return(NULL)
  if (is_number(x) && x > 0) return(as.double(x))
  found <- describe(x)
  abort(
    c("{.arg {arg}} must be a number greater than 0{if (null_ok) ' or NULL'}, not {found}."),
    "argument",
    found = found, call = call
  )
}

# One of `values`; the whole vector of values, as in a default, means the first.
as_choice <- function(x, values, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  if (identical(x, values)) return(values[1L])
  tryCatch(rlang::arg_match0(x, values, arg_nm = arg), error = function(cnd) {
    found <- describe(x)
    close <- if (rlang::is_string(x)) values[utils::adist(x, values, ignore.case = TRUE) <= 2L] else character()
    advice <- if (length(close)) c(i = "Did you mean {.val {close[1]}}?")
    abort(
      c("{.arg {arg}} must be {.or {.val {values}}}, not {found}.", advice),
      "argument",
      expected = values, found = found, call = call
    )
  })
}

# Numbers that must all be finite and good; `must` says what that is.
check_elements <- function(x, good, must, advice, what, arg, call) {
  bad <- which(!is.finite(x) | !good)
  if (!length(bad)) return(invisible(x))
  values <- format(x[utils::head(bad, 5L)], trim = TRUE)
  where <- first_few(bad)
  abort(
    c("{.arg {arg}} must be finite and {must}, not {values} (position{?s} {where}).", i = advice),
    what,
    found = x[bad], where = bad, call = call
  )
}

# Penalties: finite, not negative, at least one, in the user's order. `sizes`: allowed numbers of penalties.
as_alphas <- function(x, sizes = NULL, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  force(arg)
  if (!is.numeric(x) || is.object(x) || !length(x)) {
    found <- if (length(x)) describe(x) else "an empty vector"
    if (is.null(x)) found <- "NULL"
    abort("{.arg {arg}} must be a numeric vector of penalties, not {found}.", "alphas", found = found, call = call)
  }
  x <- as.double(x)
  check_elements(x, x >= 0, "at least 0", "0 is least squares of minimum norm; larger values shrink more.", "alphas",
                 arg, call)
  check_alpha_number(x, sizes, arg, call)
  x
}

check_alpha_number <- function(x, sizes, arg, call) {
  if (is.null(sizes) || length(x) %in% sizes) return(invisible(x))
  found <- length(x)
  targets <- sizes[length(sizes)]
  abort(
    c("{.arg {arg}} must have one value, or one per target ({targets}), not {found}.",
      i = "To choose among several penalties use {.fn solve_ridge_cv}."),
    "alphas",
    expected = sizes, found = found, call = call
  )
}

# Rows as whole numbers from 1 to n, in the order asked for: from numbers (negative ones leave rows out), a logical
# value per row, or row names.
as_row_index <- function(x, n, names = NULL, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  force(arg)
  rows <- if (is.object(x)) {
    NA
  } else if (is.logical(x)) {
    if (length(x) == n && !anyNA(x)) which(x) else NA
  } else if (is.character(x)) {
    match(x, names)
  } else if (is.numeric(x) && (all(x %in% seq_len(n)) || all(-x %in% seq_len(n)))) {
    seq_len(n)[x]
  } else {
    NA
  }
  if (length(rows) && !anyNA(rows)) return(rows)
  found <- if (!length(rows)) "none" else describe_rows(x, n)
  abort(
    c("{.arg {arg}} must be rows: numbers from 1 to {n}, or a logical value for each, not {found}.",
      i = "Numbers may all be negative, to leave rows out."),
    "argument",
    expected = n, found = x, call = call
  )
}

describe_rows <- function(x, n) {
  bad <- if (is.numeric(x) && !is.object(x)) x[!abs(x) %in% seq_len(n)]
  if (is.logical(x) && length(x) == n) "NA for some"
  else if (length(bad)) format(bad[1L])
  else describe(x)
}

# ---- data ------------------------------------------------------------------------------------

# A double matrix without NA checks. Double matrices are returned as they are; integer and logical ones are copied.
as_double_matrix <- function(x, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  force(arg)
  if (is_store(x)) x <- run_core(as.matrix(validate_store(x, arg, call)), call)
  if (is.data.frame(x)) x <- data_frame_matrix(x, arg, call)
  if (isS4(x) && length(dim(x)) == 2L) refuse_s4_matrix(x, arg, call)
  if (inherits(x, "integer64") || !is.matrix(x) || !(is.numeric(x) || is.logical(x))) {
    refuse_matrix(x, arg, call)
  }
  if (is.object(x)) x <- unclass(x)
  check_not_empty(x, arg, call)
  if (!is.double(x)) storage.mode(x) <- "double"
  x
}

data_frame_matrix <- function(x, arg, call) {
  plain <- vapply(x, function(column) {
    is.null(dim(column)) && (is.numeric(column) || is.logical(column)) && !inherits(column, "integer64")
  }, NA)
  if (!all(plain)) {
    where <- names(x)[!plain]
    shown <- first_few(where)
    kinds <- vapply(x[!plain], function(column) class(column)[1L], "")
    first <- kinds[[1L]]
    abort(
      c("{.arg {arg}} must have numeric columns only, not {sum(!plain)} of another type ({shown}).",
        i = "Column {.val {where[1]}} is of class {.cls {first}}; convert it, for example with {.fn model.matrix}."),
      "type",
      found = kinds, where = where, call = call
    )
  }
  automatic <- is.integer(attr(x, "row.names"))
  out <- as.matrix(x)
  if (automatic) rownames(out) <- NULL
  out
}

refuse_s4_matrix <- function(x, arg, call) {
  found <- if (inherits(x, "sparseMatrix")) describe(x) else paste("a matrix of class", class(x)[1L])
  size <- format_bytes(8 * prod(dim(x)))
  abort(
    c("{.arg {arg}} must be a dense numeric matrix, not {found}.",
      i = "Dense, it takes {size}: pass {.code as.matrix({arg})} if that is what you want."),
    "type",
    found = found, call = call
  )
}

# Where data were meant, and a path was given.
file_advice <- function(path) {
  if (grepl("\\.(nii|img|hdr)(\\.gz)?$", path)) return("Read the voxels of a mask with {.fn brain_matrix} first.")
  "Pass the numbers, not a path: read the file first, for example with {.code as.matrix(read.csv(path))}."
}

refuse_matrix <- function(x, arg, call) {
  found <- describe(x)
  advice <- if (is.atomic(x) && is.null(dim(x)) && is.numeric(x)) {
    c(i = "Use {.code cbind({arg})} for a single column, {.code rbind({arg})} for a single sample.")
  } else if (rlang::is_string(x)) {
    c(i = file_advice(x))
  } else if (is.factor(x) || is.character(x)) {
    c(i = "Make numbers of it first, for example with {.fn model.matrix}.")
  } else {
    c(i = "Rows are samples.")
  }
  abort(c("{.arg {arg}} must be a numeric matrix, not {found}.", advice), "type", found = found, call = call)
}

check_not_empty <- function(x, arg, call) {
  if (all(dim(x) > 0L)) return(invisible(x))
  found <- paste(dim(x), collapse = " x ")
  abort(
    "{.arg {arg}} must have at least one row and one column, not {found}.",
    "shape",
    found = dim(x), call = call
  )
}

check_same_rows <- function(Y, n, arg_y = "Y", arg_x = "X", call = rlang::caller_env()) {
  found <- NROW(Y)
  if (found == n) return(invisible(Y))
  wording <- if (is.null(dim(Y))) "as many values as {.arg {arg_x}} has rows" else "as many rows as {.arg {arg_x}}"
  advice <- if (length(dim(Y)) == 2L && ncol(Y) == n) {
    c(i = "Rows are samples. Transpose {.arg {arg_y}} if its rows are voxels.")
  } else {
    c(i = "Rows are samples, in the same order in both.")
  }
  abort(
    c(paste0("{.arg {arg_y}} must have ", wording, " ({n}), not {found}."), advice),
    "shape",
    expected = n, found = found, call = call
  )
}

nonfinite_columns <- function(x) {
  if (is_store(x)) x$nonfinite else core_nonfinite_columns(x)
}

check_finite_columns <- function(x, arg, what = "feature", advice = NULL, call = rlang::caller_env()) {
  bad <- nonfinite_columns(x)
  if (!length(bad)) return(invisible(x))
  where <- column_labels(bad, colnames(x))
  shown <- first_few(where)
  k <- format_count(length(bad))
  total <- format_count(ncol(x))
  abort(
    c("{.arg {arg}} must be finite, not NA, NaN or Inf in {k} of {total} {what}{cli::qty(ncol(x))}{?s} ({shown}).",
      advice %||% c(i = "Remove or impute these {what}s first.")),
    "nonfinite",
    found = length(bad), where = bad, call = call
  )
}
