// The functions of the table that launch kernels. Included by plugin.h.
#pragma once

namespace voxridge_plugin {

template <class Runtime>
int Plugin<Runtime>::gather(Handle* handle, int type, const void* from, int64_t ld_from, int64_t cols,
                            const int64_t* rows, int64_t n_rows, const double* shift, void* to, int64_t ld_to) {
  return call_typed(handle, "gather", type, [=](S& s, auto zero) -> Outcome {
    using T = decltype(zero);
    // How many rows `from` has is not known, but its columns are ld_from apart.
    VOXRIDGE_TRY(s.checks.matrix("from", from, ld_from, n_rows > 0 ? cols : 0, ld_from));
    VOXRIDGE_TRY(s.checks.matrix("to", to, n_rows, cols, ld_to));
    VOXRIDGE_TRY(s.checks.indices("rows", rows, n_rows, ld_from));
    if (n_rows == 0 || cols == 0) return {};
    Parcel parcel;
    const int rows_item = parcel.add(rows, n_rows), shift_item = parcel.add(shift, cols);
    VOXRIDGE_TRY(parcel.send(s));
    return s.runtime.launch(kernels::gather<T>, s.grid(n_rows, cols), input<T>(from, ld_from), cols,
                            parcel.dev<const int64_t>(rows_item), n_rows, parcel.dev<const double>(shift_item),
                            output<T>(to, ld_to));
  });
}

template <class Runtime>
int Plugin<Runtime>::copy_columns(Handle* handle, int type, int put, const void* from, int64_t ld_from, int64_t rows,
                                  const int64_t* columns, int64_t n_columns, void* to, int64_t ld_to) {
  return call_typed(handle, "copy_columns", type, [=](S& s, auto zero) -> Outcome {
    using T = decltype(zero);
    VOXRIDGE_TRY(s.checks.matrix("from", from, rows, n_columns, ld_from));
    VOXRIDGE_TRY(s.checks.matrix("to", to, rows, n_columns, ld_to));
    VOXRIDGE_TRY(s.checks.indices("columns", columns, n_columns, std::numeric_limits<int32_t>::max()));
    if (rows == 0 || n_columns == 0) return {};
    Parcel parcel;
    const int columns_item = parcel.add(columns, n_columns);
    VOXRIDGE_TRY(parcel.send(s));
    return s.runtime.launch(kernels::copy_columns<T>, s.grid(rows, n_columns), put != 0, input<T>(from, ld_from), rows,
                            parcel.dev<const int64_t>(columns_item), n_columns, output<T>(to, ld_to));
  });
}

template <class Runtime>
int Plugin<Runtime>::means(Handle* handle, int type, const void* from, int64_t ld_from, int64_t cols,
                           const int64_t* rows, int64_t n_rows, double* out) {
  return call_typed(handle, "means", type, [=](S& s, auto zero) -> Outcome {
    using T = decltype(zero);
    VOXRIDGE_TRY(s.checks.matrix("from", from, ld_from, n_rows > 0 ? cols : 0, ld_from));
    VOXRIDGE_TRY(s.checks.indices("rows", rows, n_rows, ld_from));
    VOXRIDGE_TRY(s.checks.vector("out", out, cols));
    if (cols == 0) return {};
    Parcel parcel;
    const int rows_item = parcel.add(rows, n_rows), sums = parcel.expect<double>(cols);
    VOXRIDGE_TRY(parcel.send(s));
    VOXRIDGE_TRY(s.runtime.launch(kernels::means<T>, s.grid(n_rows, cols, true), input<T>(from, ld_from), cols,
                                  parcel.dev<const int64_t>(rows_item), n_rows, parcel.dev<double>(sums)));
    return parcel.fetch(s, sums, out, cols, 1, cols);
  });
}

template <class Runtime>
int Plugin<Runtime>::squares(Handle* handle, int type, const void* from, int64_t ld_from, int64_t rows, int64_t cols,
                             const double* center, double* out) {
  return call_typed(handle, "squares", type, [=](S& s, auto zero) -> Outcome {
    using T = decltype(zero);
    VOXRIDGE_TRY(s.checks.matrix("from", from, rows, cols, ld_from));
    VOXRIDGE_TRY(s.checks.vector("out", out, cols));
    if (cols == 0) return {};
    Parcel parcel;
    const int center_item = parcel.add(center, cols), sums = parcel.expect<double>(cols);
    VOXRIDGE_TRY(parcel.send(s));
    VOXRIDGE_TRY(s.runtime.launch(kernels::squares<T>, s.grid(rows, cols, true), input<T>(from, ld_from), rows, cols,
                                  parcel.dev<const double>(center_item), parcel.dev<double>(sums)));
    return parcel.fetch(s, sums, out, cols, 1, cols);
  });
}

// Few parts at a time: the kernel's arguments have a fixed size.
template <class Runtime>
int Plugin<Runtime>::add(Handle* handle, int type, const void* const* parts, const int64_t* ld_parts, int64_t n_parts,
                         int64_t rows, int64_t cols, void* to, int64_t ld_to) {
  return call_typed(handle, "add", type, [=](S& s, auto zero) -> Outcome {
    using T = decltype(zero);
    VOXRIDGE_TRY(s.checks.matrix("to", to, rows, cols, ld_to));
    VOXRIDGE_TRY(s.checks.vector("parts", parts, n_parts));
    VOXRIDGE_TRY(s.checks.vector("ld_parts", ld_parts, n_parts));
    for (int64_t k = 0; k < n_parts; ++k) VOXRIDGE_TRY(s.checks.matrix("parts", parts[k], rows, cols, ld_parts[k]));
    if (rows == 0 || cols == 0) return {};
    int64_t done = 0;
    do {
      Parts<T> some = {};
      while (some.count < kMaxParts && done + some.count < n_parts) {
        some.part[some.count] = input<T>(parts[done + some.count], ld_parts[done + some.count]);
        ++some.count;
      }
      VOXRIDGE_TRY(
          s.runtime.launch(kernels::add<T>, s.grid(rows, cols), some, done > 0, rows, cols, output<T>(to, ld_to)));
      done += some.count;
    } while (done < n_parts);
    return {};
  });
}

template <class Runtime>
int Plugin<Runtime>::leave_out(Handle* handle, int type, const void* total, int64_t ld_total, const void* part,
                               int64_t ld_part, int64_t rows, int64_t cols, const double* x, const double* scale,
                               void* to, int64_t ld_to) {
  return call_typed(handle, "leave_out", type, [=](S& s, auto zero) -> Outcome {
    using T = decltype(zero);
    VOXRIDGE_TRY(s.checks.matrix("total", total, rows, cols, ld_total));
    VOXRIDGE_TRY(s.checks.matrix("part", part, rows, cols, ld_part));
    VOXRIDGE_TRY(s.checks.matrix("to", to, rows, cols, ld_to));
    VOXRIDGE_TRY(s.checks.vector("scale", scale, cols));
    if (rows == 0 || cols == 0) return {};
    for (int64_t j = 0; x == nullptr && j < cols; ++j) {
      if (scale[j] != 0) VOXRIDGE_TRY(s.checks.vector("x", x, rows));
    }
    Parcel parcel;
    const int x_item = parcel.add(x, rows), scale_item = parcel.add(scale, cols);
    VOXRIDGE_TRY(parcel.send(s));
    return s.runtime.launch(kernels::leave_out<T>, s.grid(rows, cols), input<T>(total, ld_total),
                            input<T>(part, ld_part), rows, cols, parcel.dev<const double>(x_item),
                            parcel.dev<const double>(scale_item), output<T>(to, ld_to));
  });
}

template <class Runtime>
int Plugin<Runtime>::shrink(Handle* handle, int type, const void* from, int64_t ld_from, int64_t rows, int64_t cols,
                            const double* lambda, const double* alpha, void* to, int64_t ld_to) {
  return call_typed(handle, "shrink", type, [=](S& s, auto zero) -> Outcome {
    using T = decltype(zero);
    VOXRIDGE_TRY(s.checks.matrix("from", from, rows, cols, ld_from));
    VOXRIDGE_TRY(s.checks.matrix("to", to, rows, cols, ld_to));
    VOXRIDGE_TRY(s.checks.vector("lambda", lambda, rows));
    VOXRIDGE_TRY(s.checks.vector("alpha", alpha, cols));
    if (rows == 0 || cols == 0) return {};
    Parcel parcel;
    const int lambda_item = parcel.add(lambda, rows), alpha_item = parcel.add(alpha, cols);
    VOXRIDGE_TRY(parcel.send(s));
    return s.runtime.launch(kernels::shrink<T>, s.grid(rows, cols), input<T>(from, ld_from), rows, cols,
                            parcel.dev<const double>(lambda_item), parcel.dev<const double>(alpha_item),
                            output<T>(to, ld_to));
  });
}

template <class Runtime>
int Plugin<Runtime>::scale_rows(Handle* handle, int type, const void* from, int64_t ld_from, int64_t rows, int64_t cols,
                                const double* weights, void* to, int64_t ld_to) {
  return call_typed(handle, "scale_rows", type, [=](S& s, auto zero) -> Outcome {
    using T = decltype(zero);
    VOXRIDGE_TRY(s.checks.matrix("from", from, rows, cols, ld_from));
    VOXRIDGE_TRY(s.checks.matrix("to", to, rows, cols, ld_to));
    VOXRIDGE_TRY(s.checks.vector("weights", weights, rows));
    if (rows == 0 || cols == 0) return {};
    Parcel parcel;
    const int weights_item = parcel.add(weights, rows);
    VOXRIDGE_TRY(parcel.send(s));
    return s.runtime.launch(kernels::scale_rows<T>, s.grid(rows, cols), input<T>(from, ld_from), rows, cols,
                            parcel.dev<const double>(weights_item), output<T>(to, ld_to));
  });
}

template <class Runtime>
int Plugin<Runtime>::subtract(Handle* handle, int type, const void* a, int64_t ld_a, const void* b, int64_t ld_b,
                              int64_t rows, int64_t cols, void* to, int64_t ld_to) {
  return call_typed(handle, "subtract", type, [=](S& s, auto zero) -> Outcome {
    using T = decltype(zero);
    VOXRIDGE_TRY(s.checks.matrix("a", a, rows, cols, ld_a));
    VOXRIDGE_TRY(s.checks.matrix("b", b, rows, cols, ld_b));
    VOXRIDGE_TRY(s.checks.matrix("to", to, rows, cols, ld_to));
    if (rows == 0 || cols == 0) return {};
    return s.runtime.launch(kernels::subtract<T>, s.grid(rows, cols), input<T>(a, ld_a), input<T>(b, ld_b), rows, cols,
                            output<T>(to, ld_to));
  });
}

template <class Runtime>
int Plugin<Runtime>::error_sums(Handle* handle, int type, const void* target, int64_t ld_target, int64_t rows,
                                int64_t cols, const void* predictions, int64_t ld_predictions, int64_t n_blocks,
                                double* out, int64_t ld_out) {
  return call_typed(handle, "error_sums", type, [=](S& s, auto zero) -> Outcome {
    using T = decltype(zero);
    VOXRIDGE_TRY(s.checks.matrix("target", target, rows, cols, ld_target));
    VOXRIDGE_TRY(s.checks.stack("predictions", predictions, rows, n_blocks, cols, ld_predictions));
    VOXRIDGE_TRY(s.checks.matrix("out", out, n_blocks, cols, ld_out));
    if (n_blocks == 0 || cols == 0) return {};
    Parcel parcel;
    const int sums = parcel.expect<double>(n_blocks * cols);
    VOXRIDGE_TRY(parcel.send(s));
    VOXRIDGE_TRY(s.runtime.launch(kernels::error_sums<T>, s.grid(rows, cols, true), input<T>(target, ld_target), rows,
                                  cols, input<T>(predictions, ld_predictions), n_blocks, parcel.dev<double>(sums)));
    return parcel.fetch(s, sums, out, n_blocks, cols, ld_out);
  });
}

template <class Runtime>
int Plugin<Runtime>::product_sums(Handle* handle, int type, const void* target, int64_t ld_target, int64_t rows,
                                  int64_t cols, const void* predictions, int64_t ld_predictions, int64_t n_blocks,
                                  double* out, int64_t ld_out) {
  return call_typed(handle, "product_sums", type, [=](S& s, auto zero) -> Outcome {
    using T = decltype(zero);
    VOXRIDGE_TRY(s.checks.matrix("target", target, rows, cols, ld_target));
    VOXRIDGE_TRY(s.checks.stack("predictions", predictions, rows + 1, n_blocks, cols, ld_predictions));
    VOXRIDGE_TRY(s.checks.stack("out", out, 2, n_blocks, cols, ld_out));
    if (n_blocks == 0 || cols == 0) return {};
    Parcel parcel;
    const int sums = parcel.expect<double>(2 * n_blocks * cols);
    VOXRIDGE_TRY(parcel.send(s));
    VOXRIDGE_TRY(s.runtime.launch(kernels::product_sums<T>, s.grid(rows, cols, true), input<T>(target, ld_target), rows,
                                  cols, input<T>(predictions, ld_predictions), n_blocks,
                                  std::numeric_limits<T>::epsilon(), parcel.dev<double>(sums)));
    return parcel.fetch(s, sums, out, 2 * n_blocks, cols, ld_out);
  });
}

}  // namespace voxridge_plugin
