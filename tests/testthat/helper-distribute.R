# Distributed runs for tests.

# As `code` under a plan of future, which is put back afterwards.
under_plan <- function(plan, code) {
  before <- future::plan(plan)
  on.exit(future::plan(before))
  code
}

distribute_quietly <- function(...) muffle_edge(distribute_ridge_cv(..., progress = FALSE))

# What both kinds of result share, without what says how it was computed.
answers_of <- function(fit) {
  out <- fit[setdiff(names(fit), c("dir", "missing_targets", "diagnostics", "coefs"))]
  out$diagnostics <- fit$diagnostics[c("alpha_index", "share_at_edge", "constant_targets", "skipped_targets")]
  if (!is.null(fit$coefs)) out$coefs <- unname(fit$coefs[, ])
  out
}

# The values as they are after float32.
as_float32 <- function(x) {
  bytes <- writeBin(as.vector(x), raw(), size = 4L)
  matrix(readBin(bytes, "double", length(x), size = 4L), nrow(x))
}
