// Stores of targets between R and the core. Main thread only.
#pragma once

#include <Rcpp.h>

#include <string>

#include "core/store.h"

namespace voxridge_r {

// Of an object of R/target_store.R: rows, cols, type, offset, ld, segments (paths, first column from 1, columns),
// checksums (doubles; none: not known). A window of a store (store_window()) has `before`, too: `cols` are then those
// of the window, and the layout is that of the whole store.
inline voxridge::StoreLayout layout_of(const Rcpp::List& store) {
  voxridge::StoreLayout out;
  out.rows = static_cast<int64_t>(Rcpp::as<double>(store["rows"]));
  out.cols = static_cast<int64_t>(Rcpp::as<double>(store["cols"]));
  out.single = Rcpp::as<std::string>(store["type"]) == "float32";
  out.offset = static_cast<int64_t>(Rcpp::as<double>(store["offset"]));
  out.ld = static_cast<int64_t>(Rcpp::as<double>(store["ld"]));
  const Rcpp::List segments = store["segments"];
  const Rcpp::CharacterVector path = segments["path"];
  const Rcpp::NumericVector first = segments["first"], cols = segments["cols"], checksums = store["checksums"];
  for (R_xlen_t s = 0; s < path.size(); ++s) {
    out.segments.push_back(
        {Rcpp::as<std::string>(path[s]), static_cast<int64_t>(first[s]) - 1, static_cast<int64_t>(cols[s])});
  }
  if (store.containsElementNamed("before")) {
    out.cols = 0;
    for (const voxridge::StoreSegment& segment : out.segments) out.cols += segment.cols;
  }
  for (const double sum : checksums) out.checksums.push_back(static_cast<uint32_t>(sum));
  return out;
}

inline Rcpp::List facts_list(const voxridge::StoreFacts& facts) {
  Rcpp::IntegerVector nonfinite(facts.nonfinite.begin(), facts.nonfinite.end());
  for (int& column : nonfinite) ++column;
  return Rcpp::List::create(
      Rcpp::Named("checksums") = Rcpp::NumericVector(facts.checksums.begin(), facts.checksums.end()),
      Rcpp::Named("nonfinite") = nonfinite, Rcpp::Named("rounding") = facts.rounding);
}

}  // namespace voxridge_r
