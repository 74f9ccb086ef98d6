test_that("draws depend on the key, the stream and the position only", {
  a <- draw(1000, 5, "noise", "normal")
  expect_identical(draw(10, 5, "noise", "normal"), a[1:10])
  expect_false(any(draw(1000, 6, "noise", "normal") == a))
  expect_false(any(draw(1000, 5, "coefs", "normal") == a))
})

test_that("uniform and normal draws have the distribution they should", {
  # fixed keys: no chance of a chance failure
  expect_gt(stats::ks.test(draw(20000, 1, "noise"), "punif")$p.value, 0.01)
  expect_gt(stats::ks.test(draw(20000, 2, "noise", "normal"), "pnorm")$p.value, 0.01)
  u <- draw(1e5, 3, "noise")
  expect_true(min(u) > 0 && max(u) < 1)
  expect_lt(abs(cor(u[-1L], u[-1e5])), 0.01)
})

test_that("keys are whole numbers below 2^53; without one R's generator gives it", {
  expect_identical(as_key(2^53 - 1), 2^53 - 1)
  expect_refused(as_key(2^53), "seed")
  a <- withr::with_seed(1, as_key(NULL))
  expect_identical(a, withr::with_seed(1, as_key(NULL)))
  expect_true(a == round(a) && a >= 0 && a < 2^53)
})

test_that("every use has a stream of its own", {
  expect_false(anyDuplicated(RNG_STREAMS) > 0L)
})
