# Rscript inst/benchmarks/render.R [DIR]: the CSV files of DIR (default: results/) as tables in DIR/README.md.

table_line <- function(cells) paste0("| ", paste(cells, collapse = " | "), " |")

number_cell <- function(x, digits = 3) ifelse(is.na(x), "-", formatC(x, digits = digits, format = "fg", flag = "#"))
number_cell_plain <- function(x, digits) sub("\\.$", "", number_cell(x, digits))

whole_cell <- function(x) ifelse(is.na(x), "-", sprintf("%.0f", x))

agreement_cell <- function(alphas_equal, coef_difference, choice) {
  ifelse(is.na(alphas_equal) & is.na(coef_difference), "-", paste0(
    ifelse(is.na(alphas_equal), "", sprintf("%.1f %% same %s", 100 * alphas_equal, choice)),
    ifelse(is.na(alphas_equal) | is.na(coef_difference), "", ", "),
    ifelse(is.na(coef_difference), "", sprintf("%.0e", coef_difference))
  ))
}

gradient_cell <- function(ours, peer) ifelse(is.na(ours + peer), "", sprintf("; gradients %.0e, %.0e", ours, peer))

# `threads` are those that the table's heading names.
results_table <- function(rows, threads) {
  absent <- rep(NA, nrow(rows)) # columns that an older file lacks
  choice <- ifelse(grepl("^logistic-", rows$case), "lambda",
    ifelse(grepl("^inference-", rows$case), "counts",
      ifelse(grepl("^predict-", rows$case), "classes",
        ifelse(is.na(rows$candidates %||% absent), "alpha", "alpha and weights"))))
  size <- sprintf("n=%d p=%d t=%d", rows$n, rows$p, rows$t)
  other <- !rows$threads %in% threads
  size[other] <- sprintf("%s, %d thread%s", size, rows$threads, ifelse(rows$threads == 1, "", "s"))[other]
  head <- c("work", "size", "spectrum", "precision", "voxridge (s)", "peer", "peer (s)", "ratio", "wanted",
    "voxridge peak (MB)", "peer peak (MB)", "agreement")
  cells <- cbind(
    rows$what, size, rows$spectrum, rows$precision,
    number_cell_plain(rows$ours_s, 3), gsub("|", "\\|", rows$peer, fixed = TRUE), number_cell_plain(rows$peer_s, 3),
    number_cell_plain(rows$ratio, 2), number_cell_plain(rows$wanted, 2),
    whole_cell(rows$ours_peak_mb), whole_cell(rows$peer_peak_mb),
    paste0(agreement_cell(rows$alphas_equal, rows$coef_difference, choice),
      gradient_cell(rows$ours_gradient %||% absent, rows$peer_gradient %||% absent))
  )
  c(table_line(head), table_line(rep("---", length(head))), apply(cells, 1, table_line))
}

# One row per measure; `ours` and `peer` are medians of rounds, with the lowest and the highest.
measured_table <- function(rows) {
  value <- function(name) {
    range <- paste0(name, c("_min", "_max"))
    several <- !is.na(rows[[name]]) & rows[[range[1]]] < rows[[range[2]]]
    paste0(number_cell_plain(rows[[name]], 3), ifelse(several,
      sprintf(" (%s to %s)", number_cell_plain(rows[[range[1]]], 3), number_cell_plain(rows[[range[2]]], 3)), ""))
  }
  head <- c("work", "measure", "voxridge", "peer", "its value", "ratio", "wanted", "reached", "notes")
  load <- if (is.null(rows$load)) "" else sprintf("; load %.1f", rows$load)
  text <- function(x) ifelse(is.na(x) | x == "", "-", gsub("|", "\\|", x, fixed = TRUE))
  problem <- ifelse(is.na(rows$problem) | rows$problem == "", "", paste("; problem:", rows$problem))
  cells <- cbind(
    rows$what, rows$measure, value("ours"), text(rows$peer), value("peer_value"), number_cell_plain(rows$ratio, 3),
    text(rows$wanted), ifelse(is.na(rows$reached), "-", ifelse(rows$reached, "yes", "no")),
    sub("^-; ", "", paste0(text(rows$detail), problem, load))
  )
  c(table_line(head), table_line(rep("---", length(head))), apply(cells, 1, table_line))
}

# One row per library and number of threads.
blas_table <- function(rows) {
  head <- c("library", "threads", "dgemm", "sgemm", "dsyrk", "eigen, GFLOP/s (per CPU s)", "search, s (CPU s)",
    "single precision, s (CPU s)", "same alphas", "file", "version and kernels", "seen as", "load", "notes")
  text <- function(x) ifelse(is.na(x) | x == "", "-", gsub("|", "\\|", x, fixed = TRUE))
  word <- function(name) ifelse(is.na(rows[[name]]), "", as.character(rows[[name]]))
  number <- function(name) number_cell_plain(rows[[name]], 3)
  with_cpu <- function(name, unit) {
    sprintf("%s (%s)", number(paste0(name, "_", unit)), number(paste0(name, "_cpu_", unit)))
  }
  rate <- function(name) with_cpu(name, "gflops")
  cells <- cbind(
    rows$what, text(rows$threads), rate("dgemm"), rate("sgemm"), rate("dsyrk"), rate("eigen"), with_cpu("solve", "s"),
    with_cpu("solve_single", "s"),
    agreement_cell(rows$alphas_equal, NA_real_, "alpha"), text(basename(word("library"))),
    text(trimws(paste(word("version"), word("core")))), text(word("seen_as")), number("load"), text(word("problem"))
  )
  c(table_line(head), table_line(rep("---", length(head))), apply(cells, 1, table_line))
}

render_results <- function(dir) {
  lines <- c(
    "# Benchmark results", "",
    "Made by `render.R` from the CSV files in this folder; [how they are measured](../README.md). Seconds are medians;",
    "ratio is peer seconds over voxridge seconds on the same data, threads and precision; agreement is the share of",
    "targets with the same choice and the largest relative difference of one target's coefficients, for logistic",
    "regression also the largest norm of the gradient where voxridge and the peer stopped. A peer marked",
    "\"published\" was not run: its seconds are what its authors reported for these sizes, on another machine and",
    "other data, and the ratio says no more than that. In the tables of the domains scale and blas, load is the mean",
    "number of processes that wanted to run."
  )
  for (file in list.files(dir, "\\.csv$", full.names = TRUE)) {
    record_file <- sub("\\.csv$", ".txt", file)
    record <- if (file.exists(record_file)) as.list(read.dcf(record_file)[1, ]) else list()
    about <- sprintf("%s, %s threads; %s; BLAS %s (%s); voxridge %s; %s; %s.", record$cpu %||% "unknown CPU",
      record$threads %||% "?", record$r %||% "?", record$blas %||% "?", record$blas_kernel %||% "?",
      record$voxridge %||% "?", record$peers %||% "?", record$date %||% "?")
    rows <- utils::read.csv(file)
    table <- if (!is.null(rows$library)) {
      blas_table(rows)
    } else if (!is.null(rows$measure)) {
      measured_table(rows)
    } else {
      results_table(rows, as.integer(record$threads))
    }
    lines <- c(lines, "", paste("##", sub("\\.csv$", "", basename(file))), "", about, "", table)
  }
  writeLines(lines, file.path(dir, "README.md"))
}
`%||%` <- function(x, y) if (is.null(x)) y else x

if (any(grepl("^--file=.*render\\.R$", commandArgs(FALSE)))) {
  here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])))
  render_results(c(commandArgs(TRUE), file.path(here, "results"))[1])
}
