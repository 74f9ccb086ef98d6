#' What a call would run on
#'
#' Resolves the words of the arguments `device` and `precision` to the backend and precision that would be used.
#'
#' @section The choice of `"auto"`: The device that is predicted to be done first. On the CPU that is the number of
#'   operations of the matrix products over the rate of such products, times the threads. On the GPU it is 0.3 s for
#'   opening a session, plus the bytes that cross the bus over its rate, plus the operations over the rate of the GPU.
#'   The rates are measured once per R process and precision, in a fraction of a second, when a call with `"auto"` first
#'   finds a GPU. Factorisations count too, with rates that are set against these: the GPU makes those of an order of
#'   512 or more. Permutation tests and the bootstrap count their own work, and take the GPU only where the CPU would
#'   need more than a second, see [one_sample_permutation_test()]. A call for which the GPU has not enough memory goes
#'   on with the CPU, and says so once.
#'
#' @param device One string. `"cpu"` (the default); `"gpu"`, an error where there is none; `"auto"`, the GPU where there
#'   is one and the work is large enough, which each call decides; without a call it is the CPU.
#' @param precision One string: `"double"` (the default) or `"single"` for products with the targets in single
#'   precision. Factorisations are always double. Where the BLAS has no single precision, double is used.
#'
#' @returns A list of strings: `name` (`"armadillo"` or `"cuda"`), `device` (`"cpu"` or `"gpu"`), `precision`
#'   (`"double"` or `"single"`), `reason` (why this one).
#' @section Errors:
#' `voxridge_error_device_unavailable` where `device = "gpu"` and there is none; `voxridge_error_argument` for other
#' words. See [voxridge-conditions].
#' @examples
#' resolve_backend("auto")
#' @export
resolve_backend <- function(device = c("cpu", "gpu", "auto"), precision = c("double", "single")) {
  backend_for(device, precision, call = rlang::current_env())
}

DEVICES <- c("cpu", "gpu", "auto")
PRECISIONS <- c("double", "single")

# "auto" is decided when the work is known, by settle_backend().
backend_for <- function(device, precision = "double", call = rlang::caller_env()) {
  device <- as_choice(device, DEVICES, arg = "device", call = call)
  precision <- as_choice(precision, PRECISIONS, arg = "precision", call = call)
  if (device == "cpu") return(cpu_backend(precision, "The CPU was asked for."))
  gpu <- check_gpu_available()
  if (device == "gpu" && !gpu$available) {
    abort(
      c("{.arg device} must be a device that is there, not {.val gpu}: {gpu$reason}",
        i = "Use {.code device = \"cpu\"}, or {.code device = \"auto\"} to take the GPU only where there is one."),
      "device_unavailable",
      found = device, reason = gpu$reason, call = call
    )
  }
  if (!gpu$available) return(cpu_backend(precision, gpu$reason))
  if (device == "gpu") return(gpu_backend(precision, "The GPU was asked for."))
  cpu_backend(precision, "The CPU, unless the size of the work makes the GPU faster.")
}

# For a function that takes `device` and has no code for the GPU: backend_for() with "auto" on the CPU and an error for
# "gpu". `what` completes "`device` must be "cpu" or "auto" for <what>".
refuse_gpu <- function(device, what, call = rlang::caller_env()) {
  device <- as_choice(device, DEVICES, arg = "device", call = call)
  if (device == "cpu") return(cpu_backend("double", "The CPU was asked for."))
  if (device == "auto") return(cpu_backend("double", paste0("There is no code for the GPU for ", what, ".")))
  abort(
    c("{.arg device} must be {.val cpu} or {.val auto} for {what}, not {.val {device}}.",
      i = "It has no code for the GPU: leave {.arg device} out."),
    "device_unsupported",
    expected = c("cpu", "auto"), found = device, call = call
  )
}

gpu_backend <- function(precision, reason) list(name = "cuda", device = "gpu", precision = precision, reason = reason)

cpu_backend <- function(precision, reason) {
  if (precision == "single" && !core_blas_info()$single) {
    precision <- "double"
    reason <- paste(reason, "The BLAS of this R has no single precision.")
  }
  list(name = "armadillo", device = "cpu", precision = precision, reason = reason)
}

# The backend of a solver call, with `wanted`, the argument `device`, and `limit_gb`. Asking for single precision where
# there is none is told once per R process.
solver_backend <- function(device, precision = "double", max_gpu_memory_gb = NULL, call = rlang::caller_env()) {
  backend <- backend_for(device, precision, call)
  backend$wanted <- as_choice(device, DEVICES, arg = "device", call = call)
  backend["limit_gb"] <- list(check_gpu_memory(device, max_gpu_memory_gb, call))
  wanted <- as_choice(precision, PRECISIONS, arg = "precision", call = call)
  if (wanted != backend$precision) {
    warn_once(
      c("Computing in double precision: the BLAS of this R has no single precision.",
        i = "See {.fn voxridge_sitrep}. OpenBLAS has both."),
      "single_precision"
    )
  }
  backend
}

check_gpu_memory <- function(device, max_gpu_memory_gb, call) {
  limit <- as_positive(max_gpu_memory_gb, null_ok = TRUE, arg = "max_gpu_memory_gb", call = call)
  if (is.null(limit) || !identical(as_choice(device, DEVICES, arg = "device", call = call), "cpu")) {
    return(invisible(limit))
  }
  abort(
    c("{.arg max_gpu_memory_gb} must be NULL with {.code device = \"cpu\"}, not {limit}.",
      i = "Use {.code options(voxridge.memory_gb = )} to limit the working memory on the CPU."),
    "conflict",
    found = limit, call = call
  )
}

#' Memory a call may work in
#'
#' The budget, in GB, for what a call needs besides its inputs and results.
#'
#' On the CPU it is half of the memory that is free now (limits of containers are respected), or 2 GB where that is not
#' known. `options(voxridge.memory_gb =)` overrides it. On the GPU it is nine tenths of the free device memory less
#' 512 MB, or `max_gpu_memory_gb` where that is less. A smaller budget means smaller blocks of targets; it never changes
#' an answer.
#'
#' @inheritParams resolve_backend
#' @param max_gpu_memory_gb NULL (no limit of your own), or a limit in GB for the GPU. Only with `device = "gpu"` or
#'   `"auto"`.
#'
#' @returns One number, in GB (1 GB is 1e9 bytes).
#' @section Errors:
#' `voxridge_error_device_unavailable`, `voxridge_error_argument`, `voxridge_error_conflict` (a limit for the GPU with
#' `device = "cpu"`), `voxridge_error_gpu_out_of_memory` (a GPU without free memory). See [voxridge-conditions].
#' @seealso [auto_batch_size()]
#' @examples
#' device_memory_budget()
#' @export
device_memory_budget <- function(device = "cpu", max_gpu_memory_gb = NULL) {
  call <- rlang::current_env()
  backend <- backend_for(device, call = call)
  limit <- check_gpu_memory(device, max_gpu_memory_gb, call)
  bytes <- if (backend$device == "gpu") gpu_memory_budget_bytes(limit, call = call) else memory_budget_bytes(call)
  bytes / 1e9
}

memory_budget_bytes <- function(call = rlang::caller_env()) {
  option <- getOption("voxridge.memory_gb")
  limit <- as_positive(option, null_ok = TRUE, arg = "options(voxridge.memory_gb)", call = call)
  if (!is.null(limit)) return(limit * 1e9)
  available <- core_memory_available()
  if (is.na(available)) 2e9 else available / 2
}

#' Items that fit into a memory budget
#'
#' The number of equal items, for example targets, to process at a time.
#'
#' @param n_items Whole number: how many items there are.
#' @param bytes_per_item Number greater than 0: bytes each of them needs.
#' @param budget_gb Number greater than 0: the budget in GB (1 GB is 1e9 bytes). The default is
#'   [device_memory_budget()] on the CPU.
#'
#' @returns One integer from 1 to `n_items`: at least 1 even where a single item exceeds the budget.
#' @section Errors:
#' `voxridge_error_argument`, see [voxridge-conditions].
#' @examples
#' auto_batch_size(20000, bytes_per_item = 8 * 1000, budget_gb = 0.1)
#' @export
auto_batch_size <- function(n_items, bytes_per_item, budget_gb = device_memory_budget()) {
  n_items <- as_count(n_items)
  bytes_per_item <- as_positive(bytes_per_item)
  budget_gb <- as_positive(budget_gb)
  as.integer(max(1, min(n_items, floor(budget_gb * 1e9 / bytes_per_item))))
}

# Refuses results over half of the free memory before any work. `results`: named bytes, the names are for people.
check_result_memory <- function(results, advice, call = rlang::caller_env()) {
  available <- core_memory_available()
  if (is.na(available) || sum(results) <= available / 2) return(invisible(results))
  largest <- names(results)[which.max(results)]
  needed <- format_bytes(sum(results))
  limit <- format_bytes(available / 2)
  abort(
    c("The results must fit into half of the free memory ({limit}), not need {needed}, most of it for {largest}.",
      i = advice),
    "memory",
    expected = available / 2, found = sum(results), call = call
  )
}
