#include "metadata.h"

#include "../core/number_text.h"

namespace voxridge {

namespace {

class Json {
 public:
  void key(const char* name) {
    text_ += text_.empty() ? "{\"" : ",\"";
    text_ += name;
    text_ += "\":";
  }
  void put(const std::string& text) {
    text_ += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        text_ += '\\';
        text_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        static const char kDigits[] = "0123456789abcdef";
        text_ += std::string("\\u00") + kDigits[c >> 4] + kDigits[c & 15];
      } else {
        text_ += c;
      }
    }
    text_ += '"';
  }
  void put(double number) {
    char digits[kNumberBytes];
    text_.append(digits, write_number(number, digits));
  }
  void put(int64_t number) { text_ += std::to_string(number); }
  template <class T>
  void put(const std::vector<T>& list, size_t first, size_t n) {
    text_ += '[';
    for (size_t i = 0; i < n; ++i) {
      if (i > 0) text_ += ',';
      put(list[first + i]);
    }
    text_ += ']';
  }
  template <class T>
  void put(const std::vector<T>& list) {
    list.empty() ? null() : put(list, 0, list.size());
  }
  void null() { text_ += "null"; }
  void raw(const std::string& json) { text_ += json; }
  std::string end() { return text_ + "}"; }

 private:
  std::string text_;
};

std::string limits_json(const Limits& limits) {
  Json json;
  const auto add = [&](const char* name, auto value) {
    json.key(name);
    json.put(value);
  };
  add("max_rows", limits.max_rows);
  add("max_body_bytes", limits.max_body_bytes);
  add("max_header_bytes", limits.max_header_bytes);
  add("max_uri_bytes", limits.max_uri_bytes);
  add("max_connections", limits.max_connections);
  add("max_requests_per_connection", limits.max_requests_per_connection);
  add("max_inflight_bytes", limits.max_inflight_bytes);
  add("max_pipelined", limits.max_pipelined);
  add("max_pending_output", limits.max_pending_output);
  add("header_timeout_s", limits.header_timeout_s);
  add("request_timeout_s", limits.request_timeout_s);
  add("idle_timeout_s", limits.idle_timeout_s);
  add("write_timeout_s", limits.write_timeout_s);
  return json.end();
}

// Two for all targets, or a pair for each.
void put_classes(const std::vector<std::string>& classes, Json& json) {
  if (classes.size() <= 2) return json.put(classes);
  json.raw("[");
  for (size_t i = 0; i < classes.size(); i += 2) {
    if (i > 0) json.raw(",");
    json.put(classes, i, 2);
  }
  json.raw("]");
}

}  // namespace

std::string metadata_json(const ServedModel& model, const Limits& limits) {
  const ModelFacts& facts = model.facts();
  const bool logistic = facts.kind == ModelKind::logistic;
  Json json;
  json.key("name");
  json.put(facts.name);
  json.key("version");
  json.put(facts.version);
  json.key("sha256");
  json.put(model.sha256());
  json.key("model");
  json.put(std::string(logistic ? "logistic" : "ridge"));
  json.key("n_features");
  json.put(model.n_features());
  json.key("features");
  json.put(facts.features);
  json.key("n_targets");
  json.put(model.n_targets());
  json.key("targets");
  json.put(facts.targets);
  json.key("classes");
  put_classes(facts.classes, json);
  json.key("positive");
  facts.positive.size() == 1 ? json.put(facts.positive[0]) : json.put(facts.positive);
  json.key("lambda");
  json.put(facts.lambda);
  json.key("threshold");
  logistic ? json.put(facts.threshold) : json.null();
  json.key("prior");
  json.put(facts.prior);
  json.key("package_version");
  json.put(facts.package_version);
  json.key("limits");
  json.raw(limits_json(limits));
  return json.end();
}

}  // namespace voxridge
