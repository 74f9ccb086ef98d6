# Which device `device = "auto"` takes: the one that is predicted to be done first. A prediction is work over rate:
#   CPU   work / rate of the CPU's matrix products, all threads
#   GPU   start + bytes to and fro / rate of the bus + work / rate of the GPU's matrix products
# Factorisations are made by the CPU for both and do not count. Rates are measured once per R process, by products and a
# copy of a few milliseconds each; only these and the sizes decide, so the choice is the same for equal rates.

# What a call asks of a device: list(flops, bytes_in, bytes_out). `n` samples, `p` features, `t` targets; `n_scored` is
# the number of penalties (or candidates times penalties) that are scored in `n_folds` folds (0: none); `coefs` as in
# solve_ridge_cv().
ridge_work <- function(n, p, t, n_scored, n_folds, coefs = "primal", precision = "double") {
  n <- as.double(n)
  inner <- min(n, p)
  # Scores of more penalties are interpolated from those at about 30 (core/alpha_grid.h).
  nodes <- min(n_scored, MOST_NODES)
  # a fold's training side, products with its operators, and in primal form X'Y of all rows once
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

# Seconds on each device. `rates`: list(cpu, gpu) in operations per second, `bus` in bytes per second, `start` in seconds.
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
