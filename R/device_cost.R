# Which device `device = "auto"` takes: the one that is predicted to be done first. A prediction is work over rate,
# summed over three kinds of work:
#   products with the targets, in the precision of the call
#   products of the factors, in double: Gram matrices, and the operators of the folds made from their eigenvectors
#   eigenvalue problems, in double, at EIGEN_RATE of the rate of products; on the GPU at most at GPU_EIGEN_RATE, and
#     from the order GPU_EIGEN_ORDER on (core/gpu_algebra.cpp): smaller ones are left to the CPU
# and for the GPU its start and the bytes that cross the bus. Rates of products and of the bus are measured once per R
# process, by products and a copy of a few milliseconds each; only these and the sizes decide, so the choice is the same
# for equal rates. A prepared X has its factors already; they are counted all the same, on both sides.

# What a call asks of a device: list(flops, factor_flops, eigen_flops, eigen_order, bytes_in, bytes_out). `n` samples,
# `p` features, `t` targets; `n_alphas` penalties (times candidates) are scored in `n_folds` folds (0: none); `coefs` as
# in solve_ridge_cv().
ridge_work <- function(n, p, t, n_alphas, n_folds, coefs = "primal", precision = "double", n_candidates = 1) {
  n <- as.double(n)
  inner <- min(n, p)
  # Scores of more penalties are interpolated from those at about 30 (core/alpha_grid.h).
  nodes <- min(n_alphas, MOST_NODES) * n_candidates
  # a fold's held-out rows times its operators, and in primal form X'Y once
  search <- if (n_folds > 0) 2 * nodes * n * inner * t + (if (p < n) 2 * n * p * t else 0) else 0
  refit <- 4 * inner^2 * t + switch(coefs, primal = if (p < n) 0 else 2 * n * p * t, dual = 2 * n * inner * t, none = 0)
  # in dual form the folds are left out of the inverse of all rows, in primal form they have factors of their own
  n_factors <- n_candidates * (if (p < n) n_folds + (coefs != "none") else 1)
  size <- if (precision == "single") 4 else 8
  list(
    flops = search + if (coefs == "none") 0 else refit,
    factor_flops = n * p * inner + if (n_folds > 0) 2 * nodes * n * inner^2 else 0,
    eigen_flops = EIGEN_FLOPS * n_factors * inner^3,
    eigen_order = inner,
    bytes_in = size * (n * t + n * p),
    bytes_out = size * c(primal = as.double(p), dual = n, none = 0)[[coefs]] * t
  )
}

MOST_NODES <- 30
EIGEN_FLOPS <- 6  # times the cube of the order: reduction 4/3, divide and conquer up to 8/3, back-transformation 2

EIGEN_RATE <- 0.3
GPU_EIGEN_RATE <- 5e11  # per second; half of its reduction runs at the speed of memory
GPU_EIGEN_ORDER <- 512

# Seconds on each device. `rates`: list(cpu, gpu, cpu_double, gpu_double) in operations per second, `bus` in bytes per
# second, `start` in seconds.
predicted_seconds <- function(work, rates) {
  factors_cpu <- work$factor_flops / rates$cpu_double
  eigen_cpu <- work$eigen_flops / (EIGEN_RATE * rates$cpu_double)
  factors_gpu <- work$factor_flops / rates$gpu_double
  eigen_gpu <- work$eigen_flops / min(EIGEN_RATE * rates$gpu_double, GPU_EIGEN_RATE)
  c(
    cpu = work$flops / rates$cpu + factors_cpu + eigen_cpu,
    gpu = rates$start + (work$bytes_in + work$bytes_out) / rates$bus + work$flops / rates$gpu + factors_gpu +
      if (work$eigen_order < GPU_EIGEN_ORDER) eigen_cpu else eigen_gpu
  )
}

# list(gpu, reason): is the GPU predicted to be faster?
prefer_gpu <- function(work, rates) {
  seconds <- predicted_seconds(work, rates)
  gpu <- seconds[["gpu"]] < seconds[["cpu"]]
  words <- format(signif(seconds, 2L), trim = TRUE)
  list(
    gpu = gpu,
    reason = sprintf("Predicted: %s s on the CPU, %s s on the GPU.", words[["cpu"]], words[["gpu"]])
  )
}

# ---- at the time of a call -------------------------------------------------------------------

# "auto" becomes the device that is predicted to be done first; other backends stay what they are.
settle_backend <- function(backend, work, n_threads, call = rlang::caller_env()) {
  if (!identical(backend$wanted, "auto") || !check_gpu_available()$available) return(backend)
  choice <- prefer_gpu(work, device_rates(backend$precision, resolve_threads(n_threads, call)))
  settled <- if (choice$gpu) gpu_backend else cpu_backend
  utils::modifyList(backend, settled(backend$precision, choice$reason))
}

# What was measured in this process, by precision.
measured_rates <- new.env(parent = emptyenv())

# A session with its libraries takes about so long to open, once per process.
SESSION_SECONDS <- 0.3

device_rates <- function(precision, n_threads) {
  rates <- rates_in(precision)
  double <- rates_in("double")
  list(cpu = rates$cpu * n_threads, gpu = rates$gpu, cpu_double = double$cpu * n_threads, gpu_double = double$gpu,
       bus = rates$bus, start = SESSION_SECONDS)
}

# list(cpu, gpu, bus): of one thread of the CPU, of the GPU, of copies.
rates_in <- function(precision) {
  if (is.null(measured_rates[[precision]])) {
    control <- list(n_threads = 1L, memory_bytes = memory_budget_bytes())
    single <- precision == "single"
    cpu <- core_device_rates(single, control)
    gpu <- core_device_rates(single, c(control, gpu_bytes = gpu_memory_budget_bytes()))
    measured_rates[[precision]] <- list(cpu = cpu[["flops"]], gpu = gpu[["flops"]], bus = gpu[["bytes"]])
  }
  measured_rates[[precision]]
}

# list(value, backend): run(control), a call into the core, on the device of the backend. Where the GPU has not enough
# memory, once more with half of its budget, and once more with half of that; then on the CPU where "auto" had chosen.
on_device <- function(backend, n_threads, progress, run, call) {
  control <- core_control(n_threads, progress, call)
  if (backend$device == "cpu") return(list(value = run_core(run(control), call), backend = backend))
  control$gpu_bytes <- gpu_memory_budget_bytes(backend$limit_gb, call = call)
  if (!is.null(backend$limit_gb)) control$gpu_limit <- backend$limit_gb * 1e9
  for (attempt in 1:3) {
    value <- tryCatch(run_core(run(control), call), voxridge_error_gpu_out_of_memory = identity)
    if (!inherits(value, "voxridge_error")) return(list(value = value, backend = backend))
    control$gpu_bytes <- control$gpu_bytes / 2
  }
  if (backend$wanted != "auto") abort_gpu_memory(value, backend, call)
  rlang::inform(
    "The GPU has not enough memory for this call: going on with the CPU.",
    class = c("voxridge_message_gpu_out_of_memory", "voxridge_message"),
    .frequency = "once", .frequency_id = "voxridge_gpu_out_of_memory"
  )
  control$gpu_bytes <- NULL
  backend <- utils::modifyList(backend, cpu_backend(backend$precision, "The GPU has not enough memory."))
  list(value = run_core(run(control), call), backend = backend)
}

abort_gpu_memory <- function(cnd, backend, call) {
  budget <- format_bytes(gpu_memory_budget_bytes(backend$limit_gb, call = call))
  limited <- if (is.null(backend$limit_gb)) "" else " ({.arg max_gpu_memory_gb} = {backend$limit_gb})"
  text <- cli::ansi_strip(conditionMessage(cnd))
  abort(
    c(paste0("The GPU must have memory for at least one tile of targets, not only {budget}", limited, ": {text}."),
      i = "Allow more, or use {.code device = \"cpu\"}."),
    "gpu_out_of_memory",
    found = budget, call = call
  )
}
