#' One-sample permutation test
#'
#' Tests for every column (voxel) whether its values are symmetric about `mu`, by flipping the signs of samples.
#'
#' Without an effect the sign of each sample's difference from `mu` could as well have been the other. The statistic is
#' Student's t; p is the share of sign patterns whose t is at least as extreme. A paired test is this one on the
#' differences. For random permutations p = (b + 1) / (m + 1), with b of m at least as extreme as the data; where all M
#' patterns are enumerated, p = b / M. `p_fwer` compares with the maximum over columns in each permutation, which
#' controls the chance of any false positive; `q_fdr` is Benjamini and Hochberg's false discovery rate of `p`.
#'
#' `sequential = h` (Besag and Clifford) spends permutations where p is small: a column that stops after l permutations
#' has p = h / l, the others (b + 1) / (m + 1). A few h give as many discoveries for a small part of the work.
#'
#' `tail_fit = TRUE` reaches below 1 / (m + 1): of the largest maxima, a share a from 0.25 down (in steps of 0.01, at
#' least 20 values) whose excesses y over a threshold u0 pass the Anderson-Darling test at 5 % for a generalised Pareto
#' distribution, with shape k = (mean(y)^2 / var(y) - 1) / 2 and scale s = mean(y) (mean(y)^2 / var(y) + 1) / 2. Then
#' p = a (1 - k (t - u0) / s)^(1 / k), or a exp(-(t - u0) / s) for k = 0. Where no share passes, and beyond the end of
#' the distribution, p stays the count and `tail_fitted` is FALSE.
#'
#' Sums are taken in integers, after rounding each column of unit norm to 28 bits or so: ties between permutations
#' and the data count as at least as extreme whatever the unit of the data, and results do not depend on threads,
#' batches or the machine.
#'
#' @param Y n x v numeric matrix, rows are samples (subjects), columns are tested one by one; a vector is a single
#'   column; integer values are converted. What [brain_matrix()] returns keeps its mask for [brain_map()]. Columns with
#'   NA, NaN or Inf and constant columns are excluded, see `na`.
#' @param mu Number in the unit of `Y`: the centre under the null hypothesis. The default is 0.
#' @param n_permutations Whole number of random permutations, 10000 by default. Fewer possible ones are enumerated
#'   instead, see `exact`.
#' @param alternative `"two.sided"` (the default), `"greater"` or `"less"`. The direction is the same for every column.
#' @param two_sided `"abs"` (the default) compares absolute values; `"double"` takes twice the smaller of the two
#'   one-sided p. They differ where the null distribution is not symmetric.
#' @param exact `"auto"` (the default) enumerates all rearrangements where there are at most `n_permutations`, `"never"`
#'   draws at random always, `"always"` enumerates (up to 1e8).
#' @param blocks NULL (the default): samples are exchangeable; or a vector of n labels without NA: samples are
#'   exchangeable as `block_type` says.
#' @param block_type `"within"` (the default): samples change places within their block only; `"whole"`: blocks move, or
#'   flip their sign, as units. Sign flips know `"whole"` only.
#' @param permutations NULL (the default), or the permutations to use, as random ones: an m x n matrix, one a row, of 1
#'   and -1 where signs are flipped, and otherwise of the numbers 1 to n, each once: place i takes the role of sample
#'   `permutations[r, i]`.
#' @param enhance NULL (the default), or what to look at besides single voxels: [cluster_extent()], [cluster_mass()] or
#'   [tfce()], over all permutations.
#' @param mask The mask whose voxels the columns are, or what [brain_mask()] makes one of; needed for `enhance`. The
#'   default is that of `Y`, if it has one.
#' @param tail_fit TRUE replaces `p_fwer` below 0.10 by that of a generalised Pareto distribution fitted to the largest
#'   maxima, where these are at least 500 random ones and a fit is accepted; see Details. The default is FALSE.
#' @param sequential NULL (the default): every column sees every permutation; or a whole number h, such as 10: a column
#'   stops at its h-th permutation at least as extreme as the data, with p = h / l for the l-th permutation. All are
#'   drawn at random, and `p_fwer` is NA: the maximum needs every column.
#' @param na `"exclude"` (the default): columns with NA, NaN or Inf are NA in every result and count in no correction;
#'   `"error"`: there may be none.
#' @param return_null TRUE returns the statistic of every permutation and column (m x v) as `null`. The default is
#'   FALSE.
#' @param seed NULL draws from R's generator, so `set.seed()` works; a whole number from 0 to 2^53 - 1 gives the same
#'   permutations always and leaves R's generator alone. Permutation r depends on `seed` and r only.
#' @param n_threads NULL (the default, see [voxridge_threads]) or a whole number of threads.
#' @param device `"cpu"` (the default), `"gpu"` (an error where there is none) or `"auto"`: the GPU where the CPU is
#'   predicted to need more than a second and the GPU less, see section Devices.
#' @param progress TRUE shows a progress bar on the console (stderr); never in scripts, tests and knitr.
#'
#' @returns A list of class `voxridge_permutation_test`:
#' * `statistic`, `estimate`: v numbers: t, and the mean minus `mu` in the unit of `Y`; `df`: degrees of freedom.
#' * `p`, `p_fwer`, `q_fdr`: v numbers: uncorrected, family-wise error, false discovery rate; NA for excluded columns.
#' * `p_ci`: v x 2, 95 % interval (Clopper and Pearson) of the p that all rearrangements would give; NULL where they
#'   are enumerated.
#' * `counts`: v integers, the permutations at least as extreme as the data (of the smaller tail with `"double"`).
#' * `max_null`: the largest statistic of each permutation (absolute for two-sided tests, the smallest for `"less"`; two
#'   columns with `"double"`); NA where no column is tested.
#' * `n_permutations`, `exact` (whether they were enumerated), `n_possible` (NA where `permutations` were given),
#'   `min_p` (the smallest p that can occur), `alternative`, `two_sided`, `scheme` (`"flip"` or `"shuffle"`), `blocks`
#'   (data frame of `block` and `size`, or NULL), `seed` (that reproduces the call; NULL without random numbers),
#'   `backend` (`"armadillo"` for the CPU, `"cuda"` for the GPU).
#' * `excluded`: data frame of `column` (number) and `reason`: `"constant"`, `"zero"`, `"non-finite"`, or `"nuisance"`
#'   where the nuisance part of a design explains the column.
#' * With `enhance`: it, and `max_enhanced`, the largest cluster (0: none) or TFCE of each permutation. Of clusters:
#'   `clusters`, a data frame sorted by `p_fwer` of `id`, `sign`, `size` (voxels), `volume_mm3`, `mass`, the `peak`
#'   statistic, its place `i`, `j`, `k` (from 1) and `x`, `y`, `z` (mm), `p_fwer`; `cluster_labels`, v integers: the id,
#'   or 0. Of TFCE: `tfce`, `p_tfce` and `p_tfce_fwer`, v numbers; directions that are not tested have p of 1.
#' * With `sequential`: it, and `draws`, v integers: the permutation at which each column stopped, or m; `counts` of
#'   these; `p_ci` and `max_null` NULL.
#' * With `tail_fit`: `tail`, a data frame with a row per direction of `tail`, `share`, `n` (of maxima), `threshold`,
#'   `shape`, `scale` (NA where nothing was fitted), and `tail_fitted`, v logical: does `p_fwer` come from it?
#' * `null`: m x v, or NULL. `mask`: that of `Y`, or NULL. `test`, `n`, `diagnostics`: what was done.
#' @inheritSection voxridge_threads Threads
#' @section Devices:
#' Counts, p and `max_null` are the same bits on the CPU and on a GPU, which gets the columns and the permutations and
#' gives counts and maxima back. **The CPU is often done sooner**: for sign flips and group labels it adds one number
#' out of a table for every 8 samples, and 10,000 permutations of 230,000 voxels take it a second or less, in which a
#' GPU has hardly been started. `"auto"` predicts the seconds of both from the sizes and from rates that are measured
#' once per R process, and takes the GPU only where the CPU needs more than one; `backend` says which was taken. The GPU
#' pays for correlations and linear models of many voxels, which are matrix products, and for very many permutations.
#' What only the CPU does: `enhance`, `sequential`, `return_null`, and an `x` with columns in
#' [correlation_permutation_test()]; there `"auto"` takes it and `"gpu"` is an error.
#' @section Errors:
#' `voxridge_error_type`, `voxridge_error_shape` (fewer than 2 samples, a mask of another size),
#' `voxridge_error_argument`, `voxridge_error_nonfinite` (`na = "error"`), `voxridge_error_conflict` (`permutations`
#' with `blocks`, a seed or a number; `sequential` with `enhance`, `tail_fit`, `return_null` or `exact = "always"`;
#' `enhance` with `return_null`), `voxridge_error_memory` (a result over half of the free memory),
#' `voxridge_error_device_unavailable`, `voxridge_error_device_unsupported` (see Devices),
#' `voxridge_error_gpu_out_of_memory`, `voxridge_error_device_failed`. Warning `voxridge_warning_nothing_to_test`,
#' message `voxridge_message_few_permutations`. See [voxridge-conditions].
#' @section Invariants:
#' The same `seed` gives the same answer for any number of threads, on any device. Without correction a column's result
#' does not depend on the other columns. `q_fdr` and a counted `p_fwer` are at least `p`. Scaling a column changes no p.
#' Flipping the sign of `Y` swaps `"greater"` and `"less"`. `p` of all rearrangements, enumerated, is that of integer
#' arithmetic. `sequential` counts what the same seed counts without it, up to `draws`.
#' @references
#' Besag, J., Clifford, P. (1991). Sequential Monte Carlo p-values. Biometrika 78, 301-304.
#' \doi{10.1093/biomet/78.2.301}
#'
#' Choulakian, V., Stephens, M. A. (2001). Goodness-of-fit tests for the generalized Pareto distribution. Technometrics
#' 43, 478-484. \doi{10.1198/00401700152672573}
#'
#' Hosking, J. R. M., Wallis, J. R. (1987). Parameter and quantile estimation for the generalized Pareto distribution.
#' Technometrics 29, 339-349. \doi{10.1080/00401706.1987.10488243}
#'
#' Nichols, T. E., Holmes, A. P. (2002). Nonparametric permutation tests for functional neuroimaging. Human Brain
#' Mapping 15, 1-25. \doi{10.1002/hbm.1058}
#'
#' Phipson, B., Smyth, G. K. (2010). Permutation p-values should never be zero. Statistical Applications in Genetics and
#' Molecular Biology 9, 39. \doi{10.2202/1544-6115.1585}
#'
#' Salmon, J. K., Moraes, M. A., Dror, R. O., Shaw, D. E. (2011). Parallel random numbers: as easy as 1, 2, 3. SC'11.
#' \doi{10.1145/2063384.2063405}
#'
#' Winkler, A. M., Ridgway, G. R., Douaud, G., Nichols, T. E., Smith, S. M. (2016). Faster permutation inference in
#' brain imaging. NeuroImage 141, 502-516. \doi{10.1016/j.neuroimage.2016.05.068}
#' @seealso [two_sample_permutation_test()], [correlation_permutation_test()], [glm_permutation_test()];
#'   [tidy()][tidy.voxridge_permutation_test] and [plot()][plot.voxridge_permutation_test] of the result; [brain_map()].
#' @examples
#' set.seed(1)
#' Y <- matrix(rnorm(20 * 100), 20, 100)
#' Y[, 1:3] <- Y[, 1:3] + 1.5
#' test <- one_sample_permutation_test(Y, n_permutations = 2000, seed = 1, n_threads = 2)
#' test
#' which(test$p_fwer <= 0.05)
#' @export
one_sample_permutation_test <- function(Y, mu = 0, n_permutations = 10000,
                                        alternative = c("two.sided", "greater", "less"),
                                        two_sided = c("abs", "double"), exact = c("auto", "never", "always"),
                                        blocks = NULL, block_type = c("within", "whole"), permutations = NULL,
                                        enhance = NULL, mask = attr(Y, "mask"), tail_fit = FALSE, sequential = NULL,
                                        na = c("exclude", "error"), return_null = FALSE, seed = NULL,
                                        n_threads = NULL, device = "cpu", progress = interactive()) {
  call <- rlang::current_env()
  settings <- permutation_settings(setting(n_permutations, !missing(n_permutations)), alternative, two_sided, exact,
                                   blocks, block_type, permutations, return_null, seed, n_threads, device,
                                   progress, call)
  settings <- correction_settings(settings, enhance, setting(mask, !missing(mask)), tail_fit, sequential, NCOL(Y), call)
  if (!is_number(mu)) abort("{.arg mu} must be a finite number, not {describe(mu)}.", "argument", found = mu)
  tested <- as_tested(Y, na, call = call)
  n <- nrow(tested$Y)
  rows <- rearrangements("flips", n, settings, call = call)
  design <- new_permutation_design(
    "One-sample t", "t", n,
    df = n - 1, x = matrix(1 / sqrt(n), n, 1L), scale = 1 / sqrt(n), mu = as.double(mu), sums = TRUE, symmetric = TRUE
  )
  run_permutation_test(tested, design, rows, settings, call)
}
