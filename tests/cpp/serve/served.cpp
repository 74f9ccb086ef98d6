#include "served.h"

#include <dirent.h>

#include <cstdio>
#include <cstring>

#include "core/philox.h"
#include "core/sigmoid.h"

namespace voxridge_test {

namespace {

std::vector<double> normals(int64_t n, uint64_t seed) {
  std::vector<double> out(static_cast<size_t>(n));
  const Philox draws(seed, 77);
  for (size_t k = 0; k < out.size(); ++k) out[k] = draws.normal_pair(k)[0];
  return out;
}

int64_t count_entries(const char* folder) {
  DIR* const entries = opendir(folder);
  if (entries == nullptr) return -1;
  int64_t count = 0;
  while (const dirent* entry = readdir(entries)) count += entry->d_name[0] != '.';
  closedir(entries);
  return count;
}

std::string wrong(const std::string& what, const Reply& reply) {
  return what + " in " + reply.bytes.substr(0, 600);
}

// Whether the array has one inner array per row, or plain numbers for one target.
bool has_shape(const Json& array, int64_t n, int64_t t) {
  if (array.kind != Json::array || static_cast<int64_t>(array.items.size()) != n) return false;
  for (const Json& item : array.items) {
    if (t == 1 && item.kind != Json::number) return false;
    if (t > 1 && (item.kind != Json::array || static_cast<int64_t>(item.items.size()) != t)) return false;
  }
  return true;
}

}  // namespace

std::shared_ptr<const ServedModel> make_model(const ModelSpec& spec) {
  const std::vector<double> coefs = spec.coefs.empty() ? normals(spec.p * spec.t, spec.seed) : spec.coefs;
  const std::vector<double> intercepts = normals(spec.t, spec.seed + 1000);
  const MatrixView<double> view = {coefs.data(), spec.p, spec.t, spec.p};
  ModelFacts facts;
  facts.kind = spec.kind;
  facts.version = spec.version;
  facts.package_version = "0.1.0";
  facts.threshold = spec.threshold;
  facts.prior = spec.prior;
  facts.shifts = spec.shifts;
  for (int64_t j = 0; spec.has_names && j < spec.p; ++j) facts.features.push_back("x" + std::to_string(j + 1));
  for (int64_t j = 0; j < spec.t; ++j) {
    facts.targets.push_back("y" + std::to_string(j + 1));
    facts.lambda.push_back(0.5 + static_cast<double>(j));
  }
  if (spec.kind == ModelKind::logistic) {
    facts.classes = {"no", "yes"};
    facts.positive = {"yes"};
  }
  return std::make_shared<ServedModel>(std::make_shared<Predictor>(view, intercepts.data()), facts);
}

std::vector<double> random_rows(int64_t n, int64_t p, uint64_t seed) {
  return normals(n * p, seed);
}

std::vector<double> expected_logits(const ServedModel& model, const std::vector<double>& rows) {
  std::vector<double> out;
  const std::vector<double>& shifts = model.facts().shifts;
  const size_t p = static_cast<size_t>(model.n_features());
  for (size_t first = 0; first < rows.size(); first += p) {
    for (int64_t t = 0; t < model.n_targets(); ++t) {
      const double shift = shifts.empty() ? 0 : shifts[static_cast<size_t>(t)];
      out.push_back(model.predictor()->score(rows.data() + first, t, shift));
    }
  }
  return out;
}

std::vector<double> expected_forecasts(const ServedModel& model, const std::vector<double>& rows) {
  std::vector<double> out = expected_logits(model, rows);
  if (model.facts().kind == ModelKind::logistic) {
    for (double& z : out) z = sigmoid(z);
  }
  return out;
}

std::vector<double> expected_decisions(const ServedModel& model, const std::vector<double>& rows) {
  std::vector<double> out = expected_logits(model, rows);
  for (double& z : out) z = z >= logit(model.facts().threshold) ? 1 : 0;
  return out;
}

std::string json_rows(const std::vector<double>& rows, int64_t p) {
  std::string out = "{\"features\":[";
  for (size_t k = 0; k < rows.size(); ++k) {
    const bool first = k % static_cast<size_t>(p) == 0;
    char text[40];
    std::snprintf(text, sizeof(text), "%.17g", rows[k]);
    out += std::string(first ? (k == 0 ? "[" : "],[") : ",") + text;
  }
  return out + "]]}";
}

std::string binary_rows(const std::vector<double>& numbers) {
  std::string out(numbers.size() * 8, '\0');
  for (size_t k = 0; k < numbers.size(); ++k) {
    uint64_t bits;
    std::memcpy(&bits, &numbers[k], 8);
    for (size_t b = 0; b < 8; ++b) out[8 * k + b] = static_cast<char>(bits >> (8 * b) & 255);
  }
  return out;
}

std::vector<double> read_binary(const std::string& bytes) {
  std::vector<double> out(bytes.size() / 8);
  for (size_t k = 0; k < out.size(); ++k) {
    uint64_t bits = 0;
    for (size_t b = 0; b < 8; ++b) bits |= uint64_t{static_cast<unsigned char>(bytes[8 * k + b])} << (8 * b);
    std::memcpy(&out[k], &bits, 8);
  }
  return out;
}

std::string get(const std::string& target, const std::string& fields, const std::string& method) {
  return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n";
}

std::string post(const std::string& target, const std::string& type, const std::string& body,
                 const std::string& fields) {
  return "POST " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + fields + "\r\n" + body;
}

std::string predict(const std::string& body, const std::string& fields) {
  return post("/v1/predict", "application/json", body, fields);
}

std::string predict_binary(const std::string& body, const std::string& fields) {
  return post("/v1/predict_binary", "application/octet-stream", body, fields);
}

std::string chunked(const std::string& body, size_t piece, const std::string& trailers) {
  std::string out =
      "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  for (size_t first = 0; first < body.size(); first += piece) {
    const std::string part = body.substr(first, piece);
    char size[20];
    std::snprintf(size, sizeof(size), "%zx\r\n", part.size());
    out += size + part + "\r\n";
  }
  return out + "0\r\n" + trailers + "\r\n";
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), 8 * a.size()) == 0);
}

std::string json_difference(const ServedModel& model, const std::vector<double>& rows, const Reply& reply,
                            bool logits) {
  if (reply.status != 200) return wrong("status", reply);
  if (reply.field("content-type").compare(0, 16, "application/json") != 0) return wrong("type", reply);
  if (reply.field("x-model-version") != model.version()) return wrong("version", reply);
  const Json json = reply.json();
  const int64_t t = model.n_targets(), n = static_cast<int64_t>(rows.size()) / model.n_features();
  const bool logistic = model.facts().kind == ModelKind::logistic;
  const std::string main = logistic ? "probabilities" : "predictions";
  if (json.items.size() != size_t{1} + logistic + logits) return wrong("keys", reply);
  if (!has_shape(json[main], n, t)) return wrong("shape", reply);
  if (!same_bits(json[main].numbers(), expected_forecasts(model, rows))) return wrong(main, reply);
  if (logits) {
    if (!has_shape(json["logits"], n, t)) return wrong("shape of logits", reply);
    if (!same_bits(json["logits"].numbers(), expected_logits(model, rows))) return wrong("logits", reply);
  }
  if (!logistic) return "";
  if (!has_shape(json["decisions"], n, t)) return wrong("shape of decisions", reply);
  return same_bits(json["decisions"].numbers(), expected_decisions(model, rows)) ? "" : wrong("decisions", reply);
}

std::string binary_difference(const ServedModel& model, const std::vector<double>& rows, const Reply& reply,
                              bool logits) {
  if (reply.status != 200) return wrong("status", reply);
  if (reply.field("content-type") != "application/octet-stream") return wrong("type", reply);
  if (reply.field("x-model-version") != model.version()) return wrong("version", reply);
  const int64_t t = model.n_targets(), n = static_cast<int64_t>(rows.size()) / model.n_features();
  if (reply.field("x-rows") != std::to_string(n)) return wrong("X-Rows", reply);
  if (reply.field("x-targets") != std::to_string(t)) return wrong("X-Targets", reply);
  if (reply.body.size() != static_cast<size_t>(8 * n * t)) return wrong("length", reply);
  const std::vector<double> expected = logits ? expected_logits(model, rows) : expected_forecasts(model, rows);
  return same_bits(read_binary(reply.body), expected) ? "" : "other forecasts";
}

int64_t count_descriptors() {
  return count_entries("/proc/self/fd");
}

int64_t count_threads() {
  return count_entries("/proc/self/task");
}

bool stop_now(Server& server, double seconds) {
  server.begin_stop(0, 1);
  return server.wait(seconds);
}

}  // namespace voxridge_test
