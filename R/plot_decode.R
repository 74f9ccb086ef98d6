# Pictures of decoding: confusion of classes, scores, maps, and the null distribution of the best score.

#' Pictures of decoding
#'
#' Draws the confusion of classes, the scores of folds and locations, a map of scores, or the null distribution of the
#' best score over locations.
#'
#' * `"confusion"`: of each true class (rows) the share of its held-out samples that got each class (columns), with
#'   counts.
#' * `"scores"`: of a single location the score of each fold and their mean; of up to 40 locations the mean and the
#'   folds of each, best first; of more the distribution over locations. Dashed: chance (1 / number of classes).
#' * `"map"`: [plot_map()] of the scores, or of `what`.
#' * `"null"`: the best score over locations of every permutation, the threshold of a family-wise error of `level`, and
#'   the largest observed scores as ticks. Accuracies are pooled over folds here.
#'
#' @param x,object A result of [decode()].
#' @param type NULL (the default): `"map"` for searchlights with a mask, `"scores"` for other locations and for numbers,
#'   `"confusion"` for classes of the whole brain; or one of these, or `"null"`.
#' @param metric NULL (the default) for the first metric, or the name of another that was computed.
#' @param what For `"map"`: what [brain_map()] understands; NULL (the default) is the metric.
#' @param level For `"null"`: number between 0 and 1, the family-wise error of the threshold. The default is 0.05.
#' @param title Text above the picture. NULL (the default): none.
#' @param ... For `"map"`, further arguments of [plot_map()]; otherwise empty.
#'
#' @returns `plot()` returns, invisibly, the data that were drawn: a data frame or, for `"map"`, what [plot_map()]
#'   returns. `autoplot()` returns a ggplot object.
#' @section Errors:
#' `voxridge_error_missing_part` (predictions, permutations or a mask that the result does not hold),
#' `voxridge_error_nonfinite` (a metric that is undefined everywhere), `voxridge_error_argument`,
#' `voxridge_error_conflict`, `voxridge_error_old_object`; those of [plot_map()]. See [voxridge-conditions].
#' @section Invariants:
#' `plot()` and `autoplot()` draw the same data. `par()` is the same afterwards.
#' @seealso [decode()]
#' @examples
#' set.seed(1)
#' y <- rep(c("a", "b", "c"), 8)
#' X <- matrix(rnorm(24 * 20), 24) + outer(match(y, letters), rep(0:1, c(16, 4)))
#' fit <- decode(X, y, cv = rep(1:4, each = 6), n_threads = 2)
#' plot(fit)
#' plot(fit, "scores")
#' @export
plot.voxridge_decode <- function(x, type = NULL, metric = NULL, what = NULL, level = 0.05, title = NULL, ...) {
  call <- rlang::current_env()
  s <- decode_plot_settings(x, type, metric, what, level, title, "x", call)
  if (s$type == "map") {
    map <- decode_map_values(x, s, ..., call = call)
    return(invisible(plot_map(map$values, mask = map$mask, label = map$label, title = title, ...)))
  }
  rlang::check_dots_empty()
  data <- decode_plot_data(x, s, "x", call)
  switch(s$type,
    confusion = draw_confusion(data, title),
    scores = draw_decode_scores(data, title),
    null = draw_decode_null(data, title)
  )
  invisible(data$table)
}

#' @rdname plot.voxridge_decode
#' @exportS3Method ggplot2::autoplot
autoplot.voxridge_decode <- function(object, type = NULL, metric = NULL, what = NULL, level = 0.05, title = NULL,
                                     ...) {
  rlang::check_installed("ggplot2")
  call <- rlang::current_env()
  s <- decode_plot_settings(object, type, metric, what, level, title, "object", call)
  if (s$type == "map") {
    map <- decode_map_values(object, s, ..., call = call)
    return(gg_values(map$values, map$mask, ..., label = map$label, title = title, arg = "object", call = call))
  }
  rlang::check_dots_empty()
  data <- decode_plot_data(object, s, "object", call)
  switch(s$type,
    confusion = gg_confusion(data),
    scores = gg_decode_scores(data),
    null = gg_decode_null(data)
  ) + ggplot2::labs(title = title)
}

DECODE_PLOTS <- c("confusion", "scores", "map", "null")

# list(type, metric, what, level), checked.
decode_plot_settings <- function(x, type, metric, what, level, title, arg, call) {
  validate_decode(x, arg, call)
  check_caption(title, "title", call)
  type <- if (is.null(type)) default_decode_plot(x) else as_choice(type, DECODE_PLOTS, call = call)
  if (!is.null(what) && type != "map") {
    abort("{.arg what} must be NULL for {.code type = \"{type}\"}, not given: it is for {.val map}.", "conflict",
          where = type, call = call)
  }
  metric <- as_metric(metric, x, call)
  if (type == "scores" && all(is.na(x$score[, metric]))) {
    abort(c("{.arg {arg}} must have scores of {.arg metric} to draw, not {.val {metric}}, undefined in every fold.",
            i = "Larger folds, or another metric, have scores."), "nonfinite", found = metric, call = call)
  }
  list(type = type, metric = metric, what = what, level = as_level(level, call))
}

default_decode_plot <- function(x) {
  if (!is.null(x$locations$centers) && !is.null(x$mask)) return("map")
  if (!is.null(confusion_table(x))) "confusion" else "scores"
}

decode_map_values <- function(x, s, ..., call) {
  if (is.null(x$mask)) {
    abort_missing_part("x", "the brain mask of its voxels",
                       c(i = "{.fn brain_matrix} makes matrices that carry their mask; {.code X[rows, ]} has lost it."),
                       call)
  }
  values <- decode_element(x, s$what %||% if (x$locations$kind != "all") s$metric, call)
  if (is.matrix(values)) {
    abort(
      c("{.arg x} must have a single map of {.val {s$what %||% s$metric}}, not {nrow(values)}.",
        i = "Draw one at a time: {.code plot_map(brain_map(x, what = ...)[, , , 1])}."),
      "argument",
      found = nrow(values), call = call
    )
  }
  list(values = values, mask = x$mask, label = decode_label(s$what %||% s$metric))
}

METRIC_WORDS <- c(accuracy = "Accuracy", balanced_accuracy = "Balanced accuracy", auc = "Area under the curve",
                  r = "Correlation", r2 = "R squared", mse = "Mean squared error", p = "p", p_fwer = "p (FWER)",
                  q_fdr = "q (FDR)", size = "Voxels", weights = "Weight", patterns = "Pattern")

decode_label <- function(word) if (word %in% names(METRIC_WORDS)) METRIC_WORDS[[word]] else word

# ---- data ------------------------------------------------------------------------------------

decode_plot_data <- function(x, s, arg, call) {
  switch(s$type, confusion = confusion_data(x, arg, call), scores = decode_score_data(x, s$metric),
         null = decode_null_data(x, s, arg, call))
}

confusion_data <- function(x, arg, call) {
  counts <- confusion_table(x)
  if (is.null(counts)) {
    abort_missing_part(arg, "kept predictions of classes at a single location",
                       c(i = "{.code decode(where = whole_brain(), keep_predictions = TRUE)} has them."), call)
  }
  table <- as.data.frame(counts, responseName = "count")
  table$share <- table$count / pmax(1, rowSums(counts)[as.integer(table$truth)])
  words <- sprintf("%s of %s held-out samples right", format_count(sum(diag(counts))), format_count(sum(counts)))
  list(table = table, levels = x$levels, words = words)
}

metric_chance <- function(x, metric) {
  if (metric == "auc") return(0.5)
  if (metric %in% c("r", "r2")) return(0)
  if (metric == "mse") NULL else x$chance[["balanced"]]
}

# form "folds": one location; "locations": up to 40; "bins": more.
decode_score_data <- function(x, metric) {
  L <- x$dims[["locations"]]
  scores <- matrix(x$scores[, , metric], ncol = L)
  means <- x$score[, metric]
  chance <- metric_chance(x, metric)
  label <- decode_label(metric)
  out <- list(chance = chance, label = label, mean = means)
  if (L == 1L) {
    names <- rownames(x$scores) %||% as.character(seq_len(nrow(scores)))
    return(c(out, list(form = "folds", table = data.frame(fold = factor(names, unique(names)), score = scores[, 1L]))))
  }
  if (L <= 40L) {
    order <- order(if (metric == "mse") means else -means)
    order <- order[!is.na(means[order])]
    labels <- as.character(location_labels(x))
    table <- data.frame(location = factor(rep(labels[order], each = nrow(scores)), rev(labels[order])),
                        score = as.vector(scores[, order]), mean = rep(means[order], each = nrow(scores)))
    return(c(out, list(form = "locations", table = table)))
  }
  shown <- means[!is.na(means)]
  breaks <- score_breaks(shown, metric, sum(!is.na(x$folds)), 30L)
  count <- graphics::hist(shown, breaks, plot = FALSE)$counts
  c(out, list(form = "bins", table = data.frame(left = utils::head(breaks, -1L), right = breaks[-1L], count = count,
                                                zero = 0)))
}

# Accuracies are multiples of 1 / n: bars of whole multiples, with these in the middle.
score_breaks <- function(values, metric, n, bars) {
  if (metric != "accuracy") {
    breaks <- pretty(range(values), bars)
    return(if (length(breaks) > 1L) breaks else values[1L] + c(-0.5, 0.5))
  }
  lowest <- floor(min(values) * n)
  step <- max(1, ceiling((max(values) * n - lowest) / bars))
  (seq(lowest, max(values) * n + step, by = step) - 0.5) / n
}

decode_null_data <- function(x, s, arg, call) {
  if (is.null(x$max_null)) {
    abort_missing_part(arg, "label permutations", c(i = "{.code decode(n_permutations = 1000)} makes them."), call)
  }
  metric <- s$metric
  worse <- metric == "mse"
  observed <- if (metric == "accuracy") x$pooled[, metric] else x$score[, metric]
  bins <- maximum_bins(
    list(max_null = x$max_null[, metric], statistic = unname(observed), exact = x$exact,
         alternative = if (worse) "less" else "greater"), s$level, arg, call,
    breaks = score_breaks(x$max_null[, metric], metric, sum(!is.na(x$folds)), 40L)
  )
  bins$label <- paste0(if (x$dims[["locations"]] > 1L) "Best of a permutation" else "Permutation", ": ",
                       tolower(decode_label(metric)), "; ticks: observed")
  bins$table <- bins$bins
  bins
}

# ---- base pictures ---------------------------------------------------------------------------

SHARE_COLOURS <- c("#FFFFFF", "#C9D8E8", "#7A9CC0", "#1F4E79")

share_colour <- function(share) {
  grDevices::colorRampPalette(SHARE_COLOURS, space = "Lab")(101L)[1L + round(100 * share)]
}

draw_confusion <- function(data, title) {
  figure <- open_figure()
  room <- draw_frame_text(figure, title)
  C <- length(data$levels)
  line <- figure$line
  width <- text_width(data$levels, 0.8)
  left <- min(width + 2.6 * line, 0.45 * figure$width)
  bottom <- room[1L] + min(width + 2.2 * line, 0.4 * figure$height)
  top <- figure$height - room[2L] - 1.4 * line
  side <- min(figure$width - left - 0.6 * line, top - bottom)
  left <- left + (figure$width - left - 0.6 * line - side) / 2
  set_area(figure, left, top - side, left + side, top, c(0.5, C + 0.5), c(C + 0.5, 0.5))
  x <- as.integer(data$table$guess)
  y <- as.integer(data$table$truth)
  graphics::rect(x - 0.5, y - 0.5, x + 0.5, y + 0.5, col = share_colour(data$table$share), border = "grey85")
  graphics::rect(0.5, 0.5, C + 0.5, C + 0.5)
  shown <- data$table$count > 0
  cex <- fit_cex(format_count(data$table$count), 0.8 * side / C, 0.9)
  graphics::text(x[shown], y[shown], format_count(data$table$count[shown]), cex = cex,
                 col = ifelse(data$table$share[shown] > 0.6, "white", "black"))
  inch <- (C / side)
  label <- fit_cex(data$levels, 0.8 * (left - 1.6 * line), min(0.8, 1.1 * side / C / line))
  graphics::text(0.5 - 0.4 * line * inch, seq_len(C), data$levels, adj = c(1, 0.5), cex = label)
  graphics::text(seq_len(C), C + 0.5 + 0.4 * line * inch, data$levels, srt = 90, adj = c(1, 0.5), cex = label)
  used <- text_width(data$levels, label)
  graphics::text(0.5 - (used + 1.1 * line) * inch, (C + 1) / 2, "Shown", srt = 90, cex = 0.9)
  graphics::text((C + 1) / 2, C + 0.5 + (used + 1.1 * line) * inch, "Decoded", cex = 0.9)
  graphics::text((C + 1) / 2, 0.5 - 0.7 * line * inch, data$words, cex = fit_cex(data$words, side, 0.8), col = "grey25")
}

draw_decode_scores <- function(data, title) {
  figure <- open_figure()
  box <- panel_box(figure, draw_frame_text(figure, title))
  switch(data$form, folds = draw_score_folds(figure, box, data), locations = draw_score_locations(figure, box, data),
         bins = draw_score_bins(figure, box, data))
}

padded <- function(values) {
  range <- range(values, na.rm = TRUE)
  if (diff(range) == 0) range <- range + c(-1, 1) * max(abs(range[1L]) / 10, 0.01)
  range + c(-0.06, 0.06) * diff(range)
}

chance_line <- function(data, horizontal = TRUE) {
  if (is.null(data$chance)) return(invisible())
  usr <- graphics::par("usr")
  if (horizontal) graphics::segments(usr[1L], data$chance, usr[2L], data$chance, lty = 2L, col = "grey40")
  else graphics::segments(data$chance, usr[3L], data$chance, usr[4L], lty = 2L, col = "grey40")
}

chance_words <- function(data) if (!is.null(data$chance)) paste("dashed: chance,", format_numbers(data$chance))

draw_score_folds <- function(figure, box, data) {
  n <- nrow(data$table)
  set_area(figure, box[1L], box[2L], box[3L], box[4L] - figure$line, c(0.4, n + 0.6),
           padded(c(data$table$score, data$chance)))
  chance_line(data)
  usr <- graphics::par("usr")
  graphics::segments(usr[1L], data$mean, usr[2L], data$mean, col = PLOT_COLOURS[["line"]], lwd = 1.6)
  graphics::points(seq_len(n), data$table$score, pch = 21L, bg = PLOT_COLOURS[["bar"]], cex = 1.2)
  draw_axes("Fold", data$label, seq_len(n), levels(data$table$fold))
  head_text(figure, paste("line: mean,", format_numbers(data$mean)), chance_words(data))
}

draw_score_locations <- function(figure, box, data) {
  names <- levels(data$table$location)
  left <- min(text_width(names, 0.8) + 0.8 * figure$line, 0.45 * figure$width)
  set_area(figure, left, box[2L], box[3L], box[4L] - figure$line, padded(c(data$table$score, data$chance)),
           c(0.4, length(names) + 0.6))
  chance_line(data, FALSE)
  at <- as.integer(data$table$location)
  graphics::points(data$table$score, at, pch = 21L, col = "grey55", cex = 0.7)
  once <- !duplicated(at)
  graphics::points(data$table$mean[once], at[once], pch = 16L, col = PLOT_COLOURS[["line"]], cex = 1.2)
  graphics::axis(1L, cex.axis = 0.8, mgp = c(3, 0.35, 0), lwd = 0, lwd.ticks = 0.8)
  graphics::box(bty = "l", lwd = 0.8)
  graphics::title(xlab = data$label, line = 1.7, cex.lab = 0.9)
  usr <- graphics::par("usr")
  room <- 0.9 * graphics::par("pin")[2L] / length(names) / figure$line
  cex <- fit_cex(names, left - 0.4 * figure$line, min(0.8, room))
  graphics::text(usr[1L] - 0.3 * figure$line * diff(usr[1:2]) / graphics::par("pin")[1L], seq_along(names), names,
                 adj = c(1, 0.5), cex = cex)
  head_text(figure, "filled: mean over folds; open: folds", chance_words(data))
}

draw_score_bins <- function(figure, box, data) {
  set_area(figure, box[1L], box[2L], box[3L], box[4L] - figure$line,
           padded(c(data$table$left, data$table$right, data$chance)), c(0, 1.04 * max(data$table$count)))
  graphics::rect(data$table$left, 0, data$table$right, data$table$count, col = PLOT_COLOURS[["bar"]], border = "white",
                 lwd = 0.4)
  chance_line(data, FALSE)
  draw_axes(data$label, "Locations")
  head_text(figure, paste(format_count(sum(data$table$count)), "locations"), chance_words(data))
}

draw_decode_null <- function(data, title) {
  figure <- open_figure()
  box <- panel_box(figure, draw_frame_text(figure, title))
  draw_maximum_bars(figure, box, data)
}
