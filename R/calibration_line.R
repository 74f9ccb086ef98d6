# Calibration in the large and the calibration slope: P(y = 1) = sigma(a + z), and sigma(a + c z), by maximum
# likelihood without a penalty.

# list(intercept, slope, reason): NA where there is none, with the reason by name.
calibration_line <- function(scored) {
  intercept <- no_intercept(scored)
  slope <- intercept %||% no_slope(scored)
  out <- list(
    intercept = if (is.null(intercept)) fit_intercept_alone(scored$y, scored$z, scored$weights) else NA_real_,
    slope = if (is.null(slope)) fit_slope(scored$y, scored$z, scored$weights) else NA_real_
  )
  if (is.null(slope) && is.na(out$slope)) slope <- "the fit did not converge"
  out$reason <- c(intercept = intercept, slope = slope)
  out
}

no_intercept <- function(scored) {
  infinite <- sum(is.infinite(scored$z))
  if (infinite) {
    certain <- if (infinite == 1L) "1 forecast is" else paste(format_count(infinite), "forecasts are")
    what <- if (scored$scale == "logit") "infinite" else "exactly 0 or 1: give logits"
    return(paste(certain, what))
  }
  if (all(scored$y == 0) || all(scored$y == 1)) return(paste("all outcomes are", scored$y[1L]))
  rate <- sum(scored$weights / sum(scored$weights) * scored$y)
  if (rate <= 0 || rate >= 1) return("one class has next to no weight")
  NULL
}

# The slope is finite where no threshold has all positives on one side and all negatives on the other. An outcome
# between 0 and 1 is both.
no_slope <- function(scored) {
  positive <- range(scored$z[scored$y > 0])
  negative <- range(scored$z[scored$y < 1])
  if (min(positive, negative) == max(positive, negative)) return("all forecasts are equal")
  if (negative[2L] <= positive[1L] || positive[2L] <= negative[1L]) return("the forecasts separate the classes")
  NULL
}

# The root a of sum w (y - sigma(a + z)), which falls in a: Newton's method, kept inside a bracket.
fit_intercept_alone <- function(y, z, weights) {
  share <- weights / sum(weights)
  level <- as_logits(sum(share * y), "probability")
  low <- level - max(z)
  high <- level - min(z)
  a <- min(max(0, low), high)
  for (iteration in 1:200) {
    residual <- sum(share * logistic_residuals(y, a + z))
    if (residual >= 0) low <- a
    if (residual <= 0) high <- a
    step <- residual / sum(share * sigmoid_slopes(a + z))
    new <- a + step
    if (!is.finite(new) || new < low || new > high) new <- low / 2 + high / 2
    if (abs(new - a) <= 1e-14 * max(1, abs(a))) return(new)
    a <- new
  }
  a
}

# The slope c, by Newton's method with halved steps, on centred forecasts whose largest size is 1; NA where it does not
# converge.
fit_slope <- function(y, z, weights) {
  share <- weights / sum(weights)
  x <- z - sum(share * z)
  unit <- max(abs(x))
  x <- x / unit
  loss <- function(at) core_binary_score("log_loss", y, at[1L] + at[2L] * x, weights)
  at <- c(as_logits(sum(share * y), "probability"), 0)
  value <- loss(at)
  for (iteration in 1:200) {
    eta <- at[1L] + at[2L] * x
    r <- share * logistic_residuals(y, eta)
    v <- share * sigmoid_slopes(eta)
    hessian <- c(sum(v), sum(v * x), sum(v * x^2))
    gradient <- c(sum(r), sum(r * x))
    determinant <- hessian[1L] * hessian[3L] - hessian[2L]^2
    step <- c(hessian[3L] * gradient[1L] - hessian[2L] * gradient[2L],
              hessian[1L] * gradient[2L] - hessian[2L] * gradient[1L]) / determinant
    if (!all(is.finite(step))) return(NA_real_)
    if (all(abs(step) <= 1e-10 * (1 + abs(at)))) return((at[2L] + step[2L]) / unit)
    # near the end full steps are safe, and differences of losses are rounding
    near <- sum(step * gradient) <= 1e-6 * value
    while (!near && loss(at + step) > value) {
      step <- step / 2
      if (all(abs(step) <= 1e-14 * (1 + abs(at)))) return(NA_real_)
    }
    at <- at + step
    value <- loss(at)
  }
  NA_real_
}

# y - sigma(z) and sigma'(z), with all their digits.
logistic_residuals <- function(y, z) y * core_sigmoid(-z, FALSE) - (1 - y) * core_sigmoid(z, FALSE)

sigmoid_slopes <- function(z) core_sigmoid(z, FALSE) * core_sigmoid(-z, FALSE)
