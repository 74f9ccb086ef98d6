# The pictures of decoding as ggplot objects; the data are those of plot_decode.R.

gg_confusion <- function(data) {
  table <- data$table
  table$label <- ifelse(table$count > 0, format_count(table$count), "")
  table$ink <- ifelse(table$share > 0.6, "white", "black")
  table$truth <- factor(table$truth, rev(data$levels))
  ggplot2::ggplot(table, columns(x = "guess", y = "truth", fill = "share")) +
    ggplot2::geom_tile(colour = "grey85") +
    ggplot2::geom_text(columns(label = "label"), colour = table$ink, size = 3.2) +
    ggplot2::scale_fill_gradientn(colours = SHARE_COLOURS, limits = c(0, 1), guide = "none") +
    ggplot2::coord_equal() +
    ggplot2::labs(x = "Decoded", y = "Shown", subtitle = data$words) +
    gg_theme() +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5))
}

gg_decode_scores <- function(data) {
  picture <- switch(data$form,
    folds = ggplot2::ggplot(data$table, columns(x = "fold", y = "score")) +
      ggplot2::geom_hline(yintercept = data$mean, colour = PLOT_COLOURS[["line"]]) +
      ggplot2::geom_point(shape = 21, fill = PLOT_COLOURS[["bar"]], size = 2.6) +
      ggplot2::labs(x = "Fold", y = data$label),
    locations = ggplot2::ggplot(data$table, columns(x = "score", y = "location")) +
      ggplot2::geom_point(shape = 21, colour = "grey55", size = 1.4) +
      ggplot2::geom_point(columns(x = "mean"), colour = PLOT_COLOURS[["line"]], size = 2.4) +
      ggplot2::labs(x = data$label, y = NULL),
    bins = ggplot2::ggplot(data$table, columns(xmin = "left", xmax = "right", ymin = "zero", ymax = "count")) +
      ggplot2::geom_rect(fill = PLOT_COLOURS[["bar"]], colour = "white", linewidth = 0.2) +
      ggplot2::labs(x = data$label, y = "Locations")
  )
  picture <- picture + gg_theme()
  if (is.null(data$chance)) return(picture)
  line <- if (data$form == "folds") {
    ggplot2::geom_hline(yintercept = data$chance, linetype = "dashed", colour = "grey40")
  } else {
    ggplot2::geom_vline(xintercept = data$chance, linetype = "dashed", colour = "grey40")
  }
  picture + line + ggplot2::labs(subtitle = chance_words(data))
}

gg_decode_null <- function(data) gg_maximum_bars(data)
