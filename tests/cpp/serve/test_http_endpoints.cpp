// What each endpoint says, and which of several faults decides.
#include <cmath>
#include <limits>

#include "refused.h"

namespace voxridge_test {

namespace {

class HttpEndpoints : public RefusalTest {
 protected:
  Reply ask(const std::string& request, bool head = false) {
    Client client(server->port());
    return client.ask(request, head);
  }
};

}  // namespace

TEST_F(HttpEndpoints, Probes) {
  start();
  for (const auto& [path, status] :
       {std::pair<std::string, std::string>("/livez", "alive"), {"/readyz", "ready"}, {"/healthz", "healthy"}}) {
    const Reply reply = ask(get(path));
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "{\"status\":\"" + status + "\"}");
    EXPECT_EQ(reply.field("content-type").compare(0, 16, "application/json"), 0);
    EXPECT_FALSE(reply.has("connection"));
  }
}

TEST_F(HttpEndpoints, HeadAsGetWithoutBody) {
  start();
  Client client(server->port());
  for (const std::string path : {"/livez", "/readyz", "/healthz", "/v1/metadata", "/metrics"}) {
    const Reply full = client.ask(get(path));
    const Reply head = client.ask(get(path, "", "HEAD"), true);
    EXPECT_EQ(head.status, 200) << path;
    EXPECT_EQ(head.field("content-type"), full.field("content-type"));
    if (path != "/metrics") {  // whose text changes
      EXPECT_EQ(head.field("content-length"), full.field("content-length")) << path;
    }
    EXPECT_TRUE(client.is_quiet(0.05)) << path;
  }
  for (const std::string path : {"/nowhere", "/livez?a=b"}) {
    const Reply full = client.ask(get(path));
    const Reply head = client.ask(get(path, "", "HEAD"), true);
    EXPECT_EQ(head.status, full.status);
    EXPECT_EQ(head.field("content-length"), full.field("content-length"));
    EXPECT_TRUE(client.is_quiet(0.05)) << path;
  }
  EXPECT_EQ(client.ask(get("/v1/predict", "", "HEAD"), true).status, 405);
  EXPECT_EQ(client.ask(get("/livez")).status, 200);
}

TEST_F(HttpEndpoints, AllowedMethods) {
  start();
  for (const std::string path : {"/livez", "/readyz", "/healthz", "/v1/metadata", "/metrics"}) {
    const Reply reply = ask(get(path, "Content-Length: 0\r\n", "POST"));
    EXPECT_EQ(reply.status, 405);
    EXPECT_NE(reply.field("allow").find("GET"), std::string::npos) << path;
    EXPECT_NE(reply.field("allow").find("HEAD"), std::string::npos) << path;
  }
  for (const std::string path : {"/v1/predict", "/v1/predict_binary"}) {
    const Reply reply = ask(get(path));
    EXPECT_EQ(reply.status, 405);
    EXPECT_EQ(reply.field("allow"), "POST") << path;
  }
}

TEST_F(HttpEndpoints, Queries) {
  start();
  std::vector<Refusal> cases;
  const std::string json = "{\"features\":[[1,2]]}", binary = binary_rows({1, 2});
  for (const std::string path : {"/livez", "/readyz", "/healthz", "/v1/metadata", "/metrics"})
    for (const std::string query : {"?a=b", "?a", "?logits=true", "??"})
      cases.push_back({get(path + query), 400, "bad_query", After::keep});
  for (const std::string query : {"a=b", "logits=1", "logits=TRUE", "logits", "logits=", "logits=true&a=b",
                                  "logits=true&logits=true", "logits=%74rue", "output=logits", "Logits=true"})
    cases.push_back({post("/v1/predict?" + query, "application/json", json), 400, "bad_query", After::keep});
  for (const std::string query : {"logits=true", "output=LOGITS", "output=", "output", "output=a", "output=logits&a=b"})
    cases.push_back(
        {post("/v1/predict_binary?" + query, "application/octet-stream", binary), 400, "bad_query", After::keep});
  expect_refused(cases);
  const std::vector<double> rows = {1, 2, -40, 3};
  const Reply plain = ask(post("/v1/predict?logits=true", "application/json", json_rows(rows, 2)));
  EXPECT_EQ(json_difference(*model, rows, plain, true), "");
  const Reply bits = ask(post("/v1/predict_binary?output=logits", "application/octet-stream", binary_rows(rows)));
  EXPECT_EQ(binary_difference(*model, rows, bits, true), "");
}

TEST_F(HttpEndpoints, OrderOfChecks) {
  ServerOptions options;
  options.limits.max_uri_bytes = 300;
  start(options);
  const std::string long_path = "/" + std::string(400, 'a'), evil = " HTTP/1.1\r\nHost: evil\r\n";
  const std::string huge = "Content-Length: 99999999\r\n", none = "\r\n";
  expect_refused({
      {"GET /nowhere" + evil + "A : b\r\n\r\n", 400, "bad_request"},
      {"GET " + long_path + evil + none, 414, "", After::either},
      {"GET /nowhere" + evil + none, 421, "", After::either},
      {"DELETE /livez" + evil + none, 421, "", After::either},
      {"GET /livez?a=b" + evil + none, 421, "", After::either},
      {"POST /nowhere?a=b HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "", After::either},
      {"POST /livez?a=b HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "", After::either},
      {"PUT /v1/predict?a=b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 405, "", After::keep},
      {post("/v1/predict?a=b", "text/plain", "{}"), 400, "bad_query", After::keep},
      {"POST /v1/predict?a=b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "bad_query", After::either},
      {"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n\r\n", 415, "", After::either},
      {"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n" + huge + none, 415, "",
       After::either},
  });
}

TEST_F(HttpEndpoints, Metadata) {
  ModelSpec rich = spec();
  rich.version = "v1.2-a";
  rich.threshold = 0.25;
  rich.t = 2;
  rich.coefs = {2, 1, -1, 0.5};
  rich.prior = {0.1, 0.2};
  rich.shifts = {-1.5, 0.25};
  model = make_model(rich);
  ServerOptions options;
  options.limits.max_rows = 7;
  options.limits.idle_timeout_s = 12.5;
  start(options);
  const Reply reply = ask(get("/v1/metadata"));
  EXPECT_EQ(reply.status, 200);
  const Json json = reply.json();
  EXPECT_EQ(json["name"].letters, "model");
  EXPECT_EQ(json["version"].letters, "v1.2-a");
  EXPECT_EQ(json["sha256"].letters, model->sha256());
  EXPECT_EQ(json["sha256"].letters.size(), 64u);
  EXPECT_EQ(json["n_features"].value, 2);
  EXPECT_EQ(json["features"].texts(), (std::vector<std::string>{"x1", "x2"}));
  EXPECT_EQ(json["targets"].texts(), (std::vector<std::string>{"y1", "y2"}));
  EXPECT_EQ(json["classes"].texts(), (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(json["positive"].texts(), (std::vector<std::string>{"yes"}));
  EXPECT_EQ(json["lambda"].numbers(), (std::vector<double>{0.5, 1.5}));
  EXPECT_EQ(json["threshold"].numbers(), (std::vector<double>{0.25}));
  EXPECT_EQ(json["prior"].numbers(), (std::vector<double>{0.1, 0.2}));
  EXPECT_EQ(json["package_version"].letters, "0.1.0");
  const Json& limits = json["limits"];
  EXPECT_EQ(limits["max_rows"].value, 7);
  EXPECT_EQ(limits["max_body_bytes"].value, 1048576);
  EXPECT_EQ(limits["idle_timeout_s"].value, 12.5);
  for (const std::string name :
       {"max_header_bytes", "max_uri_bytes", "max_connections", "max_requests_per_connection", "max_inflight_bytes",
        "max_pipelined", "max_pending_output", "header_timeout_s", "request_timeout_s", "write_timeout_s"})
    EXPECT_GT(limits[name].value, 0) << name;
}

TEST_F(HttpEndpoints, MetadataWithoutNames) {
  ModelSpec plain = spec();
  plain.has_names = false;
  model = make_model(plain);
  start();
  const Json json = ask(get("/v1/metadata")).json();
  EXPECT_EQ(json["features"].kind, Json::null);
  EXPECT_EQ(json["version"].letters, model->sha256().substr(0, 12));
  EXPECT_EQ(json["prior"].kind, Json::null);
}

// Names hold what JSON must escape.
TEST_F(HttpEndpoints, MetadataWithHardNames) {
  ModelFacts facts;
  facts.features = {"a\"b\\c\n\x01", "\xc3\xa9\xf0\x9f\xa7\xa0"};
  facts.targets = {"</script>\t"};
  facts.classes = {"\"", "\\"};
  facts.positive = {"\\"};
  facts.lambda = {1};
  model = std::make_shared<ServedModel>(make_model(spec())->predictor(), facts);
  start();
  const Json json = ask(get("/v1/metadata")).json();
  EXPECT_EQ(json["features"].texts(), facts.features);
  EXPECT_EQ(json["targets"].texts(), facts.targets);
  EXPECT_EQ(json["classes"].texts(), facts.classes);
  EXPECT_EQ(ask(predict("{\"features\":[[1,2]],\"columns\":[\"a\\\"b\\\\c\\n\\u0001\",\"\xc3\xa9\xf0\x9f\xa7\xa0\"]}"))
                .status,
            200);
  const std::string text = server->metrics();  // one line per sample, whatever the names
  EXPECT_EQ(text.find('\t'), std::string::npos);
}

TEST_F(HttpEndpoints, RidgeFits) {
  ModelSpec ridge;
  ridge.kind = ModelKind::ridge;
  ridge.p = 3;
  for (const int64_t t : {1, 3, 64}) {
    ridge.t = t;
    model = make_model(ridge);
    start();
    const std::vector<double> rows = random_rows(5, 3, 9);
    EXPECT_EQ(json_difference(*model, rows, ask(predict(json_rows(rows, 3)))), "");
    EXPECT_EQ(binary_difference(*model, rows, ask(predict_binary(binary_rows(rows)))), "");
    const Reply refused = ask(post("/v1/predict?logits=true", "application/json", json_rows(rows, 3)));
    EXPECT_EQ(refused.status, 400);
    EXPECT_EQ(refused.word(), "bad_query");
    EXPECT_EQ(ask(post("/v1/predict_binary?output=logits", "application/octet-stream", binary_rows(rows))).word(),
              "bad_query");
    EXPECT_EQ(ask(get("/v1/metadata")).status, 200);
  }
}

TEST_F(HttpEndpoints, ThresholdsAndPriors) {
  for (const double threshold : {0.01, 0.3, 0.9}) {
    ModelSpec more = spec();
    more.threshold = threshold;
    more.shifts = {-0.75};
    more.prior = {0.3};
    model = make_model(more);
    start();
    const std::vector<double> rows = random_rows(100, 2, 4);
    const Reply reply = ask(post("/v1/predict?logits=true", "application/json", json_rows(rows, 2)));
    EXPECT_EQ(json_difference(*model, rows, reply, true), "");
  }
}

TEST_F(HttpEndpoints, SwapOfModels) {
  ModelSpec other = spec();
  other.coefs = {-1, 3};
  other.version = "second";
  start();
  const std::vector<double> rows = random_rows(10, 2, 4);
  Client client(server->port());
  EXPECT_EQ(json_difference(*model, rows, client.ask(predict(json_rows(rows, 2)))), "");
  const std::shared_ptr<const ServedModel> second = make_model(other);
  server->set_model(second);
  EXPECT_EQ(server->model(), second);
  EXPECT_EQ(json_difference(*second, rows, client.ask(predict(json_rows(rows, 2)))), "");
  EXPECT_EQ(binary_difference(*second, rows, client.ask(predict_binary(binary_rows(rows)))), "");
  EXPECT_EQ(client.ask(get("/v1/metadata")).json()["version"].letters, "second");
  EXPECT_NE(client.ask(get("/metrics")).body.find("version=\"second\""), std::string::npos);
  EXPECT_EQ(server->status().model_swaps, 1);
}

TEST_F(HttpEndpoints, LastRequestOfAConnection) {
  ServerOptions options;
  options.limits.max_requests_per_connection = 3;
  start(options);
  Client client(server->port());
  client.send(get("/livez") + get("/nowhere") + get("/livez") + get("/livez"));
  EXPECT_FALSE(client.read().says_close());
  EXPECT_FALSE(client.read().says_close());
  const Reply last = client.read();
  EXPECT_EQ(last.status, 200);
  EXPECT_TRUE(last.says_close());
  EXPECT_TRUE(client.closes());
}

}  // namespace voxridge_test
