#' Picture of a logistic fit
#'
#' Draws the held-out score of each penalty, and the penalties that are best and largest within one standard error.
#'
#' Of one target, the mean score over folds with one standard error around it; of several, the mean over targets of
#' these scores with the range of the central 80 % of targets, where the penalty marked is the best for all together.
#' Losses are better the lower they are, `"auc"` and `"accuracy"` the higher. For the log-loss a line shows that of the
#' prevalence alone.
#'
#' @param x,object A fit of [fit_logistic_ridge()] with cross-validation.
#' @param target NULL (the default) for all targets, or one of them: its name or number.
#' @param title Text above the picture. NULL (the default): none.
#' @param ... No further arguments.
#'
#' @returns `plot()` returns, invisibly, the data that were drawn: a data frame of `lambda`, increasing, `x` (its
#'   logarithm, base 10), `mean`, `lower` and `upper`. `autoplot()` returns a ggplot object.
#' @section Errors:
#' `voxridge_error_missing_part` (a fit without cross-validation), `voxridge_error_nonfinite` (no target with scores),
#' `voxridge_error_argument`, `voxridge_error_old_object`. See [voxridge-conditions].
#' @section Invariants:
#' `plot()` and `autoplot()` draw the same data. `par()` is the same afterwards.
#' @seealso [reliability_curve()] for a picture of calibration.
#' @examples
#' set.seed(1)
#' X <- matrix(rnorm(100 * 10), 100)
#' fit <- fit_logistic_ridge(X, X[, 1] + rnorm(100) > 0, n_threads = 2)
#' plot(fit)
#' @export
plot.voxridge_logistic <- function(x, target = NULL, title = NULL, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  check_caption(title, "title", call)
  path <- lambda_path(x, target, "x", call)
  drawn <- path$shown
  axis <- alpha_axis(drawn$lambda)
  figure <- open_figure()
  box <- panel_box(figure, draw_frame_text(figure, title, path$note))
  used <- draw_keys(figure, path$keys, box[1L], box[4L], box[3L] - box[1L])
  ylim <- lambda_limits(path)
  set_area(figure, box[1L], box[2L], box[3L], box[4L] - used - 0.3 * figure$line, axis$range, ylim)
  solid <- !is.na(drawn$mean)
  if (sum(solid) > 1L) {
    graphics::polygon(c(drawn$x[solid], rev(drawn$x[solid])), c(drawn$lower[solid], rev(drawn$upper[solid])),
                      col = PLOT_COLOURS[["band"]], border = NA)
    graphics::lines(drawn$x[solid], drawn$mean[solid], col = PLOT_COLOURS[["line"]], lwd = 2)
  } else {
    graphics::segments(drawn$x, drawn$lower, drawn$x, drawn$upper, col = PLOT_COLOURS[["band"]], lwd = 6)
  }
  graphics::points(drawn$x, drawn$mean, pch = 16, cex = 0.6, col = PLOT_COLOURS[["line"]])
  usr <- graphics::par("usr")
  marks <- path$marks
  graphics::segments(marks$x, usr[3L], marks$x, usr[4L], lty = marks$lty, lwd = 1.6, col = marks$colour)
  if (!is.null(path$null)) {
    graphics::segments(usr[1L], path$null, usr[2L], path$null, lty = 2L, lwd = 1.2, col = PLOT_COLOURS[["bar"]])
  }
  draw_axes("Penalty (lambda, log scale)", criterion_label(x), axis$breaks, parse(text = axis$labels))
  invisible(path$curve)
}

#' @rdname plot.voxridge_logistic
#' @exportS3Method ggplot2::autoplot
autoplot.voxridge_logistic <- function(object, target = NULL, title = NULL, ...) {
  rlang::check_installed("ggplot2")
  rlang::check_dots_empty()
  call <- rlang::current_env()
  check_caption(title, "title", call)
  path <- lambda_path(object, target, "object", call)
  axis <- alpha_axis(path$curve$lambda)
  shown <- path$shown[!is.na(path$shown$mean), ]
  band <- if (nrow(shown) > 1L) {
    list(ggplot2::geom_ribbon(columns(ymin = "lower", ymax = "upper"), fill = PLOT_COLOURS[["band"]]),
         ggplot2::geom_line(colour = PLOT_COLOURS[["line"]], linewidth = 0.8))
  } else {
    ggplot2::geom_linerange(columns(ymin = "lower", ymax = "upper"), colour = PLOT_COLOURS[["band"]], linewidth = 2)
  }
  marks <- path$marks
  marks$label <- factor(marks$label, levels = marks$label)
  ggplot2::ggplot(shown, columns(x = "x", y = "mean")) +
    band +
    ggplot2::geom_point(colour = PLOT_COLOURS[["line"]], size = 1.2) +
    ggplot2::geom_vline(columns(xintercept = "x", linetype = "label", colour = "label"), marks, key_glyph = "path") +
    (if (!is.null(path$null)) {
      ggplot2::geom_hline(yintercept = path$null, linetype = "dashed", colour = PLOT_COLOURS[["bar"]])
    }) +
    ggplot2::scale_linetype_manual(values = marks$lty, name = NULL) +
    ggplot2::scale_colour_manual(values = marks$colour, name = NULL) +
    ggplot2::scale_x_continuous(breaks = axis$breaks, labels = parse(text = axis$labels)) +
    ggplot2::coord_cartesian(xlim = axis$range, ylim = lambda_limits(path), expand = FALSE) +
    ggplot2::labs(x = "Penalty (lambda, log scale)", y = criterion_label(object), title = title,
                  subtitle = paste(c(path$keys$label[1L], if (!is.null(path$null)) "dashed: prevalence alone"),
                                   collapse = "; "), caption = path$note) +
    gg_theme()
}

# ---- what is drawn ---------------------------------------------------------------------------

# list(curve, shown, marks, keys, null, note): the scores by penalty, the same without what lies far off, the penalties
# that are marked, the legend, the loss of the prevalence or NULL, and words about what is not shown.
lambda_path <- function(fit, target, arg, call) {
  validate_logistic(fit, arg, call)
  if (is.null(fit$cv)) {
    abort_missing_part(arg, "held-out scores", c(i = "Fit with folds, for example {.code cv = 5}."), call)
  }
  counted <- scored_targets(fit, target, arg, call)
  mean <- as_targets_last(fit$cv$mean)[, counted, drop = FALSE]
  se <- as_targets_last(fit$cv$se)[, counted, drop = FALSE]
  order <- rev(seq_along(fit$lambda))
  one <- length(counted) == 1L
  if (one) {
    se[is.na(se)] <- 0
    range <- rbind(mean[, 1L] - se[, 1L], mean[, 1L] + se[, 1L])
  } else {
    range <- apply(mean, 1L, stats::quantile, probs = c(0.1, 0.9), names = FALSE, na.rm = TRUE)
  }
  curve <- data.frame(lambda = fit$lambda, x = log10(fit$lambda), mean = rowMeans(mean, na.rm = TRUE),
                      lower = range[1L, ], upper = range[2L, ])[order, ]
  rownames(curve) <- NULL
  curve[!is.finite(curve$mean), c("mean", "lower", "upper")] <- NA
  null <- if (fit$cv$criterion == "log_loss") mean(fit$null_loss[counted])
  marks <- lambda_marks(fit, curve, if (one) counted)
  clipped <- clip_path(curve, is_loss(fit))
  line <- "mean over folds, and one standard error"
  if (!one) line <- paste0("mean over ", count_label(length(counted)), ", and their 10-90 % range")
  keys <- data.frame(
    label = c(line, marks$label, if (!is.null(null)) "prevalence alone"),
    colour = c(PLOT_COLOURS[["line"]], marks$colour, if (!is.null(null)) PLOT_COLOURS[["bar"]]),
    shape = c("line", ifelse(marks$lty == 2L, "dash", "line"), if (!is.null(null)) "dash")
  )
  list(curve = curve, shown = clipped$curve, marks = marks, keys = keys, null = null, note = clipped$note)
}

is_loss <- function(fit) fit$cv$criterion %in% c("log_loss", "brier")

# The targets to draw: those with scores, or the one asked for.
scored_targets <- function(fit, target, arg, call) {
  t <- fit$dims[["t"]]
  scored <- which(colSums(is.finite(as_targets_last(fit$cv$mean))) > 0)
  if (!is.null(target)) {
    one <- rlang::is_string(target) || is_number(target)
    place <- if (one) match(target, if (is.character(target)) fit$targets else seq_len(t)) else NA
    if (is.na(place)) {
      words <- if (is.null(fit$targets)) "" else ", or its name"
      abort("{.arg target} must be NULL or a number from 1 to {t}{words}, not {describe(target)}.", "argument",
            expected = t, found = target, call = call)
    }
    scored <- intersect(place, scored)
  }
  if (length(scored)) return(unname(scored))
  abort("{.arg {arg}} must have finite held-out scores for what is drawn, not for none.", "nonfinite", found = 0L,
        call = call)
}

# Of one target, the best penalty and the largest within one standard error; of several the best of their mean.
lambda_marks <- function(fit, curve, target = NULL) {
  if (is.null(target)) {
    best <- if (is_loss(fit)) min(curve$mean, na.rm = TRUE) else max(curve$mean, na.rm = TRUE)
    lambda <- max(curve$lambda[which(curve$mean == best)])
    label <- "best mean"
  } else {
    lambda <- c(fit$cv$lambda_min[[target]], fit$cv$lambda_1se[[target]])
    label <- c("best", "largest within one se")
    chosen <- if (fit$choose == "1se") 2L else 1L
    if (identical(lambda[chosen], fit$best_lambda[[target]])) label[chosen] <- paste0(label[chosen], ", chosen")
  }
  data.frame(
    label = paste0(label, ": ", format_numbers(lambda, 2L)), lambda = lambda, x = log10(lambda),
    lty = seq_along(lambda), colour = PLOT_COLOURS[c("edge", "null")[seq_along(lambda)]], row.names = NULL
  )
}

# Without scores so bad that they would flatten the rest, see clip_curve().
clip_path <- function(curve, loss) {
  known <- which(!is.na(curve$mean))
  part <- curve[known, ]
  if (loss) part[c("mean", "lower", "upper")] <- -part[c("mean", "upper", "lower")]
  clipped <- clip_curve(part)
  part <- clipped$curve
  if (loss) part[c("mean", "lower", "upper")] <- -part[c("mean", "upper", "lower")]
  curve[known, ] <- part
  note <- if (!is.null(clipped$note) && loss) sub("below the axis", "above the axis", clipped$note) else clipped$note
  list(curve = curve, note = note)
}

lambda_limits <- function(path) {
  limits <- range(unlist(path$shown[c("mean", "lower", "upper")]), path$null, na.rm = TRUE)
  if (diff(limits) == 0) limits <- limits + c(-1, 1) * max(abs(limits[1L]) / 10, 0.01)
  limits + c(-0.04, 0.04) * diff(limits)
}

criterion_label <- function(fit) {
  words <- c(log_loss = "log-loss (nats)", brier = "Brier score", auc = "AUC", accuracy = "accuracy")
  paste("Held-out", words[[fit$cv$criterion]])
}
