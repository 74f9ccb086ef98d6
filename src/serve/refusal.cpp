#include "refusal.h"

namespace voxridge {

const RefusalText& text_of(Refusal refusal) {
  // in the order of Refusal
  static const RefusalText kTexts[kRefusals] = {
      {200, "", "", false},
      {400, "bad_request", "The request is not well-formed HTTP/1.1.", true},
      {400, "bad_length", "The length of the body is not given in one valid way.", true},
      {501, "unsupported_transfer", "The only Transfer-Encoding understood is `chunked`.", true},
      {400, "unexpected_body", "A GET or HEAD request has no body here.", true},
      {414, "uri_too_long", "The request target is longer than the limit `max_uri_bytes`.", true},
      {431, "header_too_large", "The request head is larger than the limit `max_header_bytes`.", true},
      {400, "bad_host", "The request must name one valid host.", true},
      {421, "wrong_host", "This server does not answer for the host that the request names.", false},
      {401, "unauthorized", "The request needs the bearer token of this server.", false},
      {404, "not_found", "There is nothing at this path.", false},
      {405, "method_not_allowed", "This path does not take this method.", false},
      {400, "bad_query", "This path does not take this query.", false},
      {415, "unsupported_encoding", "The body must not be compressed.", false},
      {415, "unsupported_media_type", "This path takes another Content-Type.", false},
      {411, "length_required", "The request needs a Content-Length, or `chunked` transfer.", true},
      {413, "body_too_large", "The body is larger than the limit `max_body_bytes`.", true},
      {417, "expectation_failed", "The only expectation understood is `100-continue`.", true},
      {503, "overloaded", "The server holds as much as it may; try again later.", true},
      {408, "timeout", "The request took too long to arrive.", true},
      {500, "internal", "The server failed on this request.", true}};
  return kTexts[static_cast<int>(refusal)];
}

}  // namespace voxridge
