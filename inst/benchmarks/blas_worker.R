# blas_worker.R JOB: rates of the BLAS that this R process has, and one cross-validated search through it.
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
here <- dirname(normalizePath(script))
source(file.path(here, "data.R"))
source(file.path(here, "sides.R"))

job <- read_fields(commandArgs(TRUE)[1])
for (name in c("n", "p", "t", "folds", "size", "threads", "repeats")) job[[name]] <- as.integer(job[[name]])
options(matprod = "blas") # R's own look for NaN takes longer than some products
library(voxridge)
info <- voxridge:::core_blas_info()
self_test <- voxridge:::core_test_blas(job$threads)

# The fastest of some runs after the first, which alone counts where it takes longer than five CPU seconds: other work
# on the machine can only make a run slower. c(seconds, CPU seconds), each the least.
fastest <- function(run) {
  timed <- function() {
    cpu <- proc.time()
    start <- Sys.time()
    run()
    seconds <- as.numeric(difftime(Sys.time(), start, units = "secs"))
    c(seconds, sum((proc.time() - cpu)[c("user.self", "sys.self")]))
  }
  first <- timed()
  if (first[2] > 5) return(first)
  apply(vapply(seq_len(job$repeats), function(i) timed(), numeric(2)), 1, min)
}

size <- job$size
set.seed(1)
A <- matrix(stats::rnorm(size^2), size)
B <- matrix(stats::rnorm(size^2), size)
flops <- 2 * size^3
dgemm <- fastest(function() A %*% B)
dsyrk <- fastest(function() crossprod(A)) # one triangle; R copies it to the other
half <- crossprod(A)[seq_len(size / 2), seq_len(size / 2)]
eigen_s <- fastest(function() eigen(half, symmetric = TRUE))

# R has no single precision: arguments are converted on the way. A call for a product of no columns, which converts as
# much and computes nothing, is taken off.
dyn.load(info$library)
single <- lapply(list(A, B, matrix(0, size, size)), as.single)
call_sgemm <- function(columns) {
  suppressWarnings( # characters in such a call
    .Fortran("sgemm", "N", "N", size, as.integer(columns), size, as.single(1), single[[1]], size, single[[2]], size,
      as.single(0), single[[3]], size)
  )
}
sgemm <- fastest(function() call_sgemm(size)) - fastest(function() call_sgemm(0))
sgemm[sgemm <= 0] <- NA # too small a product beside the conversions
right <- matrix(call_sgemm(size)[[12]], size)
stopifnot(max(abs(right[1:5, 1:5] - A[1:5, ] %*% B[, 1:5])) < 1e-2)

X <- read_doubles(file.path(job$data, "X.bin"), c(job$n, job$p))
Y <- read_doubles(file.path(job$data, "Y.bin"), c(job$n, job$t))
alphas <- read_doubles(job$alphas)
solve <- function(precision) {
  suppressWarnings(solve_ridge_cv(X, Y, alphas = alphas, cv = job$folds, score_func = "neg_mse", return_coefs = "dual",
    return_cv_scores = "mean", precision = precision, n_threads = job$threads, progress = FALSE))
}
fit <- NULL
solve_double <- fastest(function() fit <<- solve("double"))
solve_single <- if (info$single) fastest(function() solve("single")) else c(NA, NA)

# the first process that measures keeps its choice of alphas for the others
if (!file.exists(job$reference)) write_doubles(fit$best_alphas, job$reference)
loaded <- unique(sub(".* ", "", tryCatch(readLines("/proc/self/maps"), error = function(e) character())))
kernels <- grep("^libmkl_(def|mc3|avx2|avx512|avx10)", basename(loaded), value = TRUE)

billions <- list(dgemm = flops / dgemm, sgemm = flops / sgemm, dsyrk = flops / 2 / dsyrk,
  eigen = 9 * (size / 2)^3 / eigen_s)
rates <- function(of) lapply(billions, function(rate) rate[of] / 1e9)
write_fields(c(rates(1), stats::setNames(rates(2), paste0(names(billions), "_cpu")), list(
  library = info$library, lapack = La_library(),
  seen_as = sprintf("%s, %s, %scontrolled", info$vendor, info$parallel, if (info$threads_controlled) "" else "not "),
  kernels = sub("\\.so.*", "", kernels),
  solve = solve_double[1], solve_cpu = solve_double[2], solve_single = solve_single[1],
  solve_single_cpu = solve_single[2],
  self_test = max(self_test$plain, self_test$threaded),
  alphas_equal = mean(abs(fit$best_alphas / read_doubles(job$reference) - 1) < 1e-6),
  version = paste("voxridge", utils::packageVersion("voxridge"))
)), job$result)
