# The definition with numerical quadrature for the area and finite differences for the slope.
oracle_hrf <- function(t, model, wider = 0) {
  p <- list(spm = c(6, 16, 1, 1 / 6), glover = c(6, 12, 0.9, 0.48))[[model]]
  scale <- p[3L] + wider
  curve <- function(t) dgamma(t, p[1L] / scale, scale = scale) - p[4L] * dgamma(t, p[2L] / p[3L], scale = p[3L])
  area <- integrate(curve, 0, 32, rel.tol = 1e-12, subdivisions = 1000L)$value
  ifelse(t >= 0 & t <= 32, curve(t) / area, 0)
}

time <- c(-5, 0, 0.1, 1, 3.3, 5, 6, 12, 15.5, 25, 31.9, 32, 33, 100)

test_that("the curves are differences of gamma densities with an area of 1", {
  for (model in c("spm", "glover")) {
    expect_close(hrf(time, model), oracle_hrf(time, model), 1e-12)
    area <- integrate(hrf, 0, 32, model = model, rel.tol = 1e-10, subdivisions = 1000L)$value
    expect_equal(area, 1, tolerance = 1e-10)
  }
  expect_identical(hrf(time), hrf(time, "spm", "none"))
})

test_that("derivatives are the slope, and the response less a wider one", {
  inner <- time[time > 0 & time < 32]
  for (model in c("spm", "glover")) {
    step <- 1e-4
    slope <- (oracle_hrf(inner + step, model) - oracle_hrf(inner - step, model)) / (2 * step)
    expect_close(hrf(inner, model, "time"), slope, 1e-8)
    wide <- oracle_hrf(time, model, wider = 0.01)
    expect_close(hrf(time, model, "dispersion"), (oracle_hrf(time, model) - wide) / 0.01, 1e-10)
    expect_identical(hrf(c(-1, 40), model, "time"), c(0, 0))
    area <- integrate(hrf, 0, 32, model = model, derivative = "dispersion", rel.tol = 1e-8)$value
    expect_lt(abs(area), 1e-8)
  }
})

test_that("a positive weight on the derivatives makes the response earlier and narrower", {
  t <- seq(0, 32, 0.01)
  peak <- function(y) t[which.max(y)]
  expect_lt(peak(hrf(t) + hrf(t, derivative = "time")), peak(hrf(t)))
  half_width <- function(y) diff(range(t[y > max(y) / 2]))
  expect_lt(half_width(hrf(t) + 0.3 * hrf(t, derivative = "dispersion")), half_width(hrf(t)))
  expect_equal(peak(hrf(t)), 5, tolerance = 0.01)
})

test_that("integrals are those of the curves", {
  for (model in c("spm", "glover")) {
    for (derivative in c("none", "time", "dispersion")) {
      basis <- hrf_basis(model, derivative)
      for (t in c(2, 7.5, 20, 32)) {
        quadrature <- integrate(basis$impulse, 0, t, rel.tol = 1e-10, subdivisions = 1000L)$value
        expect_equal(basis$integral(t), quadrature, tolerance = 1e-8)
      }
    }
  }
})

test_that("wrong times and words are refused", {
  expect_refused(hrf("1"), "time")
  expect_refused(hrf(c(1, NA, 3)), "time", "2")
  expect_refused(hrf(Sys.time()), "time")
  expect_refused(hrf(1, "canonical"), "model", "glover")
  expect_refused(hrf(1, derivative = "temporal"), "derivative", "dispersion")
})
