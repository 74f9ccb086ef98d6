#include "admission.h"

#include "http_fields.h"

namespace voxridge {

namespace {

Refusal check_scoring(const HttpHead& head, const Limits& limits, Endpoint endpoint) {
  if (head.encoded) return Refusal::unsupported_encoding;
  if (!is_media_type(head.content_type, media_type(endpoint))) return Refusal::unsupported_media_type;
  if (!head.chunked && !head.has_length) return Refusal::length_required;
  if (head.length > static_cast<uint64_t>(limits.max_body_bytes)) return Refusal::body_too_large;
  return Refusal::none;
}

}  // namespace

Admission admit(const HttpHead& head, const Service& service, const ServedModel& model) {
  Admission admission;
  const auto refuse = [&](Refusal why) {
    admission.refusal = why;
    return admission;
  };
  if (head.has_host && !service.allows_host(head.host)) return refuse(Refusal::wrong_host);
  admission.endpoint = endpoint_at(head.path);
  const Endpoint endpoint = admission.endpoint;
  const std::string& token = service.options.token;
  // An unknown path below /v1/ tells nothing either.
  const bool secret = needs_token(endpoint) || head.path.substr(0, 4) == "/v1/";
  if (secret && !token.empty() && !is_bearer(head.authorization, token)) return refuse(Refusal::unauthorized);
  if (endpoint == Endpoint::other) return refuse(Refusal::not_found);
  if (!takes(endpoint, head.method)) return refuse(Refusal::method_not_allowed);
  if (head.has_query) {
    admission.logits =
        is_scoring(endpoint) && model.facts().kind == ModelKind::logistic && head.query == logits_query(endpoint);
    if (!admission.logits) return refuse(Refusal::bad_query);
  }
  if (is_scoring(endpoint)) {
    const Refusal wrong = check_scoring(head, service.options.limits, endpoint);
    if (wrong != Refusal::none) return refuse(wrong);
  }
  if (!head.expect.empty()) {
    if (!same_token(head.expect, "100-continue")) return refuse(Refusal::expectation_failed);
    admission.expects_continue = true;
  }
  return admission;
}

}  // namespace voxridge
