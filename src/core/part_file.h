// A file that a reader sees whole or not at all: bytes go to a file of another name in the same folder, which takes the
// place of the target when all of it is on the disk.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace voxridge {

class PartFile {
 public:
  explicit PartFile(const std::string& path);
  ~PartFile();  // takes away what was not committed
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  void write(const void* from, int64_t bytes);  // where the last one ended
  void write_at(int64_t position, const void* from, int64_t bytes);
  void commit();

 private:
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_, part_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace voxridge
