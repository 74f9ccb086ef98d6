# Matrices in HDF5 files, read a range of columns at a time by a package that is installed.

HDF5_SIGNATURE <- as.raw(c(0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a))

is_hdf5 <- function(x) {
  rlang::is_string(x) && nzchar(x) && core_file_states(path.expand(x), FALSE)$sizes >= 8 &&
    identical(readBin(path.expand(x), "raw", 8L), HDF5_SIGNATURE)
}

refuse_dataset <- function(dataset, call) {
  abort("{.arg dataset} must be NULL where {.arg x} is no HDF5 file that is read into {.arg path}, not
         {describe(dataset)}.", "conflict", found = dataset, call = call)
}

# `has`: is a package there?
hdf5_package <- function(call, has = rlang::is_installed) {
  for (package in c("rhdf5", "hdf5r")) if (has(package)) return(package)
  abort(c("{.arg x} must be a file that an installed package can read, not one of HDF5.",
          i = "Install rhdf5 ({.code BiocManager::install(\"rhdf5\")}) or hdf5r
               ({.code install.packages(\"hdf5r\")})."), "store_unsupported", call = call)
}

# As matrix_source(). The file is opened for every range: no handle outlives a call.
hdf5_source <- function(path, dataset, call, package = hdf5_package(call)) {
  path <- normalizePath(path)
  if (!is.null(dataset) && !rlang::is_string(dataset)) {
    found <- describe(dataset)
    abort("{.arg dataset} must be the name of a matrix in the file, not {found}.", "argument", found = dataset,
          call = call)
  }
  read <- list(rhdf5 = rhdf5_columns, hdf5r = hdf5r_columns)[[package]]
  table <- hdf5_try(list(rhdf5 = rhdf5_table, hdf5r = hdf5r_table)[[package]](path), path, call)
  table <- table[table$numeric & grepl("^[0-9]+ x [0-9]+$", table$dim), ]
  chosen <- if (is.null(dataset)) seq_along(table$name) else which(table$name == sub("^/+", "", dataset))
  if (length(chosen) != 1L) {
    there <- if (nrow(table)) first_few(table$name) else "none"
    must <- if (is.null(dataset)) "name one of the matrices of numbers in the file"
            else "be the name of a matrix of numbers in the file, not {.val {dataset}}"
    abort(c(paste0("{.arg dataset} must ", must, "."), i = "There: {there}."), "argument",
          expected = table$name, found = dataset, call = call)
  }
  size <- as.double(strsplit(table$dim[chosen], " x ", fixed = TRUE)[[1L]])
  if (min(size) < 1) abort("{.arg x} must have at least one value, not none.", "shape", call = call)
  name <- table$name[chosen]
  list(rows = size[1L], cols = size[2L], names = NULL, mask = NULL, columns = function(range) {
    out <- hdf5_try(read(path, name, range, size[1L]), path, call)
    matrix(as.double(out), size[1L])
  })
}

hdf5_try <- function(expr, path, call) {
  tryCatch(expr, error = function(cnd) {
    text <- conditionMessage(cnd)
    abort(c("{.arg x} must be an HDF5 file that can be read, which {.file {path}} is not.", x = "{text}"), "file",
          where = path, call = call)
  })
}

# Data frames of name (without the first slash), dim ("5 x 12") and numeric.
rhdf5_table <- function(path) {
  found <- rhdf5::h5ls(path)
  data.frame(name = sub("^/+", "", paste(found$group, found$name, sep = "/")), dim = found$dim,
             numeric = found$dclass %in% c("FLOAT", "INTEGER"))
}

hdf5r_table <- function(path) {
  file <- hdf5r::H5File$new(path, "r")
  on.exit(file$close_all())
  found <- as.data.frame(file$ls(recursive = TRUE))
  found <- found[found$obj_type == "H5I_DATASET", ]
  kinds <- vapply(found$name, function(name) as.character(file[[name]]$get_type()$get_class()), "")
  data.frame(name = found$name, dim = found$dataset.dims, numeric = kinds %in% c("H5T_FLOAT", "H5T_INTEGER"))
}

rhdf5_columns <- function(path, name, range, rows) {
  rhdf5::h5read(path, name, start = c(1, range[1L]), count = c(rows, length(range)), bit64conversion = "double")
}

hdf5r_columns <- function(path, name, range, rows) {
  file <- hdf5r::H5File$new(path, "r")
  on.exit(file$close_all())
  file[[name]][, range, drop = FALSE]
}
