// What the ways of counting permutations share: columns come in, counts and maxima of a batch of rows go out.
#pragma once

#include <memory>
#include <vector>

#include "permutation.h"

namespace voxridge {

class PermutationKernel {
 public:
  PermutationKernel(const PermutationTest& test, const PermutationRows& rows, PermutationOutputs& out,
                    double* threshold)
      : test_(test), rows_(rows), out_(out), threshold_(threshold) {}
  virtual ~PermutationKernel() = default;

  virtual int64_t most_rows() const = 0;      // of a batch
  virtual int64_t chunk_columns() const = 0;  // that a worker takes at a time

  // Makes the rows first .. first + count - 1.
  virtual void start(int64_t first, int64_t count, int n_workers, const Control& control) = 0;

  // Columns begin .. end - 1 under these rows.
  virtual void run(int64_t begin, int64_t end, int worker, const Control& control) = 0;

  // The largest value under each row of the batch; -Inf where there is none.
  virtual void maxima(double* to) const = 0;

  // What a value (of the observed data, of a maximum) is as a statistic.
  virtual double statistic_of(double value) const = 0;

 protected:
  // Columns j .. j + count - 1 (up to kDoubleLanes), side by side in `e` and, where there are partners, in `paired`:
  // which of them take part. The first batch writes what is known about them. Lanes that take no part repeat one that
  // does, which changes no maximum.
  int load(int64_t j, int64_t count, PermutationColumns& columns, DoubleStrip* e, DoubleStrip* paired, bool* used);

  // Where the statistic of column j under a row of the batch is kept.
  double* null_at(int64_t j, int64_t row) const {
    return out_.null + j * out_.null_rows + row + (out_.take_null ? 0 : first_);
  }

  int64_t n() const { return test_.y.rows; }
  double sign() const { return test_.negate ? -1.0 : 1.0; }

  const PermutationTest& test_;
  const PermutationRows& rows_;
  PermutationOutputs& out_;
  double* threshold_;              // per column: values from here on are as extreme as the data
  int64_t first_ = 0, count_ = 0;  // rows of the batch
};

// The one that suits the test. It keeps references to all of these.
std::unique_ptr<PermutationKernel> make_kernel(const PermutationTest& test, const PermutationRows& rows,
                                               PermutationOutputs& out, double* threshold);

std::unique_ptr<PermutationKernel> make_sum_kernel(const PermutationTest& test, const PermutationRows& rows,
                                                   PermutationOutputs& out, double* threshold);
std::unique_ptr<PermutationKernel> make_product_kernel(const PermutationTest& test, const PermutationRows& rows,
                                                       PermutationOutputs& out, double* threshold);
std::unique_ptr<PermutationKernel> make_paired_kernel(const PermutationTest& test, const PermutationRows& rows,
                                                      PermutationOutputs& out, double* threshold);

}  // namespace voxridge
