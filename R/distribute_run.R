# The folder of a distributed run: what identifies it, the data its workers read, and checkpoints of finished units.
#
#   manifest.rds              what the run is, written first
#   data/                     features and targets that came from memory, as stores
#   factors/                  factors, made once
#   <stage>/unit_000001.rds   the result of a unit of work: that it is there says that the unit is done
#   coefs/                    coefficients, one file per batch of targets
#   nodes/<host>_<pid>.rds    what a worker found out about its machine
#   failed/                   messages of attempts that failed
#
# Every file gets its name when it is complete. Nobody waits for a lock: a unit that is done twice gives equal bytes.

RUN_FORMAT <- 1L
# Raised when the same run would give other numbers.
RUN_NUMERICS <- 1L

# list(dir, key, spec, temporary): a new run, or the one that is in the folder already. `identity`: a named list of what
# must be equal for that; `make_data(dir)` writes data into the folder and returns their stores by name; `make_spec()`
# returns what else workers are to know.
open_run <- function(dir, identity, resume, make_data, make_spec, call) {
  temporary <- is.null(dir)
  if (temporary) dir <- tempfile("voxridge-run-")
  opened <- FALSE
  on.exit(if (temporary && !opened) unlink(dir, recursive = TRUE))
  path <- file.path(dir, "manifest.rds")
  found <- if (file.exists(path)) read_manifest(path, call)
  if (!is.null(found)) check_manifest(found, identity, resume, dir, call)
  spec <- if (is.null(found)) make_spec()
  make_run_folder(dir, call)
  dir <- normalizePath(dir)
  path <- file.path(dir, "manifest.rds")
  if (is.null(found)) {
    found <- list(format = RUN_FORMAT, numerics = RUN_NUMERICS, versions = run_versions(), identity = identity,
                  key = rlang::hash(list(RUN_NUMERICS, identity)), spec = c(spec, make_data(dir)))
    write_whole(found, path, call)
  } else if (!stores_are_there(found$spec)) {
    data <- make_data(dir)
    found$spec[names(data)] <- data
    write_whole(found, path, call)
  }
  warn_other_driver(dir)
  opened <- TRUE
  list(dir = dir, key = found$key, spec = found$spec, temporary = temporary)
}

stores_are_there <- function(spec) {
  stores <- c(if (is_store(spec$X)) list(spec$X) else spec$Xs, list(spec$Y))
  all(vapply(stores, function(store) all(file.exists(store$segments$path)), NA))
}

# An absolute path; the working folder may change.
as_run_folder <- function(dir, call) {
  if (is.null(dir)) return(NULL)
  absolute_path(as_path(dir, "dir", call))
}

RUN_FOLDERS <- c("data", "factors", "coefs", "nodes", "failed")
RUN_ENTRIES <- c(RUN_FOLDERS, "batches", "refits", "search", "winners", "manifest.rds", "choice.rds", "chosen.rds")

make_run_folder <- function(dir, call) {
  if (file.exists(dir) && !dir.exists(dir)) {
    abort("{.arg dir} must be a folder, not the file {.file {dir}}.", "file", path = dir, call = call)
  }
  foreign <- setdiff(list.files(dir), RUN_ENTRIES)
  if (length(foreign)) {
    abort(c("{.arg dir} must be an empty folder or that of a run, not one with {.file {foreign[1L]}}.",
            i = "Choose a folder of its own for every run."), "conflict", path = file.path(dir, foreign), call = call)
  }
  folders <- c(dir, file.path(dir, RUN_FOLDERS))
  for (folder in folders) if (!dir.exists(folder)) dir.create(folder, recursive = FALSE, showWarnings = FALSE)
  if (!all(dir.exists(folders)) || file.access(dir, 2L) != 0L) {
    abort(
      c("{.arg dir} must be a folder that can be written, not {.file {dir}}.",
        i = "It is made if its parent folder is there. All workers must reach it under the same path."),
      "dir_not_writable",
      path = dir, call = call
    )
  }
}

run_versions <- function() {
  list(voxridge = format(utils::packageVersion("voxridge")), R = format(getRversion()), BLAS = core_blas_info()$library)
}

read_manifest <- function(path, call) {
  found <- tryCatch(readRDS(path), error = function(cnd) NULL)
  ok <- is.list(found) && identical(found[["format"]], RUN_FORMAT) && is.list(found[["identity"]])
  if (ok && identical(found[["numerics"]], RUN_NUMERICS)) return(found)
  abort(
    c("{.arg dir} must be the folder of a run of this version of the package, not of another one or damaged.",
      i = "Choose another folder."),
    "manifest_mismatch",
    path = path, call = call
  )
}

check_manifest <- function(found, identity, resume, dir, call) {
  if (!resume) {
    abort(
      c("{.arg dir} must be a folder without a run with {.code resume = FALSE}, not {.file {dir}}.",
        i = "Use {.code resume = TRUE} to go on with the run, or another folder."),
      "conflict",
      path = dir, call = call
    )
  }
  fields <- union(names(identity), names(found$identity))
  differ <- Filter(function(field) !identical(identity[[field]], found$identity[[field]]), fields)
  if (length(differ)) {
    lines <- vapply(differ, function(field) {
      paste0(field, ": ", short_value(found$identity[[field]]), " in the folder, ", short_value(identity[[field]]),
             " now")
    }, "")
    lines <- stats::setNames(escape(lines), rep("x", length(lines)))
    abort(
      c("{.arg dir} must be an empty folder or that of the same run, not that of another run.", lines,
        i = "Nothing was changed. Choose another folder, or make the call that began the run."),
      "manifest_mismatch",
      where = differ, expected = found$identity[differ], found = identity[differ], call = call
    )
  }
  other <- Filter(function(what) !identical(found$versions[[what]], run_versions()[[what]]), names(found$versions))
  if (length(other)) {
    warn(
      c("The run in {.arg dir} was begun with {.val {other}} of {?another version/other versions}.",
        i = "Results of both are mixed; they agree to rounding."),
      "run_versions"
    )
  }
}

short_value <- function(x) {
  if (is.null(x)) return("nothing")
  if (is.numeric(x) || is.character(x) || is.logical(x)) {
    return(paste0(paste(format(utils::head(x, 4L), trim = TRUE), collapse = " "), if (length(x) > 4L) " ..."))
  }
  describe(x)
}

# Two drivers do the same work twice, which harms nothing but time.
warn_other_driver <- function(dir) {
  path <- file.path(dir, "nodes", "driver.rds")
  found <- tryCatch(suppressWarnings(readRDS(path)), error = function(cnd) NULL)
  me <- list(host = host_name(), pid = Sys.getpid())
  running <- is.list(found) && identical(found$host, me$host) && !identical(found$pid, me$pid) &&
    process_runs(found$pid)
  if (running) {
    warn(c("Another R process ({found$pid}) works on the run in {.arg dir}.", i = "Both may do the same work."),
         "second_driver")
  }
  write_whole(me, path, rlang::caller_env())
}

# A process that has ended and that nobody has asked for its status takes signals like a running one.
process_runs <- function(pid) {
  if (!isTRUE(tools::pskill(pid, 0L))) return(FALSE)
  status <- file.path("/proc", pid, "stat")
  if (!file.exists(status)) return(TRUE)
  words <- tryCatch(readLines(status, warn = FALSE), error = function(cnd) "")
  !grepl("\\) [ZX] ", words[1L])
}

host_name <- function() Sys.info()[["nodename"]]

# ---- identity --------------------------------------------------------------------------------

# Of targets: of their values where they come from memory, of their files where they come from those.
targets_identity <- function(targets) {
  Y <- targets$Y
  if (!is_store(Y)) return(list(Y = values_identity(Y), Y_rows = nrow(Y), Y_columns = ncol(Y)))
  list(Y = unname(Y$segments$path), Y_rows = Y$rows, Y_columns = Y$cols, Y_type = Y$type,
       Y_checksums = rlang::hash(Y$checksums), Y_size = Y$stamp$sizes, Y_time = Y$stamp$modified)
}

# What runs of both kinds have in common.
shared_identity <- function(targets, design, alphas, options, score_func, needs) {
  c(
    targets_identity(targets),
    list(skipped = targets$skip, alphas = alphas, folds = rlang::hash(core_folds(design$folds)),
         n_folds = n_folds(design$folds), score_code = score_identity(score_func, needs)),
    options[c("score", "fit_intercept", "local_alpha", "conservative", "coefs", "cv_scores", "single")]
  )
}

# Of a matrix, without its names and other attributes.
values_identity <- function(x) {
  if (length(attributes(x)) > 1L) attributes(x) <- list(dim = dim(x))
  rlang::hash(x)
}

# Of a user's function: its code, and what it refers to, be it in the workspace or where it was made.
score_identity <- function(fun, needs) {
  if (!is.function(fun)) return(NULL)
  rlang::hash(c(list(code_identity(fun)), lapply(needs$globals, function(x) {
    if (is.function(x)) code_identity(x) else x
  })))
}

# The code of a function, without references to its source.
code_identity <- function(fun) {
  if (is.primitive(fun)) return(rlang::hash(fun))
  plain <- utils::removeSource(fun)
  rlang::hash(list(formals(plain), body(plain)))
}

# A store that workers can read: the targets themselves, or a copy of those that are in memory.
shared_store <- function(x, path, call) {
  if (is_store(x)) return(x)
  x <- unname(x)
  attributes(x) <- list(dim = dim(x))
  write_store(matrix_source(x, call), path, "float64", FALSE, call)
}

# Some columns of a store, which the core reads as targets; `first` begins a tile.
store_window <- function(store, first, count) {
  store$before <- as.double(first - 1)
  store$cols <- as.double(count)
  store
}

# ---- checkpoints -----------------------------------------------------------------------------

write_whole <- function(x, path, call) {
  run_core(core_write_bytes(serialize(x, NULL, xdr = FALSE), path, 0L), call)
}

unit_path <- function(dir, stage, unit, ending = ".rds") file.path(dir, stage, sprintf("unit_%06d%s", unit, ending))

write_checkpoint <- function(run, stage, unit, result, call) {
  content <- list(key = run$key, stage = stage, unit = unit, hash = rlang::hash(result), result = result)
  write_whole(content, unit_path(run$dir, stage, unit), call)
}

# The result of a unit; NULL where it is not there, or is damaged or of another run (then with a warning).
read_checkpoint <- function(run, stage, unit) {
  path <- unit_path(run$dir, stage, unit)
  if (!file.exists(path)) return(NULL)
  found <- tryCatch(suppressWarnings(readRDS(path)), error = function(cnd) NULL)
  ok <- is.list(found) && identical(found$key, run$key) && identical(found$stage, stage) &&
    identical(as.integer(found$unit), as.integer(unit)) && identical(found$hash, rlang::hash(found$result))
  if (ok && files_are_there(run, found$result$files)) return(found$result)
  warn(c("{.file {path}} or its files are damaged or of another run, and count as not there.",
         i = "Their work is done again."),
       "checkpoint")
  NULL
}

# Sizes of files, named by their paths in the folder of the run.
file_sizes <- function(run, paths) stats::setNames(file.size(file.path(run$dir, paths)), paths)

files_are_there <- function(run, sizes) {
  is.null(sizes) || identical(file_sizes(run, names(sizes)), sizes)
}

missing_units <- function(run, stage, units) units[!file.exists(unit_path(run$dir, stage, units))]
