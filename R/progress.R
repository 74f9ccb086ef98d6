# Progress bars. Long calls take `progress = interactive()`; the core reports (done, total) on the main thread.

# Bars are for people at a console: never in knitr, tests or scripts.
progress_allowed <- function() {
  rlang::is_interactive() && !isTRUE(getOption("knitr.in.progress"))
}

# list(report = NULL or function(done, total), close = function()). Call close() from on.exit(): it takes the bar off
# the screen, on errors and interrupts too.
start_progress <- function(progress, label, call = rlang::caller_env()) {
  progress <- as_flag(progress, arg = "progress", call = call)
  if (!progress || !progress_allowed()) {
    return(list(report = NULL, close = function() invisible()))
  }
  frame <- new.env()
  app <- NULL
  id <- NULL
  report <- function(done, total) {
    if (is.null(id)) {
      app <<- cli::start_app(output = "stderr", .auto_close = FALSE)
      id <<- cli::cli_progress_bar(label, total = total, clear = TRUE, .auto_close = FALSE, .envir = frame)
    }
    cli::cli_progress_update(set = done, total = total, id = id, .envir = frame)
    invisible()
  }
  close <- function() {
    if (!is.null(id)) cli::cli_progress_done(id = id, .envir = frame)
    if (!is.null(app)) cli::stop_app(app)
    app <<- id <<- NULL
    invisible()
  }
  list(report = report, close = close)
}
