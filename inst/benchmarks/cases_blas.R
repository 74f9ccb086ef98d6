# The same work through each BLAS library that is found (blas.R). A case is a library; its rows are numbers of threads.
# `size`: rows and columns of the products; `limit_s`: seconds for everything, beyond which a library is given up.

blas_case <- function(id, what, folder, ...) {
  list(id = paste0("blas-", id), what = what, folder = folder, n = 1000L, p = 2000L, t = 2000L, n_alphas = 11L,
    folds = 5L, size = 2000L, limit_s = 240, spectra = "power", precision = "double", output = "dual",
    quick = list(n = 100L, p = 200L, t = 600L, size = 500L, limit_s = 40), ...)
}

benchmark_cases <- function() {
  debian <- function(flavour, what) blas_case(flavour, what, function() debian_blas(flavour))
  list(
    blas_case("system", "the BLAS that R has", function() NULL),
    debian("openblas-pthread", "OpenBLAS, threads of its own"),
    debian("openblas-openmp", "OpenBLAS, OpenMP"),
    debian("blas", "reference BLAS"),
    blas_case("mkl", "MKL, GNU OpenMP", mkl_blas, variables = c("MKL_THREADING_LAYER=GNU", "MKL_INTERFACE_LAYER=LP64")),
    blas_case("mkl-sequential", "MKL, sequential", mkl_blas, one_thread = TRUE,
      variables = c("MKL_THREADING_LAYER=SEQUENTIAL", "MKL_INTERFACE_LAYER=LP64")),
    blas_case("mkl-preloaded", "MKL by LD_PRELOAD, R's own BLAS stays loaded", mkl_blas, preload = TRUE,
      variables = c("MKL_THREADING_LAYER=GNU", "MKL_INTERFACE_LAYER=LP64")),
    debian("blis-pthread", "BLIS, threads of its own"),
    debian("blis-openmp", "BLIS, OpenMP")
  )
}
