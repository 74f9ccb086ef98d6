// The text of /metrics is what Prometheus 0.0.4 reads, and its numbers are those of what happened.
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "refused.h"

namespace voxridge_test {

namespace {

using Labels = std::map<std::string, std::string>;

struct Sample {
  std::string name;
  Labels labels;
  double value;
};

class Metrics {
 public:
  explicit Metrics(const std::string& text) {
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.back(), '\n');
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) read(line);
    check_histograms();
  }

  bool has(const std::string& name) const { return types_.count(name) != 0; }
  const std::string& type(const std::string& name) const { return types_.at(name); }

  // The sum over the samples with these labels.
  double sum(const std::string& name, const Labels& labels = {}) const {
    double out = 0;
    for (const Sample& one : samples_) {
      bool fits = one.name == name;
      for (const auto& label : labels)
        fits = fits && one.labels.count(label.first) && one.labels.at(label.first) == label.second;
      if (fits) out += one.value;
    }
    return out;
  }
  std::vector<Sample> all(const std::string& name) const {
    std::vector<Sample> out;
    for (const Sample& one : samples_) {
      if (one.name == name) out.push_back(one);
    }
    return out;
  }

 private:
  static bool is_name(const std::string& text) {
    const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    return !text.empty() && text.find_first_not_of(letters + "0123456789") == std::string::npos &&
           letters.find(text[0]) != std::string::npos;
  }

  void read(const std::string& line) {
    if (line.compare(0, 7, "# TYPE ") == 0) {
      const size_t blank = line.find(' ', 7);
      ASSERT_NE(blank, std::string::npos) << line;
      current_ = line.substr(7, blank - 7);
      const std::string type = line.substr(blank + 1);
      EXPECT_TRUE(type == "counter" || type == "gauge" || type == "histogram") << line;
      EXPECT_TRUE(types_.emplace(current_, type).second) << "a second group of " << line;
      return;
    }
    if (!line.empty() && line[0] == '#') {
      EXPECT_EQ(line.compare(0, 7, "# HELP "), 0) << line;
      return;
    }
    Sample one;
    size_t k = line.find_first_of("{ ");
    ASSERT_NE(k, std::string::npos) << line;
    one.name = line.substr(0, k);
    EXPECT_TRUE(is_name(one.name)) << line;
    if (line[k] == '{') read_labels(line, k, one.labels);
    ASSERT_LT(k, line.size());
    ASSERT_EQ(line[k], ' ') << line;
    const std::string number = line.substr(k + 1);
    char* end = nullptr;
    one.value = std::strtod(number.c_str(), &end);
    EXPECT_EQ(*end, '\0') << line;
    EXPECT_TRUE(series_.insert(line.substr(0, k)).second) << "twice: " << line;
    std::string base = one.name;
    if (types_.count(base) == 0) base = base.substr(0, base.rfind('_'));
    EXPECT_EQ(base, current_) << "a sample outside of its group: " << line;
    if (type_or(current_) == "counter") {
      EXPECT_EQ(one.name.substr(one.name.size() - 6), "_total") << line;
    }
    samples_.push_back(one);
  }

  static void read_labels(const std::string& line, size_t& k, Labels& labels) {
    do {
      const size_t equal = line.find("=\"", k);
      ASSERT_NE(equal, std::string::npos) << line;
      const std::string name = line.substr(k + 1, equal - k - 1);
      EXPECT_TRUE(is_name(name)) << line;
      std::string value;
      for (k = equal + 2; k < line.size() && line[k] != '"'; ++k) {
        if (line[k] == '\\') ++k;
        ASSERT_LT(k, line.size());
        value += line[k];
      }
      EXPECT_TRUE(labels.emplace(name, value).second) << line;
      ++k;
    } while (k < line.size() && line[k] == ',');
    ASSERT_LT(k, line.size());
    ASSERT_EQ(line[k], '}') << line;
    ++k;
  }

  std::string type_or(const std::string& name) const { return types_.count(name) != 0 ? types_.at(name) : ""; }

  // Buckets grow, and the last is the count.
  void check_histograms() const {
    for (const auto& entry : types_) {
      if (entry.second != "histogram") continue;
      std::map<Labels, std::pair<double, double>> last;  // bound and count
      for (const Sample& one : all(entry.first + "_bucket")) {
        Labels rest = one.labels;
        ASSERT_EQ(rest.count("le"), 1u) << entry.first;
        const double bound = std::strtod(rest["le"].c_str(), nullptr);
        rest.erase("le");
        const auto found = last.find(rest);
        if (found != last.end()) {
          EXPECT_GT(bound, found->second.first) << entry.first;
          EXPECT_GE(one.value, found->second.second) << entry.first;
        }
        last[rest] = {bound, one.value};
      }
      for (const auto& group : last) {
        EXPECT_TRUE(std::isinf(group.second.first)) << entry.first;
        EXPECT_EQ(sum(entry.first + "_count", group.first), group.second.second) << entry.first;
      }
    }
  }

  std::vector<Sample> samples_;
  std::map<std::string, std::string> types_;
  std::set<std::string> series_;
  std::string current_;
};

class HttpMetrics : public RefusalTest {
 protected:
  Metrics now(Client& client) { return Metrics(client.ask(get("/metrics")).body); }
};

}  // namespace

TEST_F(HttpMetrics, Names) {
  start();
  Client client(server->port());
  const Reply reply = client.ask(get("/metrics"));
  EXPECT_EQ(reply.field("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const Metrics metrics(reply.body);
  for (const std::string name : {"requests", "rejects", "rows", "received_bytes", "sent_bytes", "connections",
                                 "model_swaps", "aborted", "cpu_seconds"})
    EXPECT_TRUE(metrics.has("voxridge_" + name + "_total")) << name;
  for (const std::string name : {"connections", "inflight_requests", "inflight_bytes", "ready", "uptime_seconds",
                                 "resident_bytes", "model_info"}) {
    ASSERT_TRUE(metrics.has("voxridge_" + name)) << name;
    EXPECT_EQ(metrics.type("voxridge_" + name), "gauge") << name;
  }
  EXPECT_EQ(metrics.type("voxridge_request_seconds"), "histogram");
  EXPECT_EQ(metrics.type("voxridge_score"), "histogram");
  const std::vector<Sample> info = metrics.all("voxridge_model_info");
  ASSERT_EQ(info.size(), 1u);
  EXPECT_EQ(info[0].value, 1);
  EXPECT_EQ(info[0].labels, (Labels{{"name", "model"}, {"version", model->version()}, {"sha256", model->sha256()}}));
  EXPECT_EQ(metrics.sum("voxridge_ready"), 1);
  EXPECT_GT(metrics.sum("voxridge_resident_bytes"), 1e6);
  const std::vector<double> bounds = {50e-6, 100e-6, 250e-6, 500e-6, 1e-3,   2.5e-3, 5e-3,
                                      10e-3, 25e-3,  50e-3,  100e-3, 250e-3, 1};
  std::set<double> found;
  for (const Sample& one : metrics.all("voxridge_request_seconds_bucket"))
    found.insert(std::strtod(one.labels.at("le").c_str(), nullptr));
  for (const double bound : bounds) EXPECT_EQ(found.count(bound), 1u) << bound;
  EXPECT_EQ(found.size(), bounds.size() + 1);
  EXPECT_EQ(server->status().latency_bounds, bounds);
  EXPECT_EQ(server->status().latency_counts.size(), bounds.size() + 1);
}

TEST_F(HttpMetrics, CountersMove) {
  start();
  Client client(server->port());
  const Metrics before = now(client);
  const std::vector<double> rows = random_rows(7, 2, 5);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(client.ask(predict(json_rows(rows, 2))).status, 200);
  for (int k = 0; k < 2; ++k) EXPECT_EQ(client.ask(predict_binary(binary_rows(rows))).status, 200);
  EXPECT_EQ(client.ask(predict("{\"features\":[[1,2],[1]]}")).status, 422);
  EXPECT_EQ(client.ask(predict("{")).status, 400);
  EXPECT_EQ(client.ask(get("/nowhere")).status, 404);
  EXPECT_EQ(client.ask(get("/livez", "", "HEAD"), true).status, 200);
  {
    Client other(server->port());
    EXPECT_EQ(other.ask("nonsense\r\n\r\n").status, 400);
  }
  const Metrics after = now(client);
  const auto moved = [&](const std::string& name, const Labels& labels = {}) {
    return after.sum("voxridge_" + name, labels) - before.sum("voxridge_" + name, labels);
  };
  EXPECT_EQ(moved("rows_total"), 35);
  EXPECT_EQ(moved("connections_total"), 1);
  EXPECT_EQ(moved("requests_total", {{"code", "422"}}), 1);
  EXPECT_EQ(moved("requests_total", {{"code", "404"}}), 1);
  EXPECT_EQ(moved("requests_total", {{"code", "400"}}), 2);
  EXPECT_EQ(moved("requests_total", {{"code", "200"}}), 7) << "five of scores, one of livez, one of metrics";
  EXPECT_EQ(moved("rejects_total", {{"reason", "wrong_row_length"}}), 1);
  EXPECT_EQ(moved("rejects_total", {{"reason", "bad_json"}}), 1);
  EXPECT_EQ(moved("rejects_total", {{"reason", "bad_request"}}), 1);
  EXPECT_EQ(moved("rejects_total"), 4);
  EXPECT_GT(moved("received_bytes_total"), 500);
  EXPECT_GT(moved("sent_bytes_total"), 500);
  EXPECT_EQ(moved("score_count"), 35);
  EXPECT_EQ(moved("model_swaps_total"), 0);
  EXPECT_EQ(moved("aborted_total"), 0);
  EXPECT_GE(moved("request_seconds_count"), 5);
  EXPECT_GE(moved("cpu_seconds_total"), 0);
}

TEST_F(HttpMetrics, BytesAreThoseOfTheWire) {
  start();
  int64_t sent = 0, received = 0;
  {
    Client client(server->port());
    for (const std::string& request :
         {predict(json_rows(random_rows(50, 2, 1), 2)), get("/v1/metadata"), predict("{")}) {
      sent += static_cast<int64_t>(request.size());
      received += static_cast<int64_t>(client.ask(request).bytes.size());
    }
  }
  EXPECT_TRUE(wait_until([&] { return server->status().connections == 0; }, 5));
  const ServerStatus status = server->status();
  EXPECT_EQ(status.received_bytes, sent);
  EXPECT_EQ(status.sent_bytes, received);
  EXPECT_EQ(status.connections_total, 1);
  EXPECT_EQ(status.rows, 50);
  EXPECT_EQ(status.requests, (std::vector<std::pair<int, int64_t>>{{200, 2}, {400, 1}}));
  EXPECT_EQ(status.rejects, (std::vector<std::pair<std::string, int64_t>>{{"bad_json", 1}}));
  EXPECT_TRUE(status.running && status.ready);
  EXPECT_EQ(status.inflight_bytes, 0);
  EXPECT_EQ(status.inflight_requests, 0);
}

TEST_F(HttpMetrics, ScoresOfManyTargets) {
  ModelSpec wide;
  for (const int64_t t : {16, 17}) {
    wide.t = t;
    model = make_model(wide);
    start();
    Client client(server->port());
    EXPECT_EQ(client.ask(predict_binary(binary_rows(random_rows(9, 2, 1)))).status, 200);
    const Metrics metrics = now(client);
    EXPECT_EQ(metrics.sum("voxridge_score_count"), t == 16 ? 9 * 16 : 0);
    if (t > 16) continue;
    EXPECT_EQ(metrics.sum("voxridge_score_count", {{"target", "3"}}), 9);
    int bounds = 0;
    for (const Sample& one : metrics.all("voxridge_score_bucket")) bounds += one.labels.at("target") == "3";
    EXPECT_TRUE(bounds == 20 || bounds == 21) << bounds;
  }
}

}  // namespace voxridge_test
