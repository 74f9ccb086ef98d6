// Collections of images: one pass over many files.
#include <Rcpp.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/byte_sink.h"
#include "core/byte_source.h"
#include "core/collection_summary.h"
#include "core/memory.h"
#include "r_session.h"
#include "r_view.h"

namespace {

// `x`: paths ("" for a matrix), volumes (from 1), sizes, modified, matrices (or NULL), groups (from 0), index (from 1),
// dim, names. See R/collection_inputs.R.
voxridge::Collection collection_of(const Rcpp::List& x) {
  const Rcpp::CharacterVector paths = x["paths"];
  const Rcpp::List volumes = x["volumes"], matrices = x["matrices"];
  const Rcpp::NumericVector sizes = x["sizes"], modified = x["modified"], index = x["index"], dim = x["dim"];
  const Rcpp::IntegerVector groups = x["groups"];
  voxridge::Collection out;
  for (R_xlen_t i = 0; i < paths.size(); ++i) {
    voxridge::CollectionItem item;
    item.path = Rcpp::as<std::string>(paths[i]);
    for (const double volume : Rcpp::NumericVector(volumes[i])) {
      item.volumes.push_back(static_cast<int64_t>(volume) - 1);
    }
    if (!Rf_isNull(matrices[i])) {
      const SEXP matrix = matrices[i];
      item.matrix = {REAL(matrix), Rf_nrows(matrix), Rf_ncols(matrix), Rf_nrows(matrix)};
    }
    item.size = static_cast<int64_t>(sizes[i]);
    item.modified = modified[i];
    item.group = groups[i];
    out.items.push_back(std::move(item));
  }
  for (const double place : index) out.index.push_back(static_cast<int64_t>(place) - 1);
  std::copy_n(dim.begin(), 3, out.dim.begin());
  return out;
}

voxridge::PassOptions pass_options(const Rcpp::List& options) {
  voxridge::PassOptions out;
  const std::string within = options["within"];
  out.rows.within = within == "mean" ? voxridge::Within::mean
                    : within == "sd" ? voxridge::Within::sd
                                     : voxridge::Within::none;
  out.rows.skip_missing = Rcpp::as<bool>(options["skip_missing"]);
  out.skip_failed = Rcpp::as<bool>(options["skip_failed"]);
  return out;
}

// A vector where an item has one row.
SEXP new_result(SEXPTYPE type, int64_t rows, int64_t columns) {
  if (rows == 1) return Rf_allocVector(type, columns);
  const SEXP out = Rf_allocMatrix(type, static_cast<int>(rows), static_cast<int>(columns));
  if (type == REALSXP) voxridge::advise_large_pages(REAL(out), sizeof(double) * static_cast<size_t>(rows * columns));
  return out;
}

// A data frame of item, name and reason.
Rcpp::List skipped_table(const std::vector<voxridge::FailedItem>& failed, const Rcpp::CharacterVector& names) {
  const R_xlen_t n = static_cast<R_xlen_t>(failed.size());
  Rcpp::IntegerVector item(n), rows(n);
  Rcpp::CharacterVector name(n), reason(n);
  for (R_xlen_t k = 0; k < n; ++k) {
    item[k] = static_cast<int>(failed[k].item) + 1;
    name[k] = names[failed[k].item];
    reason[k] = failed[k].error.what();
    rows[k] = static_cast<int>(k) + 1;
  }
  Rcpp::List out = Rcpp::List::create(Rcpp::Named("item") = item, Rcpp::Named("name") = name,
                                      Rcpp::Named("reason") = reason);
  out.attr("class") = "data.frame";
  out.attr("row.names") = rows;
  return out;
}

voxridge::Summary summary_of(const std::string& what) {
  return what == "mean"  ? voxridge::Summary::mean
         : what == "sd"  ? voxridge::Summary::sd
         : what == "sum" ? voxridge::Summary::sum
         : what == "min" ? voxridge::Summary::min
         : what == "max" ? voxridge::Summary::max
                         : voxridge::Summary::t;
}

// What is told beside values. It becomes attributes of a map, set here, where that makes no copy.
Rcpp::List told(const voxridge::SummaryReport& report, const Rcpp::CharacterVector& names, SEXP counts) {
  return Rcpp::List::create(Rcpp::Named("n") = Rcpp::IntegerVector(report.n.begin(), report.n.end()),
                            Rcpp::Named("skipped") = skipped_table(report.failed, names),
                            Rcpp::Named("counts") = counts,
                            Rcpp::Named("passes") = static_cast<double>(report.passes));
}

void make_map(SEXP value, SEXP mask, const Rcpp::List& rest) {
  Rf_setAttrib(value, Rf_install("mask"), mask);
  for (const char* name : {"n", "skipped", "counts"}) Rf_setAttrib(value, Rf_install(name), rest[name]);
}

int64_t result_rows(const voxridge::Collection& items, const voxridge::PassOptions& options) {
  return options.rows.within == voxridge::Within::none ? items.items.at(0).n_rows() : 1;
}

}  // namespace

// Size and time of the last change of files: -1 and 0 where there are none. `images`: both files of a pair count.
// [[Rcpp::export]]
Rcpp::List core_file_states(const std::vector<std::string>& paths, bool images) {
  Rcpp::NumericVector sizes, modified;
  for (const std::string& path : paths) {
    const voxridge::FileState state = images ? voxridge::item_state(path) : voxridge::file_state(path);
    sizes.push_back(static_cast<double>(state.size));
    modified.push_back(state.modified);
  }
  return Rcpp::List::create(Rcpp::Named("sizes") = sizes, Rcpp::Named("modified") = modified);
}

// `options`: what, within, skip_missing, skip_failed, n_groups, var_equal, mu, df. Where `mask` is one the value carries
// it and the rest as attributes.
// [[Rcpp::export]]
Rcpp::List core_collection_summary(const Rcpp::List& collection, const Rcpp::List& options, SEXP mask,
                                   const Rcpp::List& control) {
  const voxridge::Collection items = collection_of(collection);
  voxridge::SummaryOptions settings;
  settings.pass = pass_options(options);
  const std::string what = options["what"];
  settings.what = summary_of(what);
  settings.n_groups = options["n_groups"];
  settings.var_equal = Rcpp::as<bool>(options["var_equal"]);
  settings.mu = options["mu"];
  settings.missing = NA_REAL;
  const int64_t rows = result_rows(items, settings.pass);
  const auto make = [&](SEXPTYPE type, bool wanted) {
    return wanted ? new_result(type, rows, items.n_voxels()) : R_NilValue;
  };
  const Rcpp::Shield<SEXP> value(make(REALSXP, true)), estimate(make(REALSXP, what == "t")),
      df(make(REALSXP, Rcpp::as<bool>(options["df"]))), counts(make(INTSXP, settings.pass.rows.skip_missing));
  voxridge::SummaryOutputs out;
  out.value = REAL(value);
  out.estimate = voxridge_r::data_of(estimate);
  out.df = voxridge_r::data_of(df);
  out.counts = Rf_isNull(counts) ? nullptr : INTEGER(counts);
  voxridge::SummaryReport report;
  voxridge_r::Session(control).run(
      [&](const voxridge::Control& steering) { report = voxridge::summarise(items, settings, out, steering); });
  const Rcpp::List rest = told(report, collection["names"], counts);
  if (Rf_isNull(mask)) {
    return Rcpp::List::create(Rcpp::Named("value") = value, Rcpp::Named("estimate") = estimate,
                              Rcpp::Named("df") = df, Rcpp::Named("rest") = rest);
  }
  make_map(value, mask, rest);
  return Rcpp::List::create(Rcpp::Named("value") = value, Rcpp::Named("rest") = rest);
}

// A map for each of `probs`. `options`: within, skip_missing, skip_failed.
// [[Rcpp::export]]
Rcpp::List core_collection_quantiles(const Rcpp::List& collection, const Rcpp::List& options,
                                     const std::vector<double>& probs, SEXP mask, const Rcpp::List& control) {
  const voxridge::Collection items = collection_of(collection);
  const voxridge::PassOptions settings = pass_options(options);
  const int64_t rows = result_rows(items, settings);
  Rcpp::List maps(static_cast<R_xlen_t>(probs.size()));
  std::vector<double*> out;
  for (R_xlen_t q = 0; q < maps.size(); ++q) {
    maps[q] = new_result(REALSXP, rows, items.n_voxels());
    out.push_back(REAL(maps[q]));
  }
  const Rcpp::Shield<SEXP> counts(settings.rows.skip_missing ? new_result(INTSXP, rows, items.n_voxels()) : R_NilValue);
  voxridge::SummaryReport report;
  int32_t* const count = Rf_isNull(counts) ? nullptr : INTEGER(counts);
  voxridge_r::Session(control).run([&](const voxridge::Control& steering) {
    report = voxridge::quantiles(items, probs, settings, NA_REAL, out, count, steering);
  });
  const Rcpp::List rest = told(report, collection["names"], counts);
  for (R_xlen_t q = 0; q < maps.size(); ++q) make_map(maps[q], mask, rest);
  return Rcpp::List::create(Rcpp::Named("value") = maps, Rcpp::Named("rest") = rest);
}

// Items as rows of a matrix.
// [[Rcpp::export]]
Rcpp::List core_collection_stack(const Rcpp::List& collection, const Rcpp::List& options, const Rcpp::List& control) {
  const voxridge::Collection items = collection_of(collection);
  Rcpp::NumericMatrix out(Rcpp::no_init(static_cast<int>(items.items.size()), static_cast<int>(items.n_voxels())));
  const voxridge::PassOptions settings = pass_options(options);
  const voxridge::MatrixSpan<double> rows = voxridge_r::span_of(out);
  std::vector<voxridge::FailedItem> failed;
  voxridge_r::Session(control).run(
      [&](const voxridge::Control& steering) { failed = voxridge::stack_items(items, settings, rows, steering); });
  return Rcpp::List::create(Rcpp::Named("value") = out,
                            Rcpp::Named("skipped") = skipped_table(failed, collection["names"]));
}

// Writes bytes so that a reader sees the old file or the new one, never half.
// [[Rcpp::export]]
void core_write_bytes(const Rcpp::RawVector& bytes, const std::string& path, int level) {
  voxridge_r::with_conditions([&] {
    voxridge::ByteSink sink(path, level);
    sink.write(RAW(bytes), bytes.size());
    sink.commit();
  });
}
