#include "cuda_sessions.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "control.h"
#include "cuda_plugin.h"
#include "error.h"

namespace voxridge {

namespace {

constexpr size_t kMostSessions = 4;

class ProcessSessions final : public CudaSessions {
 public:
  explicit ProcessSessions(const voxridge_cuda_table& table) : table_(table) {}

  // Never closed: at the end of the process the driver may be gone before us.
  CudaLease lease() override {
    CudaSession& session = sessions_[std::hash<std::thread::id>()(std::this_thread::get_id()) % kMostSessions];
    open(session);
    return CudaLease(table_, session);
  }
  CudaLease lease(CudaSession& session) override { return CudaLease(table_, session); }

 private:
  void open(CudaSession& session) {
    const std::lock_guard<std::mutex> guard(session.lock);
    if (session.handle != nullptr) return;
    char text[512] = "";
    const int code = table_.open(&session.handle, text, sizeof text);
    check_cuda(code, text);
  }

  const voxridge_cuda_table& table_;
  std::array<CudaSession, kMostSessions> sessions_;
};

class LimitedMemory final : public CudaMemory, public std::enable_shared_from_this<LimitedMemory> {
 public:
  explicit LimitedMemory(double limit_bytes)
      : sessions_(cuda_sessions()), limit_(fitting(limit_bytes, 1, 0, INT64_MAX)) {}

  std::shared_ptr<void> allocate(size_t bytes) override {
    const int64_t size = static_cast<int64_t>(bytes);
    if (used_.fetch_add(size) + size > limit_) {
      used_ -= size;
      check_cuda(VOXRIDGE_NO_MEMORY, "the work needs more than the memory it may take on the GPU");
    }
    void* data = nullptr;
    CudaSession* session = nullptr;
    try {
      const CudaLease lease = sessions_->lease();
      session = &lease.session();
      lease.call(&voxridge_cuda_table::allocate, std::max<size_t>(bytes, 1), &data);
    } catch (...) {
      used_ -= size;
      throw;
    }
    const auto self = shared_from_this();
    return std::shared_ptr<void>(data, [self, session, size](void* memory) {
      self->sessions_->lease(*session).release(memory);
      self->used_ -= size;
    });
  }

 private:
  const std::shared_ptr<CudaSessions> sessions_;
  const int64_t limit_;
  std::atomic<int64_t> used_{0};
};

}  // namespace

void CudaLease::check(int code) const {
  if (code != VOXRIDGE_OK) check_cuda(code, table_.text(session_.handle));
}

void CudaLease::release(void* memory) const {
  table_.release(session_.handle, memory);
}

void* CudaLease::staging(size_t bytes) const {
  if (session_.staging_bytes < bytes) {
    if (session_.staging != nullptr) table_.release_host(session_.handle, session_.staging);
    session_.staging = nullptr;
    session_.staging_bytes = 0;
    check(table_.allocate_host(session_.handle, bytes, &session_.staging));
    session_.staging_bytes = bytes;
  }
  return session_.staging;
}

std::shared_ptr<CudaSessions> cuda_sessions() {
  std::string why_not;
  const voxridge_cuda_table* const table = cuda_table(&why_not);
  if (table == nullptr) throw Error(ErrorCode::device_unavailable, why_not);
  static const auto sessions = std::make_shared<ProcessSessions>(*table);
  return sessions;
}

std::shared_ptr<CudaMemory> make_cuda_memory(double limit_bytes) {
  return std::make_shared<LimitedMemory>(limit_bytes);
}

}  // namespace voxridge
