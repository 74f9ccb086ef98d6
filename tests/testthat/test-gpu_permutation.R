# Permutation tests and the bootstrap on the CUDA plugin against the CPU, see helper-gpu.R.

# Sourced in the other process: identical results but for the backend and the seconds. Data with ties and with columns
# that cannot be tested.
PERMUTATION_TOOLS <- "
tied <- function(n, v, seed) {
  set.seed(seed)
  Y <- matrix(as.double(sample(-3:3, n * v, TRUE)), n)
  Y[, 5] <- 0
  Y[, 9] <- 3
  Y[2, 20] <- NA
  Y
}
crossed <- function() if (is.null(counts())) 1 else counts()[['bytes_in']]
equal <- function(what, fun, ..., n_permutations = 700, n_threads = 2) {
  run <- function(device) {
    suppressMessages(fun(..., n_permutations = n_permutations, exact = 'never', seed = 7, n_threads = n_threads,
                         device = device, progress = FALSE), classes = 'voxridge_message')
  }
  cpu <- run('cpu')
  before <- crossed()
  gpu <- run('gpu')
  used <- is.null(counts()) || crossed() > before
  cuda <- identical(gpu$backend, 'cuda') && identical(cpu$backend, 'armadillo')
  gpu$backend <- cpu$backend <- gpu$diagnostics$seconds <- cpu$diagnostics$seconds <- NULL
  cat(what, '|', if (identical(gpu, cpu) && cuda && used) 0 else 1, '\n')
}
n <- 33
Y <- tied(n, 130, 1)
group <- rep(1:2, c(12, 21))
x <- rnorm(n)
D <- cbind(1, age = rnorm(n), x, x^2)
"

test_that("every design has the same bits on the GPU and on the CPU", {
  lines <- gpu_lines(c(PERMUTATION_TOOLS, "
    for (tail in list(list(), list(alternative = 'greater'), list(alternative = 'less'), list(two_sided = 'double'))) {
      with_tail <- function(fun) function(...) do.call(fun, c(list(...), tail))
      name <- paste(c('two-sided', unlist(tail))[1 + length(tail) * 1:0][1], '')
      equal(paste(name, 'flips'), with_tail(one_sample_permutation_test), Y, mu = 0.5)
      equal(paste(name, 'labels'), with_tail(two_sample_permutation_test), Y, group)
      equal(paste(name, 'Welch'), with_tail(two_sample_permutation_test), Y, group, var_equal = FALSE)
      equal(paste(name, 'Pearson'), with_tail(correlation_permutation_test), x, Y)
      equal(paste(name, 'Spearman'), with_tail(correlation_permutation_test), x, Y, method = 'spearman')
      equal(paste(name, 'Freedman-Lane'), with_tail(glm_permutation_test), Y, D, c(0, 0, 1, 0))
      equal(paste(name, 'intercept'), with_tail(glm_permutation_test), Y, D, c(1, 0, 0, 0), scheme = 'flip')
    }
    equal('F', glm_permutation_test, Y, D, rbind(c(0, 0, 1, 0), c(0, 0, 0, 1)))
    equal('blocks', one_sample_permutation_test, Y, blocks = rep(1:11, each = 3), block_type = 'whole')
    equal('blocks of labels', two_sample_permutation_test, Y, group, blocks = rep(1:11, 3))
    equal('tail fit', one_sample_permutation_test, Y, tail_fit = TRUE)
  "))
  expect_parity(lines, 0, 32L)
})

test_that("so they have for any number of threads, samples, columns and permutations", {
  lines <- gpu_lines(c(PERMUTATION_TOOLS, "
    for (shape in list(c(3, 40, 5), c(30, 32, 128), c(31, 33, 129), c(61, 1000, 20), c(130, 45, 300))) {
      Y <- tied(shape[1], shape[2], shape[3])
      x <- rnorm(shape[1])
      name <- paste(shape, collapse = ' x ')
      for (threads in c(1, 2, 5)) {
        equal(paste(name, 'flips'), one_sample_permutation_test, Y, n_permutations = shape[3], n_threads = threads)
        equal(paste(name, 'Pearson'), correlation_permutation_test, x, Y, n_permutations = shape[3],
              n_threads = threads)
      }
    }
    equal('one column', one_sample_permutation_test, Y[, 1])
    equal('no column', one_sample_permutation_test, Y[, 0])
    withCallingHandlers(
      equal('nothing to test', one_sample_permutation_test, Y[, c(5, 9)]),
      voxridge_warning = function(w) rlang::cnd_muffle(w)
    )
    # all rearrangements, and the caller's own
    all <- function(...) one_sample_permutation_test(tied(8, 60, 3), ..., n_permutations = 256, progress = FALSE)
    cat('enumerated |', 1 - identical(all(device = 'gpu')$p_fwer, all()$p_fwer), '\n')
    given <- t(replicate(50, sample(130)))
    own <- function(...) correlation_permutation_test(x, Y, ..., permutations = given, progress = FALSE)
    cat('given |', 1 - identical(own(device = 'gpu')$max_null, own()$max_null), '\n')
  "))
  # without columns, or columns that can be tested, nothing crosses the bus
  expect_parity(sub("^(no column|nothing to test) \\| 1", "\\1 | 0", lines), 0, 35L)
})

test_that("batches of any size and little memory change nothing", {
  lines <- gpu_lines(c(PERMUTATION_TOOLS, "
    # the calls into the core of two tests
    calls <- list()
    catch <- function(...) {
      calls <<- c(calls, list(list(...)))
      voxridge:::core_permutation_test(...)
    }
    package <- asNamespace('voxridge')
    caught <- function(fun, ...) {
      run <- package$run_permutation_test
      environment(run) <- list2env(list(core_permutation_test = catch), parent = package)
      environment(fun) <- list2env(list(run_permutation_test = run), parent = package)
      fun(Y, ..., n_permutations = 500, seed = 3, progress = FALSE)
    }
    caught(one_sample_permutation_test)
    caught(glm_permutation_test, D, c(0, 0, 1, 0))
    check_gpu_available()
    for (call in calls) {
      want <- do.call(voxridge:::core_permutation_test, call)
      for (batch in c(0, 37, 130)) for (gpu_bytes in c(1e9, 4e6)) {
        call[[4]]$batch <- as.integer(batch)
        call[[5]]$gpu_bytes <- gpu_bytes
        cat(batch, gpu_bytes, '|', 1 - identical(do.call(voxridge:::core_permutation_test, call), want), '\n')
      }
    }
  "))
  expect_parity(lines, 0, 12L)
})

test_that("a library that does not add whole numbers exactly is found out and not used", {
  lines <- gpu_lines(c(PERMUTATION_TOOLS, "
    equal('Pearson', correlation_permutation_test, x, Y)
    equal('Welch', two_sample_permutation_test, Y, group, var_equal = FALSE)
  "), VOXRIDGE_SHIM_INEXACT = "yes")
  expect_parity(lines, 0, 2L)
})

test_that("auto takes the GPU for long work only, and the CPU where the GPU has too little memory", {
  lines <- gpu_lines(c(PERMUTATION_TOOLS, "
    rates <- voxridge:::measured_rates
    test <- function(...) one_sample_permutation_test(Y, ..., n_permutations = 50, seed = 1, progress = FALSE)
    rates$double <- list(cpu = 1e3, gpu = 1e13, bus = 1e10)
    cat('slow host:', test(device = 'auto')$backend, '\n')
    cat('maps:', test(device = 'auto', return_null = TRUE)$backend, '\n')
    rates$double <- list(cpu = 1e10, gpu = 1e13, bus = 1e10)
    cat('short work:', test(device = 'auto')$backend, '\n')
    rates$double <- NULL
    cat('measured:', test(device = 'auto')$backend, unlist(rates$double) > 0, '\n')
    boot <- function(...) bootstrap_ridge(D, Y[, 1:4], 1, n_boot = 100, seed = 1, progress = FALSE, ...)
    rates$double <- list(cpu = 1e3, gpu = 1e13, bus = 1e10)
    cat('slow host, bootstrap:', boot(device = 'auto')$backend, '\n')
    rates$double <- list(cpu = 1e10, gpu = 1e13, bus = 1e10)
    cat('short work, bootstrap:', boot(device = 'auto')$backend, '\n')
  "))
  text <- paste(lines, collapse = "\n")
  expect_match(text, "slow host: cuda")
  expect_match(text, "maps: armadillo")
  expect_match(text, "short work: armadillo")
  expect_match(text, "measured: armadillo TRUE TRUE TRUE")
  expect_match(text, "slow host, bootstrap: cuda")
  expect_match(text, "short work, bootstrap: armadillo")
})

test_that("a GPU with too little memory is an error, and the CPU for auto", {
  # of the free memory nine tenths less 512 MB: 2 kB
  lines <- gpu_lines(c(PERMUTATION_TOOLS, "
    rates <- voxridge:::measured_rates
    rates$double <- list(cpu = 1e3, gpu = 1e13, bus = 1e10)
    if (is.null(counts())) cat('a real GPU\n') else for (device in c('gpu', 'auto')) {
      test <- function(fun, ...) {
        fit <- tryCatch(fun(..., n_permutations = 2000, device = device, progress = FALSE),
                        voxridge_error = function(cnd) list(backend = class(cnd)[1]))
        cat(device, 'without room:', fit$backend, '\n')
      }
      test(one_sample_permutation_test, Y)
      test(correlation_permutation_test, x, Y)
    }
  "), VOXRIDGE_SHIM_MEMORY = "568891111")
  skip_if(any(lines == "a real GPU"), "the memory of a real GPU cannot be limited here")
  expect_length(grep("gpu without room: voxridge_error_gpu_out_of_memory", lines), 2L)
  expect_length(grep("auto without room: armadillo", lines), 2L)
  expect_length(grep("going on with the CPU", lines), 1L)
})

test_that("a failing device ends a test with a classed error", {
  lines <- gpu_lines(c(PERMUTATION_TOOLS, "
    caught <- tryCatch(one_sample_permutation_test(Y, device = 'gpu', progress = FALSE), error = function(cnd) cnd)
    cat(class(caught)[1], '\n')
  "), VOXRIDGE_SHIM_BROKEN = "yes")
  expect_match(paste(lines, collapse = "\n"), "voxridge_error_device_failed")
})

test_that("SIGINT between tiles ends a test on the GPU within two seconds", {
  skip_on_os("windows")
  plugin <- gpu_plugin()
  withr::local_envvar(VOXRIDGE_CUDA_PLUGIN = plugin)
  folder <- withr::local_tempdir()
  worker <- start_r(c(
    sprintf("folder <- %s", deparse(folder)),
    "Y <- matrix(rnorm(20 * 2e5), 20)",
    "say <- function(x, name) { saveRDS(x, file.path(folder, 'part'))",
    "  file.rename(file.path(folder, 'part'), file.path(folder, name)) }",
    "say(NULL, 'ready')",
    "outcome <- tryCatch({",
    "  repeat one_sample_permutation_test(Y, n_permutations = 500, device = 'gpu', progress = FALSE)",
    "}, interrupt = function(cnd) 'interrupted')",
    "ended <- as.numeric(Sys.time())",
    "again <- one_sample_permutation_test(Y[, 1:5], n_permutations = 100, device = 'gpu', progress = FALSE)",
    "say(list(outcome = outcome, ended = ended, backend = again$backend), 'result')"
  ), folder)
  withr::defer(tools::pskill(worker$pid, tools::SIGKILL))
  there <- function(name) function() file.exists(file.path(folder, name))
  if (!wait_until(there("ready"), 30)) fail(paste(c("no start:", readLines(worker$log)), collapse = "\n"))
  Sys.sleep(1.5)
  sent <- as.numeric(Sys.time())
  tools::pskill(worker$pid, tools::SIGINT)
  if (!wait_until(there("result"), 30)) fail(paste(c("it went on:", readLines(worker$log)), collapse = "\n"))
  result <- readRDS(file.path(folder, "result"))
  expect_identical(result[c("outcome", "backend")], list(outcome = "interrupted", backend = "cuda"))
  expect_lt(result$ended - sent, 2)
})

test_that("the bootstrap on the GPU agrees with that on the CPU to rounding", {
  lines <- gpu_lines("
    runs <- rep(1:8, 5)
    maps <- c('estimate', 'mean', 'sd', 'lower', 'upper', 'samples')
    boot <- function(X, ..., of = 'weights', device, progress) {
      suppressWarnings(bootstrap_ridge(X, ..., what = of, n_boot = 60, seed = 2, device = device, progress = progress,
                                       return_samples = TRUE))
    }
    for (shape in list(c(40, 6, 300), c(40, 90, 40), c(40, 40, 3))) {
      d <- problem(shape[1], shape[2], shape[3], sum(shape))
      X_new <- problem(70, shape[2], 1, 1)$X
      name <- paste(shape, collapse = ' x ')
      several <- rep_len(c(1, 10, 100), shape[3])
      same(paste(name, 'weights'), boot, d$X, d$Y, 10, blocks = runs, parts = maps)
      same(paste(name, 'several penalties'), boot, d$X, d$Y, several, parts = maps)
      same(paste(name, 'predictions'), boot, d$X, d$Y, 10, of = 'predictions', X_new = X_new, parts = maps)
      same(paste(name, 'predictions, several'), boot, d$X, d$Y, several, of = 'predictions', X_new = X_new,
           fit_intercept = FALSE, parts = maps)
      same(paste(name, 'alpha 0'), boot, d$X, d$Y, c(0, several[-1]), parts = maps)
    }
    d <- problem(40, 6, 1, 1)
    same('vector', boot, d$X, d$Y[, 1], 1, parts = maps)
  ")
  expect_parity(lines, 1e-9, 16L)
})
