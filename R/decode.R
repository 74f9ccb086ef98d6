#' Decode classes or values from patterns of voxels
#'
#' Predicts `y` from `X` by cross-validation, from the whole brain, from each parcel or from the sphere around each
#' voxel, with scores, maps and label permutations.
#'
#' @section Model:
#' `"ridge"` regresses codes on voxels: column c of the codes is +1 for class c and -1 otherwise (two classes have one
#' column, +1 for the second level), with an unpenalised intercept. The predicted class has the largest decision value,
#' ties go to the first level; of two classes it is the second where the decision is greater than 0. (Decisions that are
#' equal but for rounding, as for voxels without any relation in balanced folds, may fall either way.) Numeric `y` is
#' regressed as it is. `"logistic"` is [fit_logistic_ridge()], one class against the rest, with
#' `lambda = alphas / n` for n training samples (scikit-learn's `C = 1 / alphas`) and voxels as they are.
#' A function gets the scaled `X_train` (samples x voxels), `y_train` (a factor with all levels, or numbers) and
#' `X_test`; it returns a number per row of `X_test` (two classes: positive for the second; or values), a matrix with a
#' column per class, or the predicted classes. Both run in R, one location and fold after another, so they take far
#' longer than ridge.
#'
#' A class that a training set lacks has the decision -Inf there.
#'
#' @section Scores:
#' For classes `"accuracy"`, `"balanced_accuracy"` (mean recall of the classes that occur) and `"auc"` (average ranks
#' for ties; of several classes the mean of one against the rest); for values `"r"`, `"r2"` (about the held-out mean)
#' and `"mse"`. `score` is the mean over folds; folds where a metric is undefined (one class for auc, fewer than 3
#' samples or no variance for r) are NA, listed in `failures` and left out of the mean. `pooled` takes all held-out
#' samples at once: fine for accuracy, but auc and r then mix the intercepts of folds, which biases r downwards.
#'
#' @section Several penalties:
#' The penalty is chosen inside each training set, over folds of the same kind: the remaining groups, one left out at a
#' time, or contiguous blocks where `cv` is a number. Best mean metric; ties go to the smaller squared error, then to
#' the larger penalty. Logistic regression chooses by held-out log-loss.
#'
#' @section Label permutations:
#' With `n_permutations`, labels are permuted within `permute_within` and everything is decoded again: the same
#' permutations for all locations, so `p_fwer`, by the largest score over locations, controls the chance of any false
#' positive. p is (b + 1) / (m + 1), with b of m permutations at least as good as the data. Where there are at most
#' `n_permutations` different arrangements, all M are enumerated and p = b / M. Accuracy is compared by counts of
#' correct predictions over all held-out samples, other metrics by their mean over folds. `null_mean` is the mean of
#' the null distribution, which unbalanced classes move away from `chance`.
#'
#' @param X n x v numeric matrix, rows are samples, columns are voxels. What [brain_matrix()] returns keeps its mask,
#'   for parcels and maps. Voxels with NA, NaN or Inf, or constant, are left out everywhere and listed in `excluded`.
#' @param y What to decode, one per sample: a factor, strings or logical (classes), or numbers (regression). NA only in
#'   samples that `cv` leaves out. Unused levels are dropped.
#' @param cv Folds, as in [cv_folds()]; no default. For brain data give a vector of run or subject labels, each of
#'   which is left out once; a number means contiguous blocks, `cv_folds(y, k, stratify = TRUE)` balances classes.
#'   Samples may be held out repeatedly (then results have a dimension of repeats), or in no fold: these are left out of
#'   everything. `"gcv"` makes no predictions.
#' @param where [whole_brain()] (the default), [roi()] or [searchlight()].
#' @param model `"ridge"` (the default), `"logistic"`, or a `function(X_train, y_train, X_test)`; see section Model.
#' @param alphas One penalty (the default is 1), or several to choose from; at least 0. In the unit of ridge:
#'   ||y - Xb||^2 + alpha ||b||^2.
#' @param scale `"none"` (the default); `"fold"`: voxels are centred and divided by their standard deviation (divisor
#'   n) over the training samples; `"global"`: over all samples, which lets held-out samples take part (a warning).
#' @param metrics NULL (the default: accuracy, or r for numbers), or some of section Scores.
#' @param n_permutations Whole number of label permutations; 0 (the default) for none.
#' @param permute_within NULL (the default): labels change places within the labels of `cv` where it is one label per
#'   sample, else among all samples; `"all"`; or a label per sample.
#' @param weights TRUE (the default) returns weights and patterns of the whole brain and parcels (never of
#'   searchlights).
#' @param keep_predictions TRUE or FALSE, whether out-of-fold predictions are returned. NULL (the default): unless
#'   `where` is a searchlight.
#' @param seed NULL draws from R's generator, so `set.seed()` works; a whole number from 0 to 2^53 - 1 gives the same
#'   permutations always and leaves R's generator alone.
#' @param n_threads NULL (the default, see [voxridge_threads]) or a whole number of threads.
#' @param device `"cpu"` (the default) or `"auto"`; there is no code for the GPU yet.
#' @param progress TRUE shows a progress bar on the console (stderr); never in scripts, tests and knitr.
#'
#' @returns A list of class `voxridge_decode`. Locations are the whole brain (one), parcels, or centres of spheres.
#' * `scores`: folds x locations x metrics; `score` and `pooled`: locations x metrics.
#' * `predictions`: of the whole brain a factor (or numbers) of length n, otherwise n x locations, of strings or
#'   numbers; `decision`: n x columns (x locations), a column per class, or the second class alone of two; NULL for
#'   numeric `y`. Both out of fold, NA for samples in no test set, with a last dimension of repeats where samples are
#'   held out repeatedly; NULL unless kept.
#' * `folds`: the fold in which each sample was held out, n integers (or n x repeats).
#' * `alpha`: folds x locations, the chosen penalties where there are several `alphas`, else NULL.
#' * `weights`: voxels x columns, of a fit to all samples at the penalty (the median of those chosen, of their
#'   logarithms), in units of `X` as given; `fold_weights`: voxels x columns x folds; `patterns`: voxels x columns, what
#'   the decoder responds to (Haufe and others), which weights do not show. NA for voxels in no parcel or left out.
#' * With permutations `p`, `p_fwer`, `q_fdr`, `counts`, `null_mean` (locations x metrics), `p_ci` (locations x 2 x
#'   metrics, Clopper and Pearson's 95 % interval; NULL if enumerated), `max_null` (permutations x metrics: the best of
#'   each), `n_permutations`, `n_possible` (number of different arrangements), `exact`, `min_p`, `permute_within`,
#'   `seed`.
#' * `size`: voxels used at each location. `failures`: data frame of `location` (number; NA: all), `fold` (NA: all),
#'   `reason` and `detail`; no rows is the normal case. `excluded`: data frame of `column` and `reason`, the voxels left
#'   out.
#' * `chance`: of classes, `balanced` (1 / number of classes) and `majority` (the share of the largest); else NULL.
#' * `levels`, `y`, `metrics`, `model`, `alphas`, `scale`, `locations`, `where`, `mask`, `dims`, `backend`,
#'   `diagnostics`: what was done.
#'
#' Failures have the reasons `"too_small"`, `"constant"` (in a training set), `"not_finite"`, `"class_missing"` (the
#' result is kept), `"one_class"`, `"singular"`, `"undefined"` (a metric) and `"user_error"`.
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' `voxridge_error_type`, `voxridge_error_shape` (sizes of `X`, `y`, labels or mask that differ),
#' `voxridge_error_nonfinite` (NA in `y` of used samples), `voxridge_error_folds`, `voxridge_error_single_class` (of
#' `y`), `voxridge_error_single_class_fold` (one class in every training set), `voxridge_error_grid`,
#' `voxridge_error_alphas`, `voxridge_error_argument`, `voxridge_error_conflict` (several `alphas` with permutations),
#' `voxridge_error_no_location` (every location failed: with a table of reasons), `voxridge_error_memory`,
#' `voxridge_error_device_unsupported`. Warnings: `voxridge_warning_leakage` (runs or blocks of equal labels split among
#' folds, `scale = "global"`), `voxridge_warning_class_missing`, `voxridge_warning_single_class`,
#' `voxridge_warning_confounded`, `voxridge_warning_constant_labels`, `voxridge_warning_alpha_at_edge`. Message
#' `voxridge_message_few_values` (numbers that look like classes). See [voxridge-conditions].
#' @section Invariants:
#' Predictions of a fold are those of a model fitted to its training samples alone. A location's result is that of
#' `decode()` on its columns alone. Threads and the order of centres change nothing. Adding a constant to a voxel or
#' another order of voxels changes nothing; multiplying `X` by c and `alphas` by c^2 neither. Other names or another
#' order of classes permute decisions. `p_fwer` is at least `p`.
#' @references
#' Haufe, S., Meinecke, F., Goergen, K., Daehne, S., Haynes, J.-D., Blankertz, B., Biessmann, F. (2014). On the
#' interpretation of weight vectors of linear models in multivariate neuroimaging. NeuroImage 87, 96-110.
#' \doi{10.1016/j.neuroimage.2013.10.067}
#'
#' Kriegeskorte, N., Goebel, R., Bandettini, P. (2006). Information-based functional brain mapping. PNAS 103, 3863-3868.
#' \doi{10.1073/pnas.0600244103}
#'
#' Phipson, B., Smyth, G. K. (2010). Permutation p-values should never be zero. Statistical Applications in Genetics and
#' Molecular Biology 9, 39. \doi{10.2202/1544-6115.1585}
#'
#' Treder, M. S. (2018). Cross-validation in high-dimensional spaces: a lifeline for least-squares models and
#' multi-class LDA. \doi{10.48550/arXiv.1803.10016}
#' @source Closed forms of cross-validation from the smoother matrix H of ridge regression: held-out residuals of block
#'   B are (I - H)_BB^-1 ((I - H) y)_B (Treder 2018).
#' @seealso [whole_brain()], [roi()] and [searchlight()]; [print()][voxridge_decode], [tidy()][voxridge_decode],
#'   [plot()][plot.voxridge_decode] and [brain_map()] of the result.
#' @examples
#' # 6 runs, 4 blocks each; faces and houses differ in the voxels on the left
#' set.seed(1)
#' mask <- brain_mask(array(1, c(8, 8, 2)), affine = diag(c(3, 3, 3, 1)))
#' runs <- rep(1:6, each = 4)
#' y <- rep(c("face", "house"), 12)
#' X <- matrix(rnorm(24 * 128), 24)
#' left <- coordinates(mask)[, "x"] < 9
#' X[y == "face", left] <- X[y == "face", left] + 0.7
#' fit <- decode(X, y, cv = runs, n_threads = 2)
#' fit
#' table(truth = y, guess = fit$predictions)
#'
#' light <- decode(X, y, cv = runs, where = searchlight(mask, radius_mm = 4), alphas = 10,
#'                 n_permutations = 200, seed = 1, n_threads = 2)
#' light
#' plot(light)
#' dim(brain_map(light, what = "p_fwer"))
#' @export
decode <- function(X, y, cv, where = whole_brain(), model = "ridge", alphas = 1, scale = c("none", "global", "fold"),
                   metrics = NULL, n_permutations = 0, permute_within = NULL, weights = TRUE, keep_predictions = NULL,
                   seed = NULL, n_threads = NULL, device = "cpu", progress = interactive()) {
  call <- rlang::current_env()
  started <- proc.time()[["elapsed"]]
  check_decode_given(missing(y), missing(cv), call)
  decoder <- as_decoder(model, call)
  n_permutations <- as_count(n_permutations, min = 0)
  settings <- list(
    alphas = as_alphas(alphas),
    scale = as_choice(scale, c("none", "global", "fold")),
    weights = as_flag(weights),
    keep_predictions = keep_predictions,
    where = where
  )
  progress <- as_flag(progress)
  check_decoder_settings(decoder, settings$alphas, n_permutations, call)
  backend <- refuse_gpu(device, "decode", call)

  data <- as_decoded(X, call)
  n <- nrow(data$X)
  outcome <- as_decoded_outcome(y, n, call)
  folds <- as_decode_folds(cv, n, call)
  everything <- outcome$y
  outcome <- use_outcome(outcome, folds$rows, call)
  outcome$all <- if (is.factor(everything)) factor(everything, outcome$levels) else everything
  is_class <- !is.null(outcome$levels)
  if (!is_class && decoder$word == "logistic") {
    abort(c("{.arg y} must be classes with {.code model = \"logistic\"}, not numbers.", i = "Use {.code factor(y)}."),
          "conflict")
  }
  settings$metrics <- as_metrics(metrics, is_class, call)
  places <- as_locations(where, ncol(data$X), data$mask, call)
  is_light <- places$kind %in% c("spheres", "neighbours")
  settings$keep_predictions <- if (is.null(keep_predictions)) !is_light else as_flag(keep_predictions)
  settings$weights <- settings$weights && !is_light && decoder$word != "user"
  settings$n_threads <- resolve_threads(n_threads, call)
  inner <- if (length(settings$alphas) > 1L) inner_folds(folds, call)
  if (is_class) check_training_labels(folds, outcome$y, call)
  runs <- (data$runs %||% if (length(permute_within) == n) as.vector(permute_within))[folds$rows]
  warn_of_leakage(folds, outcome$y, runs, settings$scale)
  plan <- plan_labels(n_permutations, permute_within, outcome$codes %||% outcome$values, folds, seed, call)
  columns <- if (is_class) length(decision_columns(outcome$levels)) else 1L
  check_decode_memory(c(n = n, p = ncol(data$X), locations = places$n, folds = length(folds$test), columns = columns,
                        metrics = length(settings$metrics), permutations = plan$m %||% 0), settings, call)

  bar <- start_progress(progress, "Decoding", call)
  on.exit(bar$close())
  control <- core_control(n_threads, bar$report, call)
  used <- if (length(folds$rows) < n) data$X[folds$rows, , drop = FALSE] else data$X
  problem <- list(classes = outcome$codes, n_classes = if (is_class) length(outcome$levels), values = outcome$values,
                  train = folds$train, test = folds$test, partition = folds$partition)
  options <- decode_options(settings, inner, plan, is_class)
  raw <- if (decoder$word == "ridge") {
    decode_in_core(used, problem, places$core, options, control, call)
  } else {
    decode_in_r(used, problem, places$core, with_orders(options, plan), decoder, outcome$y, control, bar$report)
  }
  parts <- list(data = data, outcome = outcome, folds = folds, places = places, plan = plan, settings = settings,
                decoder = decoder, backend = backend$name)
  fit <- new_voxridge_decode(raw, parts, started, call)
  tell_decode_facts(fit)
  fit
}

check_decode_given <- function(y_missing, cv_missing, call) {
  if (y_missing) {
    abort(c("{.arg y} must be given: what to decode, one per row of {.arg X}.",
            i = "A factor or strings for classes, numbers for regression."), "type", call = call)
  }
  if (!cv_missing) return(invisible())
  abort(
    c("{.arg cv} must be given: how samples are held out.",
      i = "For brain data leave one run or subject out: {.code cv = runs}, a label per sample."),
    "folds",
    call = call
  )
}

decode_options <- function(settings, inner, plan, is_class) {
  list(
    alphas = settings$alphas, inner = inner, scale = settings$scale,
    min_voxels = settings$where$min_voxels, metrics = settings$metrics,
    keep_predictions = settings$keep_predictions, keep_decision = settings$keep_predictions && is_class,
    weights = settings$weights, n_permutations = if (is.null(plan)) 0L else as.integer(plan$m), rows = plan$rows
  )
}

# What the loop in R needs of a plan: the orders themselves, one a row.
with_orders <- function(options, plan) {
  if (is.null(plan)) return(options)
  options$m <- as.integer(plan$m)
  options$orders <- plan$rows$given %||% core_permutation_rows(plan$rows, options$m)
  options
}

# Facts of the data that a user must know of.
tell_decode_facts <- function(fit) {
  if (is.null(fit$alpha)) return(invisible())
  chosen <- fit$alpha[!is.na(fit$alpha)]
  ends <- range(fit$alphas)
  share <- c(smallest = mean(chosen == ends[1L]), largest = mean(chosen == ends[2L]))
  if (!length(chosen) || max(share) <= 0.05) return(invisible())
  end <- names(share)[which.max(share)]
  warn(
    c("{format_share(max(share))} of the choices (folds x locations) are the {end} of {.arg alphas},
       {format_numbers(ends[(end == 'largest') + 1])}.", i = "Widen the grid at that end."),
    "alpha_at_edge",
    found = share
  )
}
