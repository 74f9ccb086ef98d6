light_fit <- function(...) {
  d <- class_problem(n_runs = 4, n_classes = 2, per_class = 2, p = 24, seed = 2)
  mask <- brain_mask(array(1, c(4, 3, 2)), affine = rbind(cbind(diag(c(2, 3, 4)), c(-10, 5, 0)), c(0, 0, 0, 1)))
  decode_quietly(structure(d$X, mask = mask), d$y, cv = d$runs, ...)
}

test_that("printing says chance, quartiles, the best place and failures, in a few lines", {
  mask <- light_fit()$mask
  fit <- light_fit(where = searchlight(mask, 4), n_permutations = 20, seed = 5, metrics = c("accuracy", "auc"))
  lines <- capture.output(shown <- withVisible(print(fit)))
  expect_false(shown$visible)
  expect_identical(shown$value, fit)
  expect_lte(length(lines), 15L)
  text <- paste(lines, collapse = "\n")
  best <- which.max(fit$score[, "accuracy"])
  place <- paste(coordinates(mask)[best, ], collapse = ", ")
  for (pattern in c("2 classes by ridge: 16 samples x 24 voxels", "spheres of 4 mm around 24 voxels", "4 folds",
                    "0.5 \\(balanced\\), 0.5 \\(largest class\\)", paste0("voxel ", best, " at \\(", place, "\\) mm"),
                    "20, seed 5, within the 4 labels of cv", "p <= 0.05 at [0-9]+ of 24 locations")) {
    expect_match(text, pattern)
  }
  quartiles <- format_numbers(stats::quantile(fit$score[, 1L], 1:3 / 4))
  expect_match(text, paste("quartiles", paste(quartiles, collapse = ", ")))
  whole <- capture.output(print(light_fit(n_permutations = 100, permute_within = "all", seed = 1)))
  expect_match(paste(whole, collapse = "\n"), "p = 0\\.[0-9]+; mean under the null 0\\.[0-9]+")
  expect_match(paste(whole, collapse = "\n"), "within all samples")
  expect_error(print(fit, foo = 1), class = "rlib_error_dots_nonempty")
  d <- class_problem(n_runs = 4, p = 9)
  d$X[, 1L] <- 1
  failed <- decode_quietly(d$X, d$y, cv = d$runs, where = roi(c("one", "one", rep("two", 7))), scale = "fold",
                           alphas = 1)
  text <- paste(capture.output(print(failed)), collapse = "\n")
  expect_match(text, "left out: +1 constant voxels")
  expect_match(text, "too_small \\(1\\); no score at 1 location")
  expect_match(text, "scaled by training samples")
  expect_match(text, "at two")
  values <- decode_quietly(d$X, d$X[, 2L], cv = d$runs, where = roi(rep(1:3, 3)), metrics = "mse")
  text <- paste(capture.output(print(values)), collapse = "\n")
  expect_match(text, "Decoding of values")
  expect_no_match(text, "chance")
  expect_match(text, paste0("best ", format_numbers(min(values$score))))
})

test_that("summaries", {
  fit <- light_fit()
  s <- summary(fit)
  expect_identical(s$confusion, table(truth = factor(fit$y), guess = fit$predictions))
  expect_identical(s$folds$n, rep(4L, 4))
  expect_equal(s$folds$score, unname(fit$scores[, 1L, 1L]))
  expect_lte(length(capture.output(print(s))), 15L)
  light <- light_fit(where = searchlight(fit$mask, 4), metrics = c("accuracy", "auc"), n_permutations = 20, seed = 1)
  s <- summary(light, metric = "auc")
  expect_named(s$best, c("location", "size", "score", "x", "y", "z", "p", "p_fwer"))
  expect_identical(nrow(s$best), 5L)
  expect_equal(s$best$score[1L], max(light$score[, "auc"]))
  expect_equal(unlist(s$best[1L, c("x", "y", "z")]), coordinates(fit$mask)[s$best$location[1L], ])
  expect_equal(unname(s$scores), unname(stats::quantile(light$score[, "auc"])))
  expect_null(s$confusion)
  withr::local_options(voxridge.print_max = 2)
  expect_identical(nrow(summary(light)$best), 2L)
  expect_refused(summary(light, metric = "mse"), "metric")
  # centres in another order than the voxels
  turned <- light_fit(where = searchlight(fit$mask, 4, centers = c(20, 3, 11)))
  best <- summary(turned)$best
  expect_equal(as.matrix(best[, c("x", "y", "z")]), coordinates(fit$mask)[best$location, ], ignore_attr = TRUE)
})

test_that("tables", {
  mask <- light_fit()$mask
  fit <- light_fit(where = searchlight(mask, 4, centers = c(5, 2)), metrics = c("accuracy", "auc"))
  table <- tidy(fit)
  expect_named(table, c("location", "fold", "metric", "score"))
  expect_identical(nrow(table), 4L * 2L * 2L)
  expect_identical(table$score, as.vector(fit$scores))
  means <- tapply(table$score, list(factor(table$location, c(5, 2)), table$metric), mean)
  expect_equal(unname(means), unname(fit$score))
  row <- table[table$location == 2 & table$fold == "3" & table$metric == "auc", ]
  expect_identical(row$score, fit$scores[[3L, 2L, 2L]])
  parcels <- tidy(light_fit(where = roi(rep(c("b", "a"), 12))))
  expect_identical(unique(parcels$location), c("a", "b"))
  g <- glance(fit, metric = "auc")
  expect_identical(nrow(g), 1L)
  expect_identical(g$score_max, max(fit$score[, "auc"]))
  expect_identical(g[c("n", "n_voxels", "n_locations", "n_folds", "n_failed")],
                   data.frame(n = 16L, n_voxels = 24L, n_locations = 2L, n_folds = 4L, n_failed = 0L))
  expect_identical(g$chance, 0.5)
  expect_true(is.na(g$p_fwer_min))
})

test_that("maps put values at centres, parcels and voxels", {
  mask <- light_fit()$mask
  light <- light_fit(where = searchlight(mask, 4, centers = c(5, 2)), metrics = c("accuracy", "auc"),
                     n_permutations = 9, seed = 1)
  map <- brain_map(light)
  expect_identical(dim(map), mask$dim)
  expect_identical(attr(map, "affine"), mask$affine)
  expect_identical(map[mask$index[c(5, 2)]], unname(light$score[, "accuracy"]))
  expect_identical(sum(!is.na(map)), 2L)
  expect_identical(brain_map(light, what = "auc")[mask$index[2]], light$score[[2L, "auc"]])
  expect_identical(dim(brain_map(light, what = "p_fwer")), c(mask$dim, 2L))
  expect_identical(brain_map(light, what = "p_fwer")[, , , 2][mask$index[5]], light$p_fwer[[1L, "auc"]])
  expect_identical(brain_map(light, what = "size")[mask$index[5]], light$size[[1L]])
  labels <- rep(c("b", "", "a"), 8)
  parcels <- light_fit(where = roi(labels))
  map <- brain_map(parcels)[mask$index]
  expect_identical(map, unname(parcels$score[match(labels, c("a", "b")), 1L]))
  expect_identical(brain_map(parcels, what = "weights")[mask$index], parcels$weights[, 1L])
  whole <- light_fit()
  expect_identical(brain_map(whole)[mask$index], whole$weights[, 1L])
  expect_identical(brain_map(whole, what = "patterns")[mask$index], whole$patterns[, 1L])
  three <- class_problem(p = 24)
  several <- decode_quietly(structure(three$X, mask = mask), three$y, cv = three$runs)
  expect_identical(dim(brain_map(several, what = "weights")), c(mask$dim, 3L))
  expect_refused(brain_map(whole, what = "accuracy"), "what", "one score")
  expect_refused(brain_map(light, what = "weights"), "what", "p_fwer")
  expect_refused(brain_map(light, what = "failures"), "what")
  expect_refused(brain_map(decode_quietly(three$X, three$y, cv = three$runs)), "mask")
})

test_that("a metric without any score is printed, summarised and told", {
  d <- class_problem(n_runs = 4, n_classes = 2, p = 8)
  for (where in list(whole_brain(), roi(rep(1:2, 4)))) {
    fit <- muffle_decode(decode_quietly(d$X, d$y, cv = 8, where = where, metrics = c("accuracy", "auc")))
    expect_silent(words <- utils::capture.output(print(fit)))
    expect_match(words, "auc: +undefined in every fold", all = FALSE)
    expect_silent(utils::capture.output(print(summary(fit, "auc"))))
    expect_true(is.na(glance(fit, "auc")$score_max))
  }
})
