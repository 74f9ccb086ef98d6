#' The logistic function, exact for any logit
#'
#' Turns logits into probabilities, or into logarithms of probabilities, without overflow or loss of digits.
#'
#' With e = exp(-|z|), the value is 1 / (1 + e) where z >= 0 and e / (1 + e) elsewhere; its logarithm is
#' min(z, 0) - log(1 + e). Neither can overflow. From z = 36.74 on the probability is the number 1: its complement is
#' `stable_sigmoid(-z)`, not `1 - stable_sigmoid(z)`, and the logarithm of the complement `stable_sigmoid(-z, log =
#' TRUE)`.
#'
#' @param z Logits: a numeric vector, matrix or array of any size; integer and logical ones are converted. NA stays NA,
#'   NaN stays NaN; Inf is probability 1, -Inf is 0.
#' @param log FALSE (the default) for probabilities, TRUE for their natural logarithms.
#'
#' @returns Double, of the size, dimensions and names of `z`: probabilities from 0 to 1, or logarithms up to 0.
#' @section Errors:
#' `voxridge_error_type` (`z` that is not numeric, or has a class), `voxridge_error_argument` (`log`). See
#' [voxridge-conditions].
#' @section Invariants:
#' `stable_sigmoid(z, log = TRUE)` is the logarithm of `stable_sigmoid(z)` wherever that is a normal number.
#' `stable_sigmoid(z) + stable_sigmoid(-z)` is 1 to rounding. Values never fall as z grows.
#' @references
#' Maechler, M. (2012). Accurately computing log(1 - exp(-|a|)), assessed by the Rmpfr package. Vignette of Rmpfr.
#' @seealso [log_loss()], which takes logits.
#' @examples
#' stable_sigmoid(c(-710, -1, 0, 1, 710))
#' # the chance of the other class, which 1 - p has lost
#' 1 - stable_sigmoid(40)
#' stable_sigmoid(-40)
#' stable_sigmoid(-1e4, log = TRUE)
#' @export
stable_sigmoid <- function(z, log = FALSE) {
  log <- as_flag(log)
  if (is.object(z) || !(is.numeric(z) || is.logical(z))) {
    found <- describe(z)
    advice <- if (is.data.frame(z)) c(i = "Use {.code as.matrix(z)}.")
    abort(c("{.arg z} must be a numeric vector, matrix or array, not {found}.", advice), "type", found = found)
  }
  out <- core_sigmoid(z, log)
  if (!is.null(dim(z))) {
    dim(out) <- dim(z)
    dimnames(out) <- dimnames(z)
  } else {
    names(out) <- names(z)
  }
  out
}
