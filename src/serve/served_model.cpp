#include "served_model.h"

#include <algorithm>
#include <cstring>

#include "../core/error.h"
#include "../core/sha256.h"
#include "../core/sigmoid.h"

namespace voxridge {

namespace {

// Numbers little-endian, each list and each name after its length: no two models have the same bytes.
class Hash {
 public:
  void add(uint64_t x) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>(x >> (8 * i));
    sha_.update(bytes, sizeof bytes);
  }
  void add(double x) {
    uint64_t bits;
    static_assert(sizeof bits == sizeof x, "float64");
    std::memcpy(&bits, &x, sizeof x);
    add(bits);
  }
  void add(const std::string& text) {
    add(static_cast<uint64_t>(text.size()));
    sha_.update(text.data(), text.size());
  }
  template <class T>
  void add(const std::vector<T>& list) {
    add(static_cast<uint64_t>(list.size()));
    for (const T& item : list) add(item);
  }
  std::string hex() { return sha_.hex(); }

 private:
  Sha256 sha_;
};

std::string hash_of(const Predictor& predictor, const ModelFacts& facts) {
  Hash hash;
  hash.add(static_cast<uint64_t>(facts.kind == ModelKind::logistic ? 1 : 2));
  hash.add(static_cast<uint64_t>(predictor.n_features()));
  hash.add(static_cast<uint64_t>(predictor.n_targets()));
  for (const auto& names : {facts.features, facts.targets, facts.classes, facts.positive}) hash.add(names);
  for (int64_t j = 0; j < predictor.n_targets(); ++j) {
    hash.add(predictor.intercept(j));
    for (int64_t k = 0; k < predictor.n_features(); ++k) hash.add(predictor.coefs(j)[k]);
  }
  hash.add(facts.threshold);
  hash.add(facts.prior);
  hash.add(facts.shifts);
  return hash.hex();
}

// Lists as long as the model has features or targets.
ModelFacts checked(ModelFacts facts, const Predictor& predictor) {
  const size_t p = static_cast<size_t>(predictor.n_features()), t = static_cast<size_t>(predictor.n_targets());
  const auto check = [](const char* what, size_t size, std::initializer_list<size_t> good) {
    if (std::find(good.begin(), good.end(), size) != good.end()) return;
    throw Error(ErrorCode::invalid_argument, std::string("The ") + what + " of the model have a wrong number.");
  };
  check("features", facts.features.size(), {0, p});
  check("targets", facts.targets.size(), {0, t});
  check("classes", facts.classes.size(), {0, 2, 2 * t});
  check("positive classes", facts.positive.size(), {0, 1, t});
  check("penalties", facts.lambda.size(), {0, t});
  check("priors", facts.prior.size(), {0, t});
  check("shifts", facts.shifts.size(), {0, t});
  return facts;
}

}  // namespace

ServedModel::ServedModel(std::shared_ptr<const Predictor> predictor, ModelFacts facts)
    : predictor_(std::move(predictor)),
      facts_(checked(std::move(facts), *predictor_)),
      sha256_(hash_of(*predictor_, facts_)),
      decision_logit_(logit(facts_.threshold)) {
  if (facts_.version.empty()) facts_.version = sha256_.substr(0, 12);
}

bool ServedModel::score(const double* row, double* out) const noexcept {
  const int64_t t = n_targets();
  double zero = 0;
  for (int64_t j = 0; j < t; ++j) {
    out[j] = predictor_->score(row, j, facts_.shifts.empty() ? 0 : facts_.shifts[j]);
    zero += out[j] * 0;
  }
  return zero == 0;
}

std::string ServedModel::difference(const ServedModel& other) const {
  const ModelFacts &a = facts_, &b = other.facts_;
  if (a.kind != b.kind) return "kind";
  if (n_features() != other.n_features() || a.features != b.features) return "features";
  if (n_targets() != other.n_targets() || a.targets != b.targets) return "targets";
  if (a.classes != b.classes || a.positive != b.positive) return "classes";
  return "";
}

}  // namespace voxridge
