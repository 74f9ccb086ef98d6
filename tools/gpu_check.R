# The parts of tools/gpu_check.sh that run the package itself, on the GPU and, to compare, on the CPU:
#
#   Rscript gpu_check.R PART [csv=FILE] [seconds=N] [quick=yes] [case=wide] [seed=N]
#
# about: what is here; status 3 where there is no device. search: small problems. ceilings: rates that the package
# measures itself. permutations: every design against the CPU, and at full size. times: one of the two sizes. Rows go to
# the CSV file; status 1 where a comparison failed.
library(voxridge)

options(warn = 1)
arguments <- commandArgs(TRUE)
part <- arguments[1]
settings <- list(csv = "", seconds = Inf, quick = "no", case = "wide", seed = as.integer(Sys.time()) %% 100000L)
given <- strsplit(arguments[-1], "=", fixed = TRUE)
settings[vapply(given, `[`, "", 1)] <- lapply(given, `[`, 2)
quick <- settings$quick == "yes"
seed <- as.integer(settings$seed)
end <- proc.time()[["elapsed"]] + as.numeric(settings$seconds)
failures <- 0L

CASES <- list(
  wide = list(n = 1000, p = 10000, t = 100000, search = 0.030, primal = 0.090),
  many = list(n = 200, p = 2000, t = 300000, search = 0.005, primal = 0.053)
)
if (quick) CASES <- list(wide = list(n = 40, p = 90, t = 200), many = list(n = 30, p = 50, t = 400))

# ---- rows of the table -----------------------------------------------------------------------

row <- function(section, name, value, unit = "", bound = "", result = "") {
  text <- function(x) if (is.double(x)) sprintf("%.4g", x) else as.character(x)
  cells <- gsub("\n", " ", gsub(",", ";", c(section, name, text(value), unit, text(bound), result)))
  if (nzchar(settings$csv)) cat(paste(cells, collapse = ","), "\n", sep = "", file = settings$csv, append = TRUE)
  cat(paste(cells[nzchar(cells)], collapse = " | "), "\n", sep = "")
}

verdict <- function(section, name, error, limit) {
  good <- isTRUE(error <= limit)
  if (!good) failures <<- failures + 1L
  row(section, name, as.double(error), "error", limit, if (good) "pass" else "FAIL")
}

seconds_left <- function() end - proc.time()[["elapsed"]]

# The median of three runs; fewer where time is short. `first`: the seconds of a run made before, which does not count.
median_seconds <- function(work, first) {
  times <- numeric()
  runs <- if (quick) 1L else 3L
  while (length(times) < runs && seconds_left() > 1.5 * first) times <- c(times, system.time(work())[["elapsed"]])
  if (!length(times)) return(list(value = first, note = "first run only"))
  list(value = stats::median(times), note = if (length(times) < runs) paste("of", length(times)) else "")
}

# ---- comparisons -----------------------------------------------------------------------------

SCORE_LIMIT <- c(double = 1e-9, single = 2e-5)
COEF_LIMIT <- c(double = 1e-9, single = 1e-4)

quietly <- function(expr) withCallingHandlers(expr, voxridge_warning = function(w) rlang::cnd_muffle(w))

# Scores, choices and coefficients on the GPU against those of the CPU in double precision. Near ties may fall either
# way: `choices` is what the other penalty, or the other candidate of a banded search, would have lost.
compare <- function(section, name, precision, gpu, cpu) {
  if (!identical(gpu$backend, "cuda")) return(verdict(section, paste(name, "ran on", gpu$backend), NA, 0))
  chosen <- if (is.null(gpu$deltas)) "alpha_index" else "gamma_index"
  at <- cbind(gpu$diagnostics[[chosen]], seq_along(gpu$best_alphas))
  lost <- apply(cpu$cv_scores, 2, max) - cpu$cv_scores[at]
  verdict(section, paste(name, "scores"), max(abs(gpu$cv_scores - cpu$cv_scores)), SCORE_LIMIT[[precision]])
  verdict(section, paste(name, "choices"), max(lost), 2 * SCORE_LIMIT[[precision]])
  same <- gpu$best_alphas == cpu$best_alphas & gpu$diagnostics[[chosen]] == cpu$diagnostics[[chosen]]
  if (is.null(gpu$coefs)) return(invisible())
  largest <- apply(abs(cpu$coefs), 2, max)
  error <- sweep(abs(gpu$coefs - cpu$coefs), 2, largest, "/")[, same, drop = FALSE]
  verdict(section, paste(name, "coefs"), if (any(same)) max(error) else Inf, COEF_LIMIT[[precision]])
  if (is.null(gpu$intercept)) return(invisible())
  error <- abs(gpu$intercept - cpu$intercept)[same]
  verdict(section, paste(name, "intercept"), max(error) / max(abs(cpu$intercept)), COEF_LIMIT[[precision]])
}

make_data <- function(n, p, t, offset = 0) {
  set.seed(seed)
  X <- matrix(stats::rnorm(n * p), n) * rep(exp(-2 * seq_len(p) / p), each = n)
  used <- min(p, 20)
  weights <- matrix(stats::rnorm(used * t), used) * rep(stats::runif(t) / sqrt(used), each = used)
  Y <- X[, seq_len(used)] %*% weights
  list(X = X, Y = Y + stats::rnorm(length(Y)) + offset, alphas = p * 10^seq(-3, 4, length.out = 10))
}

# ---- parts -----------------------------------------------------------------------------------

part_about <- function() {
  gpu <- voxridge:::gpu_info()
  if (!gpu$available) {
    cat("the package cannot use the GPU:", gpu$reason, "\n")
    quit(status = 3)
  }
  row("machine", "device", gpu$name)
  row("machine", "device memory free", gpu$memory_free / 1e9, "GB")
  row("machine", "driver and runtime", paste(gpu$driver, gpu$runtime))
  row("machine", "compiled for", gpu$architectures)
  row("machine", "cuBLAS", gpu$libraries)
  row("machine", "R", paste(R.version$major, R.version$minor, sep = "."))
  row("machine", "voxridge", as.character(utils::packageVersion("voxridge")))
  row("machine", "BLAS of R", basename(extSoftVersion()[["BLAS"]]))
  row("machine", "threads of R", as.character(threads))
}

part_search <- function() {
  shapes <- list(c(203, 450, 3001), c(400, 30, 5000), c(50, 700, 1))
  if (quick) shapes <- list(c(43, 90, 131), c(60, 7, 65))
  for (shape in shapes) {
    for (intercept in c(FALSE, TRUE)) {
      d <- make_data(shape[1], shape[2], shape[3], if (intercept) 100 else 0)
      solve <- function(device, precision) {
        quietly(solve_ridge_cv(d$X, d$Y, alphas = d$alphas, score_func = "r2", fit_intercept = intercept,
          return_cv_scores = "mean", precision = precision, device = device, n_threads = threads, progress = FALSE))
      }
      cpu <- solve("cpu", "double")
      for (precision in c("double", "single")) {
        name <- sprintf("n=%d p=%d t=%d %s intercept %s", shape[1], shape[2], shape[3], if (intercept) "with" else "no",
          precision)
        compare("searches", name, precision, solve("gpu", precision), cpu)
      }
    }
  }
  d <- if (quick) make_data(40, 60, 70) else make_data(200, 500, 2000)
  n_iter <- if (quick) 3 else 10
  Xs <- list(a = d$X[, 1:20], b = d$X[, -(1:20)])
  solve <- function(device, precision) {
    quietly(solve_banded_ridge_cv(Xs, d$Y, n_iter = n_iter, alphas = d$alphas, score_func = "r2", seed = 1,
      return_coefs = "primal", precision = precision, device = device, n_threads = threads, progress = FALSE))
  }
  cpu <- solve("cpu", "double")
  for (precision in c("double", "single")) {
    compare("searches", paste("two bands", precision), precision, solve("gpu", precision), cpu)
  }
}

# Where there is no Python to measure them more exactly.
part_ceilings <- function() {
  rates <- lapply(c(double = "double", single = "single"), voxridge:::device_rates, n_threads = 1L)
  for (precision in names(rates)) {
    row("ceilings", paste("short products", precision), rates[[precision]]$gpu / 1e9, "GFLOP/s")
  }
  row("ceilings", "copy to the device and back", rates$single$bus / 1e9, "GB/s")
}

part_times <- function() {
  case <- CASES[[settings$case]]
  name <- sprintf("n=%d p=%d t=%d", case$n, case$p, case$t)
  d <- make_data(case$n, case$p, case$t)
  pick <- sort(sample(case$t, 100))
  solve <- function(X, Y, device, precision, coefs, ...) {
    quietly(solve_ridge_cv(X, Y, alphas = d$alphas, score_func = "r2", return_cv_scores = "mean", return_coefs = coefs,
      precision = precision, device = device, n_threads = threads, progress = FALSE, ...))
  }
  cpu <- solve(d$X, d$Y[, pick], "cpu", "double", "primal")
  one <- function(what, X, precision, coefs, floor) {
    what <- paste(name, what, precision)
    if (seconds_left() < 0) return(row("times", paste("ours:", what), "", result = "skipped for want of time"))
    work <- function() solve(X, d$Y, "gpu", precision, coefs)
    first <- system.time(gpu <- work())[["elapsed"]]
    gpu$cv_scores <- gpu$cv_scores[, pick]
    gpu$coefs <- if (coefs == "none") NULL else gpu$coefs[, pick]
    gpu$best_alphas <- gpu$best_alphas[pick]
    gpu$diagnostics$alpha_index <- gpu$diagnostics$alpha_index[pick]
    compare("full size", what, precision, gpu, cpu)
    gpu <- NULL
    seconds <- median_seconds(work, first)
    row("times", paste("ours:", what), seconds$value, "s", if (is.null(floor)) "" else floor, seconds$note)
  }
  one("search", d$X, "single", "none", case$search)
  one("with coefficients", d$X, "single", "primal", case$primal)
  prepared <- prepare_ridge(d$X, cv = 5, device = "gpu")
  one("search of prepared X", prepared, "single", "none", case$search)
  one("search", d$X, "double", "none", NULL)
  one("with coefficients", d$X, "double", "primal", NULL)
}

# The same bits on both devices; then one-sample tests and correlations of a whole brain, the CPU beside the GPU.
part_permutations <- function() {
  test <- function(fun, ..., device) {
    suppressMessages(fun(..., exact = "never", seed = seed, device = device, n_threads = threads, progress = FALSE))
  }
  compare_tests <- function(name, fun, ...) {
    gpu <- test(fun, ..., device = "gpu")
    cpu <- test(fun, ..., device = "cpu")
    if (!identical(gpu$backend, "cuda")) return(verdict("permutations", paste(name, "ran on", gpu$backend), NA, 0))
    differing <- sum(gpu$counts != cpu$counts) + sum(gpu$max_null != cpu$max_null) + !identical(gpu$p_fwer, cpu$p_fwer)
    verdict("permutations", paste(name, "bits"), as.double(differing), 0)
  }
  set.seed(seed)
  n <- 40
  v <- if (quick) 300 else 20000
  m <- if (quick) 150 else 5000
  Y <- matrix(sample(-5:5, n * v, TRUE) + stats::rnorm(n * v) * rep(0:1, each = n * v / 2), n)
  x <- stats::rnorm(n)
  D <- cbind(1, stats::rnorm(n), x, x^2)
  group <- rep(1:2, c(15, 25))
  compare_tests("flips", one_sample_permutation_test, Y, n_permutations = m)
  compare_tests("labels", two_sample_permutation_test, Y, group, n_permutations = m)
  compare_tests("Welch", two_sample_permutation_test, Y, group, var_equal = FALSE, n_permutations = m)
  compare_tests("correlation", correlation_permutation_test, x, Y, n_permutations = m)
  compare_tests("Freedman-Lane", glm_permutation_test, Y, D, c(0, 0, 1, 0), n_permutations = m)
  compare_tests("F", glm_permutation_test, Y, D, rbind(c(0, 0, 1, 0), c(0, 0, 0, 1)), n_permutations = m)
  v <- if (quick) 400 else 230000
  m <- if (quick) 100 else 10000
  Y <- matrix(stats::rnorm(n * v), n)
  for (design in c("flips", "correlation")) {
    for (device in c("gpu", "cpu")) {
      what <- sprintf("%s on the %s: %d columns %d permutations n=%d", design, device, v, m, n)
      if (seconds_left() < 5) {
        row("permutations", what, "", result = "skipped for want of time")
        next
      }
      work <- function() {
        if (design == "flips") test(one_sample_permutation_test, Y, n_permutations = m, device = device)
        else test(correlation_permutation_test, x, Y, n_permutations = m, device = device)
      }
      seconds <- median_seconds(work, system.time(work())[["elapsed"]])
      row("permutations", what, seconds$value, "s", "", seconds$note)
    }
  }
}

threads <- min(parallelly::availableCores(), 16L)
# what is too large for this machine is a row, not the end
tryCatch(
  switch(part, about = part_about(), search = part_search(), ceilings = part_ceilings(),
    permutations = part_permutations(), times = part_times()),
  voxridge_error_memory = function(cnd) row(part, "not enough memory of the host", "", result = conditionMessage(cnd)),
  voxridge_error = function(cnd) {
    failures <<- failures + 1L
    row(part, paste("ended early:", conditionMessage(cnd)), "", result = "FAIL")
  }
)
quit(status = failures > 0L)
