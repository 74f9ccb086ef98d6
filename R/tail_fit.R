# The tail of the distribution of the maximum as a generalised Pareto distribution, for family-wise p below what counts
# can tell. Method of moments: Hosking and Wallis 1987, doi:10.1080/00401706.1987.10488243. Test of fit: Choulakian and
# Stephens 2001, doi:10.1198/00401700152672573 (points for maximum likelihood; with moments somewhat more is refused).

TAIL_SHARES <- seq(0.25, 0.01, by = -0.01)
TAIL_LEAST <- list(maxima = 500L, values = 20L)
TAIL_BELOW <- 0.1

# 5 % points of A^2 where both parameters are fitted, by shape.
TAIL_POINTS <- data.frame(
  shape = c(0.5, 0.2, 0.1, 0, -0.1, -0.2, -0.3, -0.4, -0.5),
  limit = c(0.830, 0.903, 0.935, 0.974, 1.020, 1.074, 1.140, 1.221, 1.321)
)

# The largest share of the maxima whose excesses over the threshold pass the test of fit: a row of `share`, `n`,
# `threshold`, `shape`, `scale`, or none.
fit_tail <- function(maxima) {
  m <- length(maxima)
  sorted <- sort(maxima, decreasing = TRUE)
  none <- data.frame(share = numeric(), n = integer(), threshold = numeric(), shape = numeric(), scale = numeric())
  if (m < TAIL_LEAST$maxima || anyNA(maxima)) return(none)
  for (share in TAIL_SHARES) {
    n <- as.integer(floor(share * m + 1e-9))
    if (n < TAIL_LEAST$values) break
    threshold <- mean(sorted[c(n, n + 1L)])
    fit <- fit_pareto(sorted[seq_len(n)] - threshold)
    if (fit$fits) return(data.frame(share = n / m, n = n, threshold = threshold, shape = fit$shape, scale = fit$scale))
  }
  none
}

fit_pareto <- function(excess) {
  ratio <- mean(excess)^2 / stats::var(excess)
  if (!is.finite(ratio)) return(list(fits = FALSE))
  shape <- (ratio - 1) / 2
  scale <- mean(excess) * (ratio + 1) / 2
  below <- sort(1 - pareto_above(excess, shape, scale))
  n <- length(excess)
  # where a value lies beyond the end of the distribution a logarithm is infinite
  distance <- -n - mean((2 * seq_len(n) - 1) * (log(below) + log1p(-rev(below))))
  limit <- stats::approx(TAIL_POINTS$shape, TAIL_POINTS$limit, shape, rule = 2)$y
  list(fits = is.finite(distance) && distance < limit, shape = shape, scale = scale, distance = distance)
}

# The chance of more than `excess`; 0 beyond the end.
pareto_above <- function(excess, shape, scale) {
  if (abs(shape) < 1e-12) return(exp(-excess / scale))
  pmax(1 - shape * excess / scale, 0)^(1 / shape)
}

# Family-wise p of one direction with a fitted tail: list(p, fitted, tail). A column keeps its count where that says
# 0.10 or more, below the threshold, beyond the end of the fitted distribution, and where none fits.
with_fitted_tail <- function(p, statistic, maxima, tail) {
  sign <- if (tail == "less") -1 else 1
  x <- if (tail == "abs") abs(statistic) else sign * statistic
  fit <- fit_tail(sign * maxima)
  fitted <- rep(FALSE, length(p))
  if (nrow(fit)) {
    from_fit <- fit$share * pareto_above(x - fit$threshold, fit$shape, fit$scale)
    fitted <- !is.na(p) & p < TAIL_BELOW & x > fit$threshold & is.finite(x) & from_fit > 0
    p[fitted] <- from_fit[fitted]
    fit$threshold <- sign * fit$threshold
  } else {
    fit[1L, ] <- NA
  }
  list(p = p, fitted = fitted, tail = cbind(tail = tail, fit))
}

# The result with p_fwer from fitted tails. Enumerated p are exact as they are.
as_fitted_result <- function(out, parts) {
  used <- parts[[1L]]$state == 0L
  m <- as.double(out$n_permutations)
  each <- lapply(names(parts), function(tail) {
    part <- parts[[tail]]
    p <- ifelse(used, (part$maximum_counts + 1) / (m + 1), NA_real_)
    if (out$exact) part$maximum <- numeric()
    with_fitted_tail(p, part$statistic, part$maximum, tail)
  })
  out$tail <- do.call(rbind, lapply(each, `[[`, "tail"))
  fitted <- each[[1L]]$fitted
  if (!out$exact) {
    p <- each[[1L]]$p
    if (length(each) == 2L) {
      other <- !is.na(p) & each[[2L]]$p < p
      p[other] <- each[[2L]]$p[other]
      fitted[other] <- each[[2L]]$fitted[other]
    }
    changed <- used & fitted
    out$p_fwer[changed] <- pmin(1, length(parts) * p[changed])
  }
  out$tail_fitted <- with_names(ifelse(used, fitted, NA), names(out$p))
  out
}
