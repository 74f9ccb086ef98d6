// How an operation of the plugin went, and what the whole process must remember about the device.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <mutex>

#include "abi.h"

namespace voxridge_plugin {

// `where` and `what` are strings that outlive the call.
struct Outcome {
  int code = VOXRIDGE_OK;
  const char* where = "";
  const char* what = "";
  bool ok() const { return code == VOXRIDGE_OK; }
};

#define VOXRIDGE_TRY(call)         \
  do {                             \
    const Outcome tried = (call);  \
    if (!tried.ok()) return tried; \
  } while (false)

// Room for one sentence.
constexpr int kTextSize = 512;

// Copies as much of a text as fits.
inline void put_text(char* to, size_t size, const char* from) {
  if (size == 0) return;
  size_t length = 0;
  while (length + 1 < size && from[length] != '\0') ++length;
  std::memcpy(to, from, length);
  to[length] = '\0';
}

// Shared by all sessions: the process that first used the device (the driver does not survive a fork), and the failure
// after which the device answers nothing any more.
class Process {
 public:
  // Says in `text` why the device must not be used; VOXRIDGE_OK where it may.
  int refuses(char (&text)[kTextSize]) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (user_ != 0 && user_ != getpid()) {
      put_text(text, kTextSize, "this process was forked from one that had used the device; start a new one instead");
      return VOXRIDGE_UNAVAILABLE;
    }
    if (dead_) put_text(text, kTextSize, text_);
    return dead_ ? VOXRIDGE_FAILED : VOXRIDGE_OK;
  }

  // Called when the driver has been woken.
  void claim() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (user_ == 0) user_ = getpid();
  }

  // Was the device first used by another process?
  bool forked() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return user_ != 0 && user_ != getpid();
  }

  void fail(const char* text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!dead_) put_text(text_, kTextSize, text);
    dead_ = true;
  }

 private:
  std::mutex mutex_;
  pid_t user_ = 0;
  bool dead_ = false;
  char text_[kTextSize] = "";
};

inline Process& process() {
  static Process the_one;
  return the_one;
}

}  // namespace voxridge_plugin
