# The plain ridge cases. Each entry is one comparison (cases.R).

ridge_case <- function(..., ours = "ridge_cv") benchmark_case(..., ours = ours)

benchmark_cases <- function() {
  small <- list(n = 120, p = 300, t = 400)
  tall <- list(n = 240, p = 60, t = 600)
  list(
    # many features: the kernel (dual) form
    ridge_case("wide-20", "more features than samples, 20 alphas",
      500, 2000, 5000, peer = "kernel_ridge_cv", peer_label = "himalaya KernelRidgeCV",
      output = "dual", wanted = c(2.5, 1.6), quick = small),
    ridge_case("wide-20", "more features than samples, 20 alphas",
      500, 2000, 5000, precision = "single", peer = "kernel_ridge_cv", peer_label = "himalaya KernelRidgeCV",
      output = "dual", wanted = c(4, 2.5), quick = small),
    ridge_case("wide-20-primal", "the same, with coefficients per feature",
      500, 2000, 5000, peer = "kernel_ridge_cv", peer_label = "himalaya KernelRidgeCV",
      output = "primal", quick = small),
    ridge_case("wide-200", "more features than samples, 200 alphas",
      300, 3000, 2000, n_alphas = 200, peer = "kernel_ridge_cv", peer_label = "himalaya KernelRidgeCV",
      output = "dual", wanted = c(8, 4), quick = small),
    # many samples: the primal form
    ridge_case("tall-20", "more samples than features, 20 alphas",
      1000, 200, 10000, peer = "ridge_cv", peer_label = "himalaya RidgeCV", wanted = c(8, 4), quick = tall),
    ridge_case("tall-20", "more samples than features, 20 alphas",
      1000, 200, 10000, precision = "single", peer = "ridge_cv", peer_label = "himalaya RidgeCV",
      wanted = c(8, 4), quick = tall),
    # many features through the solver called RidgeCV, which takes the singular value decomposition of X
    ridge_case("wide-default-20", "more features than samples, default ridge solver, 20 alphas",
      300, 3000, 2000, peer = "ridge_cv", peer_label = "himalaya RidgeCV", wanted = c(6, 6), quick = small),
    ridge_case("wide-default-200", "more features than samples, default ridge solver, 200 alphas",
      300, 3000, 2000, n_alphas = 200, peer = "ridge_cv", peer_label = "himalaya RidgeCV", wanted = c(60, 60),
      quick = small),
    # ours against ours: what 50 times as many alphas cost
    ridge_case("many-alphas", "1000 alphas against 20 alphas",
      500, 2000, 5000, n_alphas = 1000, peer = "ours_20_alphas", peer_label = "voxridge, 20 alphas",
      output = "dual", wanted = c(1 / 3, 1 / 3), quick = small),
    # no cross-validation: every target has its own alpha
    ridge_case("refit", "refit with one alpha per target",
      200, 300, 500, ours = "ridge_fit", peer = "ridge_fit", peer_label = "himalaya Ridge",
      wanted = c(100, 100), quick = list(n = 80, p = 120, t = 100)),
    # general tools for many responses
    ridge_case("responses-shared", "many responses, one alpha for all, 20 alphas",
      500, 200, 100, spectra = both, ours = "ridge_cv_shared", ours_label = "voxridge, local_alpha = FALSE",
      peer = "glmnet_mgaussian", peer_label = "glmnet cv.glmnet(family = \"mgaussian\")",
      wanted = c(20, 20), quick = list(n = 120, p = 40, t = 20)),
    ridge_case("responses-each", "many responses, one alpha each, 20 alphas",
      500, 200, 20, peer = "grid_search", peer_label = "scikit-learn GridSearchCV(Ridge) per target",
      wanted = c(20, 20), quick = list(n = 120, p = 40, t = 10)),
    # against the machine: the "peer" is the counted arithmetic at the rate of R's own BLAS
    ridge_case("gemm-rate", "counted arithmetic at the machine's own GEMM rate",
      1000, 5000, 20000, peer = "blas_rate", peer_label = "R's BLAS, dgemm", output = "dual",
      wanted = c(0.7, 0.7), quick = list(n = 200, p = 500, t = 1000)),
    ridge_case("gemm-rate", "counted arithmetic at the machine's own GEMM rate",
      1000, 5000, 20000, precision = "single", peer = "blas_rate", peer_label = "R's BLAS, sgemm", output = "dual",
      wanted = c(0.7, 0.7), quick = list(n = 200, p = 500, t = 1000)),
    ridge_case("wide-20-large", "more features than samples, 20 alphas, larger",
      1000, 5000, 20000, peer = "kernel_ridge_cv", peer_label = "himalaya KernelRidgeCV",
      output = "dual", quick = list(n = 200, p = 500, t = 1000))
  )
}

# Arithmetic that any solver of this kind has to do, in floating point operations (dual form):
# search 2 (k - 1) / k n^2 t per alpha, or per node where fewer nodes than alphas are needed; refit 4 n^2 t;
# coefficients per feature 2 n p t.
counted_flops <- function(n, p, t, folds, nodes, output) {
  2 * (folds - 1) / folds * n^2 * t * nodes + 4 * n^2 * t + if (output == "primal") 2 * n * p * t else 0
}
