# The banded ridge cases: several feature spaces, one penalty each. Each entry is one comparison (cases.R).
#
# Both sides search the same candidates (gamma_values() in data.R) with the same alphas and keep the best pair for every
# target. precision = "single" compares with himalaya in float32, as in cases_ridge.R.

banded_case <- function(..., ours = "banded_cv", bands = 3, candidates = 10, more = list()) {
  benchmark_case(..., ours = ours, more = c(list(bands = bands, candidates = candidates), more))
}

# Reported by its author on 2026-09-03 in a comment on an issue of rMVPA, measured before and after a change (414.9 s,
# 424.8 s). That run also fitted without each band in turn and standardised the features in every fold. How many targets
# and cores it had is not known to us; its matrix products ran at about 330 GFLOPS.
rmvpa_report <- list(
  published_s = 414.9,
  published_where = "github.com/bbuchsbaum/rMVPA/issues/84, another machine and data, number of targets unknown"
)

benchmark_cases <- function() {
  tall <- list(n = 120, p = 30, t = 200)
  wide <- list(n = 80, p = 150, t = 200)
  tall_case <- function(...) {
    banded_case(..., n = 400, p = 150, t = 2000, peer = "banded_primal", peer_label = "himalaya GroupRidgeCV's solver",
      output = "primal", quick = tall)
  }
  wide_case <- function(...) {
    banded_case(..., n = 200, p = 1000, t = 2000, peer = "banded_kernel",
      peer_label = "himalaya MultipleKernelRidgeCV's solver", output = "dual", quick = wide)
  }
  nested_case <- function(...) {
    banded_case("bands-nested", ..., n = 800, p = 12000, t = 1000, n_alphas = 4, candidates = 12, folds = 2,
      spectra = "power", ours = "banded_nested", output = "primal")
  }
  small <- list(n = 80, p = 240, t = 50)
  what <- c(tall = "3 bands, 10 candidates, 20 alphas, more samples than features",
    wide = "3 bands, 10 candidates, 20 alphas, more features than samples",
    nested = "3 bands, 12 candidates, 4 alphas, 5 outer and 2 inner folds")
  list(
    tall_case("bands-tall", what["tall"], wanted = c(3, 3)),
    wide_case("bands-wide", what["wide"], wanted = c(1.6, 1.6)),
    tall_case("bands-single-tall", what["tall"], precision = "single"),
    wide_case("bands-single-wide", what["wide"], precision = "single"),
    # search and coefficients on the training rows of every outer fold, predictions and R2 of its held-out rows
    nested_case(what["nested"], peer = "published",
      peer_label = "rMVPA banded_ridge_model (published, another machine)", wanted = rmvpa_report$published_s / 20,
      quick = c(small, published_s = NA), more = c(outer = 5, rmvpa_report)),
    nested_case(what["nested"], peer = "banded_nested",
      peer_label = "himalaya MultipleKernelRidgeCV's solver", quick = small, more = list(outer = 5))
  )
}
