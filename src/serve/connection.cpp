#include "connection.h"

#include <limits>
#include <new>

namespace voxridge {

Connection::Connection(ThreadState& thread, int64_t now) : thread_(thread), service_(thread.service), since_(now) {}

Connection::~Connection() {
  const int64_t lost = static_cast<int64_t>(just_answered_.size()) + (begun_ ? 1 : 0);
  thread_.metrics.aborted.add(lost);
  thread_.metrics.ended.add(lost);
  service_.inflight_bytes -= charged_;
}

void Connection::receive(const char* bytes, size_t size, int64_t now) {
  has_work_ = false;
  thread_.metrics.received_bytes.add(static_cast<int64_t>(size));
  if (closes_) return;
  try {
    const bool was_held = !held_.empty();
    if (was_held) held_.append(bytes, size);
    left_ = was_held ? std::make_pair(held_.data(), held_.size()) : std::make_pair(bytes, size);
    while (!closes_ && advance(now)) {
      if (is_full()) {
        has_work_ = !closes_ && left_.second > 0;
        break;
      }
    }
    keep(was_held);
    if (!closes_ && !charge()) refuse(Refusal::overloaded, now);
  } catch (const std::bad_alloc&) {
    give_up(Refusal::overloaded, now);
  } catch (...) {
    give_up(Refusal::internal, now);
  }
  if (closes_) release();
}

// As much as may be answered before it is sent.
bool Connection::is_full() const {
  const Limits& limits = service_.options.limits;
  return static_cast<int64_t>(just_answered_.size()) >= limits.max_pipelined ||
         static_cast<int64_t>(thread_.out.size()) > limits.max_pending_output;
}

// What was not taken waits for more.
void Connection::keep(bool was_held) {
  if (left_.second == 0) {
    if (was_held) std::string().swap(held_);
  } else if (was_held) {
    held_.erase(0, held_.size() - left_.second);
  } else {
    held_.assign(left_.first, left_.second);
  }
  left_ = {nullptr, 0};
}

// False: all connections together hold more than they may.
bool Connection::charge() {
  const int64_t held = static_cast<int64_t>(held_.size() + chunked_body_.size());
  const int64_t all = service_.inflight_bytes += held - charged_;
  const bool grows = held > charged_;
  charged_ = held;
  return !grows || all <= service_.options.limits.max_inflight_bytes;
}

void Connection::release() {
  std::string().swap(held_);
  drop_chunks();
  has_work_ = false;
  charge();
}

void Connection::drop_chunks() {
  std::string().swap(chunked_body_);
  chunks_.reset();
}

void Connection::give_up(Refusal refusal, int64_t now) noexcept {
  closes_ = true;
  try {
    refuse(refusal, now);
  } catch (...) {
    // Not even that: the connection ends without an answer.
  }
}

bool Connection::advance(int64_t now) {
  switch (step_) {
    case Step::head:
      return read_request_head(now);
    case Step::body:
      return read_body(now);
    case Step::chunks:
      return read_chunks(now);
    case Step::skip:
      return skip_body(now);
  }
  return false;
}

bool Connection::read_request_head(int64_t now) {
  if (left_.second == 0) return false;
  if (!skipped_line_ && std::string_view(left_.first, left_.second).substr(0, 2) == "\r\n") {
    skipped_line_ = true;
    started_ = false;
    take(2);
    return true;
  }
  if (!started_) {
    started_ = true;
    since_ = now;
  }
  if (!skipped_line_ && left_.second == 1 && left_.first[0] == '\r') return false;
  HttpHead head;
  Refusal refusal = Refusal::none;
  switch (read_head(left_.first, left_.second, service_.options.limits, head, refusal)) {
    case Reading::more:
      return false;
    case Reading::refused:
      endpoint_ = Endpoint::other;
      head_only_ = std::string_view(left_.first, left_.second).substr(0, 5) == "HEAD ";
      refuse(refusal, now);
      return true;
    case Reading::done:
      break;
  }
  begin(head, now);
  return true;
}

void Connection::begin(const HttpHead& head, int64_t now) {
  const Limits& limits = service_.options.limits;
  Admission admission = admit(head, service_, thread_.model());
  endpoint_ = admission.endpoint;
  logits_ = admission.logits;
  head_only_ = head.method == Method::head;
  http11_ = head.http11;
  keep_alive_ = head.keep_alive;
  length_ = head.length;
  begun_ = true;
  thread_.metrics.begun.add();

  const size_t here = left_.second - head.size;
  const bool complete = !head.chunked && here >= length_;
  if (admission.refusal == Refusal::none && !complete && !head.chunked &&
      service_.inflight_bytes + static_cast<int64_t>(length_ - here) > limits.max_inflight_bytes) {
    admission.refusal = Refusal::overloaded;
  }
  if (admission.refusal != Refusal::none) {
    // The body of a refused request is passed over, where that is worth it and there is one to come.
    const bool skips = !head.chunked && length_ <= static_cast<uint64_t>(limits.max_body_bytes) && head.expect.empty();
    if (head.has_body() && !skips) keep_alive_ = false;
    take(head.size);
    refuse(admission.refusal, now);
    if (length_ > 0) step_ = Step::skip;
    return;
  }
  if (!is_scoring(endpoint_)) {
    take(head.size);
    answer_get(now);
    return;
  }
  if (head.chunked) chunks_ = std::make_unique<ChunkedBody>(left_.first, head.size, limits);
  step_ = head.chunked ? Step::chunks : Step::body;
  take(head.size);
  if (admission.expects_continue && !complete && here == 0) thread_.out += kContinue;
}

bool Connection::read_body(int64_t now) {
  if (left_.second < length_) return false;
  const char* const body = left_.first;
  const size_t size = static_cast<size_t>(length_);
  take(size);
  score(body, size, now);
  return true;
}

bool Connection::read_chunks(int64_t now) {
  size_t used = 0;
  Refusal refusal = Refusal::none;
  const Reading reading = chunks_->read(left_.first, left_.second, chunked_body_, used, refusal);
  take(used);
  if (reading == Reading::more) return false;
  reading == Reading::done ? score(chunked_body_.data(), chunked_body_.size(), now) : refuse(refusal, now);
  drop_chunks();
  return true;
}

bool Connection::skip_body(int64_t now) {
  const size_t size = left_.second < length_ ? left_.second : static_cast<size_t>(length_);
  take(size);
  length_ -= size;
  if (length_ > 0) return false;
  await_request(now);
  return true;
}

void Connection::await_request(int64_t now) {
  step_ = Step::head;
  started_ = skipped_line_ = false;
  since_ = now;
}

int64_t Connection::deadline() const {
  const Limits& limits = service_.options.limits;
  if (has_work_) return std::numeric_limits<int64_t>::max();
  if (step_ != Step::head) return since_ + to_ns(limits.request_timeout_s);
  if (is_idle() && !is_fresh()) return since_ + to_ns(limits.idle_timeout_s);
  return since_ + to_ns(limits.header_timeout_s);
}

void Connection::expire(int64_t now) {
  closes_ = true;
  const bool waits_for_nothing = step_ == Step::skip || (is_idle() && !is_fresh());
  if (!waits_for_nothing) give_up(Refusal::timeout, now);
  release();
}

}  // namespace voxridge
