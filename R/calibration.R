#' Are forecasts calibrated?
#'
#' Compares forecasts of binary outcomes with observed rates in bins, and estimates the intercept and the slope of
#' calibration.
#'
#' Bins have about equal weight and never split equal forecasts, so there may be fewer than asked for. The intervals are
#' Wilson's, for 95 %, with (sum w)^2 / sum w^2 as the number of samples of a bin. They hold for independent samples.
#'
#' * `calibration_intercept` is a in logit P(y = 1) = a + z, with z the logit of the forecast: 0 where forecasts are
#'   right on average, positive where they are too low.
#' * `calibration_slope` is c in logit P(y = 1) = a + c z: below 1 forecasts are overconfident, above 1 they are shrunk
#'   too much.
#' * `ece`, the expected calibration error, is the weighted mean over bins of |mean forecast - observed rate|. It
#'   depends on the bins and is never 0 for a finite sample, calibrated or not: use it to compare, not to judge.
#'
#' Both fits are by maximum likelihood without a penalty. They are NA, with the `reason` in the result, where a forecast
#' is exactly 0 or 1, where there is one class, and, for the slope, where the forecasts separate the classes. Give
#' held-out or out-of-fold forecasts: those for the samples of a fit look calibrated, or too much so. Prefer logits,
#' since a probability is the number 1 for all logits above 36.74.
#'
#' @inheritParams log_loss
#' @inheritSection binary_scores Outcomes
#' @param bins Whole number of bins, 10 by default. There is at most one bin per distinct forecast.
#' @param x,object What `reliability_curve()` returned.
#' @param title Text above the picture. NULL (the default): none.
#' @param ... No further arguments.
#'
#' @returns An object of class `voxridge_reliability`, a list:
#' * `bins`: a data frame with a row per bin, by size of forecast: `forecast` and `observed`, the weighted means of
#'   forecast and outcome; `lower` and `upper`, the interval of the observed rate; `share` of the weight; `n` samples
#'   and `n_eff`; `from` and `to`, the smallest and largest forecast. All forecasts as probabilities.
#' * `calibration_intercept`, `calibration_slope`, and `reason`: a character vector, named `intercept` and `slope`, of
#'   why they are NA; NULL where they are not.
#' * `ece`, `mean_forecast`, `prevalence` (weighted means), `n` (samples of positive weight).
#'
#' `plot()` returns, invisibly, the data frame of bins it drew, `autoplot()` a ggplot object, `print()` its argument.
#' @section Errors:
#' Those of [log_loss()]; `voxridge_error_argument` (`bins`, `title`). See [voxridge-conditions].
#' @section Invariants:
#' Weights times a constant, or copies in place of whole weights, change nothing but `n` and `n_eff`. Adding d to all
#' logits lowers the intercept by d and leaves the slope; multiplying them by k divides the slope by k. The weighted
#' mean of the bins is the mean of all. Both classes swapped, the intercept changes its sign and the slope is the same.
#' `plot()` and `autoplot()` draw the same data.
#' @references
#' Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of the American
#' Statistical Association 22, 209-212. \doi{10.1080/01621459.1927.10502953}
#'
#' Cox, D. R. (1958). Two further applications of a model for binary regression. Biometrika 45, 562-565.
#' \doi{10.1093/biomet/45.3-4.562}
#'
#' Van Calster, B., McLernon, D. J., van Smeden, M., Wynants, L., Steyerberg, E. W. (2019). Calibration: the Achilles
#' heel of predictive analytics. BMC Medicine 17, 230. \doi{10.1186/s12916-019-1466-7}
#' @source Intercept and slope: Cox (1958); intervals: Wilson (1927); effective number of samples: Kish, L. (1965).
#'   Survey Sampling. Wiley.
#' @seealso [brier_score()] for the reliability part of the score, [prior_correct()] for forecasts from training data
#'   of another prevalence.
#' @examples
#' set.seed(1)
#' z <- rnorm(500)
#' y <- rbinom(500, 1, stable_sigmoid(z))
#' reliability_curve(y, stable_sigmoid(z))
#' # forecasts that are too certain
#' overconfident <- reliability_curve(y, 2 * z, scale = "logit", bins = 8)
#' overconfident$calibration_slope
#' plot(overconfident)
#' @export
reliability_curve <- function(y, p, weights = NULL, scale = c("probability", "logit"), bins = 10, positive = NULL) {
  scored <- weighted_rows(as_scored(y, p, weights, scale, positive))
  bins <- reliability_bins(scored, as_count(bins))
  line <- calibration_line(scored)
  structure(
    list(
      bins = bins,
      calibration_intercept = line$intercept,
      calibration_slope = line$slope,
      reason = line$reason,
      ece = sum(bins$share * abs(bins$forecast - bins$observed)),
      mean_forecast = sum(bins$share * bins$forecast),
      prevalence = sum(bins$share * bins$observed),
      n = length(scored$y)
    ),
    class = "voxridge_reliability"
  )
}

reliability_bins <- function(scored, bins) {
  p <- as_probabilities(scored$p, scored$scale)
  id <- forecast_groups(scored$p, scored$weights, bins)
  means <- group_means(id, scored$y, p, scored$weights)
  # over the largest weight of the bin: squares could overflow, or vanish
  w <- scored$weights / vapply(split(scored$weights, id), max, 0, USE.NAMES = FALSE)[id]
  n_eff <- as.vector(rowsum(w, id)^2 / rowsum(w^2, id))
  range <- vapply(split(p, id), range, c(0, 0), USE.NAMES = FALSE)
  interval <- wilson_interval(means$y, n_eff)
  data.frame(
    forecast = pmin(pmax(means$p, range[1L, ]), range[2L, ]), observed = means$y, lower = interval$lower,
    upper = interval$upper, share = means$share, n = tabulate(id), n_eff = n_eff, from = range[1L, ], to = range[2L, ]
  )
}

# A 95 % interval of a rate.
wilson_interval <- function(rate, n) {
  z2 <- stats::qnorm(0.975)^2
  centre <- (rate + z2 / (2 * n)) / (1 + z2 / n)
  half <- sqrt(z2 * (rate * (1 - rate) / n + z2 / (4 * n^2))) / (1 + z2 / n)
  # rounding must not put the rate outside, nor the interval beyond 0 and 1
  list(lower = pmin(pmax(centre - half, 0), rate), upper = pmax(pmin(centre + half, 1), rate))
}

#' @rdname reliability_curve
#' @export
print.voxridge_reliability <- function(x, ...) {
  rlang::check_dots_empty()
  count <- nrow(x$bins)
  title <- sprintf("Calibration of forecasts: %s sample%s in %d bin%s", format_count(x$n), plural(x$n), count,
                   plural(count))
  print_fields(title, c(
    "mean forecast" = sprintf("%s, observed %s", format_numbers(x$mean_forecast), format_numbers(x$prevalence)),
    intercept = print_calibration(x$calibration_intercept, x$reason["intercept"],
                                  "0 is right, above it forecasts are too low"),
    slope = print_calibration(x$calibration_slope, x$reason["slope"],
                              "1 is right, below it they are too certain"),
    "largest gap" = largest_gap(x$bins),
    ECE = sprintf("%s (depends on the bins)", format_numbers(x$ece))
  ))
  invisible(x)
}

print_calibration <- function(value, reason, words) {
  if (is.na(value)) sprintf("NA: %s", reason) else sprintf("%s (%s)", format_numbers(value), words)
}

largest_gap <- function(bins) {
  bin <- bins[which.max(abs(bins$forecast - bins$observed)), ]
  sprintf("forecast %s, observed %s (95 %% interval %s to %s)", format_numbers(bin$forecast),
          format_numbers(bin$observed), format_numbers(bin$lower), format_numbers(bin$upper))
}
