#include "byte_sink.h"

#include <zlib.h>

#include <algorithm>

#include "error.h"

namespace voxridge {

namespace {

constexpr int64_t kOutput = 256 * 1024;
constexpr int kGzip = 15 + 16;
constexpr int kMemory = 8;  // zlib's default

}  // namespace

ByteSink::ByteSink(const std::string& path, int level) : file_(path) {
  if (level == 0) return;
  deflater_ = std::make_unique<z_stream_s>();
  output_.resize(kOutput);
  if (deflateInit2(deflater_.get(), level, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) == Z_OK) return;
  deflater_.reset();
  throw Error(ErrorCode::memory, "zlib has not enough memory");
}

ByteSink::~ByteSink() {
  if (deflater_) deflateEnd(deflater_.get());
}

void ByteSink::write(const void* from, int64_t bytes) {
  deflater_ ? deflate_some(from, bytes, Z_NO_FLUSH) : file_.write(from, bytes);
}

void ByteSink::deflate_some(const void* from, int64_t bytes, int flush) {
  z_stream_s& stream = *deflater_;
  stream.next_in = static_cast<Bytef*>(const_cast<void*>(from));
  while (true) {
    const uInt piece = static_cast<uInt>(std::min<int64_t>(bytes, 1 << 30));
    stream.avail_in = piece;
    bytes -= piece;
    int status = Z_OK;
    do {
      stream.next_out = output_.data();
      stream.avail_out = static_cast<uInt>(kOutput);
      status = deflate(&stream, bytes == 0 ? flush : Z_NO_FLUSH);
      if (status == Z_STREAM_ERROR) throw Error(ErrorCode::internal, "zlib refused its stream");
      file_.write(output_.data(), kOutput - stream.avail_out);
    } while (stream.avail_out == 0 && status != Z_STREAM_END);
    if (bytes == 0) return;
  }
}

void ByteSink::commit() {
  if (deflater_) deflate_some("", 0, Z_FINISH);
  file_.commit();
}

}  // namespace voxridge
