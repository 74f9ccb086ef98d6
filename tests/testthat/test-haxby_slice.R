# Real measurements: one slice of Haxby et al. 2001, subject 1. The figures are those of an independent computation
# (nibabel, numpy, scikit-learn), so they are compared at the digits that are printed there.

# An indicator per category, delayed by 1 to 4 volumes; quadratic trend out and unit standard deviation in each run.
load_slice <- function() {
  bold <- read_nifti_array(test_data("data", "haxby_slice", "bold.nii.gz"))
  mask <- read_nifti_array(test_data("data", "haxby_slice", "mask.nii.gz"))
  attributes <- utils::read.table(test_data("data", "haxby_slice", "attributes_literal.txt"),
                                  col.names = c("label", "run"))
  volumes <- dim(bold)[4L]
  Y <- t(matrix(bold, ncol = volumes)[as.vector(mask) != 0, ])
  categories <- setdiff(sort(unique(attributes$label)), "rest")
  indicators <- outer(attributes$label, categories, "==")
  list(X = delay_features(indicators, delays = 1:4, runs = attributes$run),
       Y = clean_runs(Y, attributes$run, detrend = 2, scale = "sd"), runs = attributes$run)
}

pooled_scores <- function(Y, predictions) {
  list(r = vapply(seq_len(ncol(Y)), function(j) stats::cor(Y[, j], predictions[, j]), 0),
       r2 = 1 - colSums((Y - predictions)^2) / colSums(sweep(Y, 2L, colMeans(Y))^2))
}

test_that("encoding of the Haxby slice gives the published figures, leaving one run out", {
  skip_on_cran()
  slice <- load_slice()
  expect_identical(dim(slice$X), c(1452L, 32L))
  expect_identical(dim(slice$Y), c(1452L, 530L))
  expect_length(unique(slice$runs), 12L)
  scores <- lapply(c("1" = 1, "10" = 10, "100" = 100), function(alpha) {
    out <- cross_val_predict_ridge(slice$X, slice$Y, alphas = alpha, cv = slice$runs, fit_intercept = TRUE,
                                   progress = FALSE)
    pooled_scores(slice$Y, out$predictions)
  })
  expect_identical(sprintf("%.5f", mean(scores$`10`$r2)), "0.05644")
  expect_identical(sprintf("%.5f", mean(scores$`10`$r)), "0.17927")
  expect_identical(sprintf("%.4f", max(scores$`10`$r)), "0.7149")
  expect_identical(sum(scores$`10`$r > 0.2), 184L)
  expect_identical(sprintf("%.5f", mean(scores$`1`$r)), "0.17957")
  expect_identical(sprintf("%.4f", max(scores$`1`$r)), "0.7180")
  expect_identical(sprintf("%.5f", mean(scores$`100`$r2)), "0.03551")
  expect_identical(sprintf("%.5f", mean(scores$`100`$r)), "0.15256")
})

test_that("an alpha per voxel, chosen by run, agrees with explicit folds on real data", {
  skip_on_cran()
  slice <- load_slice()
  voxels <- seq(1L, 530L, by = 30L)
  alphas <- c(1, 10, 100, 1000)
  got <- solve_quietly(slice$X, slice$Y, alphas = alphas, cv = slice$runs, score_func = "correlation",
                       fit_intercept = TRUE)
  want <- oracle_solve(slice$X, slice$Y[, voxels], alphas, slice$runs, score_func = "correlation", fit_intercept = TRUE)
  expect_identical(unname(got$best_alphas[voxels]), want$best_alphas)
  expect_close(got$cv_scores[, , voxels], want$cv_scores)
  expect_close(got$coefs[, voxels], want$coefs)
})

test_that("folds that split the runs of the slice are refused", {
  skip_on_cran()
  slice <- load_slice()
  expect_error(cross_val_predict_ridge(slice$X, slice$Y, alphas = 10, cv = 5, progress = FALSE),
               class = "voxridge_error_leakage")
})

test_that("the example goes from the files to the same figures and writes them as a map", {
  skip_on_cran()
  example <- new.env()
  sys.source(system.file("examples", "encoding_map.R", package = "voxridge"), example)
  path <- withr::local_tempfile(fileext = ".nii.gz")
  out <- example$encoding_map(dirname(test_data("data", "haxby_slice", "bold.nii.gz")), path)
  expect_identical(sprintf("%.5f", c(mean(out$r2), mean(out$r))), c("0.05644", "0.17927"))
  expect_identical(sum(out$r > 0.2), 184L)
  map <- read_nifti(path)
  expect_identical(dim(map), c(40L, 20L, 1L))
  expect_identical(sprintf("%.4f", max(map, na.rm = TRUE)), "0.7149")
  expect_identical(which(!is.na(map)), out$mask$index)
})

test_that("logistic regression, one category against the rest, decodes as well as published", {
  skip_on_cran()
  example <- new.env()
  sys.source(system.file("examples", "decode_haxby.R", package = "voxridge"), example)
  out <- example$decode_haxby(dirname(test_data("data", "haxby_slice", "bold.nii.gz")))
  expect_identical(dim(out$logits), c(96L, 8L))
  # the reference, a multinomial regression of scikit-learn, gets 74 of 96 blocks right
  expect_lte(abs(sum(out$correct) - 74), 2)
  # each run was predicted from the others, with one Gram matrix
  expect_identical(out$fit$diagnostics$solver, "rotate")
  expect_identical(as.vector(table(out$runs)), rep(8L, 12L))
  face_house <- out$shown %in% c("face", "house")
  pair <- logistic_quietly(out$X[face_house, ], factor(out$shown[face_house]), lambda = 1, cv = out$runs[face_house])
  expect_identical(mean((pair$cv$predictions > 0) == (out$shown[face_house] == "house")), 1)
})
