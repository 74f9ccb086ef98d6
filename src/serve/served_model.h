// What a server scores with. Made once, from R's data, and never changed: any thread may read it at any time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../core/predictor.h"

namespace voxridge {

enum class ModelKind { logistic, ridge };

// Names are UTF-8. `name`, `version` and `package_version` hold letters, digits and . _ + - : / alone, so that they can
// stand in a header.
struct ModelFacts {
  ModelKind kind = ModelKind::logistic;
  std::string name = "model";
  std::string version;  // "": the first 12 digits of the hash
  std::string package_version;
  std::vector<std::string> features;  // p, or none
  std::vector<std::string> targets;   // T, or none
  std::vector<std::string> classes;   // two per target, or two for all of them; none for a ridge fit
  std::vector<std::string> positive;  // the class that probabilities are of, one per target, or one for all
  std::vector<double> lambda;         // T
  double threshold = 0.5;             // a decision is 1 from this probability on
  std::vector<double> prior;          // T prevalences that forecasts are for, or none: as the model was fitted
  std::vector<double> shifts;         // T, what that adds to the logits, or none
};

class ServedModel {
 public:
  // `predictor`: one with all its forecasts, of at most 64 targets: beyond, predict() adds in another order. Throws
  // Error (invalid_argument) where lists have other lengths.
  ServedModel(std::shared_ptr<const Predictor> predictor, ModelFacts facts);

  const ModelFacts& facts() const { return facts_; }
  const std::shared_ptr<const Predictor>& predictor() const { return predictor_; }
  const std::string& version() const { return facts_.version; }
  const std::string& sha256() const { return sha256_; }  // of all that a reply depends on
  int64_t n_features() const { return predictor_->n_features(); }
  int64_t n_targets() const { return predictor_->n_targets(); }

  // The logits (predictions of a ridge fit) of one row, as predict() gives them. False: one is not finite.
  bool score(const double* row, double* out) const noexcept;

  // A logit from which on the decision is 1.
  double decision_logit() const { return decision_logit_; }

  // Whether requests for one can go to the other: the same kind, features, targets and classes. What differs, or "".
  std::string difference(const ServedModel& other) const;

 private:
  std::shared_ptr<const Predictor> predictor_;
  ModelFacts facts_;
  std::string sha256_;
  double decision_logit_;
};

}  // namespace voxridge
