# Scores of held-out decisions, for models that run in R. Classes are numbers from 1 to C; decisions have a column for
# two classes (positive: the second), else one per class.

# The largest decision, ties to the first class; of two classes the second where its decision is greater than 0.
predicted_class <- function(decision) {
  if (ncol(decision) == 1L) return(1L + (decision[, 1L] > 0))
  max.col(decision, ties.method = "first")
}

# Named by metric; NA where a metric is undefined.
decode_scores <- function(truth, decision, metrics, n_classes = NULL) {
  guess <- if (!is.null(n_classes)) predicted_class(decision)
  vapply(metrics, function(metric) {
    switch(metric,
      accuracy = mean(guess == truth),
      balanced_accuracy = mean(tapply(guess == truth, truth, mean)),
      auc = area_by_class(truth, decision),
      r = value_correlation(truth, decision[, 1L]),
      r2 = value_r2(truth, decision[, 1L]),
      mse = mean((truth - decision[, 1L])^2)
    )
  }, 0)
}

# Average ranks for ties; of several classes the mean of one against the rest over those that occur.
area_by_class <- function(truth, decision) {
  if (length(unique(truth)) < 2L) return(NA_real_)
  if (ncol(decision) == 1L) return(area_by_rank(truth == 2L, decision[, 1L]))
  mean(vapply(unique(truth), function(class) area_by_rank(truth == class, decision[, class]), 0))
}

area_by_rank <- function(positive, decision) {
  n1 <- sum(positive)
  n0 <- length(positive) - n1
  (sum(rank(decision)[positive]) - n1 * (n1 + 1) / 2) / (n1 * n0)
}

value_correlation <- function(truth, value) {
  if (length(truth) < 3L) return(NA_real_)
  x <- truth - mean(truth)
  z <- value - mean(value)
  if (sum(x^2) == 0 || sum(z^2) == 0) return(NA_real_)
  sum(x * z) / sqrt(sum(x^2) * sum(z^2))
}

value_r2 <- function(truth, value) {
  total <- sum((truth - mean(truth))^2)
  if (total == 0) NA_real_ else 1 - sum((truth - value)^2) / total
}
