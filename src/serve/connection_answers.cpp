// What a connection answers, and what is counted of it.
#include "connection.h"
#include "metadata.h"

namespace voxridge {

void Connection::score(const char* body, size_t size, int64_t now) {
  const ServedModel& model = thread_.model();
  const bool binary = endpoint_ == Endpoint::predict_binary;
  const BodyFault fault = binary ? thread_.scorer.score_binary(model, body, size, logits_, thread_.body)
                                 : thread_.scorer.score_json(model, body, size, logits_, thread_.body);
  Reply reply;
  if (fault.code == BodyFaultCode::none) {
    reply.model_version = model.version();
    if (binary) {
      reply.type = "application/octet-stream";
      reply.rows = thread_.scorer.rows();
      reply.targets = model.n_targets();
    }
  } else {
    thread_.metrics.faults[static_cast<size_t>(fault.code)].add();
    reply.status = http_status(fault.code);
    write_error(fault, thread_.body);
  }
  answer(reply, now);
}

void Connection::answer_get(int64_t now) {
  const bool ready = service_.ready();
  Reply reply;
  switch (endpoint_) {
    case Endpoint::livez:
      thread_.body = "{\"status\":\"alive\"}";
      break;
    case Endpoint::metadata: {
      const ServedModel& model = thread_.model();
      thread_.body = metadata_json(model, service_.options.limits);
      reply.model_version = model.version();
      break;
    }
    case Endpoint::metrics:
      thread_.body = service_.metrics();
      reply.type = "text/plain; version=0.0.4; charset=utf-8";
      break;
    default:
      reply.status = ready ? 200 : 503;
      thread_.body = !ready                           ? "{\"status\":\"draining\"}"
                     : endpoint_ == Endpoint::healthz ? "{\"status\":\"healthy\"}"
                                                      : "{\"status\":\"ready\"}";
  }
  answer(reply, now);
}

void Connection::refuse(Refusal refusal, int64_t now) {
  const RefusalText& text = text_of(refusal);
  thread_.metrics.refusals[static_cast<size_t>(refusal)].add();
  if (!begun_) {
    begun_ = true;
    thread_.metrics.begun.add();
  }
  if (text.closes) closes_ = true;
  write_error(refusal, thread_.body);
  Reply reply;
  reply.status = text.status;
  if (refusal == Refusal::method_not_allowed) reply.allow = allowed_methods(endpoint_);
  answer(reply, now);
}

void Connection::answer(Reply& reply, int64_t now) {
  ++answered_;
  const bool last = answered_ >= service_.options.limits.max_requests_per_connection;
  if (!keep_alive_ || last || service_.closing()) closes_ = true;
  reply.body = thread_.body;
  reply.head_only = head_only_;
  reply.afterwards = closes_ ? Afterwards::close : http11_ ? Afterwards::keep : Afterwards::keep_http10;
  just_answered_.push_back({endpoint_, now});
  const size_t before = thread_.out.size();
  try {
    write_reply(reply, thread_.date, thread_.out);
  } catch (...) {
    thread_.out.resize(before);  // no half of a reply
    just_answered_.pop_back();
    throw;
  }
  const size_t place = static_cast<size_t>(endpoint_);
  thread_.metrics.requests[place][static_cast<size_t>(status_index(reply.status))].add();
  begun_ = false;
  await_request(now);
}

void Connection::sent(int64_t now) {
  for (const Answered& one : just_answered_) thread_.metrics.count_latency(one.endpoint, now - one.read_ns);
  thread_.metrics.ended.add(static_cast<int64_t>(just_answered_.size()));
  just_answered_.clear();
}

}  // namespace voxridge
