# Forecasts of binary outcomes, as probabilities or as logits.

FORECAST_SCALES <- c("probability", "logit")

# Checked forecasts as double of any dimensions, names kept. Logits may be infinite.
as_forecasts <- function(p, scale, arg = rlang::caller_arg(p), call = rlang::caller_env()) {
  force(arg)
  if (!is.numeric(p) || is.object(p)) {
    found <- describe(p)
    abort("{.arg {arg}} must be numeric forecasts, not {found}.", "type", found = found, call = call)
  }
  if (!length(p)) abort("{.arg {arg}} must have at least one forecast, not none.", "shape", found = 0L, call = call)
  where <- unname(which(is.na(p)))
  if (length(where)) {
    shown <- first_few(where)
    abort(
      c("{.arg {arg}} must have no missing forecasts, not NA or NaN in {length(where)} of {length(p)} ({shown}).",
        i = "Drop these samples first."),
      "nonfinite",
      found = length(where), where = where, call = call
    )
  }
  if (scale == "probability") check_probabilities(p, arg, call)
  if (!is.double(p)) storage.mode(p) <- "double"
  p
}

check_probabilities <- function(p, arg, call) {
  where <- unname(which(p < 0 | p > 1))
  if (!length(where)) return(invisible(p))
  value <- format(p[[where[1L]]], digits = 15L)
  abort(
    c("{.arg {arg}} must be probabilities from 0 to 1, not {value} (position {where[1]}).",
      i = "Logits need {.code scale = \"logit\"}."),
    "probability",
    expected = c(0, 1), found = p[[where[1L]]], where = where, call = call
  )
}

# list(y, p, weights, scale, z): what all scores take, checked. `p` is on the scale given, `z` are logits.
as_scored <- function(y, p, weights, scale, positive, call = rlang::caller_env()) {
  scale <- as_choice(scale, FORECAST_SCALES, arg = "scale", call = call)
  y <- unname(as_outcome_vector(y, positive, "y", call)$y)
  check_one_dimension(p, call)
  p <- as.vector(as_forecasts(p, scale, "p", call))
  if (length(p) != length(y)) {
    abort(
      c("{.arg p} must have as many values as {.arg y} ({length(y)}), not {length(p)}.",
        i = "Forecasts and outcomes are of the same samples, in the same order."),
      "shape",
      expected = length(y), found = length(p), call = call
    )
  }
  weights <- as_weights(weights, length(y), "weights", call)
  list(y = y, p = unname(p), weights = weights, scale = scale, z = as_logits(unname(p), scale))
}

check_one_dimension <- function(p, call) {
  if (length(dim(p)) < 2L) return(invisible(p))
  found <- describe(p)
  abort(
    c("{.arg p} must be a vector with a forecast per sample, not {found}.",
      i = "One target at a time: {.code p[, 1]} is the first column."),
    "type",
    found = found, call = call
  )
}

as_logits <- function(p, scale) if (scale == "logit") p else log(p) - log1p(-p)

as_probabilities <- function(p, scale) if (scale == "logit") core_sigmoid(p, FALSE) else p

# Rows of weight 0 are absent.
weighted_rows <- function(scored) {
  kept <- scored$weights > 0
  if (all(kept)) return(scored)
  for (part in c("y", "p", "weights", "z")) scored[[part]] <- scored[[part]][kept]
  scored
}

# The group of each forecast, counted from 1 by size: distinct values, or `bins` groups of about equal weight that never
# split equal forecasts. A value goes where the middle of its weight falls, among `bins` equal parts of the whole;
# parts that get nothing vanish.
forecast_groups <- function(p, weights, bins = NULL) {
  id <- match(p, sort(unique(p)))
  if (is.null(bins)) return(id)
  mass <- as.vector(rowsum(weights, id))
  middle <- (cumsum(mass) - mass / 2) / sum(mass)
  # middles within rounding of a border go up, whatever the unit of the weights
  part <- pmin(floor(bins * middle + 1e-9), bins - 1)
  match(part, unique(part))[id]
}

# Per group: the share of the weight, the mean forecast and the mean outcome.
group_means <- function(id, y, p, weights) {
  sums <- unname(rowsum(cbind(weights, weights * p, weights * y), id))
  list(share = sums[, 1L] / sum(weights), p = sums[, 2L] / sums[, 1L], y = sums[, 3L] / sums[, 1L])
}
