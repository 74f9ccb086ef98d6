// Who may ask, and how a connection is kept: hosts, tokens, Expect, HTTP/1.0, forms of the target, Unix sockets, and
// what a server refuses to start with.
#include <unistd.h>

#include <fstream>
#include <limits>

#include "core/error.h"
#include "refused.h"

namespace voxridge_test {

namespace {

const std::string kBody = "{\"features\":[[0.5,-1.2]]}";
const std::string kToken = "a-token-of-24-characters";

class HttpAccess : public RefusalTest {
 protected:
  int status_of(const std::string& request) {
    Client client(server->port());
    return client.ask(request).status;
  }
  int status_for_host(const std::string& host) {
    return status_of("GET /livez HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  }
  int status_for_token(const std::string& path, const std::string& credentials) {
    return status_of(get(path, credentials.empty() ? "" : "Authorization: " + credentials + "\r\n"));
  }
};

std::string socket_folder() {
  char folder[] = "/tmp/voxridge-serve-XXXXXX";
  const char* const made = mkdtemp(folder);
  return made == nullptr ? "" : made;
}

ErrorCode code_of_start(const ServerOptions& options, const std::shared_ptr<const ServedModel>& model) {
  const int64_t before = count_descriptors();
  try {
    Server server(options, model);
  } catch (const Error& error) {
    EXPECT_EQ(count_descriptors(), before) << error.what();
    return error.code();
  }
  ADD_FAILURE() << "the server started";
  return ErrorCode::internal;
}

}  // namespace

TEST_F(HttpAccess, Hosts) {
  ServerOptions options;
  options.allowed_hosts = {"scores.example.org", "other"};
  start(options);
  for (const std::string host : {"localhost", "LocalHost", "127.0.0.1", "[::1]", "localhost:80", "127.0.0.1:65535",
                                 "[::1]:8080", "other", "scores.example.org", "Scores.Example.ORG:8080"})
    EXPECT_EQ(status_for_host(host), 200) << host;
  for (const std::string host :
       {"evil.com", "localhost.evil.com", "127.0.0.1.evil.com", "evil.com:80", "[::2]", "127.0.0.2", "xlocalhost",
        "localhostx", "scores.example.or", "example.org", "0.0.0.0"})
    EXPECT_EQ(status_for_host(host), 421) << host;
  for (const std::string host : {"evil@localhost", "localhost@evil.com", "localhost:80:80", "::1", "*"}) {
    const int status = status_for_host(host);
    EXPECT_TRUE(status == 400 || status == 421) << host << " " << status;
  }
  EXPECT_EQ(status_of("GET /livez HTTP/1.1\r\nHost:\r\n\r\n") / 100, 4);
  EXPECT_EQ(status_of("GET /livez HTTP/1.0\r\n\r\n"), 200);
  EXPECT_EQ(status_of("GET /livez HTTP/1.0\r\nHost: evil.com\r\n\r\n"), 421);
}

// The loopback has more than one spelling.
TEST_F(HttpAccess, HostsOfMappedAddresses) {
  ServerOptions options;
  options.host = "::ffff:127.0.0.1";
  try {
    start(options);
  } catch (const Error&) {
    GTEST_SKIP() << "no such address here";
  }
  EXPECT_EQ(status_for_host("localhost"), 200);
  EXPECT_EQ(status_for_host("127.0.0.1"), 200);
  EXPECT_EQ(status_for_host("evil.com"), 421);
}

TEST_F(HttpAccess, FormsOfTheTarget) {
  start();
  const auto form = [&](const std::string& target, const std::string& host) {
    return status_of("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  };
  EXPECT_EQ(form("http://localhost/livez", "evil.com"), 200);
  EXPECT_EQ(form("http://localhost:80/livez", "evil.com"), 200);
  EXPECT_EQ(form("HTTP://LOCALHOST/livez", "localhost"), 200);
  EXPECT_EQ(form("http://evil.com/livez", "localhost"), 421);
  EXPECT_EQ(form("http://localhost/livez?a=b", "localhost"), 400);
  EXPECT_EQ(form("http://localhost/nowhere", "localhost"), 404);
  EXPECT_EQ(form("http://localhost", "localhost"), 404);
  EXPECT_EQ(form("http://localhost.evil.com/livez", "localhost"), 421);
  for (const std::string target :
       {"http:///livez", "http://user@localhost/livez", "http:/livez", "ftp://localhost/livez", "localhost:80", "*",
        "livez", "http://evil.com@localhost/livez", "http://"}) {
    EXPECT_EQ(form(target, "localhost") / 100, 4) << target;
  }
  const std::string request =
      "POST http://localhost/v1/predict HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
  EXPECT_EQ(status_of(request + "Content-Length: 25\r\n\r\n" + kBody), 200);
}

TEST_F(HttpAccess, Tokens) {
  ServerOptions options;
  options.token = kToken;
  start(options);
  for (const std::string path : {"/livez", "/readyz", "/healthz"}) EXPECT_EQ(status_for_token(path, ""), 200) << path;
  for (const std::string path : {"/v1/metadata", "/metrics"}) {
    EXPECT_EQ(status_for_token(path, "Bearer " + kToken), 200);
    EXPECT_EQ(status_for_token(path, "bearer " + kToken), 200) << "schemes have no case (RFC 9110, 11.1)";
  }
  std::vector<Refusal> cases;
  const std::string shorter = kToken.substr(0, kToken.size() - 1), upper = "A" + kToken.substr(1);
  for (const std::string value : {"Bearer", "Bearer ", kToken.c_str(), "Basic YTpi", "Token a"})
    cases.push_back({get("/v1/metadata", "Authorization: " + value + "\r\n"), 401, "", After::keep});
  for (const std::string& value : {shorter, upper, kToken + "x", kToken + " x", kToken + "," + kToken, "x" + kToken,
                                   "\"" + kToken + "\"", std::string(4000, 'a')})
    cases.push_back({get("/metrics", "Authorization: Bearer " + value + "\r\n"), 401, "", After::keep});
  cases.push_back({get("/v1/metadata"), 401, "", After::keep});
  cases.push_back({get("/metrics"), 401, "", After::keep});
  cases.push_back({get("/v1/nowhere"), 401, "", After::keep});
  cases.push_back({get("/v1/predict"), 401, "", After::keep});
  cases.push_back({get("/v1/metadata?token=" + kToken), 401, "", After::keep});
  cases.push_back({predict(kBody), 401, "", After::either});
  cases.push_back({predict_binary(binary_rows({1, 2})), 401, "", After::either});
  cases.push_back({chunked(kBody, 5, "Authorization: Bearer " + kToken + "\r\n"), 401, "", After::either});
  cases.push_back({get("/nowhere"), 404, "", After::keep});
  good_fields = "Authorization: Bearer " + kToken + "\r\n";
  expect_refused(cases);
  EXPECT_EQ(status_for_host("evil.com"), 200) << "with a token any name will do";
  Client client(server->port());
  EXPECT_EQ(client.ask(get("/v1/metadata", good_fields)).bytes.find(kToken), std::string::npos);
  EXPECT_EQ(server->metrics().find(kToken), std::string::npos);
}

TEST_F(HttpAccess, Expect) {
  start();
  const std::string head =
      "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 25\r\n";
  for (const std::string word : {"100-continue", "100-Continue"}) {
    Client client(server->port());
    EXPECT_EQ(client.ask(head + "Expect: " + word + "\r\n\r\n").status, 100);
    EXPECT_TRUE(client.is_quiet(0.05));
    EXPECT_EQ(client.ask(kBody).status, 200);
    Reply reply = client.ask(head + "Expect: " + word + "\r\n\r\n" + kBody);  // the body did not wait
    if (reply.status == 100) reply = client.read();
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(client.ask(get("/livez")).status, 200);
  }
  const std::string expect = "Expect: 100-continue\r\n";
  for (const auto& [request, status] :
       {std::pair<std::string, int>(post("/v1/predict", "text/plain", kBody, expect), 415),
        {post("/nowhere", "application/json", kBody, expect), 404},
        {post("/v1/predict?a=b", "application/json", kBody, expect), 400},
        {predict(kBody, "Expect: a\r\n"), 417},
        {predict(kBody, "Expect: 100-continue, a\r\n"), 417},
        {"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + expect +
             "Content-Length: 99999999\r\n\r\n",
         413}}) {
    Client client(server->port());
    const size_t end = request.find("\r\n\r\n") + 4;
    const Reply reply = client.ask(request.substr(0, end));  // without the body
    EXPECT_EQ(reply.status, status) << request;
    if (reply.says_close()) {
      EXPECT_TRUE(client.closes());
    } else {  // then the body is not taken for a request
      client.send(request.substr(end) + get("/livez"));
      EXPECT_EQ(client.read().body, "{\"status\":\"alive\"}");
    }
  }
  Client old(server->port());  // HTTP/1.0 knows no 100 (RFC 9110, 10.1.1)
  const std::string start = "POST /v1/predict HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 25\r\n";
  old.send(start + expect + "\r\n");
  EXPECT_TRUE(old.is_quiet(0.1));
  EXPECT_EQ(old.ask(kBody).status, 200);
}

TEST_F(HttpAccess, KeepAlive) {
  start();
  {
    Client client(server->port());
    EXPECT_TRUE(client.ask("GET /livez HTTP/1.0\r\n\r\n" + get("/livez")).says_close());
    EXPECT_TRUE(client.closes());
  }
  Client old(server->port());
  for (const std::string word : {"keep-alive", "Keep-Alive"}) {
    const Reply reply = old.ask("GET /livez HTTP/1.0\r\nConnection: " + word + "\r\n\r\n");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.field("connection"), "keep-alive");
  }
  EXPECT_EQ(old.ask("GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").status, 200);
  for (const std::string value : {"close", "Close", "a, close", "close, a", "a,close ,b"}) {
    Client client(server->port());
    EXPECT_TRUE(client.ask(get("/livez", "Connection: " + value + "\r\n") + get("/readyz")).says_close()) << value;
    EXPECT_TRUE(client.closes()) << value;
  }
  expect_taken(get("/livez", "Connection: keep-alive\r\n"));
  expect_taken(get("/livez", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"));
  expect_taken(
      get("/livez", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"));
  Client half(server->port());  // what was asked before the client's end is answered
  half.send(predict(kBody) + get("/livez"));
  half.finish_sending();
  EXPECT_EQ(half.read().status, 200);
  EXPECT_EQ(half.read().body, "{\"status\":\"alive\"}");
  EXPECT_TRUE(half.closes(10));
  Client cut(server->port());  // the end in the middle of a request is not an answerable one
  cut.send(predict(kBody).substr(0, 60));
  cut.finish_sending();
  const std::string rest = cut.read_to_end();
  EXPECT_TRUE(rest.empty() || rest.compare(0, 12, "HTTP/1.1 400") == 0) << rest;
}

TEST_F(HttpAccess, UnixSocket) {
  const std::string folder = socket_folder(), path = folder + "/s";
  ServerOptions options;
  options.socket_path = path;
  start(options);
  EXPECT_EQ(server->port(), 0);
  {
    Client client(path);
    EXPECT_EQ(client.ask(predict(kBody)).status, 200);
    EXPECT_EQ(client.ask("GET /livez HTTP/1.1\r\nHost: any.name\r\n\r\n").status, 200);
    EXPECT_EQ(client.ask("GET /livez HTTP/1.1\r\nHost:\r\n\r\n").status, 200);
    EXPECT_THROW(Server(options, model), Error) << "one path, two servers";
    EXPECT_EQ(client.ask(get("/livez")).status, 200);
    EXPECT_EQ(Client(path).ask(get("/livez")).status, 200);
  }
  EXPECT_TRUE(stop_now(*server));
  EXPECT_NE(access(path.c_str(), F_OK), 0) << "the socket is left behind";
  {
    const std::unique_ptr<Server> old = std::move(server);
    start(options);
  }
  EXPECT_EQ(Client(path).ask(get("/livez")).status, 200) << "the end of an older server takes the socket of this one";
  server.reset();
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  rmdir(folder.c_str());
}

TEST_F(HttpAccess, PathsThatCannotBeSockets) {
  const std::string folder = socket_folder(), path = folder + "/s";
  ServerOptions options;
  options.socket_path = path;
  std::ofstream(path) << "mine";
  EXPECT_EQ(code_of_start(options, model), ErrorCode::file);
  std::string text;
  std::ifstream(path) >> text;
  EXPECT_EQ(text, "mine");
  unlink(path.c_str());
  options.socket_path = folder + "/" + std::string(200, 'a');
  EXPECT_EQ(code_of_start(options, model), ErrorCode::file);
  options.socket_path = folder + "/none/s";
  EXPECT_EQ(code_of_start(options, model), ErrorCode::file);
  rmdir(folder.c_str());
}

TEST_F(HttpAccess, StartsThatFail) {
  start();
  ServerOptions options;
  options.port = server->port();
  EXPECT_EQ(code_of_start(options, model), ErrorCode::port_in_use);
  options.port = 0;
  for (const std::string host : {"not an address", "192.0.2.1", "localhost.", "256.0.0.1"}) {
    options.host = host;
    EXPECT_EQ(code_of_start(options, model), ErrorCode::network) << host;
  }
  options.host = "127.0.0.1";
  const double coefs[] = {1, 2}, beyond = std::numeric_limits<double>::infinity();
  const MatrixView<double> view = {coefs, 2, 1, 2};
  const auto predictor = std::make_shared<Predictor>(view, &beyond);
  EXPECT_EQ(code_of_start(options, std::make_shared<ServedModel>(predictor, model->facts())),
            ErrorCode::invalid_argument);
}

}  // namespace voxridge_test
