#' Scores of forecasts of binary outcomes
#'
#' The logarithmic and the quadratic score of probabilities, and the area under the ROC curve, from probabilities or
#' from logits.
#'
#' With weights w of sum W, outcomes y and forecasts p:
#' * `log_loss()` is sum w (-y log p - (1 - y) log(1 - p)) / W, in nats. Nothing is clipped: a certain forecast that is
#'   wrong costs `Inf`.
#' * `brier_score()` is sum w (p - y)^2 / W.
#' * `auc()` is the share of the pairs of a positive and a negative, weighted by the product of their weights, in which
#'   the positive has the larger forecast; ties count a half. It takes O(n log n) steps. It sees the order of forecasts
#'   alone, so it says nothing about calibration.
#'
#' The first two are proper: on average they are best for the true probability. The focal loss, which is not offered, is
#' not: with its exponent at 2, true probabilities of 0.01, 0.05 and 0.20 are best forecast as 0.154, 0.250 and 0.373.
#'
#' Score held-out or out-of-fold forecasts; those for the samples of a fit flatter. Prefer logits: as probabilities all
#' those above 36.74 are 1, which makes ties and infinite losses of what was neither.
#'
#' @section Parts of the Brier score:
#' In groups g of forecasts with the share W_g of the weight, mean forecast p_g and mean outcome y_g, and with the mean
#' outcome Y of all, the parts are
#' * `reliability`: sum W_g (p_g - y_g)^2, 0 for calibrated forecasts;
#' * `resolution`: sum W_g (y_g - Y)^2, larger is better;
#' * `uncertainty`: the variance of the outcomes, Y (1 - Y) for 0/1, which no forecast changes;
#' * `within_variance`: sum w (p - p_g)^2 / W;
#' * `within_covariance`: 2 sum w (y - y_g) (p - p_g) / W.
#'
#' The score is `reliability - resolution + uncertainty + within_variance - within_covariance`. With `bins = NULL` each
#' distinct forecast is a group, and the last two parts are 0 (Murphy 1973); but where nearly all forecasts are distinct
#' the groups are single samples, and only bins are informative (Stephenson et al. 2008). Bins are of about equal weight
#' and never split equal forecasts.
#'
#' @section Outcomes:
#' Outcomes are 0/1, logical, a factor of two levels, or proportions from 0 to 1, with numbers of trials as `weights`.
#' Other codes are refused with the right one in the message. A proportion counts in `log_loss()` and `auc()` as that
#' share of positives, the rest negatives; in the Brier score it is the outcome itself, which leaves out the mean of
#' y (1 - y), a part that no forecast changes.
#'
#' @param y Vector of length n: outcomes, no NA; see the section on outcomes.
#' @param p Numeric vector of length n: forecasts of the probability that y is 1, no NA; or their logits, which may be
#'   infinite.
#' @param weights NULL (the default: equal weights), or a numeric vector of length n, finite and at least 0. Only their
#'   ratios count; a sample of weight 0 is absent.
#' @param scale `"probability"` (the default), where `p` is from 0 to 1, or `"logit"`.
#' @param positive NULL, or the level of a factor `y` that counts as 1. NULL (the default) is the second level.
#' @param decompose TRUE for the parts of the Brier score, FALSE (the default) for the score alone.
#' @param bins NULL (the default: a group for each distinct forecast), or a whole number of groups. Only with
#'   `decompose = TRUE`.
#'
#' @returns A number. `auc()` is NA, with a warning, where only one class has positive weight. With `decompose = TRUE`,
#'   `brier_score()` gives a named vector: `brier` and the five parts.
#' @section Errors:
#' `voxridge_error_y_form` (other codes of outcomes), `voxridge_error_weights`, `voxridge_error_probability` (`p`
#' outside 0 to 1), `voxridge_error_nonfinite` (NA), `voxridge_error_type`, `voxridge_error_shape`,
#' `voxridge_error_argument`, `voxridge_error_conflict` (`bins` without `decompose`, `positive` without a factor); the
#' warning `voxridge_warning_single_class`. See [voxridge-conditions].
#' @section Invariants:
#' A whole weight is the same as that many copies of the sample; weights times a constant give the same score. The other
#' class with the other probabilities, `1 - y` and `1 - p` or minus the logits, has the same scores. `auc()` does not
#' change under increasing functions of `p`. The five parts sum to the score for any number of bins.
#' @references
#' Murphy, A. H. (1973). A new vector partition of the probability score. Journal of Applied Meteorology 12, 595-600.
#' \doi{10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2}
#'
#' Stephenson, D. B., Coelho, C. A. S., Jolliffe, I. T. (2008). Two extra components in the Brier score decomposition.
#' Weather and Forecasting 23, 752-757. \doi{10.1175/2007WAF2006116.1}
#'
#' Hanley, J. A., McNeil, B. J. (1982). The meaning and use of the area under a receiver operating characteristic (ROC)
#' curve. Radiology 143, 29-36. \doi{10.1148/radiology.143.1.7063747}
#' Gneiting, T., Raftery, A. E. (2007). Strictly proper scoring rules, prediction, and estimation. Journal of the
#' American Statistical Association 102, 359-378. \doi{10.1198/016214506000001437}
#' @source The parts of the score: Stephenson et al. (2008).
#' @seealso [reliability_curve()] for calibration as a picture.
#' @examples
#' y <- c(0, 0, 1, 1, 1)
#' p <- c(0.1, 0.6, 0.4, 0.8, 0.8)
#' log_loss(y, p)
#' auc(y, p)
#' brier_score(y, p)
#' brier_score(y, p, decompose = TRUE)
#' brier_score(y, p, decompose = TRUE, bins = 2)
#' # logits keep apart what is 1 as a probability
#' auc(c(0, 1, 1), c(40, 41, 42), scale = "logit")
#' log_loss(0, 40, scale = "logit")
#' @name binary_scores
NULL

#' @rdname binary_scores
#' @export
log_loss <- function(y, p, weights = NULL, scale = c("probability", "logit"), positive = NULL) {
  scored <- as_scored(y, p, weights, scale, positive)
  core_binary_score("log_loss", scored$y, scored$z, scored$weights)
}

#' @rdname binary_scores
#' @export
brier_score <- function(y, p, weights = NULL, scale = c("probability", "logit"), decompose = FALSE, bins = NULL,
                        positive = NULL) {
  scored <- as_scored(y, p, weights, scale, positive)
  decompose <- as_flag(decompose)
  bins <- as_count(bins, null_ok = TRUE)
  if (!decompose && !is.null(bins)) {
    abort(
      c("{.arg bins} must be NULL where the score is not taken apart, not {bins}.",
        i = "Add {.code decompose = TRUE}."),
      "conflict",
      found = bins
    )
  }
  score <- core_binary_score("brier", scored$y, scored$z, scored$weights)
  if (decompose) c(brier = score, brier_parts(weighted_rows(scored), bins)) else score
}

#' @rdname binary_scores
#' @export
auc <- function(y, p, weights = NULL, scale = c("probability", "logit"), positive = NULL) {
  scored <- as_scored(y, p, weights, scale, positive)
  # the order of the forecasts as given: rounded logits of probabilities would tie some
  area <- core_binary_score("auc", scored$y, scored$p, scored$weights)
  if (is.na(area)) {
    warn(
      c("{.arg y} has one class of positive weight (all {scored$y[scored$weights > 0][1]}): there is no AUC.",
        i = "It compares positives with negatives. NA is returned."),
      "single_class"
    )
  }
  area
}

brier_parts <- function(scored, bins) {
  y <- scored$y
  p <- as_probabilities(scored$p, scored$scale)
  share <- scored$weights / sum(scored$weights)
  id <- forecast_groups(scored$p, scored$weights, bins)
  groups <- group_means(id, y, p, scored$weights)
  # of equal forecasts the mean is the forecast, without rounding
  if (is.null(bins)) groups$p <- p[match(seq_along(groups$p), id)]
  mean_y <- sum(share * y)
  c(
    reliability = sum(groups$share * (groups$p - groups$y)^2),
    resolution = sum(groups$share * (groups$y - mean_y)^2),
    uncertainty = sum(share * (y - mean_y)^2),
    within_variance = sum(share * (p - groups$p[id])^2),
    within_covariance = 2 * sum(share * (y - groups$y[id]) * (p - groups$p[id]))
  )
}
