# The files behind target_store(): writing, the description beside the values, and foreign layouts.

STORE_VERSION <- 1L

# ---- writing ---------------------------------------------------------------------------------

# list(rows, cols, names, mask, columns(range)): where the values of a new store come from.
matrix_source <- function(x, call) {
  if (is.character(x)) {
    abort(
      c("{.arg mask} must be given with {.arg path}: which voxels of the images to keep.",
        i = "To open a store leave {.arg path} out."),
      "argument",
      call = call
    )
  }
  x <- as_double_matrix(x, arg = "x", call = call)
  if (any(grepl("[\r\n]", colnames(x)))) {
    abort("{.arg x} must have column names of one line each, not with line breaks.", "argument", call = call)
  }
  list(rows = nrow(x), cols = ncol(x), names = colnames(x), mask = attr(x, "mask"),
       columns = function(range) x[, range, drop = FALSE])
}

# The voxels of a range are a mask of their own: one pass over the images per range.
image_source <- function(x, mask, call) {
  first <- mask
  first$index <- mask$index[1L]
  first$n <- 1L
  rows <- nrow(run_core(brain_matrix(x, first, progress = FALSE), call))
  list(rows = rows, cols = mask$n, names = NULL, mask = mask, columns = function(range) {
    part <- mask
    part$index <- mask$index[range]
    part$n <- length(range)
    run_core(brain_matrix(x, part, progress = FALSE), call)
  })
}

# A range of columns at a time: whole stripes, of which a quarter of the memory budget holds two copies.
write_store <- function(from, path, type, progress, call) {
  writer <- run_core(core_store_writer(path, from$rows, from$cols, type == "float32"), call)
  done <- FALSE
  on.exit(if (!done) core_store_abandon(writer))
  width <- STRIPE * max(1, floor(memory_budget_bytes(call) / (4 * 16 * max(1, from$rows) * STRIPE)))
  bar <- start_progress(progress, "Writing the store", call)
  on.exit(bar$close(), add = TRUE)
  starts <- seq(1, by = width, length.out = ceiling(from$cols / width))
  for (first in starts) {
    range <- first:min(first + width - 1, from$cols)
    run_core(core_store_write(writer, first, from$columns(range)), call)
    if (!is.null(bar$report)) bar$report(max(range), from$cols)
  }
  facts <- run_core(core_store_finish(writer), call)
  done <- TRUE
  new_written_store(path, from, type, facts, call)
}

# The description of a file that has just been written. `from`: rows, cols, names, mask.
new_written_store <- function(path, from, type, facts, call) {
  path <- normalizePath(path)
  store <- new_store(path, from$rows, from$cols, type, names = from$names, mask = from$mask, facts = facts,
                     rounding = if (type == "float32") facts$rounding else 0)
  write_description(store, call)
  store
}

new_store <- function(path, rows, cols, type, format = "native", offset = 0, ld = rows, names = NULL, mask = NULL,
                      facts = list(checksums = numeric(), nonfinite = integer()), rounding = NA_real_,
                      segments = data.frame(path = path, first = 1, cols = as.double(cols))) {
  rows <- as.double(rows)
  cols <- as.double(cols)
  structure(
    list(path = path, rows = rows, cols = cols, type = type, format = format, offset = as.double(offset),
         ld = as.double(ld),
         segments = segments, checksums = facts$checksums, nonfinite = facts$nonfinite, names = names, mask = mask,
         stamp = file_stamp(segments$path), rounding = rounding,
         version = STORE_VERSION),
    class = "voxridge_target_store"
  )
}

# Written last, under another name first: where it is, the values are.
write_description <- function(store, call) {
  fields <- list(
    Format = "voxridge-store", Version = store$version, Type = store$type, Rows = store$rows, Columns = store$cols,
    Offset = 0, LeadingDimension = store$rows, ByteOrder = "little", Size = sum(store$stamp$size),
    Rounding = format(store$rounding, digits = 17L),
    Checksums = paste(sprintf("%.0f", store$checksums), collapse = " "),
    NonFinite = paste(store$nonfinite, collapse = " ")
  )
  if (!identical(store$segments$path, store$path)) {  # files beside the description, and how many columns each has
    fields$Segments <- paste(basename(store$segments$path), sprintf("%.0f", store$segments$cols), collapse = " ")
  }
  replace_file(paste0(store$path, ".dcf"), function(to) write.dcf(fields, to, width = 100L), call)
  beside <- paste0(store$path, ".names")
  if (is.null(store$names)) {
    unlink(beside)
  } else {
    replace_file(beside, function(to) writeLines(enc2utf8(store$names), to, useBytes = TRUE), call)
  }
  beside <- paste0(store$path, ".mask.rds")
  if (is.null(store$mask)) unlink(beside) else replace_file(beside, function(to) saveRDS(store$mask, to), call)
}

replace_file <- function(path, write, call) {
  part <- tempfile(paste0(".", basename(path), "."), dirname(path))
  on.exit(unlink(part))
  ok <- tryCatch({
    write(part)
    file.rename(part, path)
  }, error = function(cnd) FALSE, warning = function(cnd) FALSE)
  if (!ok) abort("{.file {path}} must be writable, but is not.", "file", where = path, call = call)
}

# ---- opening ---------------------------------------------------------------------------------

open_store <- function(x, progress, call) {
  if (inherits(x, "voxridge_target_store")) return(validate_store(x, "x", call))
  if (inherits(x, "big.matrix")) return(scanned_store(bigmemory_store(x, call), progress, call))
  if (inherits(x, "FBM")) return(scanned_store(bigstatsr_store(x, call), progress, call))
  if (!rlang::is_string(x)) {
    found <- describe(x)
    advice <- if (is.numeric(x)) "To keep a matrix say where: {.arg path}." else "See {.fn target_store}."
    abort(c("{.arg x} must be the path of a store, not {found}.", i = advice), "type", found = found, call = call)
  }
  path <- as_path(x, "x", call)
  if (file.exists(paste0(path, ".dcf"))) {
    return(native_store(if (file.exists(path)) normalizePath(path) else absolute_path(path), call))
  }
  if (!file.exists(path) || dir.exists(path)) {
    abort("{.arg x} must be a file that exists, not {.file {path}}.", "file", where = path, call = call)
  }
  path <- normalizePath(path)
  if (grepl("\\.npy$", path)) return(scanned_store(npy_store(path, call), progress, call))
  abort(
    c("{.arg x} must be a store, not a file without its description ({.file {basename(path)}.dcf}).",
      i = "{.code target_store(Y, path)} makes one."),
    "store_format",
    where = path, call = call
  )
}

native_store <- function(path, call) {
  found <- tryCatch(read.dcf(paste0(path, ".dcf")), error = function(cnd) NULL)
  field <- function(name) if (name %in% colnames(found)) unname(found[1L, name])
  number <- function(name) suppressWarnings(as.double(field(name) %||% NA))
  numbers <- function(name) as.double(strsplit(field(name) %||% "", "[ \n]+")[[1L]])
  rows <- number("Rows")
  cols <- number("Columns")
  checksums <- if (nzchar(field("Checksums") %||% "")) suppressWarnings(numbers("Checksums")) else numeric()
  ok <- identical(field("Format"), "voxridge-store") && isTRUE(field("Type") %in% STORE_TYPES) &&
    identical(field("ByteOrder"), "little") && isTRUE(rows >= 0 && cols >= 0 && rows == round(rows)) &&
    isTRUE(cols == round(cols)) && !anyNA(checksums) && length(checksums) == ceiling(cols / STRIPE)
  if (!ok || !identical(number("Version"), as.double(STORE_VERSION))) {
    abort(
      c("{.file {basename(path)}.dcf} must describe a store of version {STORE_VERSION}, which it does not.",
        i = "Make the store again with {.fn target_store}."),
      "store_format",
      where = path, call = call
    )
  }
  segments <- described_segments(field("Segments"), path, cols)
  if (is.null(segments)) {
    abort("{.file {basename(path)}.dcf} must list files whose columns are those of the store.", "store_format",
          where = path, call = call)
  }
  beside <- function(what) paste0(path, what)
  flawed <- if (nzchar(field("NonFinite") %||% "")) as.integer(numbers("NonFinite")) else integer()
  store <- new_store(
    path, rows, cols, field("Type"),
    names = if (file.exists(beside(".names"))) readLines(beside(".names"), encoding = "UTF-8"),
    mask = if (file.exists(beside(".mask.rds"))) readRDS(beside(".mask.rds")),
    facts = list(checksums = checksums, nonfinite = flawed), rounding = number("Rounding"), segments = segments
  )
  run_core(core_store_check(store), call)
  store
}

# Of a description: names of files and their numbers of columns, in turn. NULL where they do not fit.
described_segments <- function(text, path, cols) {
  if (is.null(text)) return(data.frame(path = path, first = 1, cols = cols))
  words <- strsplit(trimws(text), "[ \n]+")[[1L]]
  counts <- suppressWarnings(as.double(words[seq_along(words) %% 2L == 0L]))
  files <- words[seq_along(words) %% 2L == 1L]
  ok <- length(files) == length(counts) && !anyNA(counts) && all(counts > 0 & counts == round(counts)) &&
    sum(counts) == cols && all(basename(files) == files)
  if (!ok) return(NULL)
  data.frame(path = file.path(dirname(path), files), first = cumsum(c(1, counts))[seq_along(counts)], cols = counts)
}

# A layout of others: read once, for checksums and missing values.
scanned_store <- function(store, progress, call) {
  bar <- start_progress(progress, "Reading the store", call)
  on.exit(bar$close())
  facts <- run_core(core_store_scan(store, core_control(NULL, bar$report, call)), call)
  store[c("checksums", "nonfinite")] <- facts[c("checksums", "nonfinite")]
  store
}

unsupported_store <- function(what, advice, call) {
  abort(c(paste("{.arg x} must have float32 or float64 values, column after column, not", what), i = advice),
        "store_unsupported", call = call, .envir = rlang::caller_env())
}

# NumPy's format: "\x93NUMPY", version, length of the header, the header: a Python dictionary.
npy_store <- function(path, call) {
  magic <- readBin(path, "raw", 12L)
  version <- if (length(magic) == 12L) as.integer(magic[7L]) else 0L
  if (!identical(magic[1:6], as.raw(c(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59))) || !version %in% 1:3) {
    unsupported_store("a file that is no .npy.", "Save it with {.code numpy.save}.", call)
  }
  bytes <- if (version == 1L) 2L else 4L
  start <- 8L + bytes
  size <- sum(as.integer(magic[8L + seq_len(bytes)]) * 256^(seq_len(bytes) - 1))
  header <- rawToChar(readBin(path, "raw", start + size)[start + seq_len(size)])
  descr <- sub(".*'descr': *'([^']*)'.*", "\\1", header)
  fortran <- grepl("'fortran_order': *True", header)
  shape <- as.double(strsplit(sub(".*'shape': *\\(([^)]*)\\).*", "\\1", header), ", *")[[1L]])
  type <- c("<f4" = "float32", "<f8" = "float64")[descr]
  advice <- "In Python: {.code numpy.save(path, numpy.asfortranarray(Y, dtype = \"float32\"))}."
  if (is.na(type)) unsupported_store("values of type {.val {descr}}.", advice, call)
  if (length(shape) != 2L) unsupported_store("{length(shape)} dimension{?s}.", advice, call)
  # in C order the rows are contiguous: those of targets x samples are columns here
  if (!fortran) shape <- rev(shape)
  new_store(path, shape[1L], shape[2L], unname(type), format = if (fortran) "npy" else "npy (targets x samples)",
            offset = start + size)
}

bigmemory_store <- function(x, call) {
  rlang::check_installed("bigmemory", reason = "to open a big.matrix")
  about <- bigmemory::describe(x)@description
  type <- c(float = "float32", double = "float64")[about$type]
  advice <- "{.code target_store(x[, ], path)} copies it, if it fits into memory."
  if (!identical(about$sharedType, "FileBacked")) unsupported_store("a matrix in memory.", advice, call)
  if (is.na(type)) unsupported_store("values of type {.val {about$type}}.", advice, call)
  if (isTRUE(about$separated)) unsupported_store("a file per column.", advice, call)
  path <- file.path(about$dirname %||% bigmemory::dir.name(x), about$filename)
  offset <- (if (type == "float32") 4 else 8) * (about$colOffset[1L] * about$totalRows + about$rowOffset[1L])
  new_store(normalizePath(path), about$nrow, about$ncol, unname(type), format = "bigmemory", offset = offset,
            ld = about$totalRows, names = about$colNames)
}

bigstatsr_store <- function(x, call) {
  type <- c(float = "float32", double = "float64")[names(x$type)]
  advice <- "{.code target_store(x[, ], path)} copies it, if it fits into memory."
  if (is.na(type)) unsupported_store("values of type {.val {names(x$type)}}.", advice, call)
  new_store(normalizePath(x$backingfile), x$nrow, x$ncol, unname(type), format = "bigstatsr")
}
