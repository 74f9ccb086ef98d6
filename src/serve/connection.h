// One client's connection, without its socket: bytes in, replies out. What it answers depends on the bytes alone, and
// not on how they were cut into pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "admission.h"
#include "chunked_body.h"
#include "http_head.h"
#include "reply.h"
#include "service.h"

namespace voxridge {

class Connection {
 public:
  Connection(ThreadState& thread, int64_t now);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Takes bytes that have come and appends replies to thread.out. Requests that would pass what may be answered at once
  // are held: has_work() then, and resume() goes on with them once the output is sent.
  void receive(const char* bytes, size_t size, int64_t now);
  void resume(int64_t now) { receive(nullptr, 0, now); }
  bool has_work() const { return has_work_; }

  // No more bytes are read: the connection ends once its output is sent.
  bool closes() const { return closes_; }

  bool is_idle() const { return step_ == Step::head && !started_ && held_.empty(); }  // between requests
  bool is_fresh() const { return answered_ == 0; }          // no request has come to its end yet
  bool owes_a_body() const { return step_ == Step::skip; }  // of a request that is answered
  bool in_head() const { return step_ == Step::head && !has_work_; }
  int64_t since() const { return since_; }  // when it became idle, or when the first byte of the request came
  int64_t deadline() const;
  // The deadline has passed. Appends a reply, if there is one to give, and ends the connection.
  void expire(int64_t now);

  // All replies so far are with the system: counts their time.
  void sent(int64_t now);

 private:
  enum class Step { head, body, chunks, skip };

  struct Answered {
    Endpoint endpoint;
    int64_t read_ns;
  };

  // Each says whether there may be more to do with what is left.
  bool advance(int64_t now);
  bool read_request_head(int64_t now);
  bool read_body(int64_t now);
  bool read_chunks(int64_t now);
  bool skip_body(int64_t now);
  void take(size_t size) { left_ = {left_.first + size, left_.second - size}; }

  void begin(const HttpHead& head, int64_t now);
  void score(const char* body, size_t size, int64_t now);
  void answer_get(int64_t now);
  void refuse(Refusal refusal, int64_t now);
  void answer(Reply& reply, int64_t now);  // with thread.body
  void await_request(int64_t now);

  bool is_full() const;
  void keep(bool was_held);
  bool charge();
  void release();
  void drop_chunks();
  void give_up(Refusal refusal, int64_t now) noexcept;

  ThreadState& thread_;
  Service& service_;
  Step step_ = Step::head;
  bool closes_ = false, has_work_ = false;
  bool started_ = false;       // a byte of the request has come
  bool skipped_line_ = false;  // the one empty line before a request
  bool begun_ = false;         // the head of a request is complete, its reply is not
  int64_t since_;
  int64_t answered_ = 0;
  int64_t charged_ = 0;
  std::pair<const char*, size_t> left_{nullptr, 0};  // bytes to look at
  std::string held_;                                 // bytes of a request that is not complete
  std::string chunked_body_;
  std::unique_ptr<ChunkedBody> chunks_;
  std::vector<Answered> just_answered_;  // and not sent

  // Of the request under way.
  Endpoint endpoint_ = Endpoint::other;
  bool logits_ = false, head_only_ = false, http11_ = true, keep_alive_ = true;
  uint64_t length_ = 0;  // of the body, or what is left of one that is passed over
};

}  // namespace voxridge
