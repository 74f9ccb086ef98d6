// Stores of targets: opening, reading, writing.
#include <Rcpp.h>

#include "r_session.h"
#include "r_store.h"
#include "r_view.h"

using namespace voxridge_r;

using WriterPointer = Rcpp::XPtr<voxridge::StoreWriter>;

// Checksums and columns that are not finite, of all of a store.
// [[Rcpp::export]]
Rcpp::List core_store_scan(const Rcpp::List& store, const Rcpp::List& control) {
  voxridge::StoreFacts facts;
  const voxridge::StoreLayout layout = layout_of(store);
  Session(control).run([&](const voxridge::Control& c) { facts = scan_store(voxridge::StoreReader(layout), c); });
  return facts_list(facts);
}

// Are the files there, and long enough?
// [[Rcpp::export]]
void core_store_check(const Rcpp::List& store) {
  with_conditions([&] { const voxridge::StoreReader reader(layout_of(store)); });
}

// Columns first .. first + count - 1, from 1.
// [[Rcpp::export]]
Rcpp::NumericMatrix core_store_columns(const Rcpp::List& store, double first, double count, const Rcpp::List& control) {
  const voxridge::StoreLayout layout = layout_of(store);
  Rcpp::NumericMatrix out(Rcpp::no_init(static_cast<int>(layout.rows), static_cast<int>(count)));
  double* to = out.begin();
  Session(control).run([&](const voxridge::Control& c) {
    const voxridge::StoreReader reader(layout);
    voxridge::SourceMemory memory;
    const int64_t begin = static_cast<int64_t>(first) - 1, end = begin + static_cast<int64_t>(count);
    for (int64_t from = begin; from < end;) {
      c.check_stop();
      const int64_t until = std::min(end, (from / voxridge::kStripeCols + 1) * voxridge::kStripeCols);
      const voxridge::MatrixView<double> columns = reader.columns(from, until - from, memory);
      std::copy_n(columns.data, columns.rows * columns.cols, to + (from - begin) * columns.rows);
      from = until;
    }
  });
  return out;
}

// [[Rcpp::export]]
SEXP core_store_writer(const std::string& path, double rows, double cols, bool single) {
  voxridge::StoreWriter* writer = nullptr;
  with_conditions([&] {
    writer = new voxridge::StoreWriter(path, static_cast<int64_t>(rows), static_cast<int64_t>(cols), single);
  });
  return WriterPointer(writer, true);
}

// Columns from `first` (from 1) on: whole stripes.
// [[Rcpp::export]]
void core_store_write(SEXP writer, double first, const Rcpp::NumericMatrix& columns) {
  WriterPointer pointer(writer);
  with_conditions([&] { pointer.checked_get()->write(static_cast<int64_t>(first) - 1, view_of(columns)); });
}

// The file takes its place; the writer is gone.
// [[Rcpp::export]]
Rcpp::List core_store_finish(SEXP writer) {
  WriterPointer pointer(writer);
  voxridge::StoreFacts facts;
  with_conditions([&] { facts = pointer.checked_get()->finish(); });
  pointer.release();
  return facts_list(facts);
}

// Gives up what was written.
// [[Rcpp::export]]
void core_store_abandon(SEXP writer) {
  WriterPointer(writer).release();
}
