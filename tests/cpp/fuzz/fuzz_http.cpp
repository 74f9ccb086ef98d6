// Any bytes on a connection, without a socket, cut into any pieces. Each time the replies are the same; they answer the
// requests that a plain reader finds, in their order; and what a plain scorer gives is what every 200 of a prediction
// says.
//
// The input: one byte that says what the server is like, one that says how many cuts there are (0 to 7), a byte for the
// length of each piece, and the bytes of the connection. Of the first: bits 0 and 1: one to four features; bit 2: they
// have names; bit 3: two rows at most, two requests at once; bit 4: a ridge fit; bit 5: a token is asked for; bit 6:
// two targets; bit 7: little room for what is not complete.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../serve/http_reply.h"
#include "core/sigmoid.h"
#include "plain_http.h"
#include "plain_json.h"
#include "serve/connection.h"

namespace {

using namespace voxridge;
using plain_http::Request;
using voxridge_test::Reply;

void require(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d does not hold\n", __FILE__, line);
  std::abort();
}

const char kToken[] = "sixteen-bytes-16";

ServerOptions make_options(int how) {
  ServerOptions out;
  if ((how & 8) != 0) out.limits.max_rows = out.limits.max_pipelined = 2;
  if ((how & 32) != 0) out.token = kToken;
  if ((how & 128) != 0) out.limits.max_inflight_bytes = 300;
  out.limits.max_header_bytes = 600;
  out.limits.max_uri_bytes = 100;
  out.limits.max_body_bytes = 2000;
  return out;
}

std::shared_ptr<const ServedModel> make_model(int how) {
  const int64_t p = 1 + (how & 3), t = (how & 64) != 0 ? 2 : 1;
  const double coefs[] = {2, -1, 0.5, 3, -0.25, 1, 4, -2}, intercepts[] = {0.125, -1};
  const MatrixView<double> view = {coefs, p, t, p};
  ModelFacts facts;
  facts.kind = (how & 16) != 0 ? ModelKind::ridge : ModelKind::logistic;
  if ((how & 4) != 0) facts.features.assign(plain_json::kNames.begin(), plain_json::kNames.begin() + p);
  return std::make_shared<ServedModel>(std::make_shared<Predictor>(view, intercepts), facts);
}

// All replies, and whether the connection was closed.
struct Outcome {
  std::string replies;
  bool closed = false;
};

struct Server {
  explicit Server(int how) : model(make_model(how)), service(make_options(how), model), thread(service) {
    service.slots = {&thread.metrics};
    service.cpu_seconds = [] { return 0.0; };
    thread.date = "Thu, 01 Jan 1970 00:00:00 GMT";
  }
  std::shared_ptr<const ServedModel> model;
  Service service;
  ThreadState thread;
};

// `sizes` of the pieces, one after another; the last one is for all that is left.
Outcome run(int how, const std::string& bytes, const std::vector<size_t>& sizes) {
  Server server(how);
  Outcome out;
  {
    Connection connection(server.thread, 0);
    int64_t now = 0;
    size_t done = 0;
    for (size_t k = 0; done < bytes.size() && !connection.closes(); ++k) {
      const size_t size = k < sizes.size() ? std::min(sizes[k], bytes.size() - done) : bytes.size() - done;
      const std::unique_ptr<char[]> piece(new char[size]);  // exact, so that the sanitizer sees a step beyond
      std::memcpy(piece.get(), bytes.data() + done, size);
      done += size;
      connection.receive(piece.get(), size, ++now);
      for (;;) {
        out.replies += server.thread.out;
        server.thread.out.clear();
        connection.sent(++now);
        if (!connection.has_work()) break;
        connection.resume(++now);
      }
    }
    out.closed = connection.closes();
    if (!out.closed) {  // nothing more comes
      connection.expire(connection.deadline());
      require(connection.closes());
      const std::string last = server.thread.out;
      require(last.empty() || last.compare(0, 12, "HTTP/1.1 408") == 0);
    }
    const int64_t held = server.service.inflight_bytes;
    require(held == 0);
  }
  return out;
}

// What a plain reader makes of a body of JSON: the fault, or the forecasts.
BodyFault read_plainly(const Server& server, const std::string& body, std::vector<double>& forecasts, bool& too_deep) {
  const ServedModel& model = *server.model;
  BodyForm form;
  form.n_features = model.n_features();
  form.max_rows = server.service.options.limits.max_rows;
  if (!model.facts().features.empty()) form.columns = &model.facts().features;
  const plain_json::Tree tree(body);
  too_deep = tree.is_too_deep();
  if (!tree.is_json()) return {BodyFaultCode::bad_json, 0, 0, 0, 0};
  std::vector<double> rows;
  const auto has_score = [&](const double* row) {
    bool out = true;
    for (int64_t t = 0; t < model.n_targets(); ++t) out = out && std::isfinite(model.predictor()->score(row, t));
    return out;
  };
  const BodyFault fault = plain_json::walk(tree.root(), form, rows, has_score);
  for (size_t first = 0; fault.code == BodyFaultCode::none && first < rows.size(); first += form.n_features) {
    for (int64_t t = 0; t < model.n_targets(); ++t) {
      const double z = model.predictor()->score(rows.data() + first, t);
      forecasts.push_back(model.facts().kind == ModelKind::ridge ? z : sigmoid(z));
    }
  }
  return fault;
}

void check_prediction(const Server& server, const Request& request, const Reply& reply) {
  std::vector<double> expected;
  bool too_deep = false;
  const BodyFault fault = read_plainly(server, request.body, expected, too_deep);
  if (reply.status == 200) {
    require(fault.code == BodyFaultCode::none);
    const voxridge_test::Json json = reply.json();
    const bool ridge = server.model->facts().kind == ModelKind::ridge;
    const std::vector<double> found = json[ridge ? "predictions" : "probabilities"].numbers();
    require(found.size() == expected.size());
    require(std::memcmp(found.data(), expected.data(), 8 * found.size()) == 0);
    require(reply.field("x-model-version") == server.model->version());
    require(json.find("decisions") == nullptr || json["decisions"].numbers().size() == found.size());
  } else if (!too_deep && fault.code != BodyFaultCode::bad_json && fault.code != BodyFaultCode::none) {
    if (reply.status == 422 || reply.word() == "bad_json") {
      require(reply.word() == fault_word(fault.code));
      require(reply.row() == fault.row && reply.column() == fault.column);
    }
  } else if (fault.code == BodyFaultCode::none) {
    require(reply.status != 422 && reply.word() != "bad_json");
  }
}

void check_scores(const Server& server, const Request& request, const Reply& reply) {
  if (reply.status >= 400 && request.method != "HEAD") require(!reply.word().empty());
  if (reply.status == 200 && server.service.options.token == kToken && request.target.find("/v1/") == 0) {
    require(request.value("authorization").find(kToken) != std::string::npos);
  }
  const bool predicts = request.method == "POST" && request.target.compare(0, 11, "/v1/predict") == 0;
  if (predicts && request.target.compare(0, 18, "/v1/predict_binary") == 0) {
    const size_t p = static_cast<size_t>(server.model->n_features()),
                 t = static_cast<size_t>(server.model->n_targets());
    if (reply.status == 200)
      require(request.body.size() % (8 * p) == 0 && reply.body.size() * p == request.body.size() * t);
  } else if (predicts) {
    check_prediction(server, request, reply);
  } else {
    require(reply.status != 422);
  }
}

// Each reply answers the next request, and none is missing.
void check_replies(int how, std::string bytes, const Outcome& outcome) {
  const Server server(how);
  std::string rest = outcome.replies;
  bool closed = false;
  while (!rest.empty()) {
    require(!closed);
    const Request request = plain_http::read_request(bytes);
    Reply reply;
    const bool head = bytes.compare(bytes.compare(0, 2, "\r\n") == 0 ? 2 : 0, 5, "HEAD ") == 0;
    require(take_reply(rest, head, reply));
    if (reply.status == 100) {
      require(!rest.empty() || !outcome.closed);
      if (rest.empty()) return;
      require(take_reply(rest, false, reply));
    }
    require(reply.status != 500);
    closed = reply.says_close();
    if (request.kind == Request::whole) {
      check_scores(server, request, reply);
      bytes.erase(0, request.size);
    } else {  // refused by its head, or by what there is of its body
      require(reply.status >= 400);
      require(request.kind == Request::incomplete || closed);
      if (!closed) return;  // the rest of its body is passed over
    }
  }
  require(closed == outcome.closed);
  require(closed || plain_http::read_request(bytes).kind == Request::incomplete);
}

// Whether the client is told to go on depends on how much has come.
std::string without_continue(std::string replies) {
  const std::string text = "HTTP/1.1 100 Continue\r\n\r\n";
  for (size_t at; (at = replies.find(text)) != std::string::npos;) replies.erase(at, text.size());
  return replies;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const int how = data[0];
  const size_t cuts = data[1] & 7;
  if (size < 2 + cuts) return 0;
  std::vector<size_t> sizes;
  for (size_t k = 0; k < cuts; ++k) sizes.push_back(1 + size_t{data[2 + k]});
  const std::string bytes(reinterpret_cast<const char*>(data) + 2 + cuts, size - 2 - cuts);

  const Outcome whole = run(how, bytes, {});
  try {
    check_replies(how, bytes, whole);
  } catch (const voxridge_test::BadReply&) {
    std::abort();
  }
  if ((how & 128) != 0) return 0;  // what is held at once, and so refused, depends on the pieces
  const Outcome pieces = run(how, bytes, sizes), singly = run(how, bytes, std::vector<size_t>(bytes.size(), 1));
  require(pieces.closed == whole.closed && singly.closed == whole.closed);
  if (bytes.find("/metrics") != std::string::npos) return 0;  // whose text has times
  const std::string expected = without_continue(whole.replies);
  require(without_continue(pieces.replies) == expected && without_continue(singly.replies) == expected);
  return 0;
}
