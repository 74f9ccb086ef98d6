// What the tests of request bodies share: a body in memory of exactly its size, read into a list of rows.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "core/body_fault.h"

namespace voxridge {

inline bool operator==(const BodyFault& a, const BodyFault& b) {
  return a.code == b.code && a.row == b.row && a.column == b.column && a.found == b.found && a.needed == b.needed;
}
inline std::ostream& operator<<(std::ostream& to, const BodyFault& fault) {
  return to << fault_word(fault.code) << " row " << fault.row << " column " << fault.column << " found " << fault.found
            << " needed " << fault.needed;
}

}  // namespace voxridge

namespace voxridge_test {

using namespace voxridge;

// Keeps the rows. From row `refused` (from 0) on it says that a score is not finite.
class KeptRows : public RowSink {
 public:
  explicit KeptRows(int64_t n_features, int64_t refused = -1) : p_(n_features), refused_(refused) {}

  bool take(const double* row, int64_t index) noexcept override {
    EXPECT_EQ(index, static_cast<int64_t>(values.size()) / p_);
    values.insert(values.end(), row, row + p_);
    return index != refused_;
  }
  std::vector<double> values;

 private:
  int64_t p_, refused_;
};

struct Outcome {
  BodyFault fault;
  std::vector<double> values;
};

// `read`: read_json_rows() or read_binary_rows(). `shift`: the body begins so many bytes past an aligned address.
template <class Reader>
Outcome read_body(Reader read, const std::string& body, const BodyForm& form, int64_t refused = -1, size_t shift = 0) {
  const std::unique_ptr<char[]> memory(new char[shift + body.size()]);
  if (!body.empty()) std::memcpy(memory.get() + shift, body.data(), body.size());
  const std::unique_ptr<double[]> row(new double[static_cast<size_t>(form.n_features)]);
  KeptRows rows(form.n_features, refused);
  const BodyFault fault = read(memory.get() + shift, body.size(), form, row.get(), rows);
  return {fault, rows.values};
}

inline BodyForm make_form(int64_t n_features, int64_t max_rows = 512,
                          const std::vector<std::string>* columns = nullptr) {
  BodyForm form;
  form.n_features = n_features;
  form.max_rows = max_rows;
  form.columns = columns;
  return form;
}

}  // namespace voxridge_test
