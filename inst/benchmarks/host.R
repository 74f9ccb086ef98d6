# A neutral name for the machine, and a record of what the numbers were measured on.

first_match <- function(path, pattern) {
  lines <- tryCatch(readLines(path), error = function(e) character(), warning = function(w) character())
  sub("^[^:]*:[[:space:]]*", "", grep(pattern, lines, value = TRUE))[1]
}

cpu_model <- function() {
  model <- first_match("/proc/cpuinfo", "^model name")
  if (is.na(model)) {
    model <- tryCatch(system2("sysctl", c("-n", "machdep.cpu.brand_string"), stdout = TRUE, stderr = FALSE)[1],
      error = function(e) NA_character_, warning = function(w) NA_character_)
  }
  if (is.na(model)) Sys.info()[["machine"]] else model
}

# "amd-epyc-2core" from "AMD EPYC Processor" and two cores
host_id <- function() {
  words <- gsub("\\(R\\)|\\(TM\\)|\\bCPU\\b|\\bProcessor\\b|@.*$|[0-9]+-Core", " ", cpu_model())
  words <- gsub("(^-|-$)", "", gsub("[^a-z0-9]+", "-", tolower(words)))
  sprintf("%s-%dcore", words, parallel::detectCores())
}

# The kernel that OpenBLAS chose for this processor, from its own configuration string; NA for other libraries.
blas_kernel <- function() {
  python <- peers_python()
  if (is.null(python)) return(NA_character_)
  code <- paste0(
    "import ctypes, sys\n",
    "lib = ctypes.CDLL(sys.argv[1])\n",
    "f = lib.openblas_get_corename; f.restype = ctypes.c_char_p\n",
    "g = lib.openblas_get_config; g.restype = ctypes.c_char_p\n",
    "print(g().decode().split(' NO_')[0], f().decode())\n"
  )
  file <- tempfile(fileext = ".py")
  on.exit(unlink(file))
  writeLines(code, file)
  out <- suppressWarnings(system2(python, shQuote(c(file, extSoftVersion()[["BLAS"]])), stdout = TRUE, stderr = FALSE))
  if (length(out) == 1) out else NA_character_
}

# Processes that wanted to run, a mean of the last minute; NA where the system does not say.
load_average <- function() {
  line <- tryCatch(readLines("/proc/loadavg"), error = function(e) "", warning = function(w) "")
  suppressWarnings(as.numeric(sub(" .*", "", line[1])))
}

environment_record <- function(threads, peer_versions) {
  voxridge <- if (requireNamespace("voxridge", quietly = TRUE)) as.character(utils::packageVersion("voxridge")) else NA
  memory_kb <- as.numeric(gsub("[^0-9]", "", first_match("/proc/meminfo", "^MemTotal")))
  list(
    host = host_id(), cpu = cpu_model(), cores = parallel::detectCores(), memory_gb = round(memory_kb / 1024^2, 1),
    system = utils::sessionInfo()$running, r = R.version.string, blas = basename(extSoftVersion()[["BLAS"]]),
    blas_kernel = blas_kernel(), blas_override = Sys.getenv("OPENBLAS_CORETYPE", "none"), threads = threads,
    voxridge = voxridge, peers = paste(peer_versions, collapse = "; "), date = format(Sys.Date())
  )
}
