# Inputs of the permutation tests: data, blocks, the caller's own rearrangements, settings.

# list(Y, is_vector, names, mask): samples x columns, where columns may be missing altogether and values not finite.
as_tested <- function(Y, na, arg = "Y", call = rlang::caller_env()) {
  na <- as_choice(na, c("exclude", "error"), arg = "na", call = call)
  if (is.matrix(Y) && is.numeric(Y) && ncol(Y) == 0L && nrow(Y) > 0L) {
    out <- list(Y = matrix(0, nrow(Y), 0L), is_vector = FALSE, names = NULL)
  } else {
    out <- as_target_matrix(Y, NROW(Y), arg, call)
    check_not_empty(out$Y, arg, call)
  }
  check_sample_number(nrow(out$Y), arg, call)
  if (na == "error") {
    check_finite_columns(out$Y, arg, "column", c(i = "Use {.code na = \"exclude\"} to leave these columns out."), call)
  }
  c(out, list(mask = target_mask(Y)))
}

check_sample_number <- function(n, arg, call) {
  if (n > 1L) return(invisible(n))
  abort(
    c("{.arg {arg}} must have at least 2 rows, not {n}.", i = "Rows are samples, columns are tested one by one."),
    "shape",
    expected = 2L, found = n, call = call
  )
}

# Settings that all tests share. `n_permutations` is a setting(value, given).
permutation_settings <- function(n_permutations, alternative, two_sided, exact, blocks, block_type, permutations,
                                 return_null, seed, n_threads, device, progress, call) {
  out <- list(
    n_permutations = as_count(n_permutations$value, arg = "n_permutations", call = call),
    alternative = as_choice(alternative, c("two.sided", "greater", "less"), arg = "alternative", call = call),
    two_sided = as_choice(two_sided, c("abs", "double"), arg = "two_sided", call = call),
    exact = as_choice(exact, c("auto", "never", "always"), arg = "exact", call = call),
    blocks = blocks,
    block_type = as_choice(block_type, c("within", "whole"), arg = "block_type", call = call),
    permutations = permutations,
    return_null = as_flag(return_null, arg = "return_null", call = call),
    seed = seed,
    progress = as_flag(progress, arg = "progress", call = call),
    n_threads = resolve_threads(n_threads, call),
    device = as_choice(device, DEVICES, arg = "device", call = call)
  )
  if (!is.null(seed)) as_key(seed, call)
  if (is.null(permutations)) return(out)
  refuse <- function(arg, found) {
    abort("{.arg {arg}} must be left out where {.arg permutations} are given, not {found}.", "conflict",
          found = found, call = call)
  }
  if (n_permutations$given) refuse("n_permutations", describe(n_permutations$value))
  if (!is.null(blocks)) refuse("blocks", describe(blocks))
  if (!is.null(seed)) refuse("seed", describe(seed))
  if (out$exact == "always") refuse("exact", "\"always\"")
  out
}

# What is rearranged and how, in the form of the core. `kind`: "flips", "labels" or "orders"; `first`: for labels, who
# is in the first group.
rearrangements <- function(kind, n, settings, first = NULL, call = rlang::caller_env()) {
  block <- as_blocks(settings$blocks, n, settings$block_type, kind, call)
  given <- settings$permutations
  list(
    kind = kind,
    n = n,
    block = block,
    whole = !is.null(block) && settings$block_type == "whole",
    first = first,
    exact = FALSE,
    seed = 0,
    given = if (kind == "flips") as_flips(given, n, call) else as_orders(given, n, call)
  )
}

# The block of each sample, counted from 1, or NULL.
as_blocks <- function(blocks, n, type, kind, call) {
  if (is.null(blocks)) {
    if (type == "whole") {
      abort(
        c("{.arg block_type} must be {.val within} without {.arg blocks}, not {.val whole}.",
          i = "Say in {.arg blocks} which samples move together."),
        "conflict",
        found = type, call = call
      )
    }
    return(NULL)
  }
  check_block_labels(blocks, n, call)
  if (kind == "flips" && type == "within") {
    abort(
      c("{.arg block_type} must be {.val whole} where signs are flipped, not {.val within}.",
        i = "Every sample has a sign of its own within a block as without blocks: leave {.arg blocks} out."),
      "conflict",
      found = type, call = call
    )
  }
  block <- match(blocks, unique(blocks))
  if (kind != "flips" && type == "whole") check_block_sizes(block, unique(blocks), call)
  block
}

check_block_sizes <- function(block, labels, call) {
  sizes <- tabulate(block)
  if (all(sizes == sizes[1L])) return(invisible(block))
  shown <- first_few(sprintf("%s: %d", labels, sizes))
  abort(
    c("{.arg blocks} must be of equal size to change places as a whole, not {shown}.",
      i = "Samples may move within blocks of any sizes: {.code block_type = \"within\"}."),
    "argument",
    found = sizes, call = call
  )
}

# An integer matrix with a column per sample.
as_given_matrix <- function(permutations, n, what, call) {
  ok <- is.matrix(permutations) && is.numeric(permutations) && !is.object(permutations) &&
    ncol(permutations) == n && nrow(permutations) > 0L
  if (!ok) {
    found <- describe(permutations)
    abort(
      c("{.arg permutations} must be a matrix with a row per permutation and a column per sample ({n}), not {found}.",
        i = "Its elements are {what}."),
      "argument",
      expected = n, found = found, call = call
    )
  }
  permutations
}

as_flips <- function(permutations, n, call) {
  if (is.null(permutations)) return(NULL)
  x <- as_given_matrix(permutations, n, "1 and -1", call)
  bad <- which(!(x %in% c(-1, 1)))
  if (length(bad)) abort_given(x, bad[1L], "1 or -1", format(x[bad[1L]]), call)
  storage.mode(x) <- "integer"
  x
}

as_orders <- function(permutations, n, call) {
  if (is.null(permutations)) return(NULL)
  x <- as_given_matrix(permutations, n, paste0("places from 1 to ", n, ", each once in a row"), call)
  must <- paste0("each of 1 to ", n, " once in a row")
  bad <- which(!(x %in% seq_len(n)))
  if (length(bad)) abort_given(x, bad[1L], must, format(x[bad[1L]]), call)
  storage.mode(x) <- "integer"
  # a repeated place in row r: two equal values of r and place
  repeated <- which(duplicated(as.vector(x) + n * (as.vector(row(x)) - 1)))
  if (length(repeated)) abort_given(x, repeated[1L], must, paste("a second", x[repeated[1L]]), call)
  x
}

abort_given <- function(x, at, must, found, call) {
  row <- (at - 1L) %% nrow(x) + 1L
  column <- (at - 1L) %/% nrow(x) + 1L
  abort(
    "{.arg permutations} must hold {must}, not {found} in row {row}, column {column}.",
    "argument",
    expected = must, found = x[at], where = c(row = row, column = column), call = call
  )
}

# How many permutations there will be, and whether they are all there are: list(rows, m, exact, possible, seed).
plan_permutations <- function(rows, settings, call) {
  if (!is.null(rows$given)) {
    return(list(rows = rows, m = nrow(rows$given), exact = FALSE, possible = NA_real_, seed = NA_real_))
  }
  possible <- core_permutations_possible(rows)
  if (possible <= 1) {
    abort(
      c("{.arg blocks} must leave something to rearrange, not a single arrangement: no rearrangement is possible
         (M = 1).",
        i = "Samples of one block that are in one group, or blocks of one sample, cannot change places."),
      "argument",
      found = possible, call = call
    )
  }
  # a sequential test needs a random order
  exact <- settings$exact == "always" ||
    (settings$exact == "auto" && possible <= settings$n_permutations && is.null(settings$sequential))
  if (exact && possible > 1e8) {
    shown <- format(possible, digits = 3L)
    abort(
      c("{.arg exact} must be {.val auto} or {.val never} for more than 1e8 rearrangements, not {.val always}: there are
         {shown}.", i = "Random permutations give p within a known interval, see {.code p_ci}."),
      "argument",
      expected = 1e8, found = possible, call = call
    )
  }
  rows$exact <- exact
  if (!exact) rows$seed <- as_key(settings$seed, call)
  list(rows = rows, m = if (exact) possible else settings$n_permutations, exact = exact, possible = possible,
       seed = if (exact) NA_real_ else rows$seed)
}
