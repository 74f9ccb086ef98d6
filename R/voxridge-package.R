#' voxridge: ridge regression for voxelwise encoding models
#'
#' Ridge regression of many targets (voxels) on one set of features, with the penalty of each target chosen by
#' cross-validation. `X` is samples x features, `Y` is samples x targets; a numeric vector `y` is one target and gives
#' vectors back.
#'
#' @section Where to start:
#' * [fit_ridge()], [fit_banded_ridge()]: models with the usual verbs, `predict()`, `coef()`, `tidy()` and others (see
#'   [voxridge_fit]); [score()] and [null_scores()].
#' * [solve_ridge_cv()]: choose a penalty per target and fit.
#' * [solve_banded_ridge_cv()]: a penalty per feature space and target; [r2_split()] and [r2_unique()]: what each of the
#'   spaces explains.
#' * [cross_val_predict_ridge()]: out-of-fold predictions and scores for given penalties.
#' * [ridge_svd()], [ridge_cv()]: given penalties, one shared penalty.
#' * [prepare_ridge()]: factor `X` once for many `Y`.
#' * [delay_features()], [convolve_hrf()], [feature_spaces()], [clean_runs()]: features and responses from a scanner's
#'   runs.
#' * [fit_logistic_ridge()], [predictor()], [serve()]: classes, their probabilities, and scoring over HTTP.
#' * [cv_folds()], [alpha_grid()], [simulate_encoding()]: folds, penalties, data to try things on.
#' * [voxridge_sitrep()]: what this machine and this installation offer.
#'
#' @section Options:
#' * `voxridge.threads`: number of threads where `n_threads` is not given, see [voxridge_threads].
#' * `voxridge.print_max`: how many feature spaces `print()` shows (5).
#' * `voxridge.memory_gb`: working memory of a call in GB, see [device_memory_budget()].
#'
#' @references
#' Dupre la Tour, T., Eickenberg, M., Nunez-Elizalde, A. O., Gallant, J. L. (2022). Feature-space selection with banded
#' ridge regression. NeuroImage 264, 119728. \doi{10.1016/j.neuroimage.2022.119728}
#'
#' Hoerl, A. E., Kennard, R. W. (1970). Ridge regression: biased estimation for nonorthogonal problems. Technometrics
#' 12(1), 55-67. \doi{10.1080/00401706.1970.10488634}
#'
#' @useDynLib voxridge, .registration = TRUE
#' @importFrom Rcpp evalCpp
#' @importFrom rlang %||%
#' @keywords internal
"_PACKAGE"

#' The penalty convention of voxridge
#'
#' What `alpha` means, and how to convert from other packages.
#'
#' @section Penalty:
#' The penalty `alpha` belongs to the objective \eqn{||Y - X B||^2 + \alpha ||B||^2}{||Y - X B||^2 + alpha ||B||^2}:
#' sums of squares are not divided by the number of samples n, nothing is standardised, and the intercept, where there
#' is one, is not penalised. `alpha = 0` is least squares of minimum norm, with a rank cut-off. Scaling `X` by a and
#' `alpha` by a^2 leaves predictions unchanged. From glmnet (`family = "gaussian"`, `alpha = 0`, `standardize = FALSE`),
#' which divides by 2n and scales the response, `alpha = n * lambda / s` with `s = sqrt(mean((y - mean(y))^2))`.
#'
#' @references
#' Hoerl, A. E., Kennard, R. W. (1970). Ridge regression: biased estimation for nonorthogonal problems. Technometrics
#' 12(1), 55-67. \doi{10.1080/00401706.1970.10488634}
#'
#' @name voxridge-penalty
#' @aliases penalty
NULL
