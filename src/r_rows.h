// Rearrangements of samples as R/permutation_inputs.R describes them.
#pragma once

#include <Rcpp.h>

#include <string>
#include <vector>

#include "core/permutation_rows.h"

namespace voxridge_r {

inline std::vector<char> flags(SEXP x) {
  if (Rf_isNull(x)) return {};
  const Rcpp::LogicalVector values(x);
  return {values.begin(), values.end()};
}

inline voxridge::RowPlan rows_of(const Rcpp::List& rows) {
  const std::string kind = rows["kind"];
  voxridge::RowPlan out;
  out.kind = kind == "flips"    ? voxridge::Rearrangement::flips
             : kind == "labels" ? voxridge::Rearrangement::labels
                                : voxridge::Rearrangement::orders;
  out.n = Rcpp::as<int>(rows["n"]);
  if (!Rf_isNull(rows["block"])) {
    const Rcpp::IntegerVector block(static_cast<SEXP>(rows["block"]));  // counted from 1
    out.block.assign(block.begin(), block.end());
    for (int& b : out.block) --b;
  }
  out.whole = rows["whole"];
  out.first = flags(rows["first"]);
  out.exact = rows["exact"];
  out.seed = static_cast<uint64_t>(Rcpp::as<double>(rows["seed"]));
  if (rows.containsElementNamed("stream")) out.stream = Rcpp::as<int>(rows["stream"]);
  if (!Rf_isNull(rows["given"])) {
    const Rcpp::IntegerMatrix given(static_cast<SEXP>(rows["given"]));
    out.given = {INTEGER(given), given.nrow(), given.ncol(), given.nrow()};
  }
  return out;
}

}  // namespace voxridge_r
