# Which device a permutation test, or a bootstrap, runs on. "auto" takes the GPU where the CPU is predicted to need more
# than a second and the GPU less than that. A prediction is work over rate: rates of matrix products and of the bus are
# measured (R/device_cost.R), those of other work are shares of them. The shares of the CPU were measured on one thread
# of Zen 4, those of the GPU follow from what its memories pass on in a cycle.

LEAST_CPU_SECONDS <- 1

# Additions of a table's entry (8 samples on the CPU, 5 on the GPU) per operation of matrix products: of the CPU in
# double, of the GPU in single precision, which its integers keep up with.
TABLE_RATE <- c(cpu = 0.3, gpu = 0.1)
TABLE_SAMPLES <- c(cpu = 8, gpu = 5)
# Operations, at the rate of products, that a sum of products takes until it is counted.
SUM_OPERATIONS <- c(cpu = 125, gpu = 40)
# The host's operations per value of Y, to bring columns into their form, whatever counts.
COLUMN_OPERATIONS <- 200

# The backend of a test of v columns of n samples under m permutations.
permutation_backend <- function(settings, design, n, v, m, call) {
  lacking <- without_gpu_code(settings, design)
  if (!is.null(lacking)) return(refuse_gpu(settings$device, lacking, call))
  backend <- solver_backend(settings$device, call = call)
  if (backend$wanted != "auto" || !check_gpu_available()$available) return(backend)
  rates <- permutation_rates(resolve_threads(settings$n_threads, call))
  m <- m * length(permutation_tails(design, settings))
  prefer_over_a_second(backend, permutation_seconds(n, v, m, design, rates))
}

# What only the CPU does, as a part of a sentence, or NULL.
without_gpu_code <- function(settings, design) {
  if (!is.null(settings$enhance)) return("a test with `enhance`")
  if (!is.null(settings$sequential)) return("a test with `sequential`")
  if (settings$return_null) return("a test with `return_null`")
  if (!is.null(design$paired)) return("an `x` with a column for each of `Y`")
  NULL
}

permutation_rates <- function(n_threads) {
  rates <- device_rates("double", n_threads)
  c(rates, list(gpu_single = rates$gpu * gpu_info()$fp64_ratio))
}

# c(cpu, gpu): predicted seconds.
permutation_seconds <- function(n, v, m, design, rates) {
  cells <- as.double(v) * m
  columns <- COLUMN_OPERATIONS * as.double(n) * v / rates$cpu
  if (design$sums) {
    passes <- ceiling(n / TABLE_SAMPLES)
    work <- cells * passes / (TABLE_RATE * c(rates$cpu, rates$gpu_single))
    bytes <- 4 * as.double(n) * v
  } else {
    sums <- sums_of_cell(design)
    work <- cells * sums * (2 * n + SUM_OPERATIONS) / c(rates$cpu, rates$gpu)
    bytes <- 8 * as.double(n) * v * if (design$statistic == "welch") 2 else 1
  }
  c(cpu = columns + work[[1L]], gpu = rates$start + bytes / rates$bus + columns + work[[2L]])
}

# Sums of products for each permutation and column.
sums_of_cell <- function(design) {
  switch(design$statistic,
    welch = 2,
    correlation = 1,
    ncol(design$x) + ncol(design$nuisance) - design$n_fixed
  )
}

# The backend with the choice of "auto" made and told.
prefer_over_a_second <- function(backend, seconds) {
  words <- format(signif(seconds, 2L), trim = TRUE)
  reason <- sprintf("Predicted: %s s on the CPU, %s s on the GPU.", words[["cpu"]], words[["gpu"]])
  gpu <- seconds[["cpu"]] > LEAST_CPU_SECONDS && seconds[["gpu"]] < seconds[["cpu"]]
  settled <- if (gpu) gpu_backend else cpu_backend
  utils::modifyList(backend, settled(backend$precision, reason))
}

# ---- the bootstrap ---------------------------------------------------------------------------

# Products with the targets, on the device. Factors and percentiles are the host's on both and are left out.
bootstrap_seconds <- function(n, p, t, outputs, n_boot, one_penalty, rates) {
  inner <- min(n, p)
  drawn <- 0.63 * n
  by_factors <- (drawn + outputs) * inner
  flops <- 2 * as.double(n_boot) * t * if (one_penalty) min(as.double(n) * outputs, by_factors) else by_factors
  bytes <- 8 * (as.double(n_boot) * outputs * t + as.double(n) * t)
  c(cpu = flops / rates$cpu, gpu = rates$start + bytes / rates$bus + flops / rates$gpu)
}

bootstrap_backend <- function(backend, n, p, t, outputs, n_boot, one_penalty, n_threads, call) {
  if (backend$wanted != "auto" || !check_gpu_available()$available) return(backend)
  rates <- device_rates("double", resolve_threads(n_threads, call))
  prefer_over_a_second(backend, bootstrap_seconds(n, p, t, outputs, n_boot, one_penalty, rates))
}
