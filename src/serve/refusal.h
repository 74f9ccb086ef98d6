// Why a request is refused before its body is looked at, and what its sender is told: fixed sentences, nothing of what
// was sent. (What can be wrong within a body: core/body_fault.h.)
#pragma once

namespace voxridge {

enum class Refusal {
  none,
  bad_request,  // not HTTP/1.1 as RFC 9112 has it
  bad_length,   // lengths that contradict each other, or are none
  unsupported_transfer,
  unexpected_body,
  uri_too_long,
  header_too_large,
  bad_host,
  wrong_host,
  unauthorized,
  not_found,
  method_not_allowed,
  bad_query,
  unsupported_encoding,
  unsupported_media_type,
  length_required,
  body_too_large,
  expectation_failed,
  overloaded,
  timeout,
  internal
};

constexpr int kRefusals = static_cast<int>(Refusal::internal) + 1;

struct RefusalText {
  int status;
  const char* word;
  const char* message;
  bool closes;  // where the next request begins is not known, or not worth reading up to
};

const RefusalText& text_of(Refusal refusal);

}  // namespace voxridge
