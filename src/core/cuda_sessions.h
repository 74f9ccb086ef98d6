// Sessions of the plugin shared by threads, and memory of the GPU that is counted against a limit.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "../cuda/abi.h"

namespace voxridge {

constexpr int64_t kStagingBytes = 16 * 1024 * 1024;  // of page-locked memory per session

// A session, and page-locked memory for copies to and from it.
struct CudaSession {
  voxridge_cuda_session* handle = nullptr;
  void* staging = nullptr;
  size_t staging_bytes = 0;
  std::mutex lock;
};

// A session for the length of a few calls.
class CudaLease {
 public:
  CudaLease(const voxridge_cuda_table& table, CudaSession& session)
      : table_(table), session_(session), guard_(session.lock) {}

  template <class... Parameters, class... Arguments>
  void call(int (*voxridge_cuda_table::*function)(voxridge_cuda_session*, Parameters...),
            Arguments... arguments) const {
    check((table_.*function)(session_.handle, arguments...));
  }

  // As much page-locked memory, until the next call of this.
  void* staging(size_t bytes) const;
  void release(void* memory) const;
  CudaSession& session() const { return session_; }

 private:
  void check(int code) const;

  const voxridge_cuda_table& table_;
  CudaSession& session_;
  std::unique_lock<std::mutex> guard_;
};

class CudaSessions {
 public:
  virtual ~CudaSessions() = default;

  // The session of this thread, or the one that is named; waits while another thread uses it.
  virtual CudaLease lease() = 0;
  virtual CudaLease lease(CudaSession& session) = 0;
};

// Those of this process, opened when first asked for and kept, since a session costs tenths of a second.
std::shared_ptr<CudaSessions> cuda_sessions();

class CudaMemory {
 public:
  virtual ~CudaMemory() = default;

  // Freed with its last owner. Refuses what would pass the limit.
  virtual std::shared_ptr<void> allocate(size_t bytes) = 0;
};

std::shared_ptr<CudaMemory> make_cuda_memory(double limit_bytes);

}  // namespace voxridge
