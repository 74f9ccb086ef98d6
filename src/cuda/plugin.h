// The functions of the table, written once for any runtime: check the arguments, send the small vectors, launch.
// abi.h says what each must do.
#pragma once

#include <limits>
#include <memory>

#include "session.h"

namespace voxridge_plugin {

template <class Runtime>
class Plugin {
 public:
  static const voxridge_cuda_table* table() {
    static const voxridge_cuda_table the_one = {VOXRIDGE_CUDA_ABI,
                                                sizeof(voxridge_cuda_table),
                                                info,
                                                solver,
                                                open,
                                                close,
                                                text,
                                                synchronize,
                                                mark,
                                                wait,
                                                allocate,
                                                release,
                                                allocate_host,
                                                release_host,
                                                to_device,
                                                to_host,
                                                gemm,
                                                syrk,
                                                syevd,
                                                gather,
                                                copy_columns,
                                                means,
                                                squares,
                                                add,
                                                leave_out,
                                                shrink,
                                                scale_rows,
                                                subtract,
                                                error_sums,
                                                product_sums,
                                                count_sums,
                                                count_cells,
                                                dot_products};
    return &the_one;
  }

 private:
  using Handle = voxridge_cuda_session;
  using S = Session<Runtime>;
  static S* session_of(Handle* handle) { return reinterpret_cast<S*>(handle); }

  // call(handle, name, [](S& s) { ... }): a null session is an invalid argument.
  template <class Body>
  static int call(Handle* handle, const char* name, const Body& body) {
    if (handle == nullptr) return VOXRIDGE_INVALID;
    S& session = *session_of(handle);
    return session.call(name, [&] { return body(session); });
  }

  // The same with a type of elements: body(s, T()).
  template <class Body>
  static int call_typed(Handle* handle, const char* name, int type, const Body& body) {
    return call(handle, name, [&](S& s) {
      VOXRIDGE_TRY(s.checks.type(type));
      return type == VOXRIDGE_F32 ? body(s, float()) : body(s, double());
    });
  }

  template <class T>
  static DeviceMatrix<const T> input(const void* dev, int64_t ld) {
    return {static_cast<const T*>(dev), ld};
  }
  template <class T>
  static DeviceMatrix<T> output(void* dev, int64_t ld) {
    return {static_cast<T*>(dev), ld};
  }

  static int info(voxridge_cuda_info* out) {
    if (out == nullptr) return VOXRIDGE_INVALID;
    std::memset(out, 0, sizeof *out);
    char why[kTextSize] = "";
    if (process().refuses(why) == VOXRIDGE_OK) {
      Runtime::describe(out);
      if (out->device_count > 0) process().claim();
    } else {
      put_text(out->reason, sizeof out->reason, why);
    }
    return VOXRIDGE_OK;
  }

  // In a forked process nothing is loaded.
  static int solver(char* text, int text_size) {
    char why[kTextSize] = "";
    const int refused = process().refuses(why);
    const bool found = refused == VOXRIDGE_OK && Runtime::find_solver(why);
    if (text != nullptr && text_size > 0) put_text(text, static_cast<size_t>(text_size), why);
    return found ? VOXRIDGE_OK : VOXRIDGE_UNAVAILABLE;
  }

  static int open(Handle** out, char* text, int text_size) {
    if (out == nullptr) return VOXRIDGE_INVALID;
    *out = nullptr;
    const auto refuse = [&](int code, const char* why) {
      if (text != nullptr && text_size > 0) put_text(text, static_cast<size_t>(text_size), why);
      return code;
    };
    try {
      voxridge_cuda_info about;
      info(&about);
      if (about.available == 0) return refuse(VOXRIDGE_UNAVAILABLE, about.reason);
      auto session = std::make_unique<S>();
      const int code = session->call("open", [&] { return session->runtime.start(); });
      if (code != VOXRIDGE_OK) return refuse(code, session->text);
      *out = reinterpret_cast<Handle*>(session.release());
      return VOXRIDGE_OK;
    } catch (const std::bad_alloc&) {
      return refuse(VOXRIDGE_NO_MEMORY, "open: not enough memory on the host");
    } catch (const std::exception&) {
      return refuse(VOXRIDGE_FAILED, "open: an exception of the standard library");
    }
  }

  // In a forked process the device must not even be told: the parent's session is left alone.
  static void close(Handle* handle) {
    if (handle == nullptr || process().forked()) return;
    session_of(handle)->runtime.use();
    session_of(handle)->runtime.synchronize();
    delete session_of(handle);
  }

  static const char* text(Handle* handle) { return handle == nullptr ? "no session" : session_of(handle)->text; }

  static int synchronize(Handle* handle) {
    return call(handle, "synchronize", [](S& s) { return s.runtime.synchronize(); });
  }

  static int mark(Handle* handle, int slot) {
    return call(handle, "mark", [=](S& s) -> Outcome {
      VOXRIDGE_TRY(s.checks.slot(slot));
      return s.runtime.mark(slot);
    });
  }

  static int wait(Handle* handle, int slot) {
    return call(handle, "wait", [=](S& s) -> Outcome {
      VOXRIDGE_TRY(s.checks.slot(slot));
      return s.runtime.wait(slot);
    });
  }

  static int allocate(Handle* handle, size_t bytes, void** dev) {
    if (dev == nullptr) return VOXRIDGE_INVALID;
    *dev = nullptr;
    return call(handle, "allocate", [=](S& s) { return s.device.allocate(bytes, dev); });
  }

  static void release(Handle* handle, void* dev) {
    if (dev != nullptr) call(handle, "release", [=](S& s) { return s.device.release(dev), Outcome(); });
  }

  static int allocate_host(Handle* handle, size_t bytes, void** host) {
    if (host == nullptr) return VOXRIDGE_INVALID;
    *host = nullptr;
    return call(handle, "allocate_host", [=](S& s) { return s.host.allocate(bytes, host); });
  }

  // Copies in the background may still read the block: they end before it can be handed out again.
  static void release_host(Handle* handle, void* host) {
    if (host == nullptr) return;
    call(handle, "release_host", [=](S& s) {
      const Outcome outcome = s.runtime.synchronize();
      s.host.release(host);
      return outcome;
    });
  }

  template <class T>
  static Copy copy(void* to, int64_t ld_to, const void* from, int64_t ld_from, int64_t rows, int64_t cols) {
    constexpr int64_t size = sizeof(T);
    return {to, ld_to * size, from, ld_from * size, rows * size, cols};
  }

  static int to_device(Handle* handle, int type, const void* host, int64_t ld_host, int64_t rows, int64_t cols,
                       void* dev, int64_t ld_dev, int later) {
    return call_typed(handle, "to_device", type, [=](S& s, auto zero) -> Outcome {
      VOXRIDGE_TRY(s.checks.matrix("host", host, rows, cols, ld_host));
      VOXRIDGE_TRY(s.checks.matrix("dev", dev, rows, cols, ld_dev));
      if (rows == 0 || cols == 0) return {};
      VOXRIDGE_TRY(s.runtime.copy_in(copy<decltype(zero)>(dev, ld_dev, host, ld_host, rows, cols)));
      return later ? Outcome() : s.runtime.synchronize();
    });
  }

  static int to_host(Handle* handle, int type, const void* dev, int64_t ld_dev, int64_t rows, int64_t cols, void* host,
                     int64_t ld_host, int later) {
    return call_typed(handle, "to_host", type, [=](S& s, auto zero) -> Outcome {
      VOXRIDGE_TRY(s.checks.matrix("dev", dev, rows, cols, ld_dev));
      VOXRIDGE_TRY(s.checks.matrix("host", host, rows, cols, ld_host));
      if (rows == 0 || cols == 0) return {};
      VOXRIDGE_TRY(s.runtime.copy_out(copy<decltype(zero)>(host, ld_host, dev, ld_dev, rows, cols)));
      return later ? Outcome() : s.runtime.synchronize();
    });
  }

  static int gemm(Handle* handle, int type, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k,
                  double alpha, const void* a, int64_t lda, const void* b, int64_t ldb, double beta, void* c,
                  int64_t ldc);
  static int syrk(Handle* handle, int transpose, int64_t n, int64_t k, double alpha, const void* a, int64_t lda,
                  double beta, void* c, int64_t ldc);
  static int syevd(Handle* handle, int64_t n, void* a, int64_t lda, double* values);
  static int gather(Handle* handle, int type, const void* from, int64_t ld_from, int64_t cols, const int64_t* rows,
                    int64_t n_rows, const double* shift, void* to, int64_t ld_to);
  static int copy_columns(Handle* handle, int type, int put, const void* from, int64_t ld_from, int64_t rows,
                          const int64_t* columns, int64_t n_columns, void* to, int64_t ld_to);
  static int means(Handle* handle, int type, const void* from, int64_t ld_from, int64_t cols, const int64_t* rows,
                   int64_t n_rows, double* out);
  static int squares(Handle* handle, int type, const void* from, int64_t ld_from, int64_t rows, int64_t cols,
                     const double* center, double* out);
  static int add(Handle* handle, int type, const void* const* parts, const int64_t* ld_parts, int64_t n_parts,
                 int64_t rows, int64_t cols, void* to, int64_t ld_to);
  static int leave_out(Handle* handle, int type, const void* total, int64_t ld_total, const void* part, int64_t ld_part,
                       int64_t rows, int64_t cols, const double* x, const double* scale, void* to, int64_t ld_to);
  static int shrink(Handle* handle, int type, const void* from, int64_t ld_from, int64_t rows, int64_t cols,
                    const double* lambda, const double* alpha, void* to, int64_t ld_to);
  static int scale_rows(Handle* handle, int type, const void* from, int64_t ld_from, int64_t rows, int64_t cols,
                        const double* weights, void* to, int64_t ld_to);
  static int subtract(Handle* handle, int type, const void* a, int64_t ld_a, const void* b, int64_t ld_b, int64_t rows,
                      int64_t cols, void* to, int64_t ld_to);
  static int error_sums(Handle* handle, int type, const void* target, int64_t ld_target, int64_t rows, int64_t cols,
                        const void* predictions, int64_t ld_predictions, int64_t n_blocks, double* out, int64_t ld_out);
  static int product_sums(Handle* handle, int type, const void* target, int64_t ld_target, int64_t rows, int64_t cols,
                          const void* predictions, int64_t ld_predictions, int64_t n_blocks, double* out,
                          int64_t ld_out);
  static int count_sums(Handle* handle, const int32_t* values, int64_t ld, int64_t n, int64_t cols,
                        const uint32_t* patterns, int64_t rows, int signs, int absolute, const int32_t* thresholds,
                        int32_t* counts, int32_t* maxima);
  static int count_cells(Handle* handle, const voxridge_cuda_cells* rule, const void* sums, int64_t ld, int64_t rows,
                         int64_t cols, const double* thresholds, const double* totals, int32_t* counts, double* maxima,
                         int64_t* degenerate);
  static int dot_products(Handle* handle, int64_t n, int64_t rows, int64_t cols, const void* a, int64_t lda,
                          const void* b, int64_t ldb, void* c, int64_t ldc);
};

}  // namespace voxridge_plugin

#include "plugin_algebra.h"
#include "plugin_kernels.h"
#include "plugin_permutation.h"
