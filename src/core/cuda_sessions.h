// Sessions of the plugin shared by threads, and memory of the GPU that is counted against a limit.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "../cuda/abi.h"

namespace voxridge {

// Page-locked memory through which data travels to a session and back.
struct CudaStaging {
  void* data = nullptr;
  size_t bytes = 0;
};

struct CudaSession {
  voxridge_cuda_session* handle = nullptr;
  CudaStaging staging[VOXRIDGE_SLOTS];  // in turn: while one is copied from or to, the host works in the other
  int next = 0;
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

  // The number of the staging buffer whose turn it is, at least so large, once the copies of its last turn are made.
  int next_staging(size_t bytes) const;
  void* staging(int slot) const { return session_.staging[slot].data; }
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

  // Counts what the plugin will take by itself, as long as somebody holds the answer.
  virtual std::shared_ptr<void> claim(size_t bytes) = 0;
};

// `limit_bytes`: what may come out of this memory; `process_bytes`: what all of them together may hold, with what earlier
// calls have left on the GPU. Opens nothing yet.
std::shared_ptr<CudaMemory> make_cuda_memory(double limit_bytes, double process_bytes);

}  // namespace voxridge
