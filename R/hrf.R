#' The haemodynamic response function
#'
#' The response of the BOLD signal to a brief event, or one of its derivatives, at given times.
#'
#' The response is a difference of two gamma densities, that of the response minus a share of that of the undershoot,
#' cut off after 32 s and scaled to an area of 1. The density with delay d and dispersion s has shape d / s and scale s.
#'
#' | model | delay | delay of the undershoot | dispersion of both | share |
#' | --- | --- | --- | --- | --- |
#' | `"spm"` | 6 s | 16 s | 1 s | 1/6 |
#' | `"glover"` | 6 s | 12 s | 0.9 s | 0.48 |
#'
#' The derivative `"time"` is that by time: a positive weight makes the response earlier. The derivative `"dispersion"`
#' is the response less that with a dispersion larger by 0.01 s (of the response, not of the undershoot), divided by
#' 0.01 s: a positive weight makes the response narrower.
#'
#' @param time Numeric vector, seconds after the event; no NA.
#' @param model `"spm"` (the default) or `"glover"`.
#' @param derivative `"none"` (the default), `"time"` or `"dispersion"`.
#'
#' @returns A numeric vector of the length of `time`, in 1/s (1/s^2 for derivatives): 0 before the event and after 32 s.
#' @section Errors:
#' `voxridge_error_type`, `voxridge_error_nonfinite`, `voxridge_error_argument`. See [voxridge-conditions].
#' @section Invariants:
#' The response has an area of 1, the derivative by dispersion one of 0. The derivative `"time"` is the slope of the
#' response.
#' @references
#' Friston, K. J., Fletcher, P., Josephs, O., Holmes, A., Rugg, M. D., Turner, R. (1998). Event-related fMRI:
#' characterizing differential responses. NeuroImage 7(1), 30-40. \doi{10.1006/nimg.1997.0306}
#'
#' Glover, G. H. (1999). Deconvolution of impulse response in event-related BOLD fMRI. NeuroImage 9(4), 416-429.
#' \doi{10.1006/nimg.1998.0419}
#' @source `"spm"` has the default parameters of the canonical response of SPM. `"glover"` is the form that nilearn
#'   gives the response of Glover (1999).
#' @seealso [convolve_hrf()]
#' @examples
#' round(hrf(seq(0, 30, by = 5)), 3)
#' time <- seq(0, 32, by = 0.1)
#' plot(time, hrf(time), type = "l", xlab = "seconds", ylab = "response")
#' lines(time, hrf(time, "glover"), lty = 2)
#' @export
hrf <- function(time, model = c("spm", "glover"), derivative = c("none", "time", "dispersion")) {
  call <- rlang::current_env()
  model <- as_choice(model, c("spm", "glover"))
  derivative <- as_choice(derivative, c("none", "time", "dispersion"))
  if (!is.numeric(time) || is.object(time)) {
    found <- describe(time)
    abort("{.arg time} must be a numeric vector of seconds, not {found}.", "type", found = found)
  }
  check_finite_vector(time, "time", call, c(i = "Times are seconds after the event."))
  hrf_basis(model, derivative)$impulse(as.vector(time))
}

HRF_SECONDS <- 32
DISPERSION_STEP <- 0.01

# The parameters of two gamma distributions, their weights, and the area under their difference. `wider` is added to the
# dispersion of the response.
hrf_kernel <- function(model, wider = 0) {
  p <- switch(model,
    spm = list(delay = c(6, 16), dispersion = 1, ratio = 1 / 6),
    glover = list(delay = c(6, 12), dispersion = 0.9, ratio = 0.48)
  )
  scale <- p$dispersion + c(wider, 0)
  kernel <- list(shape = p$delay / scale, scale = scale, weight = c(1, -p$ratio))
  kernel$weight <- kernel$weight / hrf_integral(HRF_SECONDS, kernel)
  kernel
}

# Up to time t.
hrf_integral <- function(t, kernel) {
  gamma_sum(function(shape, scale) stats::pgamma(pmin(t, HRF_SECONDS), shape, scale = scale), kernel)
}

hrf_density <- function(t, kernel) {
  inside(t) * gamma_sum(function(shape, scale) stats::dgamma(t, shape, scale = scale), kernel)
}

# The derivative of a gamma density f_k of shape k and scale s is (f_{k-1} - f_k) / s.
hrf_slope <- function(t, kernel) {
  inside(t) * gamma_sum(function(shape, scale) {
    (stats::dgamma(t, shape - 1, scale = scale) - stats::dgamma(t, shape, scale = scale)) / scale
  }, kernel)
}

gamma_sum <- function(f, kernel) {
  kernel$weight[1L] * f(kernel$shape[1L], kernel$scale[1L]) + kernel$weight[2L] * f(kernel$shape[2L], kernel$scale[2L])
}

inside <- function(t) t >= 0 & t <= HRF_SECONDS

# list(impulse, integral): the response to an impulse as a function of the seconds since, and its integral over time.
hrf_basis <- function(model, derivative) {
  kernel <- hrf_kernel(model)
  wide <- hrf_kernel(model, DISPERSION_STEP)
  by_dispersion <- function(f) function(t) (f(t, kernel) - f(t, wide)) / DISPERSION_STEP
  switch(derivative,
    none = list(impulse = function(t) hrf_density(t, kernel), integral = function(t) hrf_integral(t, kernel)),
    time = list(impulse = function(t) hrf_slope(t, kernel), integral = function(t) hrf_density(t, kernel)),
    dispersion = list(impulse = by_dispersion(hrf_density), integral = by_dispersion(hrf_integral))
  )
}
