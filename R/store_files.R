# The files behind target_store(): writing, the description beside the values, and foreign layouts.

STORE_VERSION <- 1L

# Endings of the files beside the values: description, names of columns, mask.
BESIDE <- c(".dcf", ".names", ".mask.rds")

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
  control <- core_control(1L, call = call)
  writer <- run_core(core_store_writer(path, from$rows, from$cols, type == "float32"), call)
  done <- FALSE
  on.exit(if (!done) core_store_abandon(writer))
  width <- STRIPE * max(1, floor(memory_budget_bytes(call) / (4 * 16 * max(1, from$rows) * STRIPE)))
  bar <- start_progress(progress, "Writing the store", call)
  on.exit(bar$close(), add = TRUE)
  starts <- seq(1, by = width, length.out = ceiling(from$cols / width))
  for (first in starts) {
    range <- first:min(first + width - 1, from$cols)
    run_core(core_store_write(writer, first, from$columns(range), control), call)
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
  done <- FALSE
  on.exit(if (!done) unlink(c(path, paste0(path, BESIDE))))  # values without a description are no store
  write_description(store, call)
  done <- TRUE
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
         stamp = core_file_states(segments$path, FALSE), rounding = rounding,
         version = STORE_VERSION),
    class = "voxridge_target_store"
  )
}

# Under another name first, and the description last: where it is, the rest is.
write_description <- function(store, call) {
  fields <- list(
    Format = "voxridge-store", Version = store$version, Type = store$type, Rows = store$rows, Columns = store$cols,
    Offset = 0, LeadingDimension = store$rows, ByteOrder = "little", Size = sum(store$stamp$sizes),
    Rounding = format(store$rounding, digits = 17L),
    Checksums = paste(sprintf("%.0f", store$checksums), collapse = " "),
    NonFinite = paste(store$nonfinite, collapse = " ")
  )
  if (!identical(store$segments$path, store$path)) {  # files beside the description, and how many columns each has
    fields$Segments <- paste(basename(store$segments$path), sprintf("%.0f", store$segments$cols), collapse = " ")
  }
  beside <- paste0(store$path, ".names")
  if (is.null(store$names)) {
    unlink(beside)
  } else {
    replace_file(beside, function(to) writeLines(enc2utf8(store$names), to, useBytes = TRUE), call)
  }
  beside <- paste0(store$path, ".mask.rds")
  if (is.null(store$mask)) unlink(beside) else replace_file(beside, function(to) saveRDS(store$mask, to), call)
  replace_file(paste0(store$path, ".dcf"), function(to) write.dcf(fields, to, width = 100L), call)
}

# A path whose files can have the names they need.
as_store_file <- function(path, overwrite, arg, call) {
  path <- as_new_file(path, overwrite, call, arg)
  most <- LONGEST_NAME - max(nchar(BESIDE))
  found <- nchar(basename(path), "bytes")
  if (found <= most) return(path)
  abort("{.arg {arg}} must have a file name of at most {most} bytes, not {found}.", "argument", found = path,
        call = call)
}

LONGEST_NAME <- 255L  # that file systems allow, in bytes

replace_file <- function(path, write, call) {
  part <- tempfile(".voxridge-", dirname(path), ".part")
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
  if (core_file_states(path, FALSE)$sizes < 0) {
    if (lies_in_segments(path)) return(native_store(absolute_path(path), call))
    abort("{.arg x} must be a file that exists, not {.file {path}}.", "file", where = path, call = call)
  }
  path <- normalizePath(path)
  if (file.exists(paste0(path, ".dcf"))) return(native_store(path, call))
  if (grepl("\\.npy$", path)) return(scanned_store(npy_store(path, call), progress, call))
  abort(
    c("{.arg x} must be a store, not a file without its description ({.file {basename(path)}.dcf}).",
      i = "{.code target_store(Y, path)} makes one."),
    "store_format",
    where = path, call = call
  )
}

native_store <- function(path, call) {
  found <- tryCatch(read.dcf(paste0(path, ".dcf")), error = function(cnd) NULL, warning = function(cnd) NULL)
  field <- function(name) if (name %in% colnames(found)) unname(found[1L, name]) else ""
  numbers <- function(name) {
    text <- strsplit(field(name), "[ \n]+")[[1L]]
    suppressWarnings(as.double(text[nzchar(text)]))
  }
  number <- function(name) c(numbers(name), NA)[1L]
  rows <- number("Rows")
  cols <- number("Columns")
  flawed <- numbers("NonFinite")
  if (isTRUE(all(flawed == round(flawed)))) flawed <- suppressWarnings(as.integer(flawed))
  store <- new_store(
    path, rows, cols, field("Type"),
    names = read_beside(path, ".names", function(from) readLines(from, encoding = "UTF-8"), call),
    mask = read_beside(path, ".mask.rds", readRDS, call),
    facts = list(checksums = numbers("Checksums"), nonfinite = flawed),
    rounding = number("Rounding"), segments = described_segments(field("Segments"), path, cols)
  )
  ok <- NROW(found) == 1L && "NonFinite" %in% colnames(found) &&
    identical(number("Version"), as.double(STORE_VERSION)) && identical(field("Format"), "voxridge-store") &&
    identical(field("ByteOrder"), "little") && is_layout(store) &&
    isTRUE(number("Offset") == 0) && isTRUE(number("LeadingDimension") == rows) &&
    isTRUE(number("Size") == store_bytes(store))
  if (!ok) {
    abort(
      c("{.file {basename(path)}.dcf} must describe a store of version {STORE_VERSION}, which it does not.",
        i = "Make the store again with {.fn target_store}."),
      "store_format",
      where = path, call = call
    )
  }
  check_beside(store, call)
  run_core(core_store_check(store), call)
  store
}

# A description of several files stands for itself: there is no file of its name.
lies_in_segments <- function(path) {
  found <- tryCatch(read.dcf(paste0(path, ".dcf"), "Segments"), error = function(cnd) NA, warning = function(cnd) NA)
  !anyNA(found)
}

# Of a description: names of files and their numbers of columns, in turn; one file without a name where they do not fit.
described_segments <- function(text, path, cols) {
  if (!nzchar(text)) return(data.frame(path = path, first = 1, cols = cols))
  words <- strsplit(trimws(text), "[ \n]+")[[1L]]
  counts <- suppressWarnings(as.double(words[seq_along(words) %% 2L == 0L]))
  files <- words[seq_along(words) %% 2L == 1L]
  ok <- length(files) == length(counts) && all(basename(files) == files)
  if (!ok) return(data.frame(path = "", first = 1, cols = NA_real_))
  data.frame(path = file.path(dirname(path), files), first = cumsum(c(1, counts))[seq_along(counts)], cols = counts)
}

store_bytes <- function(store) store$rows * store$cols * if (store$type == "float32") 4 else 8

# What lies in a file beside the values, NULL where there is none.
read_beside <- function(path, what, read, call) {
  from <- paste0(path, what)
  if (!file.exists(from)) return(NULL)
  refuse <- function(cnd) refuse_beside(from, call)
  tryCatch(read(from), error = refuse, warning = refuse)
}

check_beside <- function(store, call) {
  bytes <- store_bytes(store)
  found <- sum(store$stamp$sizes)
  if (found > bytes) {
    abort("{.file {basename(store$path)}} must have the {format_count(bytes)} bytes that its description says, not
           {format_count(found)}.", "store_format", where = store$path, call = call)
  }
  mask <- store$mask
  if (!is.null(mask) && !(inherits(mask, "brain_mask") && identical(as.double(mask$n), store$cols))) {
    refuse_beside(paste0(store$path, ".mask.rds"), call)
  }
}

refuse_beside <- function(from, call) {
  abort(c("{.file {basename(from)}} must be the file that was written with the values beside it, which it is not.",
          i = "Make the store again with {.fn target_store}, or remove this file."),
        "store_format", where = from, call = call)
}

# A layout of others: read once, for checksums and missing values.
scanned_store <- function(store, progress, call) {
  if (!isTRUE(is_shape(unclass(store)))) {
    abort(c("{.arg x} must be a matrix in a file, not one of {store$rows} x {store$cols} values ({store$format})."),
          "store_format", where = store$path, call = call)
  }
  bar <- start_progress(progress, "Reading the store", call)
  on.exit(bar$close())
  facts <- run_core(core_store_scan(store, core_control(NULL, bar$report, call)), call)
  store$checksums <- facts$checksums
  store$nonfinite <- facts$nonfinite
  store
}

unsupported_store <- function(what, advice, call) {
  abort(c(paste("{.arg x} must have float32 or float64 values, column after column, not", what), i = advice),
        "store_unsupported", call = call, .envir = rlang::caller_env())
}

# NumPy's format: "\x93NUMPY", version, length of the header, the header: a Python dictionary.
npy_store <- function(path, call) {
  header <- npy_header(path)
  if (is.null(header)) unsupported_store("a file that is no .npy.", "Save it with {.code numpy.save}.", call)
  advice <- "In Python: {.code numpy.save(path, numpy.asfortranarray(Y, dtype = \"float32\"))}."
  descr <- header$descr %||% "another"
  type <- c("<f4" = "float32", "<f8" = "float64")[descr]
  if (is.na(type)) unsupported_store("values of type {.val {descr}}.", advice, call)
  shape <- header$shape
  if (length(shape) != 2L) unsupported_store("{length(shape)} dimension{?s}.", advice, call)
  # in C order the rows are contiguous: those of targets x samples are columns here; a single one is so in both orders
  if (!header$fortran) shape <- rev(shape)
  both <- any(shape == 1)
  if (both) shape <- c(max(shape), 1)
  if (any(shape < 1 | shape > .Machine$integer.max)) unsupported_store("{shape[1]} x {shape[2]} of them.", advice, call)
  new_store(path, shape[1L], shape[2L], unname(type),
            format = if (header$fortran || both) "npy" else "npy (targets x samples)", offset = header$end)
}

# list(descr, fortran, shape, end): NULL for what is no header.
npy_header <- function(path) {
  magic <- readBin(path, "raw", 12L)
  version <- if (length(magic) == 12L) as.integer(magic[7L]) else 0L
  if (!identical(magic[1:6], as.raw(c(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59))) || !version %in% 1:3) return(NULL)
  bytes <- if (version == 1L) 2L else 4L
  size <- sum(as.integer(magic[8L + seq_len(bytes)]) * 256^(seq_len(bytes) - 1))
  end <- 8L + bytes + size
  if (end > file.size(path) || size > 1e6) return(NULL)
  header <- readBin(path, "raw", end)[-seq_len(8L + bytes)]
  if (any(header == 0)) return(NULL)
  header <- rawToChar(header)
  value <- function(key, pattern) {
    found <- regmatches(header, regexec(paste0("['\"]", key, "['\"] *: *", pattern), header, useBytes = TRUE))[[1L]]
    if (length(found)) found[2L]
  }
  order <- value("fortran_order", "(True|False)")
  shape <- value("shape", "\\(([0-9L, ]*)\\)")
  if (is.null(order) || is.null(shape)) return(NULL)
  shape <- strsplit(gsub("[L ]", "", shape), ",", fixed = TRUE)[[1L]]
  list(descr = value("descr", "['\"]([^'\"]*)['\"]"), fortran = order == "True", shape = as.double(shape), end = end)
}

bigmemory_store <- function(x, call) {
  rlang::check_installed("bigmemory", reason = "to open a big.matrix")
  if (bigmemory::is.nil(x@address)) {  # to describe it would crash R
    abort(c("{.arg x} must be a big.matrix of this R session, not one of another, whose address means nothing here.",
            i = "Attach it again: {.code bigmemory::attach.big.matrix(\"<name>.desc\")}."), "old_object", call = call)
  }
  about <- bigmemory::describe(x)@description
  type <- c(float = "float32", double = "float64")[about$type]
  advice <- "{.code target_store(x[, ], path)} copies it, if it fits into memory."
  if (!identical(about$sharedType, "FileBacked")) unsupported_store("a matrix in memory.", advice, call)
  if (is.na(type)) unsupported_store("values of type {.val {about$type}}.", advice, call)
  if (isTRUE(about$separated)) unsupported_store("a file per column.", advice, call)
  path <- file.path(about$dirname %||% bigmemory::dir.name(x), about$filename)
  offset <- (if (type == "float32") 4 else 8) * (about$colOffset[1L] * about$totalRows + about$rowOffset[1L])
  new_store(foreign_path(path, call), about$nrow, about$ncol, unname(type), format = "bigmemory", offset = offset,
            ld = about$totalRows, names = about$colNames)
}

bigstatsr_store <- function(x, call) {
  type <- c(float = "float32", double = "float64")[names(x$type) %||% "another"]
  advice <- "{.code target_store(x[, ], path)} copies it, if it fits into memory."
  if (is.na(type)) unsupported_store("values of type {.val {names(x$type)}}.", advice, call)
  new_store(foreign_path(x$backingfile, call), x$nrow, x$ncol, unname(type), format = "bigstatsr")
}

foreign_path <- function(path, call) {
  if (rlang::is_string(path) && core_file_states(path, FALSE)$sizes >= 0) return(normalizePath(path))
  abort("{.arg x} must be a matrix whose file exists, not {describe(path)}.", "file", where = path, call = call)
}
