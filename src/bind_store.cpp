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

// Columns in the order of `wanted` (from 1). Neighbours of one stripe are read at once.
// [[Rcpp::export]]
Rcpp::NumericMatrix core_store_columns(const Rcpp::List& store, const Rcpp::IntegerVector& wanted,
                                       const Rcpp::List& control) {
  const voxridge::StoreLayout layout = layout_of(store);
  Rcpp::NumericMatrix out(Rcpp::no_init(static_cast<int>(layout.rows), static_cast<int>(wanted.size())));
  double* to = out.begin();
  const int* const columns = wanted.begin();
  const int64_t n = wanted.size();
  Session(control).run([&](const voxridge::Control& c) {
    const voxridge::StoreReader reader(layout);
    voxridge::SourceMemory memory;
    for (int64_t k = 0; k < n;) {
      c.check_stop();
      const int64_t first = columns[k] - 1;
      int64_t count = 1;
      while (k + count < n && columns[k + count] - 1 == first + count && (first + count) % voxridge::kStripeCols != 0) {
        ++count;
      }
      const voxridge::MatrixView<double> block = reader.columns(first, count, memory);
      to = std::copy_n(block.data, block.rows * block.cols, to);
      k += count;
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
void core_store_write(SEXP writer, double first, const Rcpp::NumericMatrix& columns, const Rcpp::List& control) {
  WriterPointer pointer(writer);
  voxridge::StoreWriter* const to = pointer.checked_get();
  const voxridge::MatrixView<double> view = view_of(columns);
  const int64_t begin = static_cast<int64_t>(first) - 1;
  Session(control).run([&](const voxridge::Control& c) {
    for (int64_t from = 0; from < view.cols; from += voxridge::kStripeCols) {
      c.check_stop();
      const int64_t count = std::min(voxridge::kStripeCols, view.cols - from);
      to->write(begin + from, view.block(0, from, view.rows, count));
    }
  });
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
