#' Errors and warnings of voxridge
#'
#' Every error is a condition of class `voxridge_error_<what>` and `voxridge_error`, every warning one of class
#' `voxridge_warning_<what>` and `voxridge_warning`. The first line of the message says which argument, what it must be
#' and what was found; the next says what to do. Sizes, positions and values are also fields of the condition
#' (`expected`, `found`, `where`).
#'
#' @section Errors:
#' | class | raised when |
#' | --- | --- |
#' | `voxridge_error_argument` | a setting has the wrong type, an unknown value or lies outside its range |
#' | `voxridge_error_type` | data of a kind that is not supported: sparse matrices, factors, text |
#' | `voxridge_error_shape` | no rows, columns or targets, or sizes that do not match |
#' | `voxridge_error_nonfinite` | NA, NaN or Inf in data |
#' | `voxridge_error_alphas` | penalties that are negative, not finite, of the wrong number or too small for a file |
#' | `voxridge_error_y_form` | outcomes of a form that is not 0/1, logical, two levels or proportions |
#' | `voxridge_error_weights` | weights of samples that are negative, not finite, all 0 or of the wrong number |
#' | `voxridge_error_probability` | forecasts outside 0 to 1 where probabilities are meant |
#' | `voxridge_error_single_class` | outcomes of one class where two are needed |
#' | `voxridge_error_single_class_fold` | folds that leave one class for training |
#' | `voxridge_error_lambda` | penalties that are not greater than 0, or not those of a fit |
#' | `voxridge_error_penalty` | relative penalties of features that are not greater than 0, or of the wrong number |
#' | `voxridge_error_offset` | an offset that is not numeric or of the wrong number |
#' | `voxridge_error_missing_newoffset` | predictions of a fit with an offset, for samples without one |
#' | `voxridge_error_prior` | a prevalence that is not between 0 and 1, or of the wrong number |
#' | `voxridge_error_bands` | feature spaces without names or columns, with repeated names, or not those of a fit |
#' | `voxridge_error_gammas` | weights of feature spaces that are negative, not finite, all 0 or of the wrong number |
#' | `voxridge_error_nifti` | a file that is not a NIfTI image, is damaged, or cannot be read or written as asked |
#' | `voxridge_error_item` | items of a collection that are missing, damaged or changed, or on which a function failed |
#' | `voxridge_error_grid` | images or masks of other sizes or places in space, or an affine that cannot be used |
#' | `voxridge_error_not_estimable` | a contrast that the nuisance part of a design explains, or that shuffling keeps |
#' | `voxridge_error_newdata` | new data whose columns are not those of the fit |
#' | `voxridge_error_no_data` | a question about data that a fit was told not to keep |
#' | `voxridge_error_missing_part` | a picture of a part that a fit does not hold: its scores, its mask |
#' | `voxridge_error_folds` | folds that cannot be used: empty, overlapping, incomplete, too many |
#' | `voxridge_error_runs` | runs that are not in one block each, or too short for what is asked of them |
#' | `voxridge_error_leakage` | folds that would let a held-out sample influence its own prediction |
#' | `voxridge_error_events` | events of an experiment that are incomplete, or do not fit the runs |
#' | `voxridge_error_no_location` | decoding of which every location failed |
#' | `voxridge_error_score` | a score that these folds do not allow, or a scoring function with a wrong answer |
#' | `voxridge_error_conflict` | two arguments that contradict each other |
#' | `voxridge_error_memory` | a result too large for this machine, or work too large for its memory budget |
#' | `voxridge_error_too_large` | a problem beyond the limits of the linear algebra library |
#' | `voxridge_error_device_unavailable` | a device that is not there |
#' | `voxridge_error_device_unsupported` | `device = "gpu"` where there is no code for the GPU |
#' | `voxridge_error_device_failed` | a GPU that failed: this R process cannot use it any more |
#' | `voxridge_error_gpu_out_of_memory` | not enough memory on the GPU |
#' | `voxridge_error_wrong_model` | a model that cannot be served: no fit, an offset, skipped targets |
#' | `voxridge_error_too_many_targets` | a model of more targets than a server scores |
#' | `voxridge_error_model_mismatch` | a model of other features, targets or classes than the one that is served |
#' | `voxridge_error_limits` | limits of a server that are unknown, out of range or too small for one row |
#' | `voxridge_error_token` | a token that is too short or has blanks, or comes from two places |
#' | `voxridge_error_port_in_use` | a port or socket where another server listens |
#' | `voxridge_error_network` | an address where this machine cannot listen |
#' | `voxridge_error_file` | a file that cannot be read or written as asked |
#' | `voxridge_error_store_format` | no store of targets, one of another version, or files that changed since |
#' | `voxridge_error_store_unsupported` | a foreign matrix whose columns cannot be read where they are |
#' | `voxridge_error_store_truncated` | a store that is shorter than its description says |
#' | `voxridge_error_store_corrupt` | a store whose values are not those that were written |
#' | `voxridge_error_dir_not_writable` | a folder of a distributed run that cannot be made or written |
#' | `voxridge_error_dir_not_shared` | workers that do not see the folder of a distributed run |
#' | `voxridge_error_manifest_mismatch` | a folder with a distributed run of other data or settings |
#' | `voxridge_error_incomplete` | a distributed run of which parts are missing after all retries |
#' | `voxridge_error_memory_budget` | a budget that is too small for one worker |
#' | `voxridge_error_fork_unsafe` | `plan(multicore)` with a BLAS that hangs in forked processes |
#' | `voxridge_error_worker_version` | workers with another version of the package |
#' | `voxridge_error_blas_self_test` | workers whose BLAS computes wrongly |
#' | `voxridge_error_no_server` | no running server, or several where one is meant |
#' | `voxridge_error_dead_handle` | the handle of a server of another R process |
#' | `voxridge_error_old_object` | an object of another version of the package, or not of this package |
#' | `voxridge_error_numerical` | a factorisation that did not succeed |
#' | `voxridge_error_internal` | a fault of the package: please report it |
#'
#' @section Warnings:
#' | class | given when | how often |
#' | --- | --- | --- |
#' | `voxridge_warning_alpha_at_edge` | over 5 % of the targets chose the first or last value of the grid | every call |
#' | `voxridge_warning_affine` | an image says nothing certain about where its voxels lie | every call |
#' | `voxridge_warning_events` | events without kinds, beside a column that looks like kinds | every call |
#' | `voxridge_warning_rare_class` | a class has fewer members than there are stratified folds | every call |
#' | `voxridge_warning_lambda_at_edge` | over 5 % of the targets score best at an end of the grid | every call |
#' | `voxridge_warning_leakage` | held-out samples that take part in their own prediction, or might | every call |
#' | `voxridge_warning_class_missing` | training sets that lack a class | every call |
#' | `voxridge_warning_confounded` | folds that each hold out a single class | every call |
#' | `voxridge_warning_constant_labels` | blocks of one label, which permutations cannot change | every call |
#' | `voxridge_warning_not_converged` | fits that did not reach the tolerance in `max_iter` steps | every call |
#' | `voxridge_warning_nothing_to_test` | every column of a permutation test is constant or not finite | every call |
#' | `voxridge_warning_few_resamples` | fewer than 100 bootstrap resamples | every call |
#' | `voxridge_warning_single_class` | one class: no area under the curve, a target or a fold skipped | every call |
#' | `voxridge_warning_skipped_items` | items of a collection that could not be read were left out | every call |
#' | `voxridge_warning_incomplete` | targets of a distributed run are missing and are NA | every call |
#' | `voxridge_warning_checkpoint` | a file of a distributed run is damaged and its work is done again | every call |
#' | `voxridge_warning_second_driver` | another R process works on the same distributed run | every call |
#' | `voxridge_warning_run_versions` | a distributed run goes on with other versions | every call |
#' | `voxridge_warning_blas_self_test` | some nodes compute wrongly and are left out | every call |
#' | `voxridge_warning_max_connections` | a server takes fewer connections than asked for | every call |
#' | `voxridge_warning_no_token` | a server that other machines reach asks for no token | once per R process |
#' | `voxridge_warning_single_precision` | single precision was asked for and cannot be had | once per R process |
#'
#' @section Messages:
#' `voxridge_message_few_values`: numbers that are decoded by regression, with few different values.
#' `voxridge_message_few_permutations`: a permutation test whose smallest possible p is above 0.05.
#' `voxridge_message_no_constant`: a design without a constant column.
#' `voxridge_message_passes`: files of a collection that are read several times, for want of memory.
#' `voxridge_message_rows_drawn`: a bootstrap of single rows, of data that were cleaned run by run.
#' `voxridge_message_separable`: a plane separates the classes, in a logistic regression of fewer features than samples.
#' `voxridge_message_serving`: where `serve(wait = TRUE)` listens.
#'
#' @examples
#' caught <- tryCatch(
#'   ridge_svd(matrix(1, 3, 2), 1:4, n_threads = 2),
#'   voxridge_error_shape = function(cnd) cnd$found
#' )
#' caught
#' @name voxridge-conditions
#' @aliases voxridge_error voxridge_warning
NULL

# Raises voxridge_error_<what>. `call` is the frame of the function the user called; fields go in `...`.
abort <- function(message, what, ..., call = rlang::caller_env(), .envir = parent.frame()) {
  cli::cli_abort(
    message,
    class = c(paste0("voxridge_error_", what), "voxridge_error"),
    ...,
    call = call,
    .envir = .envir
  )
}

# Names and texts that cli is to show as they are.
escape <- function(x) gsub("}", "}}", gsub("{", "{{", x, fixed = TRUE), fixed = TRUE)

# Warns at every call: for facts of the data.
warn <- function(message, what, ..., .envir = parent.frame()) {
  cli::cli_warn(
    message,
    class = c(paste0("voxridge_warning_", what), "voxridge_warning"),
    ...,
    .envir = .envir
  )
}

# Tells a fact that is no fault.
inform <- function(message, what, ..., .envir = parent.frame()) {
  cli::cli_inform(message, class = c(paste0("voxridge_message_", what), "voxridge_message"), ..., .envir = .envir)
}

# Warns once per R process: for facts of the machine.
warn_once <- function(message, what, .envir = parent.frame()) {
  warn(
    message,
    what,
    .frequency = "once",
    .frequency_id = paste0("voxridge_", what),
    .envir = .envir
  )
}

# Called by the compiled core for an error of its own; `text` is shown as it is. `where` and `found`: the field of a
# file and its value, "" where there is none.
abort_core <- function(what, text, where = "", found = "") {
  abort("{text}", what, where = where, found = found, call = NULL)
}

# Evaluates a call into the compiled core, or of another exported function; its errors are shown with the user's call.
run_core <- function(expr, call) {
  tryCatch(expr, voxridge_error = function(cnd) {
    cnd["call"] <- list(rlang::frame_call(call))
    rlang::cnd_signal(cnd)
  })
}
