test_that("k folds are contiguous, the first n mod k one larger", {
  expect_identical(cv_folds(1:11, k = 3), rep(1:3, c(4, 4, 3)))
  expect_identical(cv_folds(numeric(12)), rep(1:5, c(3, 3, 2, 2, 2)))
  expect_identical(cv_folds(matrix(0, 7, 3), k = 7), 1:7)
})

test_that("the result does as `cv` what the count does", {
  problem <- random_problem(23, 4, 2, seed = 1)
  expect_identical(solve_quietly(problem$X, problem$Y, cv = cv_folds(1:23, k = 4))$cv_scores,
                   solve_quietly(problem$X, problem$Y, cv = 4)$cv_scores, ignore_attr = TRUE)
})

test_that("stratified folds keep the proportions of the classes", {
  for (seed in 1:10) {
    y <- withr::with_seed(seed, sample(rep(c("a", "b", "c"), c(20, 11, 7))))
    for (shuffle in c(FALSE, TRUE)) {
      fold <- cv_folds(y, k = 4, stratify = TRUE, shuffle = shuffle, seed = if (shuffle) seed)
      counts <- table(y, fold)
      expect_true(all(apply(counts, 1L, function(x) diff(range(x))) <= 1L))
      expect_lte(diff(range(table(fold))), 1L)
      expect_setequal(fold, 1:4)
    }
  }
})

test_that("groups stay together and every fold has samples", {
  for (seed in 1:10) {
    groups <- withr::with_seed(seed, sample(1:8, 40, TRUE))
    fold <- cv_folds(numeric(40), k = 3, groups = groups)
    expect_true(all(tapply(fold, groups, function(x) length(unique(x))) == 1L))
    expect_setequal(fold, 1:3)
    # no fold is larger than its fair share by more than the largest group
    expect_lte(max(table(fold)), 40 / 3 + max(table(groups)))
  }
  expect_setequal(cv_folds(numeric(6), k = 3, groups = rep(c("x", "y", "z"), 2)), 1:3)
})

test_that("shuffling follows the seed, or R's generator without one", {
  a <- cv_folds(1:50, shuffle = TRUE, seed = 3)
  expect_identical(a, cv_folds(1:50, shuffle = TRUE, seed = 3))
  expect_false(identical(a, cv_folds(1:50, shuffle = TRUE, seed = 4)))
  expect_identical(sort(a), cv_folds(1:50))
  b <- withr::with_seed(1, cv_folds(1:50, shuffle = TRUE))
  expect_identical(b, withr::with_seed(1, cv_folds(1:50, shuffle = TRUE)))
  expect_false(identical(b, withr::with_seed(2, cv_folds(1:50, shuffle = TRUE))))
})

test_that("a given seed leaves R's generator alone", {
  withr::local_seed(5)
  before <- .Random.seed
  cv_folds(1:50, shuffle = TRUE, seed = 3)
  expect_identical(.Random.seed, before)
  cv_folds(1:50, shuffle = TRUE)
  expect_false(identical(.Random.seed, before))
})

test_that("folds that cannot be are refused", {
  expect_refused(cv_folds(1:10, k = 11), "k", c("10", "11"))
  expect_refused(cv_folds(1:10, k = 1), "k")
  expect_refused(cv_folds(1:10, k = 2.5), "k")
  expect_refused(cv_folds(1:10, k = NA), "k")
  expect_refused(cv_folds(numeric()), "y")
  expect_refused(cv_folds(1:10, groups = 1:9), "groups", c("10", "9"))
  expect_refused(cv_folds(1:10, k = 4, groups = rep(1:3, length.out = 10)), "k", c("3", "4"))
  expect_refused(cv_folds(1:10, groups = c(NA, 1:9)), "groups")
  expect_refused(cv_folds(c(NA, 1:9), stratify = TRUE), "y")
  expect_refused(cv_folds(runif(10), stratify = TRUE), "y")
  expect_refused(cv_folds(1:10, shuffle = TRUE, seed = -1), "seed")
  expect_refused(cv_folds(1:10, seed = 1), "seed")
  expect_refused(cv_folds(1:10, shuffle = "yes"), "shuffle")
})

test_that("a class with fewer members than folds is told", {
  expect_warning(cv_folds(rep(c("a", "b"), c(10, 2)), k = 4, stratify = TRUE), "b",
                 class = "voxridge_warning_rare_class")
})

test_that("classes and groups are plain vectors", {
  expect_refused(cv_folds(1:10, k = 2, groups = matrix(1:10, 5)), "groups", "5 x 2")
  expect_refused(cv_folds(list(1, 2, 3), k = 2, stratify = TRUE), "y", "list of length 3")
  expect_refused(cv_folds(quote(a + b), k = 2, stratify = TRUE), "y", "call")
})
