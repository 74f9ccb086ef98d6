#' Other priors and the threshold of a decision
#'
#' Moves probabilities to another prevalence of the positive class, and finds the probability from which to act.
#'
#' A model that was trained where the share of positives is `from`, by resampling or by class weights, gives
#' probabilities for that share. Where the share is `to` instead, the odds are larger by
#' r = (to / (1 - to)) / (from / (1 - from)), so p becomes r p / (r p + 1 - p) and a logit grows by log r. `from` is the
#' weighted prevalence in training, 0.5 under balanced class weights. Where a fraction f of the negatives was kept in
#' training, r is f.
#'
#' This is exact only where training and use differ in the prevalence alone and the model is right. No class weights,
#' and a threshold by the costs, is the better default: `decision_threshold()` gives the probability
#' t = (cost_fp - cost_tn) / (cost_fp - cost_tn + cost_fn - cost_tp) from which calling a sample positive costs less on
#' average than calling it negative.
#'
#' @param p Numeric vector, or n x t matrix with a column per target: forecasts of the probability of the positive
#'   class, no NA; or their logits, which may be infinite.
#' @param from,to The prevalence in training and that in use: numbers strictly between 0 and 1, one, or one per column
#'   of a matrix `p`.
#' @param scale `"probability"` (the default), where `p` is from 0 to 1, or `"logit"`.
#' @param cost_fp,cost_fn Cost of a false positive and of a false negative: finite numbers in any unit.
#' @param cost_tp,cost_tn Cost of a true positive and of a true negative, 0 by default; negative where they are a gain.
#'   A negative that is taken for a positive must cost more than one that is not, and so for positives.
#'
#' @returns `prior_correct()`: forecasts on the scale of `p`, with its dimensions and names. `decision_threshold()`: a
#'   named vector of `threshold`, a probability, and `logit`, the same as a logit: compare logits with it where there
#'   are any.
#' @section Errors:
#' `voxridge_error_prior` (`from` or `to` outside 0 to 1, or of the wrong number), `voxridge_error_probability` (`p`
#' outside 0 to 1), `voxridge_error_nonfinite`, `voxridge_error_type`, `voxridge_error_shape`,
#' `voxridge_error_argument` (`scale`, costs that leave nothing to decide). See [voxridge-conditions].
#' @section Invariants:
#' `prior_correct()` keeps the order of forecasts and 0 and 1; swapping `from` and `to` undoes it; in two steps it is
#' the same as in one. On both scales it is the same. Costs times a positive constant give the same threshold.
#' @references
#' Saerens, M., Latinne, P., Decaestecker, C. (2002). Adjusting the outputs of a classifier to new a priori
#' probabilities: a simple procedure. Neural Computation 14, 21-41. \doi{10.1162/089976602753284446}
#'
#' Elkan, C. (2001). The foundations of cost-sensitive learning. Proceedings of the 17th International Joint Conference
#' on Artificial Intelligence, 973-978.
#' @source The threshold: equation 2 of Elkan (2001); the change of prevalence: theorem 2 there.
#' @examples
#' # trained with balanced class weights, used where one in 30 is positive
#' prior_correct(c(0.2, 0.5, 0.9), from = 0.5, to = 1 / 30)
#' prior_correct(c(-2, 0, 3), from = 0.5, to = 1 / 30, scale = "logit")
#' # missing a positive is nine times as bad as a false alarm
#' decision_threshold(cost_fp = 1, cost_fn = 9)
#' @export
prior_correct <- function(p, from, to, scale = c("probability", "logit")) {
  scale <- as_choice(scale, FORECAST_SCALES)
  p <- as_forecasts(p, scale)
  k <- if (length(dim(p)) == 2L) ncol(p) else 1L
  from <- rep_len(as_prevalence(from, k), k)
  to <- rep_len(as_prevalence(to, k), k)
  each <- length(p) / k
  if (scale == "logit") {
    return(p + rep(as_logits(to, "probability") - as_logits(from, "probability"), each = each))
  }
  # r as a quotient, whose parts cannot overflow; where they vanish, certain forecasts stay certain
  gain <- p * rep(to * (1 - from), each = each)
  out <- gain / (gain + (1 - p) * rep(from * (1 - to), each = each))
  certain <- p == 0 | p == 1
  out[certain] <- p[certain]
  out
}

#' @rdname prior_correct
#' @export
decision_threshold <- function(cost_fp, cost_fn, cost_tp = 0, cost_tn = 0) {
  cost_fp <- as_cost(cost_fp)
  cost_fn <- as_cost(cost_fn)
  cost_tp <- as_cost(cost_tp)
  cost_tn <- as_cost(cost_tn)
  call <- rlang::current_env()
  check_costs(cost_fp, cost_tn, "cost_fp", "cost_tn", "negative", call)
  check_costs(cost_fn, cost_tp, "cost_fn", "cost_tp", "positive", call)
  logit <- log(cost_fp - cost_tn) - log(cost_fn - cost_tp)
  c(threshold = stable_sigmoid(logit), logit = logit)
}

# One prevalence, or one per target.
as_prevalence <- function(x, k = 1L, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  force(arg)
  if (!is.numeric(x) || is.object(x) || !length(x) %in% c(1L, k)) {
    found <- describe(x)
    number <- if (k > 1L) "one number, or one per target ({k})," else "a number"
    abort(paste0("{.arg {arg}} must be ", number, " between 0 and 1, not {found}."), "prior", expected = k,
          found = found, call = call)
  }
  bad <- which(is.na(x) | x <= 0 | x >= 1)
  if (!length(bad)) return(as.double(x))
  value <- format(x[[bad[1L]]])
  place <- if (length(x) > 1L) paste0(" (position ", bad[1L], ")") else ""
  advice <- if (!is.na(x[[bad[1L]]]) && x[[bad[1L]]] > 1) {
    c(i = "It is a share, not a percentage or a count.")
  } else {
    c(i = "It is the share of positives; at 0 or 1 there would be one class only.")
  }
  abort(c("{.arg {arg}} must be greater than 0 and less than 1, not {value}{place}.", advice), "prior",
        found = x[[bad[1L]]], where = unname(bad), call = call)
}

as_cost <- function(x, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  if (is_number(x)) return(as.double(x))
  found <- describe(x)
  abort("{.arg {arg}} must be a finite number, not {found}.", "argument", found = found, call = call)
}

check_costs <- function(wrong, right, arg_wrong, arg_right, class, call) {
  if (wrong > right && is.finite(wrong - right)) return(invisible())
  found <- format(wrong)
  limit <- format(right)
  abort(
    c("{.arg {arg_wrong}} must be greater than {.arg {arg_right}} ({limit}), not {found}.",
      i = "Otherwise {class}s are best called wrongly, whatever their probability."),
    "argument",
    expected = right, found = wrong, call = call
  )
}
