// The bytes of a file, plain or gzip, in one forward stream. Which of the two it is, is told from the first two bytes
// (1f 8b), not from the name. Members of a gzip file that follow each other are one stream; zlib checks the length and
// the CRC-32 of each (RFC 1952). Memory: one file handle, two small buffers.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "control.h"

struct z_stream_s;

namespace voxridge {

class ByteSource {
 public:
  explicit ByteSource(const std::string& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  bool compressed() const { return inflater_ != nullptr; }
  int64_t position() const { return position_; }
  int64_t size() const { return size_; }  // of the file on disk

  // Fewer bytes than asked only where the data end.
  int64_t read(void* to, int64_t bytes);

  // Goes forward to `position`; false where the data end before it.
  bool skip_to(int64_t position, const Control& control);

  // To the end of a gzip stream, so that its checksum has been compared. Nothing to do for a plain file.
  void finish(const Control& control);

 private:
  int64_t read_plain(void* to, int64_t bytes);
  int64_t inflate_some(void* to, int64_t bytes);
  bool refill();
  bool next_member();

  std::string name_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::unique_ptr<z_stream_s> inflater_;
  std::vector<unsigned char> input_, discarded_;
  int64_t size_ = 0, position_ = 0;
  bool ended_ = false;
};

// The last part of a path, for messages.
std::string file_name(const std::string& path);

bool file_exists(const std::string& path);

// Size in bytes, and the time of the last change in seconds since 1970; -1 and 0 where there is no such regular file.
struct FileState {
  int64_t size = -1;
  double modified = 0;
};
FileState file_state(const std::string& path);

}  // namespace voxridge
