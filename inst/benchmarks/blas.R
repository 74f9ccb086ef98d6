# Measures the work of a BLAS library in fresh R processes that load it in place of R's own.
#
# R on Debian and its relatives finds BLAS and LAPACK by the names libblas.so.3 and liblapack.so.3. A folder of links
# with these names, first in R_LD_LIBRARY_PATH, puts another library there, and R's own is not loaded at all.

blas_root <- function() file.path(dirname(dirname(dirname(peers_python() %||% "/none/bin/python"))), "voxridge-blas")

# list(blas, lapack, beside): files, and folders where they find more; NULL where the library is not there. Looked for
# where Debian installs it and where blas_libraries.sh unpacks it.
debian_blas <- function(flavour) {
  places <- c(Sys.glob("/usr/lib/*-linux-gnu"), Sys.glob(file.path(blas_root(), "usr/lib/*-linux-gnu")))
  find <- function(folder, file) {
    found <- file.path(places, folder, file)
    found[file.exists(found)][1]
  }
  blas <- find(flavour, "libblas.so.3")
  if (is.na(blas)) return(NULL)
  lapack <- find(flavour, "liblapack.so.3")
  if (is.na(lapack)) lapack <- find("lapack", "liblapack.so.3")
  if (is.na(lapack)) return(NULL) # R's own LAPACK would bring its BLAS with it
  list(blas = blas, lapack = lapack, beside = dirname(blas))
}

mkl_blas <- function() {
  python <- peers_python()
  if (is.null(python)) return(NULL)
  found <- Sys.glob(file.path(dirname(dirname(python)), "lib", "libmkl_rt.so*"))
  if (!length(found)) return(NULL)
  list(blas = found[1], lapack = found[1], beside = dirname(found[1]))
}

# Variables of an R process that has the library, and links to it in `dir`.
blas_variables <- function(library, case, dir) {
  if (is.null(library)) return(NULL)
  if (isTRUE(case$preload)) return(c(case$variables, paste0("LD_PRELOAD=", library$blas)))
  dir.create(dir, showWarnings = FALSE)
  links <- c(libblas.so.3 = library$blas, liblapack.so.3 = library$lapack)
  file.symlink(links, file.path(dir, names(links)))
  folders <- c(dir, library$beside, file.path(R.home(), "lib"))
  c(case$variables, paste0("R_LD_LIBRARY_PATH=", paste(folders, collapse = ":")))
}

# One row per number of threads, 1 to the number of cores.
measure_blas <- function(case, settings, here) {
  library <- case$folder()
  absent <- case$id != "blas-system" && is.null(library)
  if (absent) return(blas_row(case, NA_integer_, list(), "not found"))
  data_dir <- write_case_data(case, case$spectra, settings$work_dir)
  job <- list(name = "blas", n = case$n, p = case$p, t = case$t, folds = case$folds, size = case$size, data = data_dir,
    alphas = write_case_alphas(data_dir, case$n_alphas), repeats = settings$repeats,
    reference = file.path(data_dir, "reference.alphas"))
  variables <- blas_variables(library, case, file.path(settings$work_dir, case$id))
  rows <- lapply(seq_len(if (isTRUE(case$one_thread)) 1 else settings$threads), function(threads) {
    more <- c(variables, sprintf("BLIS_NUM_THREADS=%d", threads))
    run <- run_worker("R", job, settings$work_dir, threads, min(case$limit_s, settings$limit_s), here, "blas_worker.R",
      more)
    problem <- if (!run$ok) run$reason else if (!uses_library(run, library)) "another library was used" else ""
    blas_row(case, threads, run, problem, library)
  })
  do.call(rbind, rows)
}

# Whether the process that measured has this library's dgemm.
uses_library <- function(run, library) {
  if (is.null(library)) return(TRUE)
  used <- normalizePath(run$library)
  used == normalizePath(library$blas) || dirname(used) == dirname(normalizePath(library$blas))
}

blas_row <- function(case, threads, run, problem, library = NULL) {
  number <- function(field) number_of(run, field)
  file <- if (is.null(run$library)) "" else normalizePath(run$library, mustWork = FALSE)
  about <- if (nzchar(file)) blas_about(file, library$beside) else c("", "")
  kernels <- run$kernels %||% ""
  data.frame(
    case = case$id, what = case$what, threads = threads, library = file, lapack = run$lapack %||% "",
    version = about[1], core = if (nzchar(kernels)) kernels else about[2], seen_as = run$seen_as %||% "",
    dgemm_gflops = number("dgemm"), sgemm_gflops = number("sgemm"), dsyrk_gflops = number("dsyrk"),
    eigen_gflops = number("eigen"), dgemm_cpu_gflops = number("dgemm_cpu"), sgemm_cpu_gflops = number("sgemm_cpu"),
    dsyrk_cpu_gflops = number("dsyrk_cpu"), eigen_cpu_gflops = number("eigen_cpu"),
    n = case$n, p = case$p, t = case$t, alphas = case$n_alphas, folds = case$folds,
    solve_s = number("solve"), solve_cpu_s = number("solve_cpu"), solve_single_s = number("solve_single"),
    solve_single_cpu_s = number("solve_single_cpu"),
    self_test = number("self_test"), alphas_equal = number("alphas_equal"), size = case$size, load = load_average(),
    ours_version = run$version %||% "", problem = problem, date = format(Sys.time(), "%Y-%m-%d", tz = "UTC")
  )
}

# c(version, kernel) as the library names them; "" where it does not, or there is no Python to ask it.
blas_about <- function(file, beside = NULL) {
  python <- peers_python()
  if (is.null(python)) return(c("", ""))
  code <- paste(
    "import ctypes, sys",
    "lib = ctypes.CDLL(sys.argv[1])",
    "def text(name, *args):",
    "    f = getattr(lib, name)",
    "    f.restype = ctypes.c_char_p",
    "    return f(*args).decode()",
    "if hasattr(lib, 'openblas_get_config'):",
    "    print(text('openblas_get_config').split(' NO_')[0])",
    "    print(text('openblas_get_corename'))",
    "elif hasattr(lib, 'mkl_get_version_string'):",
    "    out = ctypes.create_string_buffer(200)",
    "    lib.MKL_Get_Version_String(out, 200)",
    "    print(out.value.decode().strip())",
    "elif hasattr(lib, 'bli_info_get_version_str'):",
    "    print('BLIS ' + text('bli_info_get_version_str'))",
    "    print(text('bli_arch_string', lib.bli_arch_query_id()))",
    sep = "\n"
  )
  script <- tempfile(fileext = ".py")
  on.exit(unlink(script))
  writeLines(code, script)
  words <- c(paste0("LD_LIBRARY_PATH=", beside), "MKL_THREADING_LAYER=SEQUENTIAL", python, script, file)
  out <- suppressWarnings(system2("env", shQuote(words), stdout = TRUE, stderr = FALSE))
  c(out, "", "")[1:2]
}

say_blas <- function(rows) {
  for (i in seq_len(nrow(rows))) {
    row <- rows[i, ]
    cat(sprintf(paste("%-22s %s threads: dgemm %.1f (%.1f), sgemm %.1f (%.1f), dsyrk %.1f (%.1f),",
      "eigen %.1f (%.1f) GFLOP/s (per CPU s); search %.3f s (CPU %.3f), single %.3f s; %s %s, seen as %s%s\n"),
      row$case, row$threads, row$dgemm_gflops, row$dgemm_cpu_gflops, row$sgemm_gflops, row$sgemm_cpu_gflops,
      row$dsyrk_gflops, row$dsyrk_cpu_gflops, row$eigen_gflops, row$eigen_cpu_gflops, row$solve_s, row$solve_cpu_s,
      row$solve_single_s, row$library, row$core, row$seen_as,
      if (nzchar(row$problem)) paste0(" [", row$problem, "]") else ""))
  }
}
