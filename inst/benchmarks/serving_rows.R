# Rows of the tables of measurements: one per case, measure and peer.

# `ours` and `peer` are values of one measure, one per round. The ratio says how many times better ours is, in the
# median round: higher, or `lower` where that is better.
measured_row <- function(case, measure, ours, peer = NULL, lower = FALSE, difference = NA_real_, detail = "",
                         peer_version = "", problem = "") {
  summary <- function(x, name) {
    if (!length(x)) x <- NA_real_
    stats::setNames(list(stats::median(x), min(x), max(x)), paste0(name, c("", "_min", "_max")))
  }
  ratio <- if (is.null(peer)) NA_real_ else stats::median(if (lower) peer / ours else ours / peer)
  wanted <- c(case$wanted[measure], NA)[[1]]
  reached <- if (is.na(wanted)) NA else eval(str2lang(wanted), list(ours = stats::median(ours), ratio = ratio))
  data.frame(
    case = case$id, what = case$what, measure = measure, summary(ours, "ours"),
    peer = if (is.null(peer)) "" else case$peer_label, summary(peer, "peer_value"), ratio = ratio, wanted = wanted,
    reached = reached, difference = difference, detail = detail, rounds = length(ours), threads = case$threads %||% 1L,
    ours_version = paste("voxridge", utils::packageVersion("voxridge")),
    peer_version = peer_version, problem = problem, date = format(Sys.time(), "%Y-%m-%d", tz = "UTC")
  )
}

# One case, after `prepare(case, dir, here)`; a case that cannot be measured here gives one row that says why.
measure_case <- function(case, settings, here, prepare = function(case, dir, here) NULL) {
  tryCatch(
    {
      prepare(case, settings$work_dir, here)
      case$measure(case, settings, here)
    },
    error = function(e) measured_row(case, "not measured", NA_real_, problem = conditionMessage(e))
  )
}

say_measured <- function(rows) {
  show <- function(x) formatC(x, digits = 4, format = "g", flag = "")
  for (i in seq_len(nrow(rows))) {
    row <- rows[i, ]
    cat(sprintf("%-20s %-42s ours %s", row$case, row$measure, show(row$ours)),
      if (nzchar(row$peer)) sprintf(", %s %s, ratio %s", row$peer, show(row$peer_value), show(row$ratio)),
      if (!is.na(row$wanted)) {
        outcome <- if (is.na(row$reached)) "no figure" else if (row$reached) "yes" else "NO"
        sprintf(" (wanted: %s: %s)", row$wanted, outcome)
      },
      if (nzchar(row$detail)) paste0("; ", row$detail),
      if (nzchar(row$problem)) paste0(" [", row$problem, "]"), "\n", sep = "")
  }
}
