# The ridge family on the CUDA plugin against the CPU, see helper-gpu.R.

test_that("searches on the GPU give the answers of the CPU", {
  lines <- gpu_lines("
    runs <- rep(1:4, c(9, 12, 10, 9))
    boot <- lapply(1:3, function(k) {
      set.seed(k)
      train <- sample(40, 30, TRUE)
      list(train = train, test = setdiff(1:40, train))
    })
    grid <- 10^seq(-3, 5, length.out = 40)
    for (shape in list(c(40, 7, 1100), c(40, 90, 600), c(40, 40, 3))) {
      d <- problem(shape[1], shape[2], shape[3], sum(shape))
      name <- paste(shape, collapse = ' x ')
      same(paste(name, 'r2'), solve_ridge_cv, d$X, d$Y, alphas = grid, cv = runs, fit_intercept = TRUE)
      same(paste(name, 'neg_mse, shared'), solve_ridge_cv, d$X, d$Y, alphas = c(1, 10), score_func = 'neg_mse',
           local_alpha = FALSE)
      same(paste(name, 'correlation, dual'), solve_ridge_cv, d$X, d$Y, alphas = grid, cv = runs,
           score_func = 'correlation', return_coefs = 'dual', fit_intercept = TRUE)
      same(paste(name, 'bootstraps'), solve_ridge_cv, d$X, d$Y, alphas = grid, cv = boot, conservative = TRUE)
      same(paste(name, 'function'), solve_ridge_cv, d$X, d$Y, alphas = c(1, 10), cv = runs,
           score_func = function(a, b) -colMeans(abs(a - b)))
      same(paste(name, 'gcv'), solve_ridge_cv, d$X, d$Y, alphas = grid, cv = 'gcv', fit_intercept = TRUE)
      same(paste(name, 'loo'), solve_ridge_cv, d$X, d$Y, alphas = grid, cv = 'loo')
    }
    d <- problem(40, 60, 700, 1)
    d$Y[3, 5] <- NA
    d$Y[, 6] <- 2
    same('skipped and constant', solve_ridge_cv, d$X, d$Y, alphas = c(1, 10), na_targets = 'skip', fit_intercept = TRUE)
    same('vector', solve_ridge_cv, d$X, d$Y[, 1], alphas = c(1, 10))
    long <- problem(2000, 6, 520, 9)  # a tile takes several turns of the two buffers
    same('long', solve_ridge_cv, long$X, long$Y, alphas = c(1, 10), cv = 3)
    same('long predictions', cross_val_predict_ridge, long$X, long$Y, alphas = 1, cv = 3)
    broad <- problem(20, 2100, 520, 10)
    same('broad', solve_ridge_cv, broad$X, broad$Y, alphas = c(1, 10), cv = 3)
  ")
  expect_parity(lines, 1e-9, 26L)
})

test_that("so do single precision, least squares, predictions, bands and prepared features", {
  lines <- gpu_lines("
    d <- problem(40, 9, 700, 2)
    wide <- problem(30, 80, 600, 3)
    runs <- rep(1:5, 8)
    same('alpha 0', solve_ridge_cv, d$X, d$Y, alphas = c(0, 1), cv = runs)
    same('alpha 0, wide', solve_ridge_cv, wide$X, wide$Y, alphas = c(0, 1), cv = 3, fit_intercept = TRUE)
    same('ridge_svd', function(..., progress) ridge_svd(...), d$X, d$Y, alpha = 3)
    same('ridge_svd, wide', function(..., progress) ridge_svd(...), wide$X, wide$Y, alpha = 0)
    same('ridge_cv', function(..., progress) ridge_cv(...), d$X, d$Y, alphas = c(1, 10, 100))
    same('predictions', cross_val_predict_ridge, d$X, d$Y, alphas = 10, cv = runs, fit_intercept = TRUE)
    same('predictions, one penalty each', cross_val_predict_ridge, wide$X, wide$Y, alphas = 1:600, cv = 5)
    same('predictions, loo', cross_val_predict_ridge, d$X, d$Y, alphas = 10, cv = 'loo')
    Xs <- list(a = wide$X[, 1:30], b = wide$X[, 31:80])
    same('bands', solve_banded_ridge_cv, Xs, wide$Y, n_iter = 8, alphas = 10^(-1:3), seed = 1, fit_intercept = TRUE)
    same('bands, primal', solve_banded_ridge_cv, list(a = d$X[, 1:4], b = d$X[, 5:9]), d$Y, n_iter = 8,
         alphas = 10^(-1:3), seed = 1, return_coefs = 'dual')
    prepared <- list(gpu = prepare_ridge(wide$X, cv = 3, device = 'gpu'), cpu = prepare_ridge(wide$X, cv = 3))
    for (k in 1:2) same(paste('prepared', k), function(Y, device, progress) {
      solve_ridge_cv(prepared[[device]], Y, alphas = c(1, 10), device = device, progress = progress)
    }, wide$Y[, 1:100 + 100 * k])
  ")
  expect_parity(lines, 1e-9, 12L)
  lines <- gpu_lines("
    d <- problem(40, 9, 700, 2)
    wide <- problem(30, 80, 600, 3)
    for (one in list(d, wide)) {
      same('single', solve_ridge_cv, one$X, one$Y, alphas = 100, precision = 'single', fit_intercept = TRUE)
      same('single, correlation', solve_ridge_cv, one$X, one$Y, alphas = 100, precision = 'single',
           score_func = 'correlation')
      same('single, predictions', cross_val_predict_ridge, one$X, one$Y, alphas = 10, precision = 'single')
    }
  ")
  expect_parity(lines, 1e-4, 6L)
})

test_that("any limit of memory gives the same answer, or an error that names it", {
  lines <- gpu_lines("
    d <- problem(60, 300, 3000, 4)
    full <- solve_ridge_cv(d$X, d$Y, alphas = 10^(0:3), device = 'gpu')
    for (gb in c(0.05, 0.01)) {
      small <- solve_ridge_cv(d$X, d$Y, alphas = 10^(0:3), device = 'gpu', max_gpu_memory_gb = gb)
      cat(sprintf('limit | %.3g\\n', differ(small[c('best_alphas', 'coefs')], full[c('best_alphas', 'coefs')])))
    }
    caught <- tryCatch(solve_ridge_cv(d$X, d$Y, alphas = 10^(0:3), device = 'gpu', max_gpu_memory_gb = 1e-6),
                       error = function(cnd) cnd)
    cat(class(caught)[1], '\\n', conditionMessage(caught), '\\n')
  ")
  expect_parity(lines, 1e-10, 2L)
  expect_match(paste(lines, collapse = "\n"), "voxridge_error_gpu_out_of_memory")
  expect_match(paste(lines, collapse = "\n"), "max_gpu_memory_gb")
})

test_that("auto takes the faster device, and the CPU where the GPU has too little memory", {
  lines <- gpu_lines("
    d <- problem(60, 30, 500, 5)
    rates <- voxridge:::measured_rates
    solve <- function() suppressWarnings(solve_ridge_cv(d$X, d$Y, alphas = c(1, 10), device = 'auto'))
    rates$double <- list(cpu = 1e-3, gpu = 1e13, bus = 1e10)
    cat('fast card:', solve()$backend, '\\n')
    rates$double <- list(cpu = 1e13, gpu = 1e13, bus = 1e10)
    cat('fast host:', solve()$backend, '\\n')
    rates$double <- NULL
    cat('measured:', solve()$backend, unlist(rates$double) > 0, '\\n')
    rates$double <- list(cpu = 1e-3, gpu = 1e13, bus = 1e10)
    fit <- suppressWarnings(solve_ridge_cv(d$X, d$Y, alphas = c(1, 10), device = 'auto', max_gpu_memory_gb = 1e-6))
    cat('no room:', fit$backend, '\\n')
    again <- suppressWarnings(solve_ridge_cv(d$X, d$Y, alphas = c(1, 10), device = 'auto', max_gpu_memory_gb = 1e-6))
  ")
  text <- paste(lines, collapse = "\n")
  expect_match(text, "fast card: cuda")
  expect_match(text, "fast host: armadillo")
  expect_match(text, "measured: [a-z]+ TRUE TRUE TRUE")
  expect_match(text, "no room: armadillo")
  expect_length(grep("going on with the CPU", lines), 1L)
})

test_that("a failing device ends the call with a classed error, and so do later calls", {
  lines <- gpu_lines("
    d <- problem(60, 30, 500, 5)
    for (k in 1:2) {
      caught <- tryCatch(solve_ridge_cv(d$X, d$Y, alphas = c(1, 10), device = 'gpu'), error = function(cnd) cnd)
      cat(class(caught)[1], '\\n')
    }
    print(check_gpu_available()$available)
    print(suppressWarnings(solve_ridge_cv(d$X, d$Y, alphas = c(1, 10)))$backend)
  ", VOXRIDGE_SHIM_BROKEN = "yes")
  expect_match(paste(lines, collapse = "\n"), "voxridge_error_device_failed")
  expect_match(lines[length(lines)], "armadillo")
})

# Large enough for Gram matrices, eigenvalues and products of factors to go to the GPU.
LARGE_CALLS <- "
  wide <- problem(700, 900, 30, 6)
  tall <- problem(1400, 560, 30, 7)
  Xs <- list(a = wide$X[, 1:400], b = wide$X[, 401:900])
  same('all rows', solve_ridge_cv, wide$X, wide$Y, alphas = 10^(0:4), cv = 5, fit_intercept = TRUE)
  same('own factors', solve_ridge_cv, wide$X, wide$Y, alphas = 10^(0:4), cv = 5, score_func = 'correlation')
  same('primal', solve_ridge_cv, tall$X, tall$Y, alphas = 10^(0:4), cv = 5, fit_intercept = TRUE)
  same('bands', solve_banded_ridge_cv, Xs, wide$Y, n_iter = 2, alphas = 10^(1:4), cv = 3, seed = 1)
  shown <- counts()
  cat('counted:', is.null(shown), shown[['syrk']] > 0, shown[['syevd']], '\n')
"

test_that("factors made on the GPU give the answers of the CPU", {
  lines <- gpu_lines(LARGE_CALLS)
  expect_parity(lines, 1e-9, 4L)
  counted <- grep("^counted: ", lines, value = TRUE)
  expect_match(counted, "counted: (TRUE|FALSE TRUE [1-9])")
})

test_that("so do factors that a missing or failing solver leaves to the host", {
  for (solver in c("missing", "memory", "fails", "error")) {
    lines <- gpu_lines(LARGE_CALLS, VOXRIDGE_SHIM_SOLVER = solver)
    expect_parity(lines, 1e-9, 4L)
    solved <- if (solver %in% c("fails", "error")) "[1-9]" else "0"  # as often as the solver was asked
    expect_match(grep("^counted: ", lines, value = TRUE), sprintf("counted: (TRUE|FALSE TRUE %s)", solved))
  }
})

test_that("a GPU too small for an eigenvalue problem leaves it to the host", {
  lines <- gpu_lines("
    wide <- problem(700, 900, 30, 6)
    same('small', function(..., device) {
      solve_ridge_cv(..., device = device, max_gpu_memory_gb = if (device == 'gpu') 0.015)
    }, wide$X, wide$Y, alphas = 10^(0:4), cv = 5)
    cat('counted:', is.null(counts()), counts()[['syevd']], '\n')
  ")
  expect_parity(lines, 1e-9, 1L)
  expect_match(lines[length(lines)], "counted: (TRUE|FALSE 0)")
})

test_that("a prepared X crosses the bus once, and so do the operators of the same penalties", {
  lines <- gpu_lines("
    d <- problem(200, 500, 1200, 8)
    Y <- list(d$Y[, 1:600], d$Y[, 601:1200])
    for (single in c('double', 'single')) for (score in c('r2', 'correlation')) {
      prepared <- prepare_ridge(d$X, cv = 5, fit_intercept = TRUE, device = 'gpu')
      crossed <- function(Y, alphas) {
        before <- counts()
        args <- list(Y = Y, alphas = alphas, score_func = score, precision = single, return_coefs = 'dual')
        fit <- suppressWarnings(do.call(solve_ridge_cv, c(list(prepared, device = 'gpu'), args)))
        plain <- suppressWarnings(do.call(solve_ridge_cv, c(list(d$X, cv = 5, fit_intercept = TRUE), args)))
        if (single == 'double') cat(sprintf('same | %.3g\\n', differ(fit, plain[c('best_alphas', 'coefs')])))
        (counts() - before)[['bytes_in']] / (length(Y) * if (single == 'double') 8 else 4)
      }
      if (is.null(counts())) next
      shares <- c(crossed(Y[[1]], 10^(0:4)), crossed(Y[[2]], 10^(0:4)), crossed(Y[[1]], 10^(1:5)),
                  crossed(Y[[1]], 10^(1:5)))
      cat('shares:', single, score, shares, '\n')
    }
  ")
  skip_if(!length(grep("^shares: ", lines)), "bytes are counted on the plugin for the host only")
  expect_parity(lines, 1e-9, 8L)
  shares <- strsplit(grep("^shares: ", lines, value = TRUE), " ")
  expect_length(shares, 4L)
  for (row in shares) {
    crossed <- as.numeric(row[4:7])  # in units of Y, of which the small vectors of its tiles are a third
    expect_lt(max(crossed[c(2, 4)]), 1.4)
    expect_gt(min(crossed[c(1, 3)]), 1.5)
  }
})

test_that("what a prepared X has left on the GPU counts against the limit, and makes room where it must", {
  lines <- gpu_lines("
    d <- problem(300, 1000, 700, 11)
    free <- function() check_gpu_available()$memory_gb
    before <- free()
    prepared <- prepare_ridge(d$X, cv = 5, device = 'gpu', max_gpu_memory_gb = 0.03)
    for (score in c('r2', 'correlation', 'r2')) {
      same(score, function(X, ..., device) {
        if (device == 'cpu') return(solve_ridge_cv(d$X, ..., cv = 5))
        solve_ridge_cv(X, ..., device = device, max_gpu_memory_gb = 0.03)
      }, prepared, d$Y, alphas = 10^(1:4), score_func = score, parts = c('best_alphas', 'coefs'))
    }
    # a real GPU has other users, and a context that takes memory, too
    cat('held:', if (is.null(counts())) 0 else before - free(), '\\n')
  ")
  expect_parity(lines, 1e-9, 3L)
  held <- as.numeric(sub("held: ", "", grep("held: ", lines, value = TRUE)))
  expect_lt(held, 0.045)  # with what sessions keep for the next request
})
