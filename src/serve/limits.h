// What one client, and all of them together, may ask of a scoring server.
#pragma once

#include <algorithm>
#include <cstdint>

namespace voxridge {

struct Limits {
  int64_t max_rows = 512;
  int64_t max_body_bytes = int64_t{1} << 20;
  int64_t max_header_bytes = 8192;  // request line and fields
  int64_t max_uri_bytes = 2048;
  int64_t max_connections = 1024;
  int64_t max_requests_per_connection = 100000;
  int64_t max_inflight_bytes = int64_t{64} << 20;  // received and not answered yet, in the whole server
  int64_t max_pipelined = 64;                      // requests answered before the next write
  int64_t max_pending_output = int64_t{1} << 20;   // bytes a connection has not taken: its requests wait
  double header_timeout_s = 10;                    // from the first byte, or from the connection on
  double request_timeout_s = 30;                   // for head and body together
  double idle_timeout_s = 30;                      // between requests
  double write_timeout_s = 10;                     // without a byte taken
};

// The most bytes that one row of p numbers takes in JSON.
inline int64_t json_row_bytes(int64_t n_features) {
  return 26 * n_features + 64;
}

// Room for four rows at least, but no more than 64 MiB.
inline int64_t default_body_bytes(int64_t n_features) {
  return std::max(int64_t{1} << 20, std::min(4 * json_row_bytes(n_features), int64_t{64} << 20));
}

}  // namespace voxridge
