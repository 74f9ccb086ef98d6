// What a server answers at: paths, methods and bodies.
#pragma once

#include <string_view>

#include "http_head.h"

namespace voxridge {

enum class Endpoint { other, livez, readyz, healthz, predict, predict_binary, metadata, metrics };

constexpr int kEndpoints = static_cast<int>(Endpoint::metrics) + 1;

const char* name_of(Endpoint endpoint);  // as it stands in the metrics
Endpoint endpoint_at(std::string_view path);

inline bool is_scoring(Endpoint endpoint) {
  return endpoint == Endpoint::predict || endpoint == Endpoint::predict_binary;
}
inline bool needs_token(Endpoint endpoint) {
  return is_scoring(endpoint) || endpoint == Endpoint::metadata || endpoint == Endpoint::metrics;
}
inline bool takes(Endpoint endpoint, Method method) {
  return is_scoring(endpoint) ? method == Method::post : method == Method::get || method == Method::head;
}
inline const char* allowed_methods(Endpoint endpoint) {
  return is_scoring(endpoint) ? "POST" : "GET, HEAD";
}
inline const char* media_type(Endpoint endpoint) {
  return endpoint == Endpoint::predict_binary ? "application/octet-stream" : "application/json";
}
// The one query that a scoring path of a logistic fit takes: logits beside, or instead of, probabilities.
inline const char* logits_query(Endpoint endpoint) {
  return endpoint == Endpoint::predict_binary ? "output=logits" : "logits=true";
}

}  // namespace voxridge
