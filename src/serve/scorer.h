// Bodies of requests to bodies of replies, in the memory of one thread, which grows with the largest body so far:
// otherwise nothing is allocated for a request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../core/body_fault.h"
#include "metrics.h"
#include "served_model.h"

namespace voxridge {

class Scorer : private RowSink {
 public:
  Scorer(const ServedModel& model, int64_t max_rows, Metrics& metrics);

  // The reply's body is written over; it means nothing after a fault. `logits`: beside probabilities and decisions in
  // JSON, instead of probabilities in binary. For a ridge fit there are predictions alone.
  BodyFault score_json(const ServedModel& model, const char* body, size_t size, bool logits, std::string& reply);
  BodyFault score_binary(const ServedModel& model, const char* body, size_t size, bool logits, std::string& reply);

  int64_t rows() const { return rows_; }  // of the last body

 private:
  bool take(const double* row, int64_t index) noexcept override;
  BodyForm form_of(const ServedModel& model) const;
  void begin(const ServedModel& model, size_t body_size);
  void count();

  template <class Write>
  void write_array(const char* name, std::string& reply, Write write) const;

  int64_t max_rows_;
  Metrics& metrics_;
  const ServedModel* model_ = nullptr;
  int64_t rows_ = 0;
  std::vector<double> row_;
  std::vector<double> logits_;         // rows x T, one row after another; predictions of a ridge fit
  std::vector<double> probabilities_;  // the same, for logistic fits
};

}  // namespace voxridge
