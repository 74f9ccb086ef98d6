// Writes a file, plain or gzip, so that a reader sees the old file or the new one, never half: bytes go to a file of
// another name in the same folder, which takes the place of the target when all of it is on the disk. Equal bytes give
// equal files: the gzip header has neither name nor time (RFC 1952).
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

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
  void write_plain(const void* from, int64_t bytes);
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_, part_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::unique_ptr<z_stream_s> deflater_;
  std::vector<unsigned char> output_;
};

}  // namespace voxridge
