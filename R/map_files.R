# Files of map_items(): where they go, whether they are there already, how they are written.

# What is written in the description of an image, at most 79 bytes, before the key.
OUTPUT_MARK <- "voxridge map "

# f, dots, and for each item where its result goes, without the ending, and its key.
output_task <- function(x, f, dots, write_to, call) {
  folder <- as_path(write_to, "write_to", call)
  if (!dir.exists(folder)) {
    if (file.exists(folder) || !dir.create(folder, showWarnings = FALSE)) {
      abort(c("{.arg write_to} must be a folder that can be written, not {describe(write_to)}.",
              i = "It is made if its parent folder is there."), "file", path = folder, call = call)
    }
  }
  if (file.access(folder, 2L) != 0L) {
    abort(c("{.arg write_to} must be a folder that can be written, not {describe(write_to)}.",
            i = "Check its permissions."), "file", path = folder, call = call)
  }
  names <- gsub("[^[:alnum:]._-]", "_", x$names)
  if (anyDuplicated(names)) {
    abort("{.arg x} must have items whose names make different file names, not {.file {names[anyDuplicated(names)]}}
           twice.", "argument", found = x$names, call = call)
  }
  most <- LONGEST_NAME - nchar(".nii.gz")
  long <- which(nchar(names, "bytes") > most)
  if (length(long)) {
    abort("{.arg x} must have items with names of at most {most} bytes where files are called after them, not
           {nchar(names[long[1]], 'bytes')} (item {long[1]}).", "argument", where = long, call = call)
  }
  stems <- stats::setNames(file.path(absolute_path(folder), names), x$names)
  code <- if (is.primitive(f)) f else { # nolint: brace_linter.
    plain <- utils::removeSource(f)
    list(formals(plain), body(plain))
  }
  keys <- vapply(seq_along(x$paths), function(i) {
    item <- item_of(x, i)
    rlang::hash(list(item[c("path", "volumes", "size", "modified", "matrix")], code, dots, x$mask$dim, x$mask$index))
  }, "")
  task <- list(f = f, dots = dots, stems = stems, keys = stats::setNames(keys, x$names))
  check_outputs(task, x, call)
  task
}

output_paths <- function(stem) paste0(stem, c(".nii.gz", ".rds"))

# Nothing that others wrote is replaced, least of all the items themselves.
check_outputs <- function(task, x, call) {
  paths <- unlist(lapply(task$stems, output_paths), use.names = FALSE)
  paths <- paths[file.exists(paths)]
  foreign <- Filter(function(path) is.na(output_key(path)), paths)
  if (!length(foreign)) return(invisible(task))
  abort(
    c("{.arg write_to} must be a folder where results replace no other files, not one with {.file
       {basename(foreign[1])}}.", i = "Choose an empty folder."),
    "file",
    path = foreign, call = call
  )
}

# The key in a file that map_items() wrote, else NA.
output_key <- function(path) {
  if (core_file_states(path, FALSE)$sizes < 0) return(NA_character_)  # a pipe would wait for whoever writes into it
  tryCatch({
    if (endsWith(path, ".rds")) {
      x <- readRDS(path)
      if (is.list(x) && identical(names(x), c("key", "result")) && rlang::is_string(x$key)) x$key else NA_character_
    } else {
      text <- core_nifti_header(path)$description
      if (startsWith(text, OUTPUT_MARK)) substring(text, nchar(OUTPUT_MARK) + 1L) else NA_character_
    }
  }, error = function(cnd) NA_character_, warning = function(cnd) NA_character_)
}

# The file with the result of an item, where it is there and is that of the same input and function; else NA.
finished_file <- function(task, item) {
  for (path in output_paths(task$stems[[item$item]])) {
    if (file.exists(path) && identical(output_key(path), task$keys[[item$item]])) return(path)
  }
  NA_character_
}

write_item <- function(result, item, task, mask) {
  call <- rlang::current_env()
  paths <- output_paths(task$stems[[item$item]])
  key <- task$keys[[item$item]]
  image <- result_image(result, mask)
  if (is.null(image)) {
    bytes <- serialize(list(key = key, result = result), NULL)
    run_core(core_write_bytes(bytes, paths[2L], 6L), call)
    unlink(paths[1L])  # of another function
    return(paths[2L])
  }
  like <- if (!is.na(item$path)) file_image(read_header(item$path, call = call))
  header <- output_header(image, array_image(image, mask$affine, "result", call), like, NULL, "auto", call)
  header$description <- paste0(OUTPUT_MARK, key)
  if (!is.double(image) && startsWith(header$datatype, "float") && anyNA(image)) storage.mode(image) <- "double"
  run_nifti_write(core_nifti_write(image, paths[1L], header, 6L, core_control(1L, call = call)), paths[1L], call)
  unlink(paths[2L])
  paths[1L]
}

# A result with a value per voxel as an array, others NULL.
result_image <- function(result, mask) {
  if (!(is.numeric(result) || is.logical(result)) || is.object(result)) return(NULL)
  dim <- dim(result)
  if (length(dim) %in% 3:4 && all(dim[1:3] == mask$dim)) return(result)
  columns <- if (is.matrix(result)) ncol(result) else if (is.null(dim)) length(result) else 0L
  if (columns != mask$n || !length(result)) return(NULL)
  brain_map(result, mask, fill = NA)
}

# A collection where all results are images of equal place, else their paths.
written_items <- function(paths, x, done, call) {
  names(paths) <- x$names[done]
  if (!length(paths) || !all(endsWith(paths, ".nii.gz"))) return(invisible(paths))
  data <- if (!is.null(x$data)) x$data[done, , drop = FALSE]
  invisible(run_core(brain_collection(paths, x$mask, data = data), call))
}
