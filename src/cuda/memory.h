// Memory of a session: blocks of the device and page-locked blocks of the host, and the stretches of both through which
// the small vectors of a call travel.
#pragma once

#include <cstddef>
#include <vector>

#include "outcome.h"

namespace voxridge_plugin {

// Blocks handed out and taken back; the latest few are kept for the next request, since the runtime's own allocation
// waits for the device. Reuse needs no waiting: the work of a session is in order.
template <class Runtime, Outcome (Runtime::*get)(size_t, void**), void (Runtime::*give_back)(void*)>
class Pool {
 public:
  explicit Pool(Runtime& runtime) : runtime_(runtime) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    free_kept();
    for (const Block& block : used_) (runtime_.*give_back)(block.data);
  }

  // Null for 0 bytes. Where memory is short, what was kept is given back first.
  Outcome allocate(size_t bytes, void** out) {
    *out = nullptr;
    if (bytes == 0) return {};
    used_.reserve(used_.size() + 1);
    kept_.reserve(kKept + 1);
    Block block = take_kept(bytes);
    if (block.data == nullptr) {
      block.bytes = bytes;
      Outcome outcome = (runtime_.*get)(bytes, &block.data);
      if (outcome.code == VOXRIDGE_NO_MEMORY && !kept_.empty()) {
        free_kept();
        outcome = (runtime_.*get)(bytes, &block.data);
      }
      if (!outcome.ok()) return outcome;
    }
    used_.push_back(block);
    *out = block.data;
    return {};
  }

  // Pointers that are not from here are ignored.
  void release(void* data) {
    for (size_t i = 0; i < used_.size(); ++i) {
      if (used_[i].data != data) continue;
      kept_.push_back(used_[i]);
      used_.erase(used_.begin() + static_cast<std::ptrdiff_t>(i));
      if (kept_.size() > kKept) {
        (runtime_.*give_back)(kept_.front().data);
        kept_.erase(kept_.begin());
      }
      return;
    }
  }

 private:
  struct Block {
    void* data = nullptr;
    size_t bytes = 0;
  };
  static constexpr size_t kKept = 8;

  // The smallest kept block that has room and wastes less than half of itself.
  Block take_kept(size_t bytes) {
    size_t best = kept_.size();
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i].bytes < bytes || kept_[i].bytes / 2 > bytes) continue;
      if (best == kept_.size() || kept_[i].bytes < kept_[best].bytes) best = i;
    }
    if (best == kept_.size()) return {};
    const Block block = kept_[best];
    kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(best));
    return block;
  }

  void free_kept() {
    for (const Block& block : kept_) (runtime_.*give_back)(block.data);
    kept_.clear();
  }

  Runtime& runtime_;
  std::vector<Block> used_, kept_;
};

template <class Runtime>
using DevicePool = Pool<Runtime, &Runtime::allocate, &Runtime::release>;
template <class Runtime>
using HostPool = Pool<Runtime, &Runtime::allocate_host, &Runtime::release_host>;

// The same place in page-locked memory of the host and in memory of the device.
struct Stretch {
  char* host = nullptr;
  char* dev = nullptr;
};

// Stretches one after another out of two blocks of one size. At the end it starts again, once the device has read what
// was sent before.
template <class Runtime>
class Scratch {
 public:
  Scratch(Runtime& runtime, DevicePool<Runtime>& device, HostPool<Runtime>& host)
      : runtime_(runtime), device_(device), host_(host) {}

  Outcome take(size_t bytes, Stretch* out) {
    if (bytes > capacity_) VOXRIDGE_TRY(grow(bytes));
    if (bytes > capacity_ - used_) {
      VOXRIDGE_TRY(runtime_.synchronize());
      used_ = 0;
    }
    *out = {blocks_.host + used_, blocks_.dev + used_};
    used_ += bytes;
    return {};
  }

 private:
  static constexpr size_t kSmallest = size_t{1} << 20;

  Outcome grow(size_t bytes) {
    VOXRIDGE_TRY(runtime_.synchronize());
    host_.release(blocks_.host);
    device_.release(blocks_.dev);
    blocks_ = {};
    capacity_ = used_ = 0;
    const size_t capacity = bytes < kSmallest ? kSmallest : bytes + bytes / 2;
    void *host = nullptr, *dev = nullptr;
    VOXRIDGE_TRY(host_.allocate(capacity, &host));
    const Outcome outcome = device_.allocate(capacity, &dev);
    if (!outcome.ok()) {
      host_.release(host);
      return outcome;
    }
    blocks_ = {static_cast<char*>(host), static_cast<char*>(dev)};
    capacity_ = capacity;
    return {};
  }

  Runtime& runtime_;
  DevicePool<Runtime>& device_;
  HostPool<Runtime>& host_;
  Stretch blocks_;
  size_t capacity_ = 0, used_ = 0;
};

}  // namespace voxridge_plugin
