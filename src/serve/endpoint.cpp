#include "endpoint.h"

namespace voxridge {

namespace {

struct Place {
  Endpoint endpoint;
  const char* name;
  const char* path;
};

constexpr Place kPlaces[kEndpoints] = {{Endpoint::other, "other", ""},
                                       {Endpoint::livez, "livez", "/livez"},
                                       {Endpoint::readyz, "readyz", "/readyz"},
                                       {Endpoint::healthz, "healthz", "/healthz"},
                                       {Endpoint::predict, "predict", "/v1/predict"},
                                       {Endpoint::predict_binary, "predict_binary", "/v1/predict_binary"},
                                       {Endpoint::metadata, "metadata", "/v1/metadata"},
                                       {Endpoint::metrics, "metrics", "/metrics"}};

}  // namespace

const char* name_of(Endpoint endpoint) {
  return kPlaces[static_cast<int>(endpoint)].name;
}

Endpoint endpoint_at(std::string_view path) {
  for (const Place& place : kPlaces) {
    if (path == place.path && !path.empty()) return place.endpoint;
  }
  return Endpoint::other;
}

}  // namespace voxridge
