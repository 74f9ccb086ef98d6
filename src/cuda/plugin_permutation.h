// The functions of the table for permutation tests. Included by plugin.h.
#pragma once

namespace voxridge_plugin {

template <class Runtime>
int Plugin<Runtime>::count_sums(Handle* handle, const int32_t* values, int64_t ld, int64_t n, int64_t cols,
                                const uint32_t* patterns, int64_t rows, int signs, int absolute,
                                const int32_t* thresholds, int32_t* counts, int32_t* maxima) {
  return call(handle, "count_sums", [=](S& s) -> Outcome {
    VOXRIDGE_TRY(s.checks.matrix("values", values, cols, n, ld));
    VOXRIDGE_TRY(s.checks.size("rows", rows));
    const int64_t words = (n + kWordBits - 1) / kWordBits;
    VOXRIDGE_TRY(s.checks.matrix("patterns", patterns, rows, words, rows));
    VOXRIDGE_TRY(s.checks.vector("thresholds", thresholds, cols));
    VOXRIDGE_TRY(s.checks.vector("counts", counts, cols));
    VOXRIDGE_TRY(s.checks.vector("maxima", maxima, rows));
    if (cols == 0 || rows == 0) return {};
    Parcel parcel;
    const int of_values = parcel.add(values, n > 0 ? (n - 1) * ld + cols : 0),
              of_patterns = parcel.add(patterns, words * rows), of_thresholds = parcel.add(thresholds, cols),
              of_counts = parcel.add(counts, cols), of_maxima = parcel.add(maxima, rows);
    VOXRIDGE_TRY(parcel.send(s));
    VOXRIDGE_TRY(s.runtime.launch(
        kernels::count_sums, s.tiles(cols, kWarp, rows, kBlockRows), parcel.dev<const int32_t>(of_values), ld, n, cols,
        parcel.dev<const uint32_t>(of_patterns), rows, signs != 0, absolute != 0,
        parcel.dev<const int32_t>(of_thresholds), parcel.dev<int32_t>(of_counts), parcel.dev<int32_t>(of_maxima)));
    VOXRIDGE_TRY(parcel.fetch(s, of_counts, counts, cols, 1, cols));
    return parcel.fetch(s, of_maxima, maxima, rows, 1, rows);
  });
}

template <class Runtime>
int Plugin<Runtime>::count_cells(Handle* handle, const voxridge_cuda_cells* rule, const void* sums, int64_t ld,
                                 int64_t rows, int64_t cols, const double* thresholds, const double* totals,
                                 int32_t* counts, double* maxima, int64_t* degenerate) {
  return call(handle, "count_cells", [=](S& s) -> Outcome {
    VOXRIDGE_TRY(s.checks.vector("rule", rule, 1));
    VOXRIDGE_TRY(s.checks.cells(*rule));
    const bool welch = rule->kind == VOXRIDGE_WELCH;
    const int64_t segments = welch ? 2 : rule->rank + rule->n_changed;
    VOXRIDGE_TRY(s.checks.stack("sums", sums, rows, segments, cols, ld));
    VOXRIDGE_TRY(s.checks.vector("thresholds", thresholds, cols));
    VOXRIDGE_TRY(s.checks.vector("totals", totals, welch ? 2 * cols : 0));
    VOXRIDGE_TRY(s.checks.vector("counts", counts, cols));
    VOXRIDGE_TRY(s.checks.vector("maxima", maxima, rows));
    VOXRIDGE_TRY(s.checks.vector("degenerate", degenerate, 1));
    if (cols == 0 || rows == 0) return {};
    Parcel parcel;
    const int of_thresholds = parcel.add(thresholds, cols), of_totals = parcel.add(welch ? totals : nullptr, 2 * cols),
              of_counts = parcel.add(counts, cols), of_maxima = parcel.add(maxima, rows),
              of_degenerate = parcel.add(degenerate, 1);
    VOXRIDGE_TRY(parcel.send(s));
    VOXRIDGE_TRY(s.runtime.launch(kernels::count_cells, s.tiles(cols, kWarps, rows, kStripRows), *rule,
                                  input<double>(sums, ld), rows, cols, parcel.dev<const double>(of_thresholds),
                                  parcel.dev<const double>(of_totals), parcel.dev<int32_t>(of_counts),
                                  parcel.dev<double>(of_maxima), parcel.dev<unsigned long long>(of_degenerate)));
    VOXRIDGE_TRY(parcel.fetch(s, of_counts, counts, cols, 1, cols));
    VOXRIDGE_TRY(parcel.fetch(s, of_maxima, maxima, rows, 1, rows));
    return parcel.fetch(s, of_degenerate, degenerate, 1, 1, 1);
  });
}

template <class Runtime>
int Plugin<Runtime>::dot_products(Handle* handle, int64_t n, int64_t rows, int64_t cols, const void* a, int64_t lda,
                                  const void* b, int64_t ldb, void* c, int64_t ldc) {
  return call(handle, "dot_products", [=](S& s) -> Outcome {
    VOXRIDGE_TRY(s.checks.matrix("a", a, n, rows, lda));
    VOXRIDGE_TRY(s.checks.matrix("b", b, n, cols, ldb));
    VOXRIDGE_TRY(s.checks.matrix("c", c, rows, cols, ldc));
    if (rows == 0 || cols == 0) return {};
    return s.runtime.launch(kernels::dot_products, s.tiles(cols, kSide, rows, kSide), input<double>(a, lda),
                            input<double>(b, ldb), n, rows, cols, output<double>(c, ldc));
  });
}

}  // namespace voxridge_plugin
