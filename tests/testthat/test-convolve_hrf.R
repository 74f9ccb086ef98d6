# One event by numerical quadrature of the response function.
oracle_response <- function(t, onset, duration, model, derivative) {
  if (duration == 0) return(hrf(t - onset, model, derivative))
  vapply(t, function(at) {
    from <- max(at - onset - duration, 0)
    to <- min(at - onset, 32)
    if (to <= from) return(0)
    integral <- integrate(hrf, from, to, model = model, derivative = derivative, rel.tol = 1e-10,
                          subdivisions = 1000L)$value
    # the last step of the response, where it is cut off at 32 s, belongs to its slope
    if (derivative == "time" && at - onset > 32) integral <- integral - hrf(32, model)
    integral
  }, 0)
}

oracle_convolve <- function(events, n_scans, tr, model, derivative, slice_time_ref = 0) {
  t <- (seq_len(n_scans) - 1 + slice_time_ref) * tr
  parts <- Map(function(onset, duration, modulation) {
    modulation * oracle_response(t, onset, duration, model, derivative)
  }, events$onset, events$duration, events$modulation)
  Reduce(`+`, parts)
}

EVENTS <- data.frame(onset = c(0, 4, 4.3, 10.5, 31.25, 70), duration = c(1.5, 0, 3, 0.01, 40, 200),
                     modulation = c(1, 1, -2, 1, 0.5, 1))

test_that("responses are the integral of the response function over the event", {
  for (model in c("spm", "glover")) {
    for (slice_time_ref in c(0, 0.5, 1)) {
      got <- convolve_hrf(EVENTS, 50, 1.7, model, "time_dispersion", slice_time_ref)
      expect_identical(colnames(got), c("event", "event_derivative", "event_dispersion"))
      for (j in 1:3) {
        derivative <- c("none", "time", "dispersion")[j]
        want <- oracle_convolve(EVENTS, 50, 1.7, model, derivative, slice_time_ref)
        expect_close(got[, j], want, 1e-8)
      }
    }
  }
})

test_that("agrees with nilearn at high oversampling", {
  # nilearn 0.14.1, compute_regressor(oversampling = 2000), 60 scans, TR 2 s; events at volumes 8, 10, 13, ...
  # It samples events and responses every 1 ms, has a share of 0.167 for the SPM undershoot, and its impulses have an
  # area of one sample, here divided by 1 ms. That leaves 4e-4 of the largest value.
  volumes <- c(8, 10, 13, 20, 22, 30, 45, 50, 56, 60)
  blocks <- data.frame(onset = c(10.5, 31.25, 80, 115), duration = c(3, 12, 30, 20), modulation = c(1, 2, 1, 0.5))
  impulses <- data.frame(onset = c(4, 11.3, 50), duration = 0, modulation = c(1, 2, 1))
  stored <- list(
    spm = list(
      block = c(0.17083, 0.55306, 0.00833, 1.59444, 2.26346, -0.22605, 0.96910, 1.05694, 1.00026, 0.08124),
      dispersion = c(-0.18218, 0.24826, -0.05797, 0.06816, 0.16046, -0.02988, 0.09835, 0.00230, 0.00000, -0.17529),
      impulse = c(0.23124, 0.31626, -0.02385, -0.00194, -0.00029, 0.10818, 0, 0, 0, 0)
    ),
    glover = list(
      block = c(0.24327, 0.86966, -0.25224, 2.51063, 3.00100, -0.34574, 1.48187, 1.04294, 1.00002, -0.41372),
      dispersion = c(-0.31222, 0.45483, -0.10404, 0.13845, 0.26481, -0.03900, 0.18310, 0.00239, 0.00000, -0.30911),
      impulse = c(0.23692, 0.42397, -0.18751, -0.00034, -0.00002, 0.11661, 0, 0, 0, 0)
    )
  )
  for (model in names(stored)) {
    want <- stored[[model]]
    X <- convolve_hrf(blocks, 60, 2, model, "time_dispersion")
    relative <- function(got, want) max(abs(got[volumes] - want)) / max(abs(got))
    expect_lt(relative(X[, 1L], want$block), 6e-4)
    expect_lt(relative(X[, 3L], want$dispersion), 8e-4)
    expect_lt(relative(convolve_hrf(impulses, 60, 2, model)[, 1L], want$impulse), 6e-4)
  }
})

test_that("a long event reaches a plateau at its amplitude, an impulse has an area of one second", {
  X <- convolve_hrf(data.frame(onset = 0, duration = 500, modulation = 3), 200, 2)
  expect_equal(X[40:200, 1L], rep(3, 161), tolerance = 1e-12)
  X <- convolve_hrf(data.frame(onset = 0.5, duration = 0), 4000, 0.01, "glover")
  expect_equal(sum(X) * 0.01, 1, tolerance = 1e-6)
})

test_that("responses add up, scale and shift", {
  for (seed in 1:10) {
    withr::with_seed(seed, {
      onset <- sort(runif(6, 0, 60))
      duration <- runif(6, 0, 10)
      modulation <- rnorm(6)
    })
    events <- data.frame(onset, duration, modulation)
    X <- convolve_hrf(events, 80, 1.3, derivatives = "time_dispersion")
    one_by_one <- lapply(1:6, function(k) convolve_hrf(events[k, ], 80, 1.3, derivatives = "time_dispersion"))
    expect_close(Reduce(`+`, one_by_one), X, 1e-13)
    halves <- data.frame(onset = c(onset, onset + duration / 2), duration = rep(duration / 2, 2),
                         modulation = rep(modulation, 2))
    expect_close(convolve_hrf(halves, 80, 1.3, derivatives = "time_dispersion"), X, 1e-12)
    later <- transform(events, onset = onset + 1.3)
    expect_close(convolve_hrf(later, 81, 1.3, derivatives = "time_dispersion")[-1L, ], X, 1e-12)
    tripled <- transform(events, modulation = 3 * modulation)
    expect_close(convolve_hrf(tripled, 80, 1.3, derivatives = "time_dispersion"), 3 * X, 1e-13)
    expect_close(convolve_hrf(events[c(4, 2, 6, 1, 3, 5), ], 80, 1.3, derivatives = "time_dispersion"), X, 1e-13)
  }
})

test_that("columns come by kind of event, then response and derivatives", {
  events <- data.frame(onset = c(1, 5, 9), duration = 1, trial_type = c("house", "Zebra", "face"))
  both <- c("Zebra", "Zebra_derivative", "face", "face_derivative", "house", "house_derivative")
  X <- convolve_hrf(events, 20, 2, derivatives = "time")
  expect_identical(colnames(X), both)
  for (k in 1:3) {
    alone <- convolve_hrf(events[k, 1:2], 20, 2, derivatives = "time")
    expect_identical(unname(X[, paste0(events$trial_type[k], c("", "_derivative"))]), unname(alone))
  }
  expect_named(attributes(X), c("dim", "dimnames"))
  expect_null(rownames(X))
  events$trial_type <- factor(events$trial_type, c("house", "miss", "face", "Zebra"))
  X <- convolve_hrf(events, 20, 2)
  expect_identical(colnames(X), c("house", "miss", "face", "Zebra"))
  expect_true(all(X[, "miss"] == 0))
  events$trial_type <- c(10, 2, 1)
  expect_identical(colnames(convolve_hrf(events, 20, 2)), c("1", "2", "10"))
})

test_that("the rows of a run depend on its events only, and nothing spills over", {
  events <- data.frame(onset = c(1, 30, 3, 2, 38), duration = c(2, 60, 0, 1, 100), run = c(1, 1, 3, 2, 2),
                       trial_type = c("a", "b", "a", "b", "a"))
  n_scans <- c(20, 25, 10)
  X <- convolve_hrf(events, n_scans, 2, derivatives = "time_dispersion")
  expect_identical(nrow(X), 55L)
  run_rows <- split(1:55, rep(1:3, n_scans))
  for (run in 1:3) {
    part <- events[events$run == run, ]
    part$trial_type <- factor(part$trial_type, c("a", "b"))
    alone <- convolve_hrf(part, n_scans[run], 2, derivatives = "time_dispersion")
    expect_identical(X[run_rows[[run]], ], alone)
  }
  changed <- rbind(transform(events[events$run != 2, ], modulation = 1),
                   data.frame(onset = c(0, 49), duration = 1e6, run = 2, trial_type = c("b", "a"), modulation = 50))
  Z <- convolve_hrf(changed, n_scans, 2, derivatives = "time_dispersion")
  expect_identical(Z[-run_rows[[2L]], ], X[-run_rows[[2L]], ])
})

test_that("a run without events is 0", {
  events <- data.frame(onset = 1, duration = 1, run = 2)
  X <- convolve_hrf(events, c(5, 10, 5), 2)
  expect_true(all(X[c(1:5, 16:20), ] == 0))
  expect_identical(X[6:15, , drop = FALSE], convolve_hrf(events, 10, 2))
})

test_that("wrong settings are refused", {
  expect_refused(convolve_hrf(EVENTS, 0, 2), "n_scans", "0")
  expect_refused(convolve_hrf(EVENTS, c(10, 10.5), 2), "n_scans", "10.5")
  expect_refused(convolve_hrf(EVENTS, "100", 2), "n_scans")
  expect_refused(convolve_hrf(EVENTS, c(a = 50, a = 50), 2), "n_scans", "a")
  expect_refused(convolve_hrf(EVENTS, 50, 0), "tr", "0")
  expect_refused(convolve_hrf(EVENTS, 50, c(2, 2)), "tr")
  expect_refused(convolve_hrf(EVENTS, 50, 2, "canonical"), "hrf", "glover")
  expect_refused(convolve_hrf(EVENTS, 50, 2, derivatives = "dispersion"), "derivatives", "time_dispersion")
  expect_refused(convolve_hrf(EVENTS, 50, 2, slice_time_ref = 1.2), "slice_time_ref", "1.2")
})

test_that("features too large for this machine are refused", {
  skip_if(is.na(core_memory_available()))
  cnd <- expect_error(convolve_hrf(data.frame(onset = 1:2000, duration = 1, trial_type = 1:2000), 2e9, 1),
                      class = "voxridge_error_memory")
  expect_match(conditionMessage(cnd), "n_scans")
})
