#include "byte_source.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "error.h"

namespace voxridge {

namespace {

constexpr int64_t kInput = 64 * 1024, kDiscarded = 256 * 1024;
constexpr int kGzip = 15 + 16;  // zlib's word for a gzip stream with the largest window

[[noreturn]] void fail(const std::string& text, const std::string& where = "", const std::string& found = "") {
  throw Error(ErrorCode::file, text, where, found);
}

bool seek(std::FILE* file, int64_t position) {
#ifdef _WIN32
  return _fseeki64(file, position, SEEK_SET) == 0;
#else
  return fseeko(file, static_cast<off_t>(position), SEEK_SET) == 0;
#endif
}

#ifdef _WIN32
using FileInfo = struct _stat64;
bool look_up(const std::string& path, FileInfo* info) {
  return _stat64(path.c_str(), info) == 0;
}
#else
using FileInfo = struct stat;
bool look_up(const std::string& path, FileInfo* info) {
  return stat(path.c_str(), info) == 0;
}
#endif

// Opening a pipe would wait for whoever writes into it.
int64_t size_of(const std::string& path, const std::string& name) {
  FileInfo info;
  if (!look_up(path, &info)) fail(name + " cannot be opened: " + std::strerror(errno), "path");
  if ((info.st_mode & S_IFMT) == S_IFDIR) fail(name + " is a folder", "path");
  if ((info.st_mode & S_IFMT) != S_IFREG) fail(name + " is not a regular file", "path");
  if (info.st_size == 0) fail(name + " is empty", "size", "0");
  return static_cast<int64_t>(info.st_size);
}

}  // namespace

std::string file_name(const std::string& path) {
#ifdef _WIN32
  const size_t cut = path.find_last_of("/\\");
#else
  const size_t cut = path.find_last_of('/');
#endif
  return cut == std::string::npos ? path : path.substr(cut + 1);
}

bool file_exists(const std::string& path) {
  FileInfo info;
  return look_up(path, &info);
}

FileState file_state(const std::string& path) {
  FileInfo info;
  if (!look_up(path, &info) || (info.st_mode & S_IFMT) != S_IFREG) return {};
#if defined(_WIN32)
  const double part = 0;
#elif defined(__APPLE__)
  const double part = 1e-9 * static_cast<double>(info.st_mtimespec.tv_nsec);
#else
  const double part = 1e-9 * static_cast<double>(info.st_mtim.tv_nsec);
#endif
  return {static_cast<int64_t>(info.st_size), static_cast<double>(info.st_mtime) + part};
}

ByteSource::ByteSource(const std::string& path) : name_(file_name(path)), file_(nullptr, std::fclose) {
  size_ = size_of(path, name_);
  file_.reset(std::fopen(path.c_str(), "rb"));
  if (!file_) fail(name_ + " cannot be opened: " + std::strerror(errno), "path");
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // whole blocks are read
  unsigned char first[2] = {};
  const size_t got = std::fread(first, 1, 2, file_.get());
  if (!seek(file_.get(), 0)) fail(name_ + " cannot be read: " + std::strerror(errno), "path");
  if (got < 2 || first[0] != 0x1f || first[1] != 0x8b) return;
  inflater_ = std::make_unique<z_stream_s>();
  input_.resize(kInput);
  if (inflateInit2(inflater_.get(), kGzip) != Z_OK) throw Error(ErrorCode::memory, "zlib has not enough memory");
}

ByteSource::~ByteSource() {
  if (inflater_) inflateEnd(inflater_.get());
}

int64_t ByteSource::read(void* to, int64_t bytes) {
  const int64_t got = compressed() ? inflate_some(to, bytes) : read_plain(to, bytes);
  position_ += got;
  return got;
}

int64_t ByteSource::read_plain(void* to, int64_t bytes) {
  const size_t got = std::fread(to, 1, static_cast<size_t>(bytes), file_.get());
  if (std::ferror(file_.get())) fail(name_ + " cannot be read: " + std::strerror(errno), "path");
  return static_cast<int64_t>(got);
}

bool ByteSource::refill() {
  const int64_t got = read_plain(input_.data(), kInput);
  inflater_->next_in = input_.data();
  inflater_->avail_in = static_cast<uInt>(got);
  return got > 0;
}

int64_t ByteSource::inflate_some(void* to, int64_t bytes) {
  int64_t got = 0;
  while (got < bytes && !ended_) {
    if (inflater_->avail_in == 0 && !refill()) {
      fail(name_ + " is cut off: its gzip stream has no end", "gzip", "truncated");
    }
    const uInt room = static_cast<uInt>(std::min<int64_t>(bytes - got, 1 << 30));
    inflater_->next_out = static_cast<Bytef*>(to) + got;
    inflater_->avail_out = room;
    const int status = inflate(inflater_.get(), Z_NO_FLUSH);
    got += room - inflater_->avail_out;
    if (status == Z_STREAM_END) {
      ended_ = !next_member();
    } else if (status == Z_MEM_ERROR) {
      throw Error(ErrorCode::memory, "zlib has not enough memory");
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      const std::string why = inflater_->msg ? inflater_->msg : "invalid data";
      fail(name_ + " is damaged: its gzip stream is broken (" + why + ")", "gzip", why);
    }
  }
  return got;
}

// Is there another gzip member after the one that has just ended? Other bytes there are ignored.
bool ByteSource::next_member() {
  unsigned char header[2];
  for (unsigned char& byte : header) {
    if (inflater_->avail_in == 0 && !refill()) return false;
    byte = *inflater_->next_in++;
    --inflater_->avail_in;
  }
  if (header[0] != 0x1f || header[1] != 0x8b) return false;
  if (inflateReset(inflater_.get()) != Z_OK) return false;
  // The two bytes may have come from different blocks: they are fed again from here.
  z_stream_s& stream = *inflater_;
  Bytef* const rest = stream.next_in;
  const uInt left = stream.avail_in;
  unsigned char none;
  stream.next_in = header;
  stream.avail_in = 2;
  stream.next_out = &none;
  stream.avail_out = 0;
  inflate(&stream, Z_NO_FLUSH);
  stream.next_in = rest;
  stream.avail_in = left;
  return true;
}

bool ByteSource::skip_to(int64_t position, const Control& control) {
  if (!compressed()) {
    if (position != position_ && !seek(file_.get(), position)) return false;
    position_ = position;
    return position <= size_;
  }
  if (position < position_) throw Error(ErrorCode::internal, "a gzip stream is read forward only");
  discarded_.resize(kDiscarded);
  while (position_ < position) {
    control.check_stop();
    if (read(discarded_.data(), std::min(kDiscarded, position - position_)) == 0) return false;
  }
  return true;
}

void ByteSource::finish(const Control& control) {
  if (!compressed()) return;
  discarded_.resize(kDiscarded);
  while (!ended_) {
    control.check_stop();
    read(discarded_.data(), kDiscarded);
  }
}

}  // namespace voxridge
