# The main job of voxridge: one ridge model per voxel, the penalty chosen by cross-validation, scored on held-out rows.
#
#   Rscript tools/quickstart.R [X Y [runs]]
#
# The last run (without runs: the last fifth of the samples) is kept out of everything and predicted at the end.

PICTURE <- "voxridge-quickstart.png"

refuse <- function(...) {
  cat("quickstart: ", sprintf(...), "\n", sep = "", file = stderr())
  quit(save = "no", status = 2L)
}

# ---- reading ---------------------------------------------------------------------------------

# A numeric matrix from .rds, or from text separated by commas or tabs, with or without a header line.
read_matrix <- function(path) {
  if (grepl("\\.rds$", path, ignore.case = TRUE)) {
    x <- tryCatch(readRDS(path), error = function(e) refuse("'%s' is not an .rds file.", path))
    if (is.data.frame(x)) x <- as.matrix(x)
    if (is.numeric(x) && is.null(dim(x))) x <- matrix(x, ncol = 1L)
    if (!is.numeric(x) || length(dim(x)) != 2L) refuse("'%s' must hold a numeric matrix, not %s.", path, class(x)[1L])
    return(x)
  }
  lines <- first_lines(path)
  sep <- if (grepl("\t", lines[1L], fixed = TRUE)) "\t" else ","
  fields <- lapply(lines, function(line) scan(text = line, what = "", sep = sep, quiet = TRUE, strip.white = TRUE))
  if (grepl("[0-9];[-0-9]", lines[length(lines)])) {
    refuse("'%s' has semicolons between its columns: save it with commas or tabs (and decimal points).", path)
  }
  is_header <- anyNA(as_numbers(fields[[1L]]))
  body <- if (is_header && length(fields) > 1L) fields[[2L]] else fields[[1L]]
  # write.csv() puts row names in a first column without a name
  row_names <- is_header && (length(fields[[1L]]) == length(body) - 1L || !nzchar(fields[[1L]][1L]))
  what <- c(if (row_names) list(""), rep(list(0), length(body) - row_names))
  columns <- tryCatch(
    scan(path, what = what, sep = sep, quiet = TRUE, skip = as.integer(is_header), multi.line = FALSE,
         strip.white = TRUE),
    error = function(e) refuse("'%s' is not a table of numbers: %s.", path, conditionMessage(e))
  )
  if (row_names) columns <- columns[-1L]
  x <- do.call(cbind, columns)
  if (is_header) colnames(x) <- utils::tail(fields[[1L]], ncol(x))
  x
}

first_lines <- function(path) {
  lines <- tryCatch(readLines(path, n = 2L, warn = FALSE), error = function(e) refuse("cannot read '%s'.", path))
  lines <- lines[nzchar(trimws(lines))]
  if (!length(lines)) refuse("'%s' is empty.", path)
  lines
}

# Words that are no numbers become NA; the word NA itself is a number that is missing.
as_numbers <- function(words) {
  words[words == "NA"] <- "0"
  suppressWarnings(as.numeric(words))
}

read_runs <- function(path, n) {
  if (grepl("\\.rds$", path, ignore.case = TRUE)) {
    runs <- as.vector(unlist(readRDS(path)))
  } else {
    runs <- trimws(gsub("\"", "", readLines(path, warn = FALSE), fixed = TRUE))
    runs <- runs[nzchar(runs)]
    if (length(runs) == n + 1L) runs <- runs[-1L]
  }
  if (length(runs) != n) refuse("'%s' must have one label per sample (%d), not %d.", path, n, length(runs))
  if (any(grepl("[,\t;]", runs))) refuse("'%s' must have one label per line, not several columns.", path)
  match(runs, unique(runs))
}

# ---- the job ---------------------------------------------------------------------------------

load_data <- function(paths) {
  if (!length(paths)) {
    sim <- voxridge::simulate_encoding(n = 600, p = 200, t = 2000, n_runs = 6, seed = 1)
    return(list(X = sim$X, Y = sim$Y, runs = sim$runs, source = "simulated (simulate_encoding)"))
  }
  X <- read_matrix(paths[1L])
  Y <- read_matrix(paths[2L])
  if (nrow(X) != nrow(Y)) refuse("X and Y must have one row per sample: found %d and %d rows.", nrow(X), nrow(Y))
  if (nrow(X) < 10L) refuse("at least 10 samples are needed, not %d.", nrow(X))
  runs <- if (length(paths) > 2L) read_runs(paths[3L], nrow(X))
  list(X = X, Y = Y, runs = runs, source = paste(basename(paths), collapse = ", "))
}

# Rows that are predicted at the end, and the folds that choose the penalty among the others.
plan_folds <- function(runs, n) {
  if (is.null(runs)) runs <- rep(1:5, times = n %/% 5L + (1:5 <= n %% 5L))
  labels <- unique(runs)
  if (length(labels) < 2L) refuse("at least two runs are needed, not %d.", length(labels))
  test <- runs == labels[length(labels)]
  list(test = test, cv = if (length(labels) > 2L) runs[!test] else 5L)
}

run_job <- function(data) {
  plan <- plan_folds(data$runs, nrow(data$X))
  X <- data$X[!plan$test, , drop = FALSE]
  Y <- data$Y[!plan$test, , drop = FALSE]
  alphas <- voxridge::alpha_grid(X)
  start <- proc.time()[["elapsed"]]
  # the table says how many voxels chose an end of the grid
  fit <- withCallingHandlers(
    voxridge::solve_ridge_cv(X, Y, alphas = alphas, cv = plan$cv, fit_intercept = TRUE, return_cv_scores = "mean"),
    voxridge_warning_alpha_at_edge = function(w) invokeRestart("muffleWarning")
  )
  seconds <- proc.time()[["elapsed"]] - start
  predicted <- sweep(data$X[plan$test, , drop = FALSE] %*% fit$coefs, 2L, fit$intercept, "+")
  observed <- data$Y[plan$test, , drop = FALSE]
  list(fit = fit, alphas = alphas, r = column_correlations(observed, predicted),
       r2 = column_r2(observed, predicted),
       seconds = seconds, n_train = nrow(X), n_test = sum(plan$test), p = ncol(X), t = ncol(Y),
       n_folds = if (length(plan$cv) > 1L) length(unique(plan$cv)) else plan$cv, backend = fit$backend)
}

# Less the first row at first: columns that do not vary become exactly 0.
centred <- function(x) {
  x <- sweep(x, 2L, x[1L, ])
  sweep(x, 2L, colMeans(x))
}

# A voxel that does not vary has R2 0, as in the package.
column_r2 <- function(observed, predicted) {
  total <- colSums(centred(observed)^2)
  ifelse(total > 0, 1 - colSums((observed - predicted)^2) / total, 0)
}

# A voxel that does not vary, or whose prediction does not, has correlation 0.
column_correlations <- function(a, b) {
  a <- centred(a)
  b <- centred(b)
  size <- sqrt(colSums(a^2) * colSums(b^2))
  ifelse(size > 0, colSums(a * b) / size, 0)
}

# ---- what is shown ---------------------------------------------------------------------------

print_table <- function(job, source) {
  chosen <- stats::quantile(job$fit$best_alphas, c(0, 0.25, 0.5, 0.75, 1), type = 1L)
  edges <- 100 * c(mean(job$fit$best_alphas <= min(job$alphas)), mean(job$fit$best_alphas >= max(job$alphas)))
  spread <- function(x) {
    sprintf("mean %.3f   median %.3f   max %.3f", mean(x, na.rm = TRUE), stats::median(x, na.rm = TRUE),
            max(x, na.rm = TRUE))
  }
  rows <- c(
    "data" = source,
    "samples (n)" = sprintf("%d to fit, %d held out", job$n_train, job$n_test),
    "features (p)" = format(job$p),
    "voxels (t)" = format(job$t),
    "alphas" = sprintf("%d from %.3g to %.3g, %d folds", length(job$alphas), min(job$alphas), max(job$alphas),
                       job$n_folds),
    "chosen alpha" = sprintf("min %.3g   quartiles %.3g %.3g %.3g   max %.3g", chosen[1L], chosen[2L], chosen[3L],
                             chosen[4L], chosen[5L]),
    "at the grid's ends" = sprintf("%.1f %% of voxels at the smallest, %.1f %% at the largest", edges[1L], edges[2L]),
    "held-out r" = spread(job$r),
    "held-out R2" = spread(job$r2),
    "seconds to fit" = sprintf("%.2f (%s)", job$seconds, job$backend)
  )
  cat(sprintf("  %-20s %s\n", names(rows), rows), sep = "")
}

save_picture <- function(job) {
  tryCatch(grDevices::png(PICTURE, width = 1600, height = 640, res = 160, type = "cairo"),
           error = function(e) refuse("cannot write %s in %s.", PICTURE, getwd()),
           warning = function(w) refuse("cannot write %s in %s.", PICTURE, getwd()))
  graphics::par(mfrow = c(1L, 2L), mar = c(5, 4.2, 3.4, 0.8), mgp = c(2.6, 0.7, 0), las = 1L, cex.main = 1)
  # one voxel has no spread for Scott's rule
  graphics::hist(job$r, breaks = if (job$t > 1L) "Scott" else "Sturges", col = "#4477AA", border = "white",
                 ylab = "voxels", main = "How well each voxel is predicted",
                 xlab = sprintf("correlation on %d held-out samples", job$n_test))
  graphics::abline(v = 0, lty = 3L)
  graphics::abline(v = stats::median(job$r), col = "#CC6677", lwd = 2)
  graphics::mtext(sprintf("median %.2f", stats::median(job$r)), at = stats::median(job$r), col = "#CC6677", line = 0.3,
                  cex = 0.8)
  counts <- table(factor(match(job$fit$best_alphas, job$alphas), seq_along(job$alphas)))
  graphics::barplot(counts, names.arg = sprintf("%.0e", job$alphas), col = "#4477AA", border = "white", las = 2L,
                    cex.names = 0.7, ylab = "voxels", main = "Which penalty each voxel chose")
  graphics::title(xlab = "alpha", line = 3.6)
  invisible(grDevices::dev.off())
}

# ----------------------------------------------------------------------------------------------

suppressPackageStartupMessages(library(voxridge))
tryCatch({
  data <- load_data(commandArgs(trailingOnly = TRUE))
  job <- run_job(data)
}, voxridge_error = function(e) refuse("%s", conditionMessage(e)))
print_table(job, data$source)
save_picture(job)
cat(sprintf("\n  picture: %s\n", file.path(getwd(), PICTURE)))
