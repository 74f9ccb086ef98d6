# Which device `device = "auto"` takes: the one that is predicted to be done first. A prediction is work over rate:
#   CPU   work / rate of the CPU's matrix products, all threads
#   GPU   start + bytes to and fro / rate of the bus + work / rate of the GPU's matrix products
# Factorisations are made by the CPU for both and do not count. Rates are measured once per R process, by products and a
# copy of a few milliseconds each; only these and the sizes decide, so the choice is the same for equal rates.

# What a call asks of a device: list(flops, bytes_in, bytes_out). `n` samples, `p` features, `t` targets; `n_alphas`
# penalties (times candidates) are scored in `n_folds` folds (0: none); `coefs` as in solve_ridge_cv().
ridge_work <- function(n, p, t, n_alphas, n_folds, coefs = "primal", precision = "double", n_candidates = 1) {
  n <- as.double(n)
  inner <- min(n, p)
  # Scores of more penalties are interpolated from those at about 30 (core/alpha_grid.h).
  nodes <- min(n_alphas, MOST_NODES) * n_candidates
  # a fold's held-out rows times its operators, and in primal form X'Y once
  search <- if (n_folds > 0) 2 * nodes * n * inner * t + (if (p < n) 2 * n * p * t else 0) else 0
  refit <- 4 * inner^2 * t + switch(coefs, primal = if (p < n) 0 else 2 * n * p * t, dual = 2 * n * inner * t, none = 0)
  size <- if (precision == "single") 4 else 8
  list(
    flops = search + if (coefs == "none") 0 else refit,
    bytes_in = size * (n * t + n * p),
    bytes_out = size * c(primal = as.double(p), dual = n, none = 0)[[coefs]] * t
  )
}

MOST_NODES <- 30

# Seconds on each device. `rates`: list(cpu, gpu) in operations per second, `bus` in bytes per second, `start` in
# seconds.
predicted_seconds <- function(work, rates) {
  c(
    cpu = work$flops / rates$cpu,
    gpu = rates$start + (work$bytes_in + work$bytes_out) / rates$bus + work$flops / rates$gpu
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

# A session with its library takes about so long to open, once per process.
SESSION_SECONDS <- 0.3

device_rates <- function(precision, n_threads) {
  if (is.null(measured_rates[[precision]])) {
    control <- list(n_threads = 1L, memory_bytes = memory_budget_bytes())
    single <- precision == "single"
    cpu <- core_device_rates(single, control)
    gpu <- core_device_rates(single, c(control, gpu_bytes = gpu_memory_budget_bytes()))
    measured_rates[[precision]] <- list(cpu = cpu[["flops"]], gpu = gpu[["flops"]], bus = gpu[["bytes"]])
  }
  rates <- measured_rates[[precision]]
  list(cpu = rates$cpu * n_threads, gpu = rates$gpu, bus = rates$bus, start = SESSION_SECONDS)
}

# list(value, backend): run(control), a call into the core, on the device of the backend. Where the GPU has not enough
# memory, once more with half of its budget, and once more with half of that; then on the CPU where "auto" had chosen.
on_device <- function(backend, n_threads, progress, run, call) {
  control <- core_control(n_threads, progress, call)
  if (backend$device == "cpu") return(list(value = run_core(run(control), call), backend = backend))
  control$gpu_bytes <- gpu_memory_budget_bytes(backend$limit_gb, call = call)
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
