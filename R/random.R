# Random numbers by counter (Philox): a value depends on the key, the stream and its position only, so results are the
# same for any RNGkind(), thread count or platform.

# One stream number per use. `candidates` and `alpha_jitter` are drawn by the core (core/dirichlet.cpp).
RNG_STREAMS <- c(
  fold_order = 1L, features = 2L, rotation = 3L, coefs = 4L, noise = 5L, ceiling = 6L, band_share = 7L,
  candidates = 8L, alpha_jitter = 9L, null_shifts = 10L
)

# The key of a run. NULL draws it from R's generator, so set.seed() works; a given seed is the key and leaves the state
# of R's generator alone.
as_key <- function(seed, call = rlang::caller_env()) {
  if (is.null(seed)) {
    draws <- stats::runif(2L)
    return(floor(draws[1L] * 2^26) * 2^27 + floor(draws[2L] * 2^27))
  }
  if (is_number(seed) && seed == round(seed) && seed >= 0 && seed < 2^53) return(as.double(seed))
  found <- describe(seed)
  abort(
    "{.arg seed} must be NULL or a whole number from 0 to 2^53 - 1, not {found}.",
    "argument",
    found = found, call = call
  )
}

draw <- function(n, key, stream, kind = c("uniform", "normal")) {
  core_philox(as.double(n), key, RNG_STREAMS[[stream]], match.arg(kind))
}
