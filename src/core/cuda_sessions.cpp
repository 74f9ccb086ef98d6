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
  LimitedMemory(double limit_bytes, double process_bytes)
      : limit_(fitting(limit_bytes, 1, 0, INT64_MAX)), process_limit_(fitting(process_bytes, 1, 0, INT64_MAX)) {}

  std::shared_ptr<void> allocate(size_t bytes) override {
    const std::shared_ptr<void> counted = claim(bytes);
    const std::shared_ptr<CudaSessions> sessions = cuda_sessions();
    void* data = nullptr;
    CudaSession* session = nullptr;
    {
      const CudaLease lease = sessions->lease();
      lease.call(&voxridge_cuda_table::allocate, std::max<size_t>(bytes, 1), &data);
      session = &lease.session();
    }
    return std::shared_ptr<void>(
        data, [counted, sessions, session](void* memory) { sessions->lease(*session).release(memory); });
  }

  std::shared_ptr<void> claim(size_t bytes) override {
    const int64_t size = static_cast<int64_t>(bytes);
    const bool too_much = used_.fetch_add(size) + size > limit_;
    if ((of_process().fetch_add(size) + size > process_limit_) || too_much) {
      give_back(size);
      check_cuda(VOXRIDGE_NO_MEMORY, "the work needs more than the memory it may take on the GPU");
    }
    const auto self = shared_from_this();
    return std::shared_ptr<void>(this, [self, size](void*) { self->give_back(size); });
  }

 private:
  static std::atomic<int64_t>& of_process() {
    static std::atomic<int64_t> bytes{0};
    return bytes;
  }
  void give_back(int64_t size) {
    used_ -= size;
    of_process() -= size;
  }

  const int64_t limit_, process_limit_;
  std::atomic<int64_t> used_{0};
};

}  // namespace

void CudaLease::check(int code) const {
  if (code != VOXRIDGE_OK) check_cuda(code, table_.text(session_.handle));
}

void CudaLease::release(void* memory) const {
  table_.release(session_.handle, memory);
}

int CudaLease::next_staging(size_t bytes) const {
  const int slot = session_.next;
  session_.next = (slot + 1) % VOXRIDGE_SLOTS;
  call(&voxridge_cuda_table::wait, slot);
  CudaStaging& staging = session_.staging[slot];
  if (staging.bytes < bytes) {
    if (staging.data != nullptr) table_.release_host(session_.handle, staging.data);
    staging = {};
    call(&voxridge_cuda_table::allocate_host, bytes, &staging.data);
    staging.bytes = bytes;
  }
  return slot;
}

std::shared_ptr<CudaSessions> cuda_sessions() {
  std::string why_not;
  const voxridge_cuda_table* const table = cuda_table(&why_not);
  if (table == nullptr) throw Error(ErrorCode::device_unavailable, why_not);
  static const auto sessions = std::make_shared<ProcessSessions>(*table);
  return sessions;
}

std::shared_ptr<CudaMemory> make_cuda_memory(double limit_bytes, double process_bytes) {
  return std::make_shared<LimitedMemory>(limit_bytes, process_bytes);
}

}  // namespace voxridge
