/* The boundary between the package and its CUDA plugin: a table of C functions. No type of R, Armadillo, C++ or CUDA
 * crosses it, nothing is thrown across it, and the plugin keeps no pointer to host memory after a call returns.
 *
 * Matrices are column-major: pointer, rows, columns, distance between columns in elements (ld). "dev" pointers are
 * memory of the device, all others are memory of the host. `type` is VOXRIDGE_F32 or VOXRIDGE_F64 and holds for all
 * device matrices of a call; small vectors and sums cross in double. Every function returns VOXRIDGE_OK or another code,
 * and then text(session) says what happened. Work of a session is in order; functions that fill host memory return when
 * it is filled. A session is used by one thread at a time; sessions of several threads may work side by side. */
#ifndef VOXRIDGE_CUDA_ABI_H
#define VOXRIDGE_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

#define VOXRIDGE_CUDA_ABI 3

enum { VOXRIDGE_F32 = 0, VOXRIDGE_F64 = 1 };

/* What sums of products become, see cell_formula.h. */
enum { VOXRIDGE_CORRELATION = 0, VOXRIDGE_PARTIAL = 1, VOXRIDGE_WELCH = 2 };

enum { VOXRIDGE_SLOTS = 2 }; /* of mark and wait */

enum {
  VOXRIDGE_OK = 0,
  VOXRIDGE_NO_MEMORY = 1,  /* not enough memory on the device; the session goes on */
  VOXRIDGE_INVALID = 2,    /* arguments out of range (sizes beyond 32 bits, ld < rows); the session goes on */
  VOXRIDGE_FAILED = 3,     /* an error of the device; it is sticky: no call of this process will succeed again */
  VOXRIDGE_UNAVAILABLE = 4, /* no driver, no device, no cuBLAS; of syevd: no cuSOLVER, or one that takes no such size */
  VOXRIDGE_NO_SOLUTION = 5 /* a solver did not converge or failed; the session goes on */
};

#ifdef __cplusplus
extern "C" {
#endif

typedef struct voxridge_cuda_session voxridge_cuda_session;

typedef struct {
  int available;       /* 1: a session can be opened; else `reason` says why not */
  int driver_version;  /* as CUDA numbers them: 12040; 0 where there is none */
  int runtime_version;
  int device_count;
  int device; /* the one that sessions use */
  int major, minor;
  int n_multiprocessors;
  int fp64_ratio; /* single precision runs so many times faster than double */
  double memory_total, memory_free; /* bytes */
  char name[128];
  char architectures[128]; /* that the plugin was built for: "75 80 86 89 90" */
  char libraries[512];     /* where cuBLAS came from */
  char reason[512];
} voxridge_cuda_info;

/* Of a permutation test by products: `rank` sums of the tested part, then `n_changed` of nuisance vectors; of Welch's t
 * the sum of the values and that of their squares over the n_first of n samples. */
typedef struct {
  int kind, absolute;
  int64_t rank, n_changed;
  int64_t n, n_first;
  double sum_error, left_error; /* how far sums, and what the nuisance leaves, may be from the exact ones */
} voxridge_cuda_cells;

typedef struct {
  int abi;        /* VOXRIDGE_CUDA_ABI */
  int table_size; /* sizeof(voxridge_cuda_table) */

  int (*info)(voxridge_cuda_info* out);

  /* Looks for cuSOLVER, which a session does when it first needs it: where it came from, or why there is none. */
  int (*solver)(char* text, int text_size);

  int (*open)(voxridge_cuda_session** out, char* text, int text_size);
  void (*close)(voxridge_cuda_session* session);
  const char* (*text)(voxridge_cuda_session* session); /* of the last failure */
  int (*synchronize)(voxridge_cuda_session* session);

  /* wait(slot): until all is done that was asked for before the last mark(slot). At once where there was none. */
  int (*mark)(voxridge_cuda_session* session, int slot);
  int (*wait)(voxridge_cuda_session* session, int slot);

  /* Memory of the device. Freed memory may be kept for the next request of the session. */
  int (*allocate)(voxridge_cuda_session* session, size_t bytes, void** dev);
  void (*release)(voxridge_cuda_session* session, void* dev);
  /* Page-locked memory of the host for copies in the background; ordinary memory where there is none. */
  int (*allocate_host)(voxridge_cuda_session* session, size_t bytes, void** host);
  void (*release_host)(voxridge_cuda_session* session, void* host);

  /* Copies of rows x cols elements of the type. With `later` they return at once; the host memory, which must be that
   * of allocate_host, may be written (to_host: read) after the next synchronize, or a wait for a later mark. */
  int (*to_device)(voxridge_cuda_session* session, int type, const void* host, int64_t ld_host, int64_t rows,
                   int64_t cols, void* dev, int64_t ld_dev, int later);
  int (*to_host)(voxridge_cuda_session* session, int type, const void* dev, int64_t ld_dev, int64_t rows, int64_t cols,
                 void* host, int64_t ld_host, int later);

  /* C = alpha op(A) op(B) + beta C; op(A) is m x k, op(B) is k x n. */
  int (*gemm)(voxridge_cuda_session* session, int type, int transpose_a, int transpose_b, int64_t m, int64_t n,
              int64_t k, double alpha, const void* dev_a, int64_t lda, const void* dev_b, int64_t ldb, double beta,
              void* dev_c, int64_t ldc);

  /* Lower triangle of C = alpha op(A) op(A)' + beta C, in double; op(A) is n x k. */
  int (*syrk)(voxridge_cuda_session* session, int transpose, int64_t n, int64_t k, double alpha, const void* dev_a,
              int64_t lda, double beta, void* dev_c, int64_t ldc);

  /* Eigenvalues of a symmetric n x n matrix in ascending order, and its eigenvectors in the matrix's place, in double;
   * only its lower triangle is read. The matrix is lost where this fails. */
  int (*syevd)(voxridge_cuda_session* session, int64_t n, void* dev_a, int64_t lda, double* values);

  /* to[i, j] = from[rows[i], j] - shift[j]; shift NULL: nothing is subtracted. rows count from 0. */
  int (*gather)(voxridge_cuda_session* session, int type, const void* dev_from, int64_t ld_from, int64_t cols,
                const int64_t* rows, int64_t n_rows, const double* shift, void* dev_to, int64_t ld_to);

  /* to[, j] = from[, columns[j]] (put = 0), or to[, columns[j]] = from[, j] (put = 1), for n_columns columns. */
  int (*copy_columns)(voxridge_cuda_session* session, int type, int put, const void* dev_from, int64_t ld_from,
                      int64_t rows, const int64_t* columns, int64_t n_columns, void* dev_to, int64_t ld_to);

  /* Per column the mean of the listed rows, relative error about 1e-15 whatever the type. */
  int (*means)(voxridge_cuda_session* session, int type, const void* dev_from, int64_t ld_from, int64_t cols,
               const int64_t* rows, int64_t n_rows, double* out);

  /* Per column the sum over all rows of (from - center[j])^2, summed in double; center NULL: 0. */
  int (*squares)(voxridge_cuda_session* session, int type, const void* dev_from, int64_t ld_from, int64_t rows,
                 int64_t cols, const double* center, double* out);

  /* to = the sum of the parts, each with its ld. */
  int (*add)(voxridge_cuda_session* session, int type, const void* const* dev_parts, const int64_t* ld_parts,
             int64_t n_parts, int64_t rows, int64_t cols, void* dev_to, int64_t ld_to);

  /* to = total - part - x scale' (x: rows, scale: cols; columns of scale 0 do without, x may be NULL where all are). */
  int (*leave_out)(voxridge_cuda_session* session, int type, const void* dev_total, int64_t ld_total,
                   const void* dev_part, int64_t ld_part, int64_t rows, int64_t cols, const double* x,
                   const double* scale, void* dev_to, int64_t ld_to);

  /* to[i, j] = from[i, j] / (lambda[i] + alpha[j]), 0 where that sum is at most 1e-300. In place is allowed. */
  int (*shrink)(voxridge_cuda_session* session, int type, const void* dev_from, int64_t ld_from, int64_t rows,
                int64_t cols, const double* lambda, const double* alpha, void* dev_to, int64_t ld_to);

  /* to[i, j] = weights[i] * from[i, j]. In place is allowed. */
  int (*scale_rows)(voxridge_cuda_session* session, int type, const void* dev_from, int64_t ld_from, int64_t rows,
                    int64_t cols, const double* weights, void* dev_to, int64_t ld_to);

  /* to = a - b. In place is allowed. */
  int (*subtract)(voxridge_cuda_session* session, int type, const void* dev_a, int64_t ld_a, const void* dev_b,
                  int64_t ld_b, int64_t rows, int64_t cols, void* dev_to, int64_t ld_to);

  /* The fused score. `predictions` stacks n_blocks blocks of `rows` rows. out (n_blocks x cols, ld_out):
   * the sum over rows of (target - prediction)^2. */
  int (*error_sums)(voxridge_cuda_session* session, int type, const void* dev_target, int64_t ld_target, int64_t rows,
                    int64_t cols, const void* dev_predictions, int64_t ld_predictions, int64_t n_blocks, double* out,
                    int64_t ld_out);

  /* Blocks have rows + 1 rows, the last being sqrt(rows) times the mean prediction. out (2 n_blocks x cols): for each
   * block target'prediction, then prediction'prediction; both 0 where the prediction is constant but for rounding:
   * p'p <= rows^2 eps^2 (p'p + last^2), eps that of the type. */
  int (*product_sums)(voxridge_cuda_session* session, int type, const void* dev_target, int64_t ld_target, int64_t rows,
                      int64_t cols, const void* dev_predictions, int64_t ld_predictions, int64_t n_blocks, double* out,
                      int64_t ld_out);

  /* Permutation tests by sums of whole numbers. `values` has n rows of `cols` numbers, ld apart. Permutation r adds
   * sample i where bit i % 30 of patterns[r + i / 30 * rows] is set, and otherwise nothing or, with `signs`, its
   * negative; sums must fit 32 bits. To counts[j] is added of how many permutations the sum (`absolute`: its absolute
   * value) is at least thresholds[j]; maxima[r] is raised to the largest sum. */
  int (*count_sums)(voxridge_cuda_session* session, const int32_t* values, int64_t ld, int64_t n, int64_t cols,
                    const uint32_t* patterns, int64_t rows, int signs, int absolute, const int32_t* thresholds,
                    int32_t* counts, int32_t* maxima);

  /* Permutation tests by products: a column of `sums` holds `rows` sums with the first vector, then those with the next,
   * as the rule says. counts and maxima as above, of the values that the rule makes of them; totals (2 x cols, for
   * Welch's t only): of each column the sum of the values, and of their squares. To *degenerate is added the number of
   * infinite values of VOXRIDGE_PARTIAL: they count, and stay out of the maxima. The same bits on any device. */
  int (*count_cells)(voxridge_cuda_session* session, const voxridge_cuda_cells* rule, const void* dev_sums, int64_t ld,
                     int64_t rows, int64_t cols, const double* thresholds, const double* totals, int32_t* counts,
                     double* maxima, int64_t* degenerate);

  /* C = A'B in double by plain loops: exact where the absolute products of whole numbers sum to less than 2^53. */
  int (*dot_products)(voxridge_cuda_session* session, int64_t n, int64_t rows, int64_t cols, const void* dev_a,
                      int64_t lda, const void* dev_b, int64_t ldb, void* dev_c, int64_t ldc);
} voxridge_cuda_table;

/* The one symbol that the plugin exports. */
typedef const voxridge_cuda_table* (*voxridge_cuda_entry)(void);
#define VOXRIDGE_CUDA_ENTRY "voxridge_cuda"

#ifdef __cplusplus
}
#endif

#endif
