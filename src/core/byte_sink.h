// Writes a file, plain or gzip, so that a reader sees the old file or the new one, never half. Equal bytes give equal
// files: the gzip header has neither name nor time (RFC 1952).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "part_file.h"

struct z_stream_s;

namespace voxridge {

class ByteSink {
 public:
  // `level`: 1 to 9 for gzip, 0 for a plain file.
  ByteSink(const std::string& path, int level);
  ~ByteSink();  // takes away what was not committed
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;

  void write(const void* from, int64_t bytes);
  void commit();

 private:
  void deflate_some(const void* from, int64_t bytes, int flush);

  PartFile file_;
  std::unique_ptr<z_stream_s> deflater_;
  std::vector<unsigned char> output_;
};

}  // namespace voxridge
