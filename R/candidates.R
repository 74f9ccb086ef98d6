# What a banded search tries: weights of the bands ("gammas"), one candidate per row, and a factor on the penalties of
# each candidate.

# The argument `n_iter`: a number of candidates, or their gammas as a checked matrix, candidates x bands.
as_n_iter <- function(n_iter, bands, call = rlang::caller_env()) {
  if (is.data.frame(n_iter) || length(dim(n_iter)) == 2L) return(as_gammas(n_iter, bands, call))
  if (is_number(n_iter) && n_iter == round(n_iter) && n_iter >= 1 && n_iter <= .Machine$integer.max) {
    return(as.integer(n_iter))
  }
  found <- describe(n_iter)
  abort(
    c("{.arg n_iter} must be a whole number of at least 1, or a matrix of gammas, not {found}.",
      i = "Gammas have a row per candidate and a column per band ({length(bands)})."),
    "argument",
    found = found, call = call
  )
}

n_candidates <- function(n_iter) if (is.matrix(n_iter)) nrow(n_iter) else n_iter

# Gammas are used as they are: they need not sum to 1.
as_gammas <- function(gammas, bands, call) {
  if (is.data.frame(gammas)) gammas <- data_frame_matrix(gammas, "n_iter", call)
  if (!is.numeric(gammas) || is.object(gammas) || !nrow(gammas)) {
    found <- describe(gammas)
    abort(
      "{.arg n_iter} must be a number, or a numeric matrix of gammas with a row per candidate, not {found}.",
      "gammas",
      found = found, call = call
    )
  }
  gammas <- gammas[, gamma_columns(gammas, bands, call), drop = FALSE]
  check_gamma_rows(rowSums(!is.finite(gammas)) > 0, gammas, "finite", call)
  check_gamma_rows(rowSums(gammas < 0) > 0, gammas, "at least 0", call)
  check_gamma_rows(rowSums(gammas > 0) == 0, gammas, "greater than 0 for one band at least", call)
  matrix(as.double(gammas), nrow(gammas), dimnames = list(NULL, bands))
}

# The columns in the order of the bands: by name where they have names.
gamma_columns <- function(gammas, bands, call) {
  found <- ncol(gammas)
  if (found != length(bands)) {
    abort(
      c("{.arg n_iter} must have a column per band ({length(bands)}), not {found}.",
        i = "Rows are candidates. The bands are {.val {bands}}."),
      "gammas",
      expected = length(bands), found = found, call = call
    )
  }
  names <- colnames(gammas)
  if (is.null(names)) return(seq_len(found))
  if (!anyDuplicated(names) && setequal(names, bands)) return(match(bands, names))
  wrong <- unique(c(names[duplicated(names)], setdiff(names, bands)))
  abort(
    c("The columns of {.arg n_iter} must be named after the bands ({.val {bands}}), not {.val {wrong}}.",
      i = "Without names they are taken in the order of the bands."),
    "gammas",
    expected = bands, found = names, call = call
  )
}

check_gamma_rows <- function(bad, gammas, what, call) {
  where <- which(bad)
  if (!length(where)) return(invisible(gammas))
  shown <- first_few(where)
  first <- paste(format(gammas[where[1L], ], trim = TRUE), collapse = ", ")
  abort(
    c("Gammas in {.arg n_iter} must be {what}, not as in {length(where)} of {nrow(gammas)} rows
       ({cli::qty(length(where))}row{?s} {shown}).",
      i = "Row {where[1]} is {first}. A band of weight 0 is left out of a candidate."),
    "gammas",
    found = gammas[where, , drop = FALSE], where = where, call = call
  )
}

# Concentrations of the Dirichlet distributions; `given`: the user wrote the argument.
as_concentration <- function(concentration, n_iter, call = rlang::caller_env()) {
  x <- concentration$value
  if (is.matrix(n_iter) && concentration$given) {
    abort(
      c("{.arg concentration} must be left out where {.arg n_iter} has the gammas, not given besides.",
        i = "It is for candidates that are drawn."),
      "conflict",
      call = call
    )
  }
  ok <- is.numeric(x) && !is.object(x) && length(x) && all(is.finite(x) & x > 0)
  if (ok) return(as.double(x))
  found <- if (is.numeric(x) && length(x)) format(x[!(is.finite(x) & x > 0)][1L]) else describe(x)
  abort(
    c("{.arg concentration} must be finite numbers greater than 0, not {found}.",
      i = "1 draws weights evenly, less favours few bands, more favours equal weights."),
    "argument",
    found = found, call = call
  )
}

# list(gammas, jitter, seed): candidates x bands, a factor per candidate, the key of what was drawn (NULL: nothing was).
# R's generator is used only where something is drawn and no seed is given.
draw_candidates <- function(n_iter, concentration, jitter_alphas, seed, bands, call = rlang::caller_env()) {
  key <- if (!is.null(seed)) as_key(seed, call)
  draws_gammas <- !is.matrix(n_iter) && n_iter > 1L && length(bands) > 1L
  if (is.null(key) && (draws_gammas || jitter_alphas)) key <- as_key(NULL)
  n <- n_candidates(n_iter)
  gammas <- if (is.matrix(n_iter)) {
    n_iter
  } else if (draws_gammas) {
    core_dirichlet(n, length(bands), concentration, key)
  } else {
    matrix(1 / length(bands), n, length(bands))
  }
  dimnames(gammas) <- list(NULL, bands)
  list(
    gammas = gammas,
    jitter = if (jitter_alphas) core_jitter(n, key) else rep(1, n),
    seed = if (draws_gammas || jitter_alphas) key
  )
}
