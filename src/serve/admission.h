// Whether a request is let in, by its head alone. The first check that fails decides, in this order: host, token, path,
// method, query, media type, length, expectation.
#pragma once

#include "endpoint.h"
#include "http_head.h"
#include "service.h"

namespace voxridge {

struct Admission {
  Endpoint endpoint = Endpoint::other;
  Refusal refusal = Refusal::none;
  bool logits = false;
  bool expects_continue = false;
};

Admission admit(const HttpHead& head, const Service& service, const ServedModel& model);

}  // namespace voxridge
