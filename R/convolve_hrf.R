#' Features from events and a haemodynamic response
#'
#' The expected BOLD response to the events of an experiment, one column per kind of event, exact at the time of every
#' volume.
#'
#' An event of some duration is a boxcar, and its response at time t is H(t - onset) - H(t - onset - duration), with H
#' the integral of the response function ([hrf()]): a difference of gamma distribution functions, so nothing is sampled
#' on a finer grid. As the response function has an area of 1, a long event reaches a plateau at its amplitude. An event
#' of duration 0 is an impulse with an area of one second: its response is the response function itself, in units of
#' 1/s. The responses of the events of a kind add up. An event may last beyond the end of its run; nothing spills over
#' into the next one.
#'
#' Columns are not made orthogonal to each other, as some programs do with derivatives: ridge regression has no need of
#' it.
#'
#' @param events Data frame with a row per event and the columns `onset` (seconds from the first volume of the run) and
#'   `duration` (seconds), and where there are some `trial_type` (the kind of event: text, factor or numbers),
#'   `modulation` (the amplitude, 1 if there is no such column) and `run`; no NA in these; other columns are ignored. Or
#'   the paths of `events.tsv` files in the format of BIDS (NA is `n/a`), one per run, in their order; a column `run` in
#'   them is ignored, and a quotation mark within a field is a letter.
#' @param n_scans Number of volumes: one number for a single run, or one per run. Then `events` needs a column `run`,
#'   with the names of `n_scans`, or the numbers 1, 2, ... where it has none. For several files, one number holds for
#'   all.
#' @param tr Seconds from one volume to the next (repetition time).
#' @param hrf `"spm"` (the default) or `"glover"`, see [hrf()].
#' @param derivatives `"none"` (the default); `"time"` adds the derivative by time, `"time_dispersion"` that and the one
#'   by dispersion.
#' @param slice_time_ref When a volume was acquired, as a share of `tr` from 0 to 1: 0 (the default) is its beginning,
#'   0.5 its middle, as slice timing correction to the middle slice has it.
#'
#' @returns n x k numeric matrix, n the number of volumes of all runs, one after the other in the order of `n_scans`.
#'   Kinds of events come in sorted order, or that of the levels of a factor, where a level without events is a column
#'   of zeros; without `trial_type` there is one kind, `event`. Columns are named `face`, or `face`, `face_derivative`,
#'   `face_dispersion`, and so on for each kind.
#' @section Errors:
#' `voxridge_error_events` (no events or files, missing columns, values that are no numbers, NA, negative durations,
#' onsets before 0 or not before the end of the run, unknown runs: with the rows), `voxridge_error_argument`,
#' `voxridge_error_memory`. See [voxridge-conditions].
#' @section Invariants:
#' Rows of a run depend on the events of that run only. The response to an event is the sum of those to its parts, and
#' scales with `modulation`. Shifting all onsets by `tr` shifts the responses by one row.
#' @references
#' Friston, K. J., Fletcher, P., Josephs, O., Holmes, A., Rugg, M. D., Turner, R. (1998). Event-related fMRI:
#' characterizing differential responses. NeuroImage 7(1), 30-40. \doi{10.1006/nimg.1997.0306}
#'
#' Glover, G. H. (1999). Deconvolution of impulse response in event-related BOLD fMRI. NeuroImage 9(4), 416-429.
#' \doi{10.1006/nimg.1998.0419}
#' @seealso [delay_features()], which assumes no shape of the response.
#' @examples
#' events <- data.frame(onset = c(2, 20, 4), duration = c(0, 8, 8),
#'                      trial_type = c("face", "house", "face"), run = c(1, 1, 2))
#' X <- convolve_hrf(events, n_scans = c(20, 15), tr = 2)
#' dim(X)
#' round(X[1:8, ], 3)
#' @export
convolve_hrf <- function(events, n_scans, tr, hrf = c("spm", "glover"),
                         derivatives = c("none", "time", "time_dispersion"), slice_time_ref = 0) {
  call <- rlang::current_env()
  hrf <- as_choice(hrf, c("spm", "glover"))
  derivatives <- as_choice(derivatives, c("none", "time", "time_dispersion"))
  tr <- as_positive(tr)
  slice_time_ref <- as_slice_time(slice_time_ref, call)
  n_scans <- as_scans(n_scans, call)
  events <- as_events(events, n_scans, tr, call)
  wanted <- c("none", if (derivatives != "none") "time", if (derivatives == "time_dispersion") "dispersion")
  bases <- lapply(wanted, function(derivative) hrf_basis(hrf, derivative))
  check_response_memory(sum(events$n_scans), length(events$kinds) * length(bases), call)
  out <- sum_responses(events, bases, tr, slice_time_ref)
  suffix <- c(none = "", time = "_derivative", dispersion = "_dispersion")[wanted]
  colnames(out) <- paste0(rep(events$kinds, each = length(suffix)), suffix)
  out
}

as_slice_time <- function(x, call, arg = rlang::caller_arg(x)) {
  if (is_number(x) && x >= 0 && x <= 1) return(as.double(x))
  found <- describe(x)
  abort("{.arg {arg}} must be a number from 0 to 1, not {found}.", "argument", found = found, call = call)
}

check_response_memory <- function(n, p, call) {
  results <- stats::setNames(8 * n * p, paste0("features (", format_count(n), " x ", format_count(p), ")"))
  check_result_memory(results, "Are the numbers of volumes in {.arg n_scans} right?", call)
}

as_scans <- function(n_scans, call) {
  whole <- is.numeric(n_scans) && !is.object(n_scans) && length(n_scans) && all(is.finite(n_scans)) &&
    all(n_scans == round(n_scans) & n_scans >= 1) && sum(n_scans) <= .Machine$integer.max
  if (!whole) {
    found <- if (is.numeric(n_scans) && length(n_scans) > 1L) toString(utils::head(n_scans, 5L)) else describe(n_scans)
    abort(
      c("{.arg n_scans} must be the number of volumes of each run, at least 1, not {found}.",
        i = "For 12 runs of 121 volumes use {.code rep(121, 12)}."),
      "argument",
      found = n_scans, call = call
    )
  }
  names <- names(n_scans)
  wrong <- if (!is.null(names)) names[is.na(names) | !nzchar(names) | duplicated(names)]
  if (!length(wrong)) return(stats::setNames(as.double(n_scans), names))
  abort(
    c("{.arg n_scans} must have a name of its own for every run, not {.val {wrong[1]}} for several or none.",
      i = "Names are the values of the column {.code run}; without names runs are 1, 2, ..."),
    "argument",
    found = wrong, call = call
  )
}

# ---- responses -------------------------------------------------------------------------------

# Volumes x (bases within kinds), from `events` as of as_events(). Each pair of an event and a volume at which its
# response is not 0 is one term; terms of the same volume, kind and basis add up.
sum_responses <- function(events, bases, tr, slice_time_ref) {
  n <- sum(events$n_scans)
  pairs <- event_volumes(events, tr, slice_time_ref)
  elapsed <- (pairs$volume - 1 + slice_time_ref) * tr - events$onset[pairs$event]
  duration <- events$duration[pairs$event]
  terms <- vapply(bases, function(basis) response(basis, elapsed, duration), elapsed)
  terms <- matrix(terms, length(elapsed)) * events$amplitude[pairs$event]
  before <- cumsum(c(0, events$n_scans))[events$run]
  cell <- before[pairs$event] + pairs$volume + n * (events$kind[pairs$event] - 1)
  cells <- unique(cell)
  sums <- rowsum(terms, match(cell, cells), reorder = FALSE)
  out <- array(0, c(n * length(events$kinds), length(bases)))
  out[cells, ] <- sums
  out <- aperm(array(out, c(n, length(events$kinds), length(bases))), c(1L, 3L, 2L))
  matrix(out, n)
}

response <- function(basis, elapsed, duration) {
  out <- basis$integral(elapsed) - basis$integral(elapsed - duration)
  impulse <- duration == 0
  out[impulse] <- basis$impulse(elapsed[impulse])
  out
}

# list(event, volume): the volumes of an event's run during it and the 32 s after it, and one more at either end, where
# the response is 0 but for rounding of times.
event_volumes <- function(events, tr, slice_time_ref) {
  first <- pmax(ceiling(events$onset / tr - slice_time_ref), 1)
  last <- floor((events$onset + events$duration + HRF_SECONDS) / tr - slice_time_ref) + 2
  last <- pmin(last, events$n_scans[events$run])
  counts <- as.integer(pmax(last - first + 1, 0))
  list(event = rep(seq_along(counts), counts), volume = sequence(counts, from = as.integer(first)))
}
