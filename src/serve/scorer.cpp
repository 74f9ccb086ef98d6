#include "scorer.h"

#include <algorithm>

#include "../core/binary_rows.h"
#include "../core/bytes.h"
#include "../core/json_rows.h"
#include "../core/number_text.h"
#include "../core/sigmoid.h"

namespace voxridge {

namespace {

// As little-endian float64, whatever this machine's order is.
void write_binary(const double* values, size_t n, std::string& to) {
  to.assign(reinterpret_cast<const char*>(values), 8 * n);
  if (!host_is_big_endian()) return;
  for (size_t i = 0; i < n; ++i) std::reverse(to.begin() + 8 * i, to.begin() + 8 * (i + 1));
}

}  // namespace

Scorer::Scorer(const ServedModel& model, int64_t max_rows, Metrics& metrics)
    : max_rows_(max_rows), metrics_(metrics), row_(static_cast<size_t>(model.n_features())) {}

// A row takes two bytes a number at least.
void Scorer::begin(const ServedModel& model, size_t body_size) {
  model_ = &model;
  rows_ = 0;
  const int64_t rows = std::min(max_rows_, static_cast<int64_t>(body_size) / (2 * model.n_features()) + 1);
  const size_t needed = static_cast<size_t>(rows * model.n_targets());
  if (logits_.size() < needed) logits_.resize(needed);
  if (model.facts().kind == ModelKind::logistic && probabilities_.size() < needed) probabilities_.resize(needed);
}

BodyForm Scorer::form_of(const ServedModel& model) const {
  const std::vector<std::string>& names = model.facts().features;
  return {model.n_features(), max_rows_, names.empty() ? nullptr : &names};
}

bool Scorer::take(const double* row, int64_t index) noexcept {
  rows_ = index + 1;
  return model_->score(row, logits_.data() + index * model_->n_targets());
}

void Scorer::count() {
  metrics_.rows.add(rows_);
  const int64_t t = model_->n_targets();
  if (model_->facts().kind == ModelKind::ridge) return;
  const int64_t n = rows_ * t;
  for (int64_t i = 0; i < n; ++i) probabilities_[i] = sigmoid(logits_[i]);
  if (t <= kScoreTargets) metrics_.count_scores(probabilities_.data(), rows_, t);
}

// One value per row, or with several targets one array per row.
template <class Write>
void Scorer::write_array(const char* name, std::string& reply, Write write) const {
  reply += reply.empty() ? "{\"" : ",\"";
  reply += name;
  reply += "\":[";
  const int64_t t = model_->n_targets();
  for (int64_t i = 0; i < rows_; ++i) {
    if (i > 0) reply += ',';
    if (t > 1) reply += '[';
    for (int64_t j = 0; j < t; ++j) {
      if (j > 0) reply += ',';
      write(i * t + j);
    }
    if (t > 1) reply += ']';
  }
  reply += ']';
}

BodyFault Scorer::score_json(const ServedModel& model, const char* body, size_t size, bool logits, std::string& reply) {
  begin(model, size);
  reply.clear();
  const BodyFault fault = read_json_rows(body, size, form_of(model), row_.data(), *this);
  if (fault.code != BodyFaultCode::none) return fault;
  count();
  const auto numbers = [&](const std::vector<double>& values) {
    return [&reply, &values](int64_t at) {
      char digits[kNumberBytes];
      reply.append(digits, write_number(values[at], digits));
    };
  };
  if (model.facts().kind == ModelKind::ridge) {
    write_array("predictions", reply, numbers(logits_));
  } else {
    const double least = model.decision_logit();
    write_array("probabilities", reply, numbers(probabilities_));
    write_array("decisions", reply, [&](int64_t at) { reply += logits_[at] >= least ? '1' : '0'; });
    if (logits) write_array("logits", reply, numbers(logits_));
  }
  reply += '}';
  return fault;
}

BodyFault Scorer::score_binary(const ServedModel& model, const char* body, size_t size, bool logits,
                               std::string& reply) {
  begin(model, size);
  const BodyFault fault = read_binary_rows(body, size, form_of(model), row_.data(), *this);
  if (fault.code != BodyFaultCode::none) return fault;
  count();
  const bool plain = logits || model.facts().kind == ModelKind::ridge;
  write_binary((plain ? logits_ : probabilities_).data(), static_cast<size_t>(rows_ * model.n_targets()), reply);
  return fault;
}

}  // namespace voxridge
