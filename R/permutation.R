# Running a permutation test and making its result. The exported tests bring their data into one form: `tested`, of
# as_tested(); `design`, of new_permutation_design(); `rows`, of rearrangements().

# What is tested, in the form of the core (core/permutation_columns.h). `x`: n x r orthonormal; `nuisance`: n x q
# orthonormal, the first `n_fixed` of them unchanged by rearrangements; `sums`: u is a sum of values of y; `symmetric`:
# for every arrangement there is one of the opposite sign; `repeats`: how many arrangements are the same for u.
new_permutation_design <- function(label, statistic, n, df, x = matrix(0, n, 0L), nuisance = matrix(0, n, 0L),
                                   n_fixed = 0L, scale = 1, mu = 0, ranks = FALSE, paired = NULL, first = NULL,
                                   sums = FALSE, symmetric = FALSE, repeats = 1) {
  list(label = label, statistic = statistic, mu = mu, ranks = ranks, nuisance = nuisance, n_fixed = n_fixed, x = x,
       paired = paired, df = df, scale = scale, first = first, sums = sums, symmetric = symmetric,
       repeats = repeats)
}

run_permutation_test <- function(tested, design, rows, settings, call) {
  start <- proc.time()[["elapsed"]]
  plan <- plan_permutations(rows, settings, call)
  n <- nrow(tested$Y)
  v <- ncol(tested$Y)
  backend <- permutation_backend(settings, design, n, v, plan$m, call)
  tails <- permutation_tails(design, settings)
  settings$maps <- map_rule(settings$enhance, settings$mask, design, call)
  check_result_memory(
    c("the null distribution (permutations x columns)" = if (settings$return_null) 8 * plan$m * v else 0,
      "the maxima of all permutations" = 16 * plan$m * length(tails), "maps" = 80 * as.double(v)),
    "Ask for fewer permutations, or leave {.arg return_null} out.", call
  )
  bar <- start_progress(settings$progress, "Permutations", call)
  on.exit(bar$close())
  options <- list(n_permutations = plan$m, batch = 0L)
  parts <- list()
  for (tail in tails) {
    options[c("absolute", "negate")] <- list(tail == "abs", tail == "less")
    options$keep_null <- settings$return_null && tail == tails[1L]
    options$sequential <- settings$sequential %||% 0L
    options["maps"] <- list(map_options(settings$maps, tail, design))
    done <- on_device(backend, settings$n_threads, bar$report, function(control) {
      core_permutation_test(tested$Y, design, plan$rows, options, control)
    }, call)
    backend <- done$backend
    parts[[tail]] <- done$value
  }
  settings$backend <- backend
  out <- new_permutation_result(parts, tested, design, plan, settings)
  if (!is.null(settings$sequential)) out <- as_sequential_result(out, parts, settings$sequential)
  if (!is.null(settings$maps)) out <- as_enhanced_result(out, parts, settings, settings$mask)
  if (settings$tail_fit) out <- as_fitted_result(out, parts)
  out$diagnostics$seconds <- proc.time()[["elapsed"]] - start
  tell_permutation_facts(out)
  out
}

# The directions that are counted: two for twice the smaller of two p.
permutation_tails <- function(design, settings) {
  if (design$statistic == "f") return("abs")
  if (settings$alternative != "two.sided") return(settings$alternative)
  if (settings$two_sided == "abs") "abs" else c("greater", "less")
}

# p, q and their intervals are functions of the counts, which are few: they are made once for each count. Twice the
# smaller of two p is that of the smaller count. p_fwer is at least p: of the larger count.
new_permutation_result <- function(parts, tested, design, plan, settings) {
  first <- parts[[1L]]
  m <- as.double(plan$m)
  n_tails <- length(parts)
  excluded <- excluded_columns(first$state)
  fold <- function(what) {
    counts <- if (n_tails == 1L) first[[what]] else Reduce(pmin, lapply(parts, `[[`, what))
    if (nrow(excluded)) counts[excluded$column] <- NA_integer_
    counts
  }
  p_of <- function(counts) {
    share <- if (plan$exact) counts / m else (counts + 1) / (m + 1)
    if (n_tails == 1L) share else pmin(1, n_tails * share)
  }
  counts <- fold("counts")
  distinct <- distinct_counts(counts, m)
  known <- distinct$known
  place <- distinct$place
  p_known <- p_of(known)
  maxima <- lapply(parts, `[[`, "maximum")
  named <- function(x) with_names(x, tested$names)
  df <- if (design$statistic == "welch") named(first$df) else design$df
  structure(
    list(
      statistic = named(first$statistic),
      estimate = named(first$estimate),
      df = if (design$statistic == "f") c(ncol(design$x), df) else df,
      p = named(p_known[place]),
      p_fwer = named(p_of(pmax(fold("maximum_counts"), counts))),
      q_fdr = named(discovery_rate(p_known, place)[place]),
      p_ci = if (!plan$exact) p_interval(known, m, n_tails, place, tested$names),
      counts = named(counts),
      max_null = if (length(maxima) == 1L) maxima[[1L]] else do.call(cbind, maxima),
      n_permutations = plan$m,
      exact = plan$exact,
      n_possible = plan$possible,
      min_p = smallest_p(design, plan, settings),
      alternative = if (design$statistic == "f") "greater" else settings$alternative,
      two_sided = if (settings$alternative == "two.sided" && design$statistic != "f") settings$two_sided,
      scheme = if (plan$rows$kind == "flips") "flip" else "shuffle",
      blocks = block_table(plan$rows, settings),
      seed = if (!is.na(plan$seed)) plan$seed,
      backend = settings$backend$name,
      excluded = excluded,
      null = if (settings$return_null) with_dimnames(first$null, list(NULL, tested$names)),
      mask = settings$mask %||% tested$mask,
      test = design$label,
      n = nrow(tested$Y),
      diagnostics = list(degenerate = sum(vapply(parts, `[[`, 0, "degenerate")),
                         n_threads = settings$n_threads)
    ),
    class = "voxridge_permutation_test"
  )
}

# The different counts, increasing, and the place of each column's among them, NA where it is NA.
distinct_counts <- function(counts, m) {
  if (m > 1e6) {
    known <- sort(unique(counts))
    return(list(known = known, place = match(counts, known)))
  }
  there <- tabulate(counts + 1L, m + 1L) > 0L
  list(known = which(there) - 1L, place = cumsum(there)[counts + 1L])
}

# stats::p.adjust(p, "BH") for each of the increasing values `known` of p, that columns have by their `place`: the
# number of p up to it stands for the rank.
discovery_rate <- function(known, place) {
  up_to <- cumsum(tabulate(place, length(known)))
  pmin(1, rev(cummin(rev(up_to[length(known)] / up_to * known))))
}

# Clopper and Pearson's interval for the share of all rearrangements at least as extreme, by counts. That of m - b is
# the mirror image of that of b.
p_interval <- function(known, m, n_tails, place, names) {
  mirrored <- known > m / 2
  near <- ifelse(mirrored, m - known, known)
  some <- unique(near)
  at <- match(near, some)
  lower <- stats::qbeta(0.025, some, m - some + 1)[at]
  upper <- stats::qbeta(0.975, some + 1, m - some)[at]
  ends <- cbind(lower = ifelse(mirrored, 1 - upper, lower), upper = ifelse(mirrored, 1 - lower, upper))
  out <- pmin(n_tails * ends, 1)[place, , drop = FALSE]
  if (!is.null(names)) rownames(out) <- names
  out
}

# The smallest p that can come out. Where all is enumerated, a two-sided test may find the arrangement of opposite sign
# too.
smallest_p <- function(design, plan, settings) {
  if (!plan$exact) return(min(1, length(permutation_tails(design, settings)) / (plan$m + 1)))
  twice <- settings$alternative == "two.sided" && design$statistic != "f" &&
    (design$symmetric || settings$two_sided == "double")
  min(1, design$repeats * (1 + twice) / plan$m)
}

block_table <- function(rows, settings) {
  if (is.null(rows$block)) return(NULL)
  data.frame(block = unique(as.character(settings$blocks)), size = tabulate(rows$block))
}

EXCLUDED_REASONS <- c("constant", "zero", "non-finite", "nuisance")

excluded_columns <- function(state) {
  column <- which(state != 0L)
  data.frame(column = column, reason = EXCLUDED_REASONS[state[column]])
}

# Facts of the data that a user must know of.
tell_permutation_facts <- function(result) {
  v <- length(result$statistic)
  if (v > 0L && nrow(result$excluded) == v) {
    reasons <- paste(unique(result$excluded$reason), collapse = ", ")
    warn(
      c("{.arg Y} must have a column that can be tested, not none of {v}: every p is NA.", i = "Reasons: {reasons}."),
      "nothing_to_test"
    )
  }
  if (result$min_p > 0.05) {
    shown <- format(signif(result$min_p, 3L))
    inform(
      c("No p below 0.05 is possible: the smallest is {shown}.",
        i = if (result$exact) "There are {format_count(result$n_possible)} rearrangements in all."
            else "More permutations would allow smaller ones."),
      "few_permutations"
    )
  }
}
