# Label permutations of decode(): what may change places, enumeration of distinct arrangements, and p from counts.

# list(rows, m, exact, possible, seed, within): `rows` in the form of the core (as of rearrangements()); `values`: codes
# of classes or values, of samples in any fold; `within`: the block of each, or NULL; `words`: for people.
plan_labels <- function(n_permutations, permute_within, values, folds, seed, call) {
  n <- length(values)
  if (!is.null(seed)) as_key(seed, call)
  if (n_permutations == 0L) {
    if (!is.null(permute_within)) {
      abort(
        c("{.arg permute_within} must be NULL without permutations, not {describe(permute_within)}.",
          i = "Say how many: {.code n_permutations = 1000}."),
        "conflict",
        found = describe(permute_within), call = call
      )
    }
    return(NULL)
  }
  within <- as_permute_within(permute_within, folds, call)
  code <- match(values, sort(unique(values)))
  block <- match(within$labels, unique(within$labels))
  if (is.null(within$labels)) block <- rep(1L, n)
  check_movable(code, block, within, call)
  possible <- arrangement_number(code, block)
  exact <- possible <= n_permutations
  given <- if (exact) arrangement_orders(code, block)
  key <- if (exact) NA_real_ else as_key(seed, call)
  rows <- list(kind = "orders", n = n, block = if (!is.null(within$labels)) block, whole = FALSE, first = NULL,
               exact = FALSE, seed = if (exact) 0 else key, stream = LABEL_STREAM, given = given)
  list(rows = rows, m = if (exact) nrow(given) else n_permutations, exact = exact, possible = possible, seed = key,
       within = within$words, block = block)
}

# The stream of random numbers for labels (core/philox.h).
LABEL_STREAM <- 3L

# list(labels, words): labels of samples in any fold, NULL for all.
as_permute_within <- function(permute_within, folds, call) {
  n <- length(folds$times)
  if (rlang::is_string(permute_within) && n > 1L) {
    if (permute_within == "all") return(list(labels = NULL, words = "all samples"))
  } else if (is.null(permute_within)) {
    if (is.null(folds$labels_of)) return(list(labels = NULL, words = "all samples"))
    labels <- folds$labels_of[folds$rows]
    return(list(labels = labels, words = paste("the", count_label(length(unique(labels)), "label"), "of cv")))
  } else if (is.atomic(permute_within) && length(dim(permute_within)) < 2L &&
             length(permute_within) == folds$n_rows) {
    labels <- as.vector(permute_within)[folds$rows]
    if (anyNA(labels)) {
      where <- folds$rows[is.na(labels)]
      abort("{.arg permute_within} must be labels without NA, not NA for row{?s} {first_few(where)}.", "argument",
            found = NA, where = where, call = call)
    }
    return(list(labels = labels, words = count_label(length(unique(labels)), "block")))
  }
  found <- describe(permute_within)
  abort(
    c("{.arg permute_within} must be {.val all}, a label per row of {.arg X} ({folds$n_rows}), or NULL, not {found}.",
      i = "Labels change places within samples of one label; NULL takes those of {.arg cv}."),
    "argument",
    expected = folds$n_rows, found = found, call = call
  )
}

# Blocks of one label cannot be rearranged.
check_movable <- function(code, block, within, call) {
  kinds <- vapply(split(code, block), function(x) length(unique(x)), 0L)
  if (all(kinds == 1L)) {
    abort(
      c("{.arg permute_within} must leave labels to rearrange, not a single arrangement (M = 1): each of the
         {length(kinds)} block{?s} has one label.",
        i = "{.code permute_within = \"all\"} lets labels change places among all samples, which is valid only where
             samples of different runs are exchangeable."),
      "argument",
      expected = 2, found = 1, call = call
    )
  }
  if (all(kinds > 1L)) return(invisible())
  warn(
    c("Labels are constant in {sum(kinds == 1L)} of {length(kinds)} blocks of {.arg permute_within}: they stay there in
       every permutation.", i = "The null distribution is of the other blocks alone."),
    "constant_labels",
    found = sum(kinds == 1L), where = unname(which(kinds == 1L))
  )
}

# ---- arrangements ----------------------------------------------------------------------------

# The number of different arrangements of labels: over blocks, n! over the product of the class counts' factorials.
arrangement_number <- function(code, block) {
  counts <- table(block, code)
  logs <- sum(lfactorial(rowSums(counts))) - sum(lfactorial(counts))
  if (logs < 34) round(exp(logs)) else exp(logs)
}

# All of them, an order of samples a row, the first the data themselves or the same labels; block after block.
arrangement_orders <- function(code, block) {
  out <- matrix(seq_along(code), 1L)
  for (rows in split(seq_along(code), block)) {
    some <- distinct_orders(code[rows])
    again <- rep(seq_len(nrow(out)), each = nrow(some))
    out <- out[again, , drop = FALSE]
    out[, rows] <- matrix(rows[some], nrow(some))[rep(seq_len(nrow(some)), length.out = nrow(out)), ]
  }
  storage.mode(out) <- "integer"
  out
}

# Orders of 1..n that give every distinct sequence of codes once.
distinct_orders <- function(code) {
  n <- length(code)
  if (length(unique(code)) == 1L) return(matrix(seq_len(n), 1L))
  parts <- lapply(which(!duplicated(code)), function(first) {
    rest <- seq_len(n)[-first]
    smaller <- distinct_orders(code[rest])
    cbind(first, matrix(rest[smaller], nrow(smaller)), deparse.level = 0)
  })
  do.call(rbind, parts)
}

# ---- p ---------------------------------------------------------------------------------------

# p, p_fwer, q_fdr, p_ci and what else is known of the null, locations x metrics; of counts b: b / M where all
# arrangements are enumerated, (b + 1) / (m + 1) otherwise. p_fwer is at least p. `undefined`: where there is no score.
permutation_results <- function(raw, plan, metrics, labels, undefined) {
  m <- as.double(plan$m)
  shape <- function(x) matrix(x, ncol = length(metrics), dimnames = list(labels, metrics))
  share <- function(b) if (plan$exact) b / m else (b + 1) / (m + 1)
  counts <- shape(raw$counts)
  counts[undefined] <- NA
  largest <- pmax(shape(raw$max_counts), counts)
  each <- lapply(seq_along(metrics), function(j) {
    distinct <- distinct_counts(counts[, j], m)
    p <- share(distinct$known)
    list(q = discovery_rate(p, distinct$place)[distinct$place],
         ci = if (!plan$exact) p_interval(distinct$known, m, 1, distinct$place, labels))
  })
  list(
    p = share(counts),
    p_fwer = share(largest),
    q_fdr = shape(unlist(lapply(each, `[[`, "q"))),
    p_ci = if (!plan$exact) {
      array(unlist(lapply(each, `[[`, "ci")), c(nrow(counts), 2L, length(metrics)),
            list(labels, c("lower", "upper"), metrics))
    },
    counts = counts,
    max_null = matrix(raw$max_null, ncol = length(metrics), dimnames = list(NULL, metrics)),
    null_mean = shape(raw$null_mean),
    n_permutations = as.integer(plan$m),
    n_possible = plan$possible,
    exact = plan$exact,
    min_p = share(as.double(plan$exact)),
    permute_within = plan$within,
    seed = if (!plan$exact) plan$seed
  )
}
