#include "part_file.h"

#include <fcntl.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>

#ifdef _WIN32
#include <io.h>
#include <process.h>
#include <windows.h>
#else
#include <unistd.h>
#endif

#include "byte_source.h"
#include "error.h"

namespace voxridge {

namespace {

constexpr size_t kLongestName = 255;   // that file systems allow, in bytes
constexpr size_t kLongestShown = 200;  // of it, in the name of the part

// .<name>.<process>.<number>.part beside the target: hidden, and its own for every writer.
std::string part_of(const std::string& path) {
  static std::atomic<uint64_t> count{0};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::string name = file_name(path);
  const std::string shown = name.size() <= kLongestShown ? name : "image";
  return path.substr(0, path.size() - name.size()) + "." + shown + "." + std::to_string(getpid()) + "." +
         std::to_string(static_cast<uint64_t>(now) + count++) + ".part";
}

std::FILE* open_new(const std::string& path) {
#ifdef _WIN32
  return std::fopen(path.c_str(), "wbx");
#else
  const int id = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return id < 0 ? nullptr : fdopen(id, "wb");
#endif
}

bool to_disk(std::FILE* file) {
#ifdef _WIN32
  return std::fflush(file) == 0 && _commit(_fileno(file)) == 0;
#else
  return std::fflush(file) == 0 && fsync(fileno(file)) == 0;
#endif
}

bool replace(const std::string& from, const std::string& to) {
#ifdef _WIN32
  return MoveFileExA(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING) != 0;
#else
  return std::rename(from.c_str(), to.c_str()) == 0;
#endif
}

int move_to(std::FILE* file, int64_t position) {
#ifdef _WIN32
  return _fseeki64(file, position, SEEK_SET);
#else
  return fseeko(file, static_cast<off_t>(position), SEEK_SET);
#endif
}

}  // namespace

PartFile::PartFile(const std::string& path) : path_(path), part_(part_of(path)), file_(open_new(part_), std::fclose) {
  if (!file_) {
    part_.clear();
    fail("opened");
  }
  if (file_name(path).size() > kLongestName) {  // known now, not after hours of writing
    file_.reset();
    std::remove(part_.c_str());
    errno = ENAMETOOLONG;
    fail("opened");
  }
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);
}

PartFile::~PartFile() {
  file_.reset();
  if (!part_.empty()) std::remove(part_.c_str());
}

void PartFile::fail(const std::string& what) const {
  throw Error(ErrorCode::file, file_name(path_) + " cannot be " + what + ": " + std::strerror(errno), "path");
}

void PartFile::write(const void* from, int64_t bytes) {
  if (bytes == 0) return;  // `from` may be null
  if (std::fwrite(from, 1, static_cast<size_t>(bytes), file_.get()) != static_cast<size_t>(bytes)) fail("written");
}

void PartFile::write_at(int64_t position, const void* from, int64_t bytes) {
  if (move_to(file_.get(), position) != 0) fail("written");
  write(from, bytes);
}

void PartFile::commit() {
  if (!to_disk(file_.get())) fail("written");
  std::FILE* const file = file_.release();
  if (std::fclose(file) != 0) fail("written");
  if (!replace(part_, path_)) fail("put in its place");
  part_.clear();
}

}  // namespace voxridge
